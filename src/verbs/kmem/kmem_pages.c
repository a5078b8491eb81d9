/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/page_usage.h"
#include "base/array.h"
#include "base/error.h"
#include "base/order.h"
#include "tasks/session/recording_input.h"
#include "tasks/session/trace_fields.h"
#include "verbs/kmem/gfp_flags.h"
#include "verbs/kmem/kmem_stat.h"
#include "view/table/cells.h"

enum kmem_pages_sort_key {
	SORT_BLOCK,
	SORT_CALLER,
	KMEM_PAGES_SORT_BYTES,
	KMEM_PAGES_SORT_HITS,
	SORT_ORDER,
	SORT_TYPE,
	SORT_GFP
};
#define KMEM_PAGES_SORT_MAX 8
#define LAST_ORDER	    10 /* MAX_PAGE_ORDER of current kernels. */
#define GFP_MIN_WIDTH	    9 /* Width of the column's heading. */

struct gfp {
	uint64_t flags;
	struct text names, letters;
};

struct pages_job {
	const struct kmem_settings *settings;
	struct data_source source;
	struct page_usage usage;
	struct id_table gfp_ids;
	VEC(struct gfp) gfps; /* Indexed by the IDs of gfp_ids. */
	enum kmem_pages_sort_key keys[KMEM_PAGES_SORT_MAX];
	size_t key_count;
	int gfp_width; /* Width of the longest abbreviation. */
	uint64_t page_kb;
};

static enum tally_status kmem_pages_read_keys(const char *list, struct pages_job *job, struct tally_error *err)
{
	static const char *const names[] = {"page", "callsite", "bytes", "hit", "order", "migtype", "gfp"};
	static const enum kmem_pages_sort_key keys[] = {
		SORT_BLOCK, SORT_CALLER, KMEM_PAGES_SORT_BYTES, KMEM_PAGES_SORT_HITS, SORT_ORDER, SORT_TYPE, SORT_GFP};
	const struct kmem_keys all = {"page", names, ARRAY_LEN(names), KMEM_PAGES_SORT_MAX};
	unsigned chosen[KMEM_PAGES_SORT_MAX];
	enum tally_status status = kmem_read_keys(list, &all, chosen, &job->key_count, err);
	for (size_t i = 0; i < job->key_count; i++)
		job->keys[i] = keys[chosen[i]];
	return status;
}

/* Functions of the allocator, such as "__alloc_frozen_pages_noprof", are not call sites. */
static bool is_allocator(const char *name)
{
	static const char *const begins[] = {"alloc_page", "alloc_frozen_page", "alloc_contig", "get_free_page",
		"get_zeroed_page", "folio_alloc", "vma_alloc_folio", "vma_alloc_zeroed", "pagetable_alloc"};
	name += strspn(name, "_");
	for (size_t i = 0; i < ARRAY_LEN(begins); i++)
		if (strncmp(name, begins[i], strlen(begins[i])) == 0)
			return true;
	return false;
}

/* Finds the first function in the kernel part of the chain that does not belong to the allocator. All addresses of a
 * function with a known name are one site. */
static enum tally_status find_site(
	struct pages_job *job, const struct data_sample *s, uint64_t *address, struct tally_error *err)
{
	struct resolver *resolver = &job->source.pass.resolver;
	struct resolve_where where = resolver_where(resolver, (int32_t)s->sample.pid, s->clock);
	struct sample_array whole = resolver_sample_chain(resolver, &where, &s->event->layout, &s->sample);
	struct resolved_chain chain = resolver_chain_frames(resolver, &where, &whole);
	*address = s->sample.ip;
	for (size_t i = 0; i < chain.count; i++) {
		if (resolved_frame_get(&resolver->frames, chain.frames[i]).level != 'k')
			break; /* Functions in user space do not request pages from the allocator themselves. */
		const struct frame_name *name = frame_names_get(&job->source.names, chain.frames[i], err);
		if (!name)
			return TALLY_NOMEM;
		if (!name->symbol || !is_allocator(name->symbol)) {
			bool is_whole = job->settings->raw_addresses || !name->symbol;
			*address = chain.ips[i] - (is_whole ? 0 : name->symbol_offset);
			break;
		}
	}
	return resolver->failed ? error_nomem(err) : TALLY_OK;
}

