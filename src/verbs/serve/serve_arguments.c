/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/serve/serve_arguments.h"

#include "base/array.h"
#include "base/error.h"
#include "tasks/fleet/fleet_time.h"

#define SERVE_ARGUMENTS_NS_PER_S UINT64_C(1000000000)
#define DEFAULT_SPAN_NS		 (3600 * SERVE_ARGUMENTS_NS_PER_S)
#define DEFAULT_POINTS		 100
/* Arguments for "%.*s" that print a client's string, truncated to 64 bytes. */
#define SHOWN_BYTES(str) ((int)MIN((str).len, 64)), (str).data

static const struct {
	struct tally_str name;
	unsigned group;
} names[] = {
	{STR("query"), SERVE_ARGUMENT_QUERY},
	{STR("from"), SERVE_ARGUMENT_TIMES},
	{STR("until"), SERVE_ARGUMENT_TIMES},
	{STR("event"), SERVE_ARGUMENT_EVENT},
	{STR("format"), SERVE_ARGUMENT_PROFILE},
	{STR("threads"), SERVE_ARGUMENT_PROFILE},
	{STR("merge"), SERVE_ARGUMENT_PROFILE},
	{STR("by"), SERVE_ARGUMENT_PROFILE},
	{STR("count"), SERVE_ARGUMENT_PROFILE},
	{STR("step"), SERVE_ARGUMENT_STEP},
	{STR("baseline_query"), SERVE_ARGUMENT_BASELINE},
	{STR("baseline_from"), SERVE_ARGUMENT_BASELINE},
	{STR("baseline_until"), SERVE_ARGUMENT_BASELINE},
};

static enum tally_status check_names(const struct http_request *request, unsigned takes, struct tally_error *err)
{
	unsigned seen = 0;
	for (size_t i = 0; i < request->argument_count; i++) {
		struct tally_str name = request->arguments[i].name;
		size_t found = 0;
		while (found < ARRAY_LEN(names) && !str_equal(names[found].name, name))
			found++;
		if (found == ARRAY_LEN(names) || !(names[found].group & takes))
			return error_set(err, TALLY_INVALID, "this takes no argument '%.*s'", SHOWN_BYTES(name));
		if (seen >> found & 1)
			return error_set(err, TALLY_INVALID, "the argument '%.*s' comes twice", SHOWN_BYTES(name));
		seen |= 1u << found;
	}
	return TALLY_OK;
}

/* An empty value is treated like a missing one. */
static struct tally_str serve_arguments_value(const struct http_request *request, struct tally_str name)
{
	struct tally_str value = STR("");
	http_request_argument(request, name, &value);
	return value;
}

static enum tally_status read_time(const struct http_request *request, struct tally_str name, uint64_t now_ns,
	uint64_t *ns, struct tally_error *err)
{
	struct tally_str value = serve_arguments_value(request, name);
	if (value.len == 0 || fleet_time_parse(value, now_ns, ns))
		return TALLY_OK;
	return error_set(err, TALLY_INVALID, "the argument '%.*s' " FLEET_TIME_EXPECTED ", not '%.*s'", (int)name.len,
		name.data, SHOWN_BYTES(value));
}

static enum tally_status read_span(const struct http_request *request, struct tally_str from, struct tally_str until,
	uint64_t now_ns, struct store_selection *selection, struct tally_error *err)
{
	selection->end_ns = now_ns;
	enum tally_status status = read_time(request, until, now_ns, &selection->end_ns, err);
	selection->begin_ns = selection->end_ns - MIN(selection->end_ns, DEFAULT_SPAN_NS);
	if (status == TALLY_OK)
		status = read_time(request, from, now_ns, &selection->begin_ns, err);
	if (status == TALLY_OK && selection->begin_ns >= selection->end_ns)
		return error_set(err, TALLY_INVALID, "'%.*s' is not before '%.*s'", (int)from.len, from.data,
			(int)until.len, until.data);
	return status;
}

static enum tally_status read_query(const struct http_request *request, struct tally_str name, struct tally_str *text,
	struct label_query **query, struct tally_error *err)
{
	*text = serve_arguments_value(request, name);
	if (text->len == 0 || label_query_parse(*text, query, err) == TALLY_OK)
		return TALLY_OK;
	return error_prefix(err, "the argument '%.*s'", (int)name.len, name.data);
}

