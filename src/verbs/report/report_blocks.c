/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/report/report_blocks.h"

#include <inttypes.h>
#include <stdlib.h>

#include "abi/branch.h"
#include "base/array.h"
#include "base/error.h"
#include "base/order.h"
#include "perfdata/origin.h"
#include "tasks/header/header_json.h"
#include "tasks/header/header_text.h"
#include "tasks/session/data_source.h"
#include "tasks/session/recording_input.h"
#include "tasks/session/report_stats.h"
#include "verbs/report/branch_mix.h"
#include "verbs/report/report_json.h"
#include "view/table/cells.h"

#define HEADER_HINT "# To display the perf.data header info, please use --header/--header-only options.\n#\n"

struct report_blocks_run { /* Code that ran from the target of one recorded branch to the next branch. */
	/* start and end are indices of frames; start is RESOLVE_NONE if the previous branch is not known. */
	uint32_t event, start, end;
	uint64_t cycles, count;
};

struct report_blocks_block {
	uint32_t event, start, end;
	uint64_t start_address; /* Address in the binary; the start of the function if no branch is known. */
	bool has_start;
	uint64_t cycles, count;
	uint64_t order;
};

struct event_sums {
	uint64_t samples, branches, cycles, averages;
};

struct blocks {
	struct data_source source;
	struct id_table run_ids; /* Maps (event and end, start) to an index of runs. */
	VEC(struct report_blocks_run) runs;
	struct map_u64 block_ids; /* Maps event << 32 | end to an index of blocks. */
	VEC(struct report_blocks_block) blocks;
	struct event_sums *sums;
	size_t event_count;
	struct branch_mix mix;
};

/* Adds the run, or its counts to those of an equal run that is present. */
static bool report_blocks_add_run(struct blocks *b, const struct report_blocks_run *run)
{
	const uint64_t key[2] = {(uint64_t)run->event << 32 | run->end, run->start};
	uint32_t id = id_table_add(&b->run_ids, key, NULL);
	if (id == b->runs.len)
		return vec_push(&b->runs, *run);
	if (id == ID_TABLE_NONE)
		return false;
	b->runs.items[id].cycles += run->cycles;
	b->runs.items[id].count += run->count;
	return true;
}

static uint32_t report_blocks_frame_at(struct resolver *r, const struct resolve_where *where, uint64_t ip)
{
	return resolver_frame(r, where, (int64_t)ip < 0 ? MISC_CPUMODE_KERNEL : MISC_CPUMODE_USER, ip);
}

static bool report_blocks_add_sample(struct blocks *b, const struct data_sample *s)
{
	uint32_t count = s->sample.present & SAMPLE_BRANCH_STACK ? sample_branch_count(&s->sample) : 0;
	uint32_t event = s->event->index;
	if (event >= b->event_count || count == 0)
		return true;
	struct resolver *r = &b->source.pass.resolver;
	struct resolve_where where = resolver_where(r, (int32_t)s->sample.pid, s->clock);
	b->sums[event].samples++;
	b->sums[event].branches += count;
	/* The newest branch is the first. A branch that the CPU did not time has 0 cycles. */
	for (uint32_t i = 0; i < count; i++) {
		struct sample_branch branch = sample_branch_at(&s->sample, i);
		struct report_blocks_run run = {
			.event = event, .start = RESOLVE_NONE, .cycles = branch.cycles, .count = 1};
		branch_mix_add(&b->mix, sample_branch_kind(&branch), 1);
		if (branch.cycles == 0)
			continue;
		b->sums[event].cycles += branch.cycles;
		run.end = report_blocks_frame_at(r, &where, branch.from);
		if (i + 1 < count)
			run.start = report_blocks_frame_at(r, &where, sample_branch_at(&s->sample, i + 1).to);
		if (r->failed || !report_blocks_add_run(b, &run))
			return false;
	}
	return true;
}

