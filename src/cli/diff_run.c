#include "cli/diff_run.h"

#include <stdlib.h>

#include "base/error.h"
#include "cli/diff_recordings.h"
#include "cli/recording_input.h"
#include "cli/report_dump.h"
#include "view/text/diff_text.h"

#define FILES_UNNAMED 2 /* so many need no list of which is which */

static void print_title(
	const struct diff_request *request, const struct diff_recordings *recordings, uint32_t event, struct text *out)
{
	const struct profile *p = recordings->items[0].result.profile;
	struct tally_str name = profile_string(p, p->events[event].name);
	text_str(out, event ? "\n" : "");
	text_str(out, "# Event '");
	text_bytes(out, name.data, name.len);
	text_str(out, "'\n#\n");
	if (recordings->count <= FILES_UNNAMED && !request->verbose)
		return;
	text_str(out, "# Data files:\n");
	for (size_t i = 0; i < recordings->count; i++)
		text_printf(out, "#  [%zu] %s %s\n", i, recordings->items[i].path, i ? "" : "(Baseline)");
	text_str(out, "#\n");
}

static enum tally_status print_event(const struct diff_request *request, const struct flat_table *const *tables,
	size_t count, struct text *out, struct tally_error *err)
{
	struct diff_options options = {
		.keys = request->keys,
		.key_count = request->key_count,
		.method = request->method,
		.base_weight = request->base_weight,
		.new_weight = request->new_weight,
		.order_file = (size_t)request->order,
		.is_baseline_only = request->is_baseline_only,
		.is_relative = request->is_relative,
	};
	struct diff_text_options text_options = {
		.columns = request->columns,
		.column_count = request->column_count,
		.separator = request->separator,
		.is_quiet = request->is_quiet,
		.with_formula = request->with_formula,
		.with_periods = request->with_periods,
	};
	struct diff_table diff;
	enum tally_status status = diff_table_init(&diff, tables, count, &options, err);
	if (status != TALLY_OK)
		return status;
	status = diff_text_rows(out, &diff, &text_options, err);
	diff_table_deinit(&diff);
	return status;
}

/* made: room for a table of each recording; tables: NULL where a recording has no such event. */
static enum tally_status run_event(const struct diff_request *request, const struct diff_recordings *recordings,
	uint32_t event, struct flat_table *made, const struct flat_table **tables, struct text *out,
	struct tally_error *err)
{
	enum tally_status status = TALLY_OK;
	for (size_t i = 0; i < recordings->count; i++) {
		uint32_t same = i ? diff_recording_event(&recordings->items[i], &recordings->items[0], event) : event;
		tables[i] = NULL;
		if (same == PROFILE_NONE || status != TALLY_OK)
			continue;
		status = diff_recording_table(recordings, i, same, request, &made[i], err);
		if (status == TALLY_OK)
			tables[i] = &made[i];
	}
	if (status == TALLY_OK) {
		if (!request->is_quiet)
			print_title(request, recordings, event, out);
		status = print_event(request, tables, recordings->count, out, err);
	}
	for (size_t i = 0; i < recordings->count; i++)
		if (tables[i])
			flat_table_deinit(&made[i]);
	return status;
}

static enum tally_status run_events(const struct diff_request *request, const struct diff_recordings *recordings,
	struct text *out, struct tally_error *err)
{
	struct flat_table *made = calloc(recordings->count, sizeof(*made));
	const struct flat_table **tables = calloc(recordings->count, sizeof(struct flat_table *));
	enum tally_status status = made && tables ? TALLY_OK : error_nomem(err);
	size_t events = recordings->items[0].result.profile->event_count;
	for (uint32_t event = 0; status == TALLY_OK && event < events; event++)
		status = run_event(request, recordings, event, made, tables, out, err);
	free(made);
	free(tables);
	return status;
}

static enum tally_status dump(
	const struct cli *cli, const struct diff_request *request, struct text *out, struct tally_error *err)
{
	enum tally_status status = TALLY_OK;
	for (size_t i = 0; i < request->path_count && status == TALLY_OK; i++) {
		struct perfdata_reader *reader;
		struct input_health health = {0};
		status = cli_open_recording(request->paths[i], request->force, &reader, err);
		if (status != TALLY_OK)
			return status;
		status = report_dump(out, reader, request->paths[i], &health, err);
		status = status == TALLY_END ? TALLY_OK : status;
		perfdata_reader_destroy(reader);
		if (!request->is_quiet)
			cli_print_health(cli, &health);
	}
	return status;
}

enum tally_status diff_run(
	const struct cli *cli, const struct diff_request *request, struct text *out, struct tally_error *err)
{
	struct diff_recordings recordings;
	enum tally_status status = request->dump ? dump(cli, request, out, err) : TALLY_OK;
	if (status == TALLY_OK)
		status = diff_recordings_open(cli, request, &(struct replay_options){0}, &recordings, err);
	if (status != TALLY_OK)
		return status;
	status = run_events(request, &recordings, out, err);
	diff_recordings_close(&recordings);
	return status;
}