static enum tally_status read_flag(
	const struct http_request *request, struct tally_str name, bool *flag, struct tally_error *err)
{
	struct tally_str value = serve_arguments_value(request, name);
	*flag = str_equal(value, STR("1"));
	if (*flag || value.len == 0 || str_equal(value, STR("0")))
		return TALLY_OK;
	return error_set(err, TALLY_INVALID, "the argument '%.*s' expects 0 or 1", (int)name.len, name.data);
}

static enum tally_status read_merging(
	const struct http_request *request, struct store_selection *selection, struct tally_error *err)
{
	struct tally_str by = serve_arguments_value(request, STR("by"));
	if (by.len > 0 && !label_name_is_valid(by))
		return error_set(err, TALLY_INVALID, "the argument 'by' expects the name of a label, not '%.*s'",
			SHOWN_BYTES(by));
	enum tally_status status = read_flag(request, STR("merge"), &selection->merges_labels, err);
	selection->merges_labels = selection->merges_labels || by.len > 0;
	selection->kept_label = by;
	return status;
}

static enum tally_status read_step(
	const struct http_request *request, struct serve_arguments *arguments, struct tally_error *err)
{
	struct tally_str value = serve_arguments_value(request, STR("step"));
	uint64_t span = arguments->selection.end_ns - arguments->selection.begin_ns;
	uint64_t usual = (span / DEFAULT_POINTS + SERVE_ARGUMENTS_NS_PER_S - 1) / SERVE_ARGUMENTS_NS_PER_S *
			 SERVE_ARGUMENTS_NS_PER_S;
	arguments->step_ns = MAX(usual, SERVE_ARGUMENTS_NS_PER_S);
	if (value.len > 0 && (!fleet_duration_parse(value, &arguments->step_ns) || arguments->step_ns == 0))
		return error_set(err, TALLY_INVALID, "the argument 'step' " FLEET_DURATION_EXPECTED ", not '%.*s'",
			SHOWN_BYTES(value));
	if (span / arguments->step_ns >= SERVE_POINTS_MAX)
		return error_set(
			err, TALLY_INVALID, "this step makes more than %d points: use a larger one", SERVE_POINTS_MAX);
	return TALLY_OK;
}

static enum tally_status read_baseline(
	const struct http_request *request, uint64_t now_ns, struct serve_arguments *arguments, struct tally_error *err)
{
	arguments->has_baseline = serve_arguments_value(request, STR("baseline_from")).len > 0;
	if (!arguments->has_baseline && (serve_arguments_value(request, STR("baseline_query")).len > 0 ||
						serve_arguments_value(request, STR("baseline_until")).len > 0))
		return error_set(err, TALLY_INVALID, "a baseline needs the argument 'baseline_from'");
	if (!arguments->has_baseline)
		return TALLY_OK;
	enum tally_status status =
		read_span(request, STR("baseline_from"), STR("baseline_until"), now_ns, &arguments->baseline, err);
	if (status == TALLY_OK)
		status = read_query(
			request, STR("baseline_query"), &arguments->baseline_text, &arguments->baseline_query, err);
	arguments->baseline.query = arguments->baseline_query;
	arguments->baseline.event = arguments->selection.event;
	return status;
}

enum tally_status serve_arguments_read(const struct http_request *request, unsigned takes, uint64_t now_ns,
	struct serve_arguments *arguments, struct tally_error *err)
{
	struct serve_arguments made = {.selection.event = serve_arguments_value(request, STR("event")),
		.format = serve_arguments_value(request, STR("format"))};
	enum tally_status status = check_names(request, takes, err);
	if (status == TALLY_OK)
		status = read_span(request, STR("from"), STR("until"), now_ns, &made.selection, err);
	if (status == TALLY_OK)
		status = read_query(request, STR("query"), &made.query_text, &made.query, err);
	made.selection.query = made.query;
	if (status == TALLY_OK)
		status = read_flag(request, STR("threads"), &made.selection.by_thread, err);
	if (status == TALLY_OK)
		status = read_merging(request, &made.selection, err);
	if (status == TALLY_OK)
		status = read_flag(request, STR("count"), &made.counts_samples, err);
	if (status == TALLY_OK && takes & SERVE_ARGUMENT_STEP)
		status = read_step(request, &made, err);
	if (status == TALLY_OK && takes & SERVE_ARGUMENT_BASELINE)
		status = read_baseline(request, now_ns, &made, err);
	if (status == TALLY_OK)
		*arguments = made;
	else
		serve_arguments_deinit(&made);
	return status;
}

void serve_arguments_deinit(struct serve_arguments *arguments)
{
	label_query_destroy(arguments->query);
	label_query_destroy(arguments->baseline_query);
	*arguments = (struct serve_arguments){0};
}