/* Adds the run to the block that has the same end, if both ends are in one function. */
static enum tally_status add_to_block(struct blocks *b, const struct report_blocks_run *run, struct tally_error *err)
{
	struct data_source *source = &b->source;
	struct frame_name *end_name = frame_names_get(&source->names, run->end, err);
	if (!end_name)
		return TALLY_NOMEM;
	struct resolved_frame end = resolved_frame_get(&source->pass.resolver.frames, run->end);
	uint64_t start = end.address - end_name->symbol_offset;
	if (!end_name->symbol)
		return TALLY_OK;
	if (run->start != RESOLVE_NONE) {
		struct frame_name *name = frame_names_get(&source->names, run->start, err);
		if (!name)
			return TALLY_NOMEM;
		struct resolved_frame from = resolved_frame_get(&source->pass.resolver.frames, run->start);
		if (!name->symbol || from.binary != end.binary || from.address - name->symbol_offset != start ||
			from.address > end.address)
			return TALLY_OK;
		start = from.address;
	}
	bool is_new;
	uint64_t *id = map_u64_at(&b->block_ids, (uint64_t)run->event << 32 | run->end, &is_new);
	if (!id)
		return error_nomem(err);
	if (is_new) {
		struct report_blocks_block block = {.event = run->event, .end = run->end, .start_address = start};
		*id = block.order = b->blocks.len;
		if (!vec_push(&b->blocks, block))
			return error_nomem(err);
	}
	struct report_blocks_block *block = &b->blocks.items[*id];
	bool is_known = run->start != RESOLVE_NONE;
	if (is_known && (!block->has_start || start < block->start_address))
		block->start_address = start;
	block->has_start = block->has_start || is_known;
	block->cycles += run->cycles;
	block->count += run->count;
	return TALLY_OK;
}

static enum tally_status report_blocks_read_all(struct blocks *b, struct tally_error *err)
{
	struct data_sample sample;
	enum tally_status status;
	while ((status = data_source_next(&b->source, &sample, err)) == TALLY_OK)
		if (!report_blocks_add_sample(b, &sample))
			return error_nomem(err);
	if (status == TALLY_NOMEM)
		return status;
	for (size_t i = 0; i < b->runs.len; i++) {
		enum tally_status added = add_to_block(b, &b->runs.items[i], err);
		if (added != TALLY_OK)
			return added;
	}
	for (size_t i = 0; i < b->blocks.len; i++) {
		const struct report_blocks_block *block = &b->blocks.items[i];
		b->sums[block->event].averages += block->cycles / block->count;
	}
	return status == TALLY_END ? TALLY_OK : status;
}

static int by_cycles(const void *left, const void *right)
{
	const struct report_blocks_block *a = left, *b = right;
	if (a->event != b->event)
		return a->event < b->event ? -1 : 1;
	if (a->cycles != b->cycles)
		return a->cycles > b->cycles ? -1 : 1;
	return COMPARE(a->order, b->order);
}

static bool report_blocks_print_place(struct blocks *b, uint32_t frame, bool with_whole_path, struct text *t)
{
	struct tally_error err;
	struct frame_name *name = frame_names_get(&b->source.names, frame, &err);
	if (!name || !frame_names_places(&b->source.names, frame, name))
		return false;
	frame_name_line_text(name, with_whole_path, t);
	return true;
}

static uint32_t start_frame(struct blocks *b, const struct report_blocks_block *block)
{
	struct resolver *resolver = &b->source.pass.resolver;
	uint64_t end = resolved_frame_get(&resolver->frames, block->end).address;
	return resolver_earlier_frame(resolver, block->end, end - block->start_address);
}

/* Prints a range such as "[hot.c:4 -> hot.c:9]". */
static bool report_blocks_print_range(
	struct blocks *b, const struct report_request *r, const struct report_blocks_block *block, struct text *t)
{
	uint32_t start = start_frame(b, block);
	text_char(t, '[');
	bool is_made =
		!b->source.pass.resolver.failed && report_blocks_print_place(b, start, r->rows.full_source_path, t);
	text_str(t, " -> ");
	is_made = is_made && report_blocks_print_place(b, block->end, r->rows.full_source_path, t);
	text_char(t, ']');
	return is_made && !t->failed;
}