/* Stores the names of the flags, which the event's print format yields. */
static bool read_gfp(struct pages_job *job, const struct data_sample *s, uint64_t flags)
{
	static const char begin[] = "gfp_flags=";
	bool is_new;
	if (!vec_reserve(&job->gfps, job->gfps.len + 1))
		return false;
	if (id_table_add(&job->gfp_ids, &flags, &is_new) == ID_TABLE_NONE)
		return false;
	if (!is_new)
		return true;
	struct gfp *gfp = &job->gfps.items[job->gfps.len++];
	*gfp = (struct gfp){.flags = flags};
	struct text line = {0};
	if (job->source.tracepoints)
		(void)tracepoint_print(job->source.tracepoints, s->sample.raw, &line);
	const char *found = line.len ? memmem(line.data, line.len, begin, sizeof(begin) - 1) : NULL;
	if (found) {
		const char *first = found + sizeof(begin) - 1;
		text_bytes(&gfp->names, first, (size_t)(line.data + line.len - first));
	} else {
		text_printf(&gfp->names, "0x%" PRIx64, flags);
	}
	gfp_flags_short(text_view(&gfp->names), &gfp->letters);
	if ((int)gfp->letters.len > job->gfp_width)
		job->gfp_width = (int)gfp->letters.len;
	bool has_failed = line.failed || gfp->names.failed || gfp->letters.failed;
	text_deinit(&line);
	return !has_failed;
}

static uint64_t pfn_of(const struct pages_job *job, const struct data_sample *s)
{
	uint64_t pfn;
	if (trace_number_of(job->source.tracepoints, s->sample.raw, STR("pfn"), &pfn))
		return pfn;
	/* Before Linux 4.1, the event contains the address of the page descriptor, or 0 if the allocation failed. */
	pfn = kmem_field(&job->source, s, STR("page"));
	return pfn ? pfn : PAGE_FAILED;
}

static enum tally_status kmem_pages_add_alloc(
	struct pages_job *job, const struct data_sample *s, struct tally_error *err)
{
	struct page_alloc alloc = {
		.pfn = pfn_of(job, s),
		.gfp = kmem_field(&job->source, s, STR("gfp_flags")),
		.order = (uint32_t)kmem_field(&job->source, s, STR("order")),
		.migrate_type = (uint32_t)kmem_field(&job->source, s, STR("migratetype")),
	};
	enum tally_status status = find_site(job, s, &alloc.call_site, err);
	if (status != TALLY_OK)
		return status;
	if (!read_gfp(job, s, alloc.gfp) || !page_usage_alloc(&job->usage, &alloc))
		return error_nomem(err);
	return TALLY_OK;
}

static enum tally_status kmem_pages_read_events(struct pages_job *job, struct tally_error *err)
{
	struct data_sample s;
	enum tally_status status;
	while ((status = data_source_next(&job->source, &s, err)) == TALLY_OK) {
		if (str_equal(s.event->name, STR("kmem:mm_page_alloc")))
			status = kmem_pages_add_alloc(job, &s, err);
		else if (str_equal(s.event->name, STR("kmem:mm_page_free")))
			page_usage_free(
				&job->usage, pfn_of(job, &s), (uint32_t)kmem_field(&job->source, &s, STR("order")));
		if (status != TALLY_OK)
			break;
	}
	return status == TALLY_END ? TALLY_OK : status;
}

static int kmem_pages_compare_by(enum kmem_pages_sort_key key, const struct page_row *a, const struct page_row *b)
{
	uint64_t of_a = 0, of_b = 0;
	switch (key) {
	case SORT_BLOCK:
		of_a = a->of.pfn, of_b = b->of.pfn;
		break;
	case SORT_CALLER:
		of_a = a->of.call_site, of_b = b->of.call_site;
		break;
	case KMEM_PAGES_SORT_BYTES:
		of_a = a->pages, of_b = b->pages;
		break;
	case KMEM_PAGES_SORT_HITS:
		of_a = a->hits, of_b = b->hits;
		break;
	case SORT_ORDER:
		of_a = a->of.order, of_b = b->of.order;
		break;
	case SORT_TYPE:
		of_a = a->of.migrate_type, of_b = b->of.migrate_type;
		break;
	case SORT_GFP:
		of_a = a->of.gfp, of_b = b->of.gfp;
		break;
	}
	return COMPARE(of_a, of_b);
}

