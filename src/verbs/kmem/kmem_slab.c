/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/slab_usage.h"
#include "base/array.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/order.h"
#include "tasks/session/cpu_filter.h"
#include "tasks/session/recording_input.h"
#include "tasks/session/trace_fields.h"
#include "verbs/kmem/kmem_stat.h"
#include "view/table/cells.h"

enum kmem_slab_sort_key {
	SORT_ADDRESS,
	KMEM_SLAB_SORT_BYTES,
	KMEM_SLAB_SORT_HITS,
	SORT_PING_PONG,
	SORT_FRAGMENTATION,
	SORT_KEYS
};
#define KMEM_SLAB_SORT_MAX 8
#define NODE_ANY	   (-1) /* The kernel's NUMA_NO_NODE. */
#define NODE_UNKNOWN	   (-2)

struct slab_job {
	const struct kmem_settings *settings;
	struct data_source source;
	struct slab_usage usage;
	int32_t *nodes; /* NUMA node of each CPU, or NODE_UNKNOWN. */
	enum kmem_slab_sort_key keys[KMEM_SLAB_SORT_MAX];
	size_t key_count;
};

static enum tally_status kmem_slab_read_keys(const char *list, struct slab_job *job, struct tally_error *err)
{
	static const char *const names[] = {"ptr", "callsite", "bytes", "hit", "pingpong", "frag"};
	static const enum kmem_slab_sort_key keys[] = {SORT_ADDRESS, SORT_ADDRESS, KMEM_SLAB_SORT_BYTES,
		KMEM_SLAB_SORT_HITS, SORT_PING_PONG, SORT_FRAGMENTATION};
	const struct kmem_keys all = {"slab", names, ARRAY_LEN(names), KMEM_SLAB_SORT_MAX};
	unsigned chosen[KMEM_SLAB_SORT_MAX];
	enum tally_status status = kmem_read_keys(list, &all, chosen, &job->key_count, err);
	for (size_t i = 0; i < job->key_count; i++)
		job->keys[i] = keys[chosen[i]];
	return status;
}

static bool is_alloc(struct tally_str name)
{
	return str_equal(name, STR("kmem:kmalloc")) || str_equal(name, STR("kmem:kmem_cache_alloc")) ||
	       str_equal(name, STR("kmem:kmalloc_node")) || str_equal(name, STR("kmem:kmem_cache_alloc_node"));
}

static bool is_free(struct tally_str name)
{
	return str_equal(name, STR("kmem:kfree")) || str_equal(name, STR("kmem:kmem_cache_free"));
}

/* Reads the NUMA node of each CPU from the recording's header. */
static enum tally_status kmem_slab_read_nodes(struct slab_job *job, struct tally_error *err)
{
	const struct perfdata_features *f = perfdata_reader_features(job->source.reader);
	job->nodes = malloc(LIMIT_CPUS * sizeof(*job->nodes));
	if (!job->nodes)
		return error_nomem(err);
	for (size_t cpu = 0; cpu < LIMIT_CPUS; cpu++)
		job->nodes[cpu] = NODE_UNKNOWN;
	for (size_t i = 0; i < f->numa_count; i++) {
		char list[256];
		bool *cpus;
		size_t len = f->numa[i].cpus.len;
		if (len >= sizeof(list))
			continue;
		memcpy(list, f->numa[i].cpus.data, len);
		list[len] = 0;
		/* If a list is invalid, the CPUs of its node stay unknown. */
		if (cpu_filter_parse(list, &cpus, NULL) != TALLY_OK)
			continue;
		for (size_t cpu = 0; cpu < LIMIT_CPUS; cpu++)
			if (cpus[cpu])
				job->nodes[cpu] = (int32_t)f->numa[i].node;
		free(cpus);
	}
	return TALLY_OK;
}

/* Returns whether memory of another node than the CPU's was requested. */
static bool is_of_other_node(const struct slab_job *job, const struct data_sample *s)
{
	uint64_t node;
	if (!trace_number_of(job->source.tracepoints, s->sample.raw, STR("node"), &node) || s->sample.cpu >= LIMIT_CPUS)
		return false;
	int32_t own = job->nodes[s->sample.cpu];
	return own != NODE_UNKNOWN && (int32_t)node != NODE_ANY && (int32_t)node != own;
}