static double report_blocks_share(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static bool report_blocks_put_place(
	struct blocks *b, const struct report_request *r, struct json *j, const char *key, uint32_t frame)
{
	struct text place = {0};
	bool is_made = !b->source.pass.resolver.failed &&
		       report_blocks_print_place(b, frame, r->rows.full_source_path, &place) && !place.failed;
	if (is_made) {
		json_object(j, key);
		json_hex(j, "address", resolved_frame_get(&b->source.pass.resolver.frames, frame).address);
		json_string(j, "place", text_view(&place));
		json_object_end(j);
	}
	text_deinit(&place);
	return is_made;
}

static const struct cell_column block_columns[] = {
	{"Sampled Cycles%", NULL, 17, LOOK_PERCENT, 2, .after = "  "},
	{"Sampled Cycles", "cycles", 14, .after = "  "},
	{.key = "runs"},
	{.key = "average_cycles"},
	{.key = "cycles_percent", .json_decimals = 4},
	{"Avg Cycles%", "average_percent", 11, LOOK_PERCENT, 2, 4, .after = "  "},
	{"Avg Cycles", NULL, 10, .after = "  "},
	{.key = "symbol"},
	{"[Program Block Range]", NULL, 70, .after = "  "},
	{"Shared Object", "dso", .width = 20},
	{.key = "path"},
};

static struct cells block_cells(const struct report_request *r, struct text *out, struct json *j)
{
	return (struct cells){.columns = block_columns,
		.count = ARRAY_LEN(block_columns),
		.out = out,
		.mark = "# ",
		.separator = r->look.separator,
		.json = j};
}

/* Prints the blocks of one event, which are consecutive from *next on. */
static bool report_blocks_put_blocks(struct blocks *b, const struct report_request *r, const struct cells *table,
	uint32_t event, const struct report_blocks_block **next)
{
	const struct event_sums *sums = &b->sums[event];
	const struct report_blocks_block *end = b->blocks.len ? b->blocks.items + b->blocks.len : NULL;
	struct text range = {0};
	bool is_put = true;
	for (; is_put && *next && *next < end && (*next)->event == event; (*next)++) {
		const struct report_blocks_block *block = *next;
		double share = report_blocks_share(block->cycles, sums->cycles);
		uint64_t average = block->cycles / block->count;
		struct tally_error err;
		if (share < r->look.percent_limit)
			continue;
		text_clear(&range);
		const struct frame_name *name = frame_names_get(&b->source.names, block->end, &err);
		is_put = name && (table->json || report_blocks_print_range(b, r, block, &range));
		if (!is_put)
			break;
		const struct cell row[ARRAY_LEN(block_columns)] = {cell_f64(share), cell_u64(block->cycles),
			cell_u64(block->count), cell_u64(average), cell_f64(share),
			cell_f64(report_blocks_share(average, sums->averages)), cell_u64(average),
			cell_text(str_from(name->symbol)), cell_text(text_view(&range)), cell_text(name->shown),
			cell_text(name->path)};
		if (!table->json) {
			cells_row(table, row);
			continue;
		}
		json_object(table->json, NULL);
		cells_put(table, row);
		is_put = report_blocks_put_place(b, r, table->json, "start", start_frame(b, block)) &&
			 report_blocks_put_place(b, r, table->json, "end", block->end);
		json_object_end(table->json);
	}
	text_deinit(&range);
	return is_put;
}

static bool report_blocks_print_event(struct blocks *b, const struct report_request *r,
	const struct perfdata_event *event, const struct report_blocks_block **next, struct text *out)
{
	const struct event_sums *sums = &b->sums[event->index];
	const struct cells table = block_cells(r, out, NULL);
	struct text name = {0};
	text_bytes(&name, event->name.data, event->name.len);
	text_char(&name, 0);
	if (!r->is_quiet) {
		struct report_title title = {.event = name.failed ? "" : name.data,
			.sample_count = sums->samples,
			.total_period = sums->branches,
			.times = r->samples.times};
		report_text_title(out, &title);
		cells_head(&table);
		cells_rule(&table, '.');
		text_str(out, r->look.separator ? "" : "#\n");
	}
	bool is_printed = !name.failed && report_blocks_put_blocks(b, r, &table, event->index, next);
	text_deinit(&name);
	return is_printed;
}

static bool report_blocks_put_event(struct blocks *b, const struct report_request *r,
	const struct perfdata_event *event, const struct report_blocks_block **next, struct json *j)
{
	const struct event_sums *sums = &b->sums[event->index];
	const struct cells table = block_cells(r, j->out, j);
	json_object(j, NULL);
	json_string(j, "event", event->name);
	json_u64(j, "samples", sums->samples);
	json_u64(j, "branches", sums->branches);
	json_u64(j, "cycles", sums->cycles);
	json_array(j, "blocks");
	bool is_put = report_blocks_put_blocks(b, r, &table, event->index, next);
	json_array_end(j);
	json_object_end(j);
	return is_put;
}

/* Prints the counts that threads had when they exited. j is NULL for text output. */
static enum tally_status put_threads(
	struct blocks *b, const struct report_request *r, struct text *out, struct json *j, struct tally_error *err)
{
	if (!r->output.threads)
		return TALLY_OK;
	perfdata_reader_rewind(b->source.reader);
	return report_read_values(out, j, b->source.reader, r->output.is_raw_pretty, err);
}

static enum tally_status report_blocks_put_all(
	struct blocks *b, const struct report_request *r, struct text *out, struct tally_error *err)
{
	size_t count;
	const struct perfdata_event *events = perfdata_reader_events(b->source.reader, &count);
	const struct report_blocks_block *next = b->blocks.items;
	struct json j = {.out = out};
	report_json_begin(&j, recording_name(r->input.path), perfdata_reader_features(b->source.reader));
	if (r->output.header || r->output.full_info)
		header_json(&j, b->source.reader, r->output.full_info);
	json_u64(&j, "lost_samples", b->source.pass.sideband.health.lost_samples);
	json_array(&j, "cycles");
	for (size_t i = 0; i < count && i < b->event_count; i++)
		if ((b->sums[i].samples || r->look.keeps_empty) &&
			!report_blocks_put_event(b, r, &events[i], &next, &j))
			return error_nomem(err);
	json_array_end(&j);
	enum tally_status status = put_threads(b, r, out, &j, err);
	branch_mix_json(&b->mix, &j);
	json_object_end(&j);
	return status;
}

static enum tally_status report_blocks_print_all(
	struct blocks *b, const struct report_request *r, struct text *out, struct tally_error *err)
{
	size_t count;
	const struct perfdata_event *events = perfdata_reader_events(b->source.reader, &count);
	const struct report_blocks_block *next = b->blocks.items;
	if (r->output.header)
		header_text(out, b->source.reader, r->output.full_info);
	else if (!r->is_quiet)
		text_str(out, HEADER_HINT);
	if (!r->is_quiet)
		origin_comment(out, perfdata_reader_features(b->source.reader));
	if (!r->is_quiet)
		text_printf(
			out, "#\n# Total Lost Samples: %" PRIu64 "\n#\n", b->source.pass.sideband.health.lost_samples);
	for (size_t i = 0; i < count && i < b->event_count; i++)
		if ((b->sums[i].samples || r->look.keeps_empty) &&
			!report_blocks_print_event(b, r, &events[i], &next, out))
			return error_nomem(err);
	enum tally_status status = put_threads(b, r, out, NULL, err);
	branch_mix_print(&b->mix, out);
	return status;
}

static enum tally_status report_blocks_run(
	struct blocks *b, const struct report_request *r, struct text *out, struct tally_error *err)
{
	(void)perfdata_reader_events(b->source.reader, &b->event_count);
	b->sums = calloc(b->event_count, sizeof(*b->sums));
	if (!b->sums)
		return error_nomem(err);
	struct tally_error damage;
	enum tally_status status = report_blocks_read_all(b, &damage);
	if (status == TALLY_NOMEM)
		return error_nomem(err);
	if (b->blocks.len)
		qsort(b->blocks.items, b->blocks.len, sizeof(*b->blocks.items), by_cycles);
	enum tally_status printed =
		(r->output.is_json ? report_blocks_put_all : report_blocks_print_all)(b, r, out, err);
	if (printed == TALLY_OK && status != TALLY_OK && err)
		*err = damage;
	return printed == TALLY_OK ? status : printed;
}

enum tally_status report_blocks(const struct cli *cli, const struct report_request *request, struct text *out,
	struct perfdata_reader **rest, struct tally_error *err)
{
	struct blocks b = {.run_ids = {.words = 2}};
	const struct data_input input = {.file = request->input,
		.traces = request->traces,
		.samples = request->samples,
		.symbols = request->symbols,
		.shows_origin = true};
	enum tally_status status = data_source_open(cli, &input, &b.source, err);
	if (status == TALLY_OK && !recording_samples_branches(b.source.reader)) {
		*rest = b.source.reader;
		b.source.reader = NULL;
	} else if (status == TALLY_OK) {
		status = report_blocks_run(&b, request, out, err);
		if (status == TALLY_OK && b.blocks.len == 0 && !request->is_quiet)
			cli_note_empty(cli, request->input.path, b.source.pass.sideband.health.samples);
	}
	if (b.source.reader && !request->is_quiet)
		cli_print_health(cli, &b.source.pass.sideband.health);
	free(b.sums);
	vec_free(&b.runs);
	vec_free(&b.blocks);
	id_table_deinit(&b.run_ids);
	map_u64_deinit(&b.block_ids);
	data_source_close(&b.source);
	if (*rest)
		perfdata_reader_rewind(*rest);
	return status;
}