/* Sorts by the requested keys in descending order. Equal rows are sorted by the remaining keys in ascending order. */
static int kmem_pages_compare_rows(const void *left, const void *right, void *data)
{
	static const enum kmem_pages_sort_key rest[] = {SORT_BLOCK, SORT_CALLER, SORT_ORDER, SORT_TYPE, SORT_GFP};
	const struct pages_job *job = data;
	int order = 0;
	for (size_t i = 0; order == 0 && i < job->key_count; i++)
		order = kmem_pages_compare_by(job->keys[i], right, left);
	for (size_t i = 0; order == 0 && i < ARRAY_LEN(rest); i++)
		order = kmem_pages_compare_by(rest[i], left, right);
	return order;
}

static const char *type_name(uint32_t type, bool is_short)
{
	static const char *const names[PAGE_MIGRATE_TYPES][2] = {{"Unmovable", "UNMOVABL"}, {"Movable", "MOVABLE"},
		{"Reclaimable", "RECLAIM"}, {"Reserved", "RESERVED"}, {"CMA/Isolated", "CMA/ISLT"}};
	return names[type < PAGE_MIGRATE_TYPES ? type : PAGE_MIGRATE_TYPES - 1][is_short];
}

static int kmem_pages_column_width(const struct pages_job *job)
{
	return MAX(job->gfp_width, GFP_MIN_WIDTH);
}

static int compare_gfps(const void *left, const void *right)
{
	const struct gfp *const *a = left, *const *b = right;
	return ((*a)->flags > (*b)->flags) - ((*a)->flags < (*b)->flags);
}

static enum tally_status print_gfps(const struct pages_job *job, struct text *out, struct tally_error *err)
{
	const struct gfp **order = calloc(job->gfps.len + 1, sizeof(struct gfp *));
	if (!order)
		return error_nomem(err);
	for (size_t i = 0; i < job->gfps.len; i++)
		order[i] = &job->gfps.items[i];
	qsort(order, job->gfps.len, sizeof(*order), compare_gfps);
	text_str(out, "#\n# GFP flags\n# ---------\n");
	for (size_t i = 0; i < job->gfps.len; i++)
		text_printf(out, "# %08" PRIx64 ": %*.*s: %.*s\n", order[i]->flags, job->gfp_width,
			(int)order[i]->letters.len, order[i]->letters.data, (int)order[i]->names.len,
			order[i]->names.data);
	free(order);
	return TALLY_OK;
}

/* Only the table of blocks has the first column. */
enum { PAGES_LETTERS = 10, PAGES_COLUMNS = 13 };
static const struct cell_column pages_columns[PAGES_COLUMNS] = {
	{"", "pfn", 16, .before = " ", .after = " |"},
	{.key = "address", .look = LOOK_HEX},
	{.key = "symbol"},
	{.key = "symbol_offset"},
	{"", .width = 16, .before = " "},
	{"", "hits", 9, .before = " | "},
	{.key = "pages"},
	{"", "order", 5, .before = " | "},
	{.key = "migrate_type"},
	{"", .width = 8, .before = " | "},
	[PAGES_LETTERS] = {"", .before = " | "},
	{"", .before = " | "},
	{.key = "gfp_flags"},
};

static enum tally_status kmem_pages_put_row(struct pages_job *job, const struct cells *table,
	const struct page_row *row, bool is_caller, struct tally_error *err)
{
	struct kmem_site site = {.name = NULL};
	struct text where = {0};
	const struct gfp *gfp = &job->gfps.items[id_table_find(&job->gfp_ids, &row->of.gfp)];
	enum tally_status status = kmem_name_site(&job->source, job->settings, row->of.call_site, &site, err);
	if (site.name)
		text_str(&where, site.name);
	else
		text_hex(&where, row->of.call_site, 0);
	const struct cell cells[PAGES_COLUMNS] = {cell_u64(row->of.pfn), cell_u64(row->of.call_site),
		cell_name(site.name), site.name ? cell_u64(site.offset) : cell_name(NULL),
		cell_u64(row->pages * job->page_kb), cell_u64(row->hits), cell_u64(row->pages), cell_u64(row->of.order),
		cell_name(type_name(row->of.migrate_type, false)), cell_name(type_name(row->of.migrate_type, true)),
		cell_text(text_view(&gfp->letters)), cell_text(text_view(&where)), cell_text(text_view(&gfp->names))};
	if (status == TALLY_OK)
		cells_row(table, cells + is_caller);
	text_deinit(&where);
	return status;
}

