/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "fleet/batch_pack.h"
#include "tasks/fleet/batch_perfdata.h"
#include "tasks/fleet/batch_view.h"
#include "tasks/fleet/fleet_time.h"
#include "verbs/serve/serve_arguments.h"
#include "verbs/serve/serve_parts.h"

#define LABEL_VALUES_MAX 100000 /* Maximum number of label values in a response. */
#define JSON_SORT	 "sym,dso"

struct serve_profile { /* A query and the profiles that the store returned. */
	struct serve_api *api;
	struct serve_arguments arguments;
	struct fleet_batch *batch, *base;
};

/* Responds to a query that is invalid, matches nothing, or takes too long, or to a failure of the store. */
static void fail_query(struct serve_api *api, const struct tally_error *err, struct http_response *response)
{
	serve_count(&api->counts.failed_queries, 1);
	if (err->status == TALLY_INVALID || err->status == TALLY_UNSUPPORTED)
		http_response_error(response, HTTP_BAD_REQUEST, "%s", err->text);
	else if (err->status == TALLY_NOT_FOUND)
		http_response_error(response, HTTP_NOT_FOUND, "%s", err->text);
	else if (err->status == TALLY_LIMIT)
		http_response_error(response, HTTP_UNAVAILABLE, "%s", err->text);
	else
		serve_api_unavailable(api, err, response);
}

static bool read_arguments(struct serve_api *api, const struct http_request *request, unsigned takes,
	struct serve_arguments *arguments, struct http_response *response)
{
	struct tally_error err;
	serve_count(&api->counts.queries, 1);
	if (serve_arguments_read(request, takes, fleet_time_now(), arguments, &err) == TALLY_OK)
		return true;
	fail_query(api, &err, response);
	return false;
}

/* Unlocks the store, and counts the time of the query. */
static void end_query(struct serve_api *api, uint64_t begun_ns)
{
	pthread_mutex_unlock(&api->reader.lock);
	serve_count(&api->counts.query_ns, clock_ns() - begun_ns);
}

static enum tally_status query_store(
	struct serve_api *api, struct store_selection *selection, struct fleet_batch **batch, struct tally_error *err)
{
	selection->deadline_ns = clock_ns() + api->query_ns;
	return store_query(api->reader.store, selection, batch, err);
}

static void put_batch(struct serve_profile *p, struct http_response *response)
{
	struct tally_error err;
	struct text plain = {0};
	enum tally_status status = fleet_batch_write(p->batch, NULL, &plain, &err);
	if (status == TALLY_OK && fleet_batch_can_compress()) {
		status = fleet_batch_compress(
			(struct tally_bytes){(const uint8_t *)plain.data, plain.len}, &response->body, &err);
	} else {
		response->body = plain;
		response->encoding = NULL;
		plain = (struct text){0};
	}
	text_deinit(&plain);
	if (status != TALLY_OK)
		fail_query(p->api, &err, response);
}

static struct batch_view view_of(const struct serve_profile *p)
{
	const struct serve_arguments *a = &p->arguments;
	return (struct batch_view){.batch = p->batch,
		.base = p->base,
		.title = a->query_text.len ? a->query_text : STR("all samples"),
		.base_title = p->base ? (a->baseline_text.len ? a->baseline_text : STR("all samples")) : STR(""),
		.event = a->selection.event,
		.program = p->api->program,
		.counts_samples = a->counts_samples};
}

static void put_flame(struct serve_profile *p, enum batch_flame_form form, struct http_response *response)
{
	struct tally_error err;
	const struct batch_view view = view_of(p);
	if (batch_view_flame(&view, form, &response->body, &err) != TALLY_OK)
		fail_query(p->api, &err, response);
}

static void put_flame_page(struct serve_profile *p, struct http_response *response)
{
	put_flame(p, BATCH_FLAME_PAGE, response);
}

static void put_flame_svg(struct serve_profile *p, struct http_response *response)
{
	put_flame(p, BATCH_FLAME_SVG, response);
}

static void put_folded(struct serve_profile *p, struct http_response *response)
{
	put_flame(p, BATCH_FLAME_FOLDED, response);
}

static void put_report_json(struct serve_profile *p, struct http_response *response)
{
	struct tally_error err;
	struct report_request request;
	const struct batch_view view = view_of(p);
	report_request_init(&request);
	request.rows.sort = JSON_SORT;
	request.chains.look.style = CHAIN_NONE;
	request.output.is_json = true;
	if (batch_view_report(&view, &request, &response->body, &err) != TALLY_OK)
		fail_query(p->api, &err, response);
}