static enum tally_status kmem_slab_read_events(struct slab_job *job, struct tally_error *err)
{
	struct data_sample s;
	enum tally_status status;
	while ((status = data_source_next(&job->source, &s, err)) == TALLY_OK) {
		if (is_alloc(s.event->name)) {
			const struct slab_alloc alloc = {
				.address = kmem_field(&job->source, &s, STR("ptr")),
				.call_site = kmem_field(&job->source, &s, STR("call_site")),
				.requested = kmem_field(&job->source, &s, STR("bytes_req")),
				.allocated = kmem_field(&job->source, &s, STR("bytes_alloc")),
				.cpu = (int32_t)(s.sample.cpu & INT32_MAX),
				.is_other_node = is_of_other_node(job, &s),
			};
			if (!slab_usage_alloc(&job->usage, &alloc))
				return error_nomem(err);
		} else if (is_free(s.event->name)) {
			slab_usage_free(&job->usage, kmem_field(&job->source, &s, STR("ptr")),
				(int32_t)(s.sample.cpu & INT32_MAX));
		}
	}
	return status == TALLY_END ? TALLY_OK : status;
}

static int kmem_slab_compare_by(enum kmem_slab_sort_key key, const struct slab_row *a, const struct slab_row *b)
{
	double fa, fb;
	switch (key) {
	case SORT_ADDRESS:
		return COMPARE(a->address, b->address);
	case KMEM_SLAB_SORT_BYTES:
		return COMPARE(a->allocated, b->allocated);
	case KMEM_SLAB_SORT_HITS:
		return COMPARE(a->hits, b->hits);
	case SORT_PING_PONG:
		return COMPARE(a->ping_pongs, b->ping_pongs);
	case SORT_FRAGMENTATION:
		fa = slab_fragmentation(a->requested, a->allocated);
		fb = slab_fragmentation(b->requested, b->allocated);
		return COMPARE(fa, fb);
	case SORT_KEYS:
		break;
	}
	return 0;
}

static int kmem_slab_compare_rows(const void *left, const void *right, void *data)
{
	const struct slab_job *job = data;
	const struct slab_row *a = left, *b = right;
	for (size_t i = 0; i < job->key_count; i++) {
		int order = kmem_slab_compare_by(job->keys[i], b, a);
		if (order)
			return order;
	}
	return kmem_slab_compare_by(SORT_ADDRESS, a, b);
}

/* JSON has the member "callers" or "objects"; text has a label as the first column, and bytes per allocation. */
static const struct cell_column slab_columns[] = {
	{.key = "address", .look = LOOK_HEX},
	{.key = "symbol"},
	{.key = "symbol_offset"},
	{.key = "hits"},
	{"", .width = -34, .before = " "},
	{"", "bytes_allocated", 9, .before = " | "},
	{"", .width = -5, .before = "/"},
	{"", "bytes_requested", 9, .before = " | "},
	{"", .width = -5, .before = "/"},
	{"", .width = 8, .before = " | "},
	{"", "ping_pongs", 9, .before = " | "},
	{"", NULL, 7, LOOK_PERCENT, 3, .before = " | "},
};

static enum tally_status kmem_slab_put_row(struct slab_job *job, const struct cells *table, const struct slab_row *r,
	bool is_caller, struct tally_error *err)
{
	struct kmem_site site = {.name = NULL};
	struct text label = {0};
	enum tally_status status =
		is_caller ? kmem_name_site(&job->source, job->settings, r->address, &site, err) : TALLY_OK;
	if (site.name)
		text_printf(&label, "%s+%" PRIx64, site.name, site.offset);
	else
		text_printf(&label, "0x%" PRIx64, r->address);
	const struct cell row[ARRAY_LEN(slab_columns)] = {cell_u64(r->address), cell_name(site.name),
		site.name ? cell_u64(site.offset) : cell_name(NULL), cell_u64(r->hits), cell_text(text_view(&label)),
		cell_u64(r->allocated), cell_u64(r->allocated / r->hits), cell_u64(r->requested),
		cell_u64(r->requested / r->hits), cell_u64(r->hits), cell_u64(r->ping_pongs),
		cell_f64(slab_fragmentation(r->requested, r->allocated))};
	if (status == TALLY_OK)
		cells_row(table, row);
	text_deinit(&label);
	return status;
}