static void kmem_pages_print_rule(struct text *out)
{
	text_repeat(out, '-', 105);
	text_char(out, '\n');
}

static enum tally_status kmem_pages_put_rows(struct pages_job *job, const struct cells *all, struct page_row *rows,
	size_t count, bool is_caller, struct tally_error *err)
{
	const struct cells table = {.columns = all->columns + is_caller,
		.count = all->count - is_caller,
		.out = all->out,
		.json = all->json};
	enum tally_status status = TALLY_OK;
	uint64_t limit = job->settings->lines ? job->settings->lines : UINT64_MAX, shown = 0;
	size_t used = 0;
	for (size_t i = 0; i < count; i++)
		if (rows[i].hits) /* With --live, rows may have become empty. */
			rows[used++] = rows[i];
	qsort_r(rows, used, sizeof(*rows), kmem_pages_compare_rows, job);
	if (table.json) {
		json_array(table.json, is_caller ? "callers" : "blocks");
	} else {
		text_char(table.out, '\n');
		kmem_pages_print_rule(table.out);
		text_printf(table.out, "%s %5s alloc (KB) | Hits      | Order | Mig.type | %-*s | Callsite\n",
			is_caller ? "" : " PFN              |", job->settings->is_live ? "Live" : "Total",
			kmem_pages_column_width(job), "GFP flags");
		kmem_pages_print_rule(table.out);
	}
	for (; status == TALLY_OK && shown < used && shown < limit; shown++)
		status = kmem_pages_put_row(job, &table, &rows[shown], is_caller, err);
	if (table.json) {
		json_array_end(table.json);
		return status;
	}
	if (status == TALLY_OK && shown < used)
		text_printf(table.out, "%s ...              | ...       | ...   | ...      | %-*s | ...\n",
			is_caller ? "" : " ...              |", kmem_pages_column_width(job), "...");
	kmem_pages_print_rule(table.out);
	return status;
}

static void kmem_pages_print_count(struct text *out, const char *what, const struct page_count *count, uint64_t page_kb)
{
	text_printf(
		out, "%-30s: %16" PRIu64 "   [ %16" PRIu64 " KB ]\n", what, count->requests, count->pages * page_kb);
}

static void kmem_pages_print_summary(const struct pages_job *job, struct text *out)
{
	const struct page_usage *u = &job->usage;
	const struct page_count both = {
		u->freed.requests - u->unknown_frees.requests, u->freed.pages - u->unknown_frees.pages};
	const struct page_count only = {u->allocated.requests - both.requests, u->allocated.pages - both.pages};
	text_str(out, "\nSUMMARY (page allocator)\n========================\n");
	kmem_pages_print_count(out, "Total allocation requests", &u->allocated, job->page_kb);
	kmem_pages_print_count(out, "Total free requests", &u->freed, job->page_kb);
	text_char(out, '\n');
	kmem_pages_print_count(out, "Total alloc+freed requests", &both, job->page_kb);
	kmem_pages_print_count(out, "Total alloc-only requests", &only, job->page_kb);
	kmem_pages_print_count(out, "Total free-only requests", &u->unknown_frees, job->page_kb);
	text_char(out, '\n');
	kmem_pages_print_count(out, "Total allocation failures", &u->failed, job->page_kb);
	uint32_t last = PAGE_ORDERS - 1;
	while (last > LAST_ORDER && !u->by_order[last][0] && !u->by_order[last][1] && !u->by_order[last][2] &&
		!u->by_order[last][3] && !u->by_order[last][4])
		last--;
	text_printf(out, "\n%5s", "Order");
	for (uint32_t type = 0; type < PAGE_MIGRATE_TYPES; type++)
		text_printf(out, "  %12s", type_name(type, false));
	text_str(out, "\n-----");
	for (uint32_t type = 0; type < PAGE_MIGRATE_TYPES; type++)
		text_str(out, "  ------------");
	for (uint32_t order = 0; order <= last; order++) {
		text_printf(out, "\n%5" PRIu32, order);
		for (uint32_t type = 0; type < PAGE_MIGRATE_TYPES; type++)
			if (u->by_order[order][type])
				text_printf(out, "  %12" PRIu64, u->by_order[order][type]);
			else
				text_printf(out, "  %12s", ".");
	}
	text_char(out, '\n');
}