/* The pprof writer needs a file descriptor, so it writes to a file in memory. */
static void put_pprof(struct serve_profile *p, struct http_response *response)
{
	struct tally_error err;
	const struct batch_view view = view_of(p);
	response->fd = memfd_create("tally-profile", MFD_CLOEXEC);
	enum tally_status status = response->fd < 0 ? error_set_errno(&err, TALLY_IO, errno, "memfd_create")
						    : batch_view_pprof(&view, response->fd, "the profile", &err);
	if (status != TALLY_OK)
		fail_query(p->api, &err, response);
}

static void put_perfdata(struct serve_profile *p, struct http_response *response)
{
	struct tally_error err;
	char path[40];
	response->fd = memfd_create("tally-recording", MFD_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", response->fd);
	enum tally_status status = response->fd < 0
					   ? error_set_errno(&err, TALLY_IO, errno, "memfd_create")
					   : batch_perfdata_write(p->batch, p->arguments.selection.event, path, &err);
	if (status != TALLY_OK)
		fail_query(p->api, &err, response);
}

static const struct serve_format {
	struct tally_str name;
	const char *type, *encoding, *file_name;
	bool takes_baseline;
	void (*put)(struct serve_profile *p, struct http_response *response);
} formats[] = {
	{STR("batch"), "application/x-protobuf", "zstd", NULL, false, put_batch},
	{STR("json"), "application/json", NULL, NULL, false, put_report_json},
	{STR("pprof"), "application/octet-stream", NULL, "profile.pb.gz", false, put_pprof},
	{STR("perfdata"), "application/octet-stream", NULL, "perf.data", false, put_perfdata},
	{STR("folded"), "text/plain; charset=utf-8", NULL, NULL, true, put_folded},
	{STR("flamegraph"), "text/html; charset=utf-8", NULL, NULL, true, put_flame_page},
	{STR("svg"), "image/svg+xml", NULL, NULL, true, put_flame_svg},
};

static const struct serve_format *find_format(struct tally_str name)
{
	for (size_t i = 0; i < ARRAY_LEN(formats); i++)
		if (str_equal(formats[i].name, name.len ? name : STR("json")))
			return &formats[i];
	return NULL;
}

static void answer_profile(struct serve_profile *p, const struct serve_format *format, struct http_response *response)
{
	struct tally_error err;
	struct serve_arguments *a = &p->arguments;
	if (!serve_store_lock(&p->api->reader, response))
		return;
	/* Only the batch format distinguishes threads by their labels. */
	a->selection.merges_labels = a->selection.merges_labels || format->put != put_batch;
	a->baseline.merges_labels = true;
	uint64_t begun = clock_ns();
	enum tally_status status = query_store(p->api, &a->selection, &p->batch, &err);
	if (status == TALLY_OK && a->has_baseline)
		status = query_store(p->api, &a->baseline, &p->base, &err);
	end_query(p->api, begun);
	if (status != TALLY_OK) {
		fail_query(p->api, &err, response);
		return;
	}
	response->status = HTTP_OK;
	response->type = format->type;
	response->encoding = format->encoding;
	response->file_name = format->file_name;
	format->put(p, response);
}

void serve_queries_profile(struct serve_api *api, const struct http_request *request, struct http_response *response)
{
	struct serve_profile p = {.api = api};
	unsigned takes = SERVE_ARGUMENT_QUERY | SERVE_ARGUMENT_TIMES | SERVE_ARGUMENT_EVENT | SERVE_ARGUMENT_PROFILE |
			 SERVE_ARGUMENT_BASELINE;
	if (!read_arguments(api, request, takes, &p.arguments, response))
		return;
	const struct serve_format *format = find_format(p.arguments.format);
	if (!format)
		http_response_error(response, HTTP_BAD_REQUEST,
			"the argument 'format' expects batch, json, pprof, folded, flamegraph, svg or perfdata");
	else if (p.arguments.has_baseline && !format->takes_baseline)
		http_response_error(response, HTTP_BAD_REQUEST,
			"only the formats flamegraph, svg and folded compare with a baseline");
	else
		answer_profile(&p, format, response);
	fleet_batch_destroy(p.batch);
	fleet_batch_destroy(p.base);
	serve_arguments_deinit(&p.arguments);
}

struct label_list {
	struct json *j;
	size_t count;
	bool is_cut;
};

static void serve_queries_add_label(void *context, struct tally_str text)
{
	struct label_list *list = context;
	list->is_cut |= list->count == LABEL_VALUES_MAX;
	if (list->is_cut)
		return;
	list->count++;
	json_string(list->j, NULL, text);
}

enum label_kind { LIST_LABELS, LIST_VALUES, LIST_EVENTS };

static void answer_list(struct serve_api *api, enum label_kind kind, struct tally_str name,
	struct serve_arguments *arguments, struct http_response *response)
{
	static const char *const keys[] = {
		[LIST_LABELS] = "labels", [LIST_VALUES] = "values", [LIST_EVENTS] = "events"};
	struct tally_error err;
	struct json j = {.out = &response->body, .is_compact = true};
	struct label_list list = {.j = &j};
	const struct store_selection *selection = &arguments->selection;
	if (!serve_store_lock(&api->reader, response))
		return;
	uint64_t begun = clock_ns();
	arguments->selection.deadline_ns = begun + api->query_ns;
	json_object(&j, NULL);
	if (kind == LIST_VALUES)
		json_string(&j, "label", name);
	json_array(&j, keys[kind]);
	enum tally_status status =
		kind == LIST_EVENTS
			? store_events(api->reader.store, selection, serve_queries_add_label, &list, &err)
			: store_label_values(api->reader.store, selection, name, serve_queries_add_label, &list, &err);
	end_query(api, begun);
	json_array_end(&j);
	if (list.is_cut)
		json_bool(&j, "is_cut", true);
	json_object_end(&j);
	response->status = HTTP_OK;
	response->type = "application/json";
	if (status != TALLY_OK)
		fail_query(api, &err, response);
}

static void list_for(struct serve_api *api, enum label_kind kind, struct tally_str name,
	const struct http_request *request, struct http_response *response)
{
	struct serve_arguments arguments;
	unsigned takes = SERVE_ARGUMENT_QUERY | SERVE_ARGUMENT_TIMES | SERVE_ARGUMENT_EVENT;
	if (!read_arguments(api, request, takes, &arguments, response))
		return;
	answer_list(api, kind, name, &arguments, response);
	serve_arguments_deinit(&arguments);
}

void serve_queries_labels(struct serve_api *api, const struct http_request *request, struct http_response *response)
{
	static const struct tally_str folder = STR("/api/v1/labels/");
	if (!str_starts_with(request->path, folder)) {
		list_for(api, LIST_LABELS, STR(""), request, response);
		return;
	}
	struct tally_str name = {request->path.data + folder.len, request->path.len - folder.len};
	if (label_name_is_valid(name))
		list_for(api, LIST_VALUES, name, request, response);
	else
		http_response_error(response, HTTP_BAD_REQUEST,
			"a label's name has letters, digits and underscores, and begins with no digit");
}

void serve_queries_events(struct serve_api *api, const struct http_request *request, struct http_response *response)
{
	list_for(api, LIST_EVENTS, STR(""), request, response);
}

static void put_load(const struct store_points *points, uint64_t step_ns, struct http_response *response)
{
	struct json j = {.out = &response->body, .is_compact = true};
	json_object(&j, NULL);
	json_u64(&j, "step_ns", step_ns);
	json_array(&j, "points");
	for (size_t i = 0; i < points->count; i++) {
		const struct store_point *point = &points->items[i];
		json_object(&j, NULL);
		json_u64(&j, "begin_ns", point->begin_ns);
		json_u64(&j, "samples", point->samples);
		json_u64(&j, "running_ns", point->running_ns);
		json_u64(&j, "waiting_ns", point->waiting_ns);
		json_u64(&j, "lost_samples", point->lost_samples);
		json_object_end(&j);
	}
	json_array_end(&j);
	json_object_end(&j);
	response->status = HTTP_OK;
	response->type = "application/json";
}

void serve_queries_load(struct serve_api *api, const struct http_request *request, struct http_response *response)
{
	struct serve_arguments arguments;
	struct tally_error err;
	struct store_points points = {0};
	unsigned takes = SERVE_ARGUMENT_QUERY | SERVE_ARGUMENT_TIMES | SERVE_ARGUMENT_EVENT | SERVE_ARGUMENT_STEP;
	if (!read_arguments(api, request, takes, &arguments, response))
		return;
	if (serve_store_lock(&api->reader, response)) {
		uint64_t begun = clock_ns();
		arguments.selection.deadline_ns = begun + api->query_ns;
		enum tally_status status =
			store_load(api->reader.store, &arguments.selection, arguments.step_ns, &points, &err);
		end_query(api, begun);
		if (status == TALLY_OK)
			put_load(&points, arguments.step_ns, response);
		else
			fail_query(api, &err, response);
		free(points.items);
	}
	serve_arguments_deinit(&arguments);
}