static enum tally_status kmem_slab_put_rows(struct slab_job *job, const struct cells *table, struct slab_row *rows,
	size_t count, bool is_caller, struct tally_error *err)
{
	static const char rule[] = "-----------------------------------------------------------------------------------"
				   "----------------------\n";
	enum tally_status status = TALLY_OK;
	size_t shown = job->settings->lines && job->settings->lines < count ? (size_t)job->settings->lines : count;
	qsort_r(rows, count, sizeof(*rows), kmem_slab_compare_rows, job);
	if (table->json)
		json_array(table->json, is_caller ? "callers" : "objects");
	else
		text_printf(table->out,
			"%s %-34s | Total_alloc/Per | Total_req/Per   | Hit      | Ping-pong | Frag\n%s", rule,
			is_caller ? "Callsite" : "Alloc Ptr", rule);
	for (size_t i = 0; i < shown && status == TALLY_OK; i++)
		status = kmem_slab_put_row(job, table, &rows[i], is_caller, err);
	if (table->json)
		json_array_end(table->json);
	else if (status == TALLY_OK)
		text_printf(table->out, "%s%s",
			shown < count ? " ...                                | ...             | ...             "
					"| ...      | ...       | ...   \n"
				      : "",
			rule);
	return status;
}

static void kmem_slab_print_summary(const struct slab_job *job, struct text *out)
{
	const struct slab_usage *u = &job->usage;
	text_str(out, "\nSUMMARY (SLAB allocator)\n========================\n");
	text_printf(out, "Total bytes requested: %" PRIu64 "\nTotal bytes allocated: %" PRIu64 "\n", u->requested,
		u->allocated);
	text_printf(out, "Total bytes freed:     %" PRIu64 "\n", u->freed);
	if (u->allocated > u->freed)
		text_printf(out, "Net total bytes allocated: %" PRIu64 "\n", u->allocated - u->freed);
	text_printf(out, "Total bytes wasted on internal fragmentation: %" PRIu64 "\n",
		u->allocated > u->requested ? u->allocated - u->requested : 0);
	text_printf(out, "Internal fragmentation: %f%%\n", slab_fragmentation(u->requested, u->allocated));
	text_printf(out, "Cross CPU allocations: %" PRIu64 "/%" PRIu64 "\n", u->other_node, u->allocations);
	if (job->settings->verbose)
		text_printf(out, "Frees of objects from before the recording: %" PRIu64 "\n", u->unknown_frees);
}

static void kmem_slab_put_summary(struct json *j, const struct slab_usage *u)
{
	json_object(j, "summary");
	json_u64(j, "allocations", u->allocations);
	json_u64(j, "bytes_allocated", u->allocated);
	json_u64(j, "bytes_requested", u->requested);
	json_u64(j, "bytes_freed", u->freed);
	json_u64(j, "other_node", u->other_node);
	json_u64(j, "unknown_frees", u->unknown_frees);
	json_object_end(j);
}

static enum tally_status kmem_slab_print_all(void *data, struct text *out, struct json *j, struct tally_error *err)
{
	struct slab_job *job = data;
	struct slab_usage *u = &job->usage;
	const struct cells table = {.columns = slab_columns, .count = ARRAY_LEN(slab_columns), .out = out, .json = j};
	enum tally_status status = TALLY_OK;
	if (job->settings->by_caller)
		status = kmem_slab_put_rows(job, &table, u->callers.items, u->callers.len, true, err);
	if (status == TALLY_OK && job->settings->by_object)
		status = kmem_slab_put_rows(job, &table, u->objects.items, u->objects.len, false, err);
	if (j)
		kmem_slab_put_summary(j, u);
	else
		kmem_slab_print_summary(job, out);
	return status;
}

int kmem_stat_slab(const struct cli *cli, const struct kmem_settings *settings)
{
	const struct data_input input = {
		.file = settings->input, .samples.times = settings->times, .symbols = settings->symbols};
	struct slab_job job = {.settings = settings};
	struct tally_error err;
	enum tally_status status = kmem_slab_read_keys(settings->sort ? settings->sort : "frag,hit,bytes", &job, &err);
	if (status == TALLY_OK)
		status = data_source_open(cli, &input, &job.source, &err);
	if (status != TALLY_OK)
		return cli_fail(cli, &err);
	slab_usage_init(&job.usage);
	status = kmem_slab_read_nodes(&job, &err);
	if (status == TALLY_OK)
		status = kmem_slab_read_events(&job, &err);
	const struct kmem_result result = {.allocator = "slab",
		.settings = settings,
		.status = status,
		.err = &err,
		.has_events = job.usage.allocations + job.usage.unknown_frees > 0,
		.source = &job.source,
		.print = kmem_slab_print_all,
		.job = &job};
	int code = kmem_show(cli, &result);
	slab_usage_deinit(&job.usage);
	free(job.nodes);
	data_source_close(&job.source);
	return code;
}