static void kmem_pages_put_count(struct json *j, const char *key, const struct page_count *count)
{
	json_object(j, key);
	json_u64(j, "requests", count->requests);
	json_u64(j, "pages", count->pages);
	json_object_end(j);
}

static void put_summary(struct json *j, const struct pages_job *job)
{
	const struct page_usage *u = &job->usage;
	json_u64(j, "page_bytes", job->page_kb * 1024);
	json_object(j, "summary");
	kmem_pages_put_count(j, "allocated", &u->allocated);
	kmem_pages_put_count(j, "freed", &u->freed);
	kmem_pages_put_count(j, "unknown_frees", &u->unknown_frees);
	kmem_pages_put_count(j, "failed", &u->failed);
	json_array(j, "orders");
	for (uint32_t order = 0; order < PAGE_ORDERS; order++)
		for (uint32_t type = 0; type < PAGE_MIGRATE_TYPES; type++) {
			if (!u->by_order[order][type])
				continue;
			json_object(j, NULL);
			json_u64(j, "order", order);
			json_string(j, "migrate_type", str_from(type_name(type, false)));
			json_u64(j, "requests", u->by_order[order][type]);
			json_object_end(j);
		}
	json_array_end(j);
	json_object_end(j);
}

static enum tally_status kmem_pages_print_all(void *data, struct text *out, struct json *j, struct tally_error *err)
{
	struct pages_job *job = data;
	const struct kmem_settings *settings = job->settings;
	struct page_usage *u = &job->usage;
	struct cell_column columns[PAGES_COLUMNS];
	const struct cells table = {.columns = columns, .count = PAGES_COLUMNS, .out = out, .json = j};
	enum tally_status status = TALLY_OK;
	memcpy(columns, pages_columns, sizeof(columns));
	columns[PAGES_LETTERS].width = -kmem_pages_column_width(job);
	if (!j && (settings->by_caller || settings->by_object))
		status = print_gfps(job, out, err);
	if (status == TALLY_OK && settings->by_caller)
		status = kmem_pages_put_rows(job, &table, u->callers.items, u->callers.len, true, err);
	if (status == TALLY_OK && settings->by_object)
		status = kmem_pages_put_rows(job, &table, u->blocks.items, u->blocks.len, false, err);
	if (j)
		put_summary(j, job);
	else
		kmem_pages_print_summary(job, out);
	return status;
}

int kmem_stat_pages(const struct cli *cli, const struct kmem_settings *settings)
{
	const struct data_input input = {
		.file = settings->input, .samples.times = settings->times, .symbols = settings->symbols};
	struct pages_job job = {.settings = settings, .gfp_ids.words = 1};
	struct tally_error err;
	enum tally_status status = kmem_pages_read_keys(settings->sort ? settings->sort : "bytes,hit", &job, &err);
	if (status == TALLY_OK)
		status = data_source_open(cli, &input, &job.source, &err);
	if (status != TALLY_OK)
		return cli_fail(cli, &err);
	/* As in perf, this machine's page size is used, because recordings do not contain it. */
	long page_bytes = sysconf(_SC_PAGESIZE);
	job.page_kb = page_bytes >= 1024 ? (uint64_t)page_bytes / 1024 : 4;
	page_usage_init(&job.usage);
	job.usage.is_live = settings->is_live;
	status = kmem_pages_read_events(&job, &err);
	const struct kmem_result result = {.allocator = "page",
		.settings = settings,
		.status = status,
		.err = &err,
		.has_events = job.usage.allocated.requests + job.usage.freed.requests > 0,
		.source = &job.source,
		.print = kmem_pages_print_all,
		.job = &job};
	int code = kmem_show(cli, &result);
	page_usage_deinit(&job.usage);
	for (size_t i = 0; i < job.gfps.len; i++) {
		text_deinit(&job.gfps.items[i].names);
		text_deinit(&job.gfps.items[i].letters);
	}
	vec_free(&job.gfps);
	id_table_deinit(&job.gfp_ids);
	data_source_close(&job.source);
	return code;
}
