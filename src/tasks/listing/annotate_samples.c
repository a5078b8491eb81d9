/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/listing/annotate_samples.h"

#include "abi/branch.h"
#include "base/array.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/order.h"
#include "base/word_list.h"
#include "cli/progress_line.h"
#include "tasks/listing/annotate_names.h"
#include "tasks/session/cpu_filter.h"

static enum tally_status annotate_samples_count_spans(struct annotate_samples *samples,
	const struct resolve_where *where, const struct data_sample *sample, struct tally_error *err)
{
	struct resolver *resolver = &samples->source.pass.resolver;
	uint32_t count = sample->sample.present & SAMPLE_BRANCH_STACK ? sample_branch_count(&sample->sample) : 0;
	/* Branches are sorted from the newest to the oldest. */
	for (uint32_t i = 0; i + 1 < count; i++) {
		struct sample_branch next = sample_branch_at(&sample->sample, i);
		struct sample_branch last = sample_branch_at(&sample->sample, i + 1);
		if (next.from < last.to || next.from - last.to > LIMIT_FUNCTION_BYTES)
			continue;
		unsigned mode = (int64_t)next.from < 0 ? MISC_CPUMODE_KERNEL : MISC_CPUMODE_USER;
		uint32_t start = resolver_frame(resolver, where, mode, last.to);
		uint32_t end = resolver_frame(resolver, where, mode, next.from);
		bool is_new;
		uint64_t *id =
			resolver->failed ? NULL : map_u64_at(&samples->span_ids, (uint64_t)start << 32 | end, &is_new);
		if (!id)
			return error_nomem(err);
		if (is_new) {
			struct annotate_span span = {.start = start, .end = end};
			*id = samples->spans.len;
			if (!vec_push(&samples->spans, span))
				return error_nomem(err);
		}
		struct annotate_span *span = &samples->spans.items[*id];
		span->count++;
		span->predicted += next.is_predicted;
		span->cycles += next.cycles;
		if (next.cycles == 0)
			continue;
		if (span->timed++ == 0 || next.cycles < span->least_cycles)
			span->least_cycles = next.cycles;
		if (next.cycles > span->most_cycles)
			span->most_cycles = next.cycles;
	}
	return TALLY_OK;
}

static enum tally_status annotate_samples_count_sample(
	struct annotate_samples *samples, const struct data_sample *sample, struct tally_error *err)
{
	struct resolver *resolver = &samples->source.pass.resolver;
	uint32_t event = sample->event->index;
	if (event >= samples->event_count || !(sample->event->attr.sample_type & SAMPLE_IP))
		return TALLY_OK;
	struct resolve_where where = resolver_where(resolver, (int32_t)sample->sample.pid, sample->clock);
	uint32_t frame = resolver_frame(resolver, &where, sample->record.misc & MISC_CPUMODE_MASK, sample->sample.ip);
	bool is_new;
	uint64_t *id = resolver->failed ? NULL : map_u64_at(&samples->cell_ids, (uint64_t)frame << 32 | event, &is_new);
	if (!id)
		return error_nomem(err);
	if (is_new) {
		struct annotate_cell cell = {.frame = frame, .event = event};
		*id = samples->cells.len;
		if (!vec_push(&samples->cells, cell))
			return error_nomem(err);
	}
	struct annotate_sum *sum = &samples->cells.items[*id].sum;
	sum->count++;
	sum->period += sample->sample.period;
	samples->events[event].count++;
	samples->events[event].period += sample->sample.period;
	return annotate_samples_count_spans(samples, &where, sample, err);
}

static enum tally_status annotate_samples_add_cell(struct annotate_samples *samples,
	const struct annotate_request *request, const struct annotate_cell *cell, struct tally_error *err)
{
	uint32_t store_id = 0;
	struct frame_name *name = frame_names_get(&samples->source.names, cell->frame, err);
	if (!name)
		return TALLY_NOMEM;
	name->samples += cell->sum.count;
	struct resolved_frame frame = resolved_frame_get(&samples->source.pass.resolver.frames, cell->frame);
	if (request->symbol && !annotate_names_is(name->symbol, request->symbol))
		return TALLY_OK;
	const char *dsos = samples->source.filter.options.filters.dsos;
	if (dsos && !word_list_has(dsos, name->shown) && !word_list_has(dsos, name->path))
		return TALLY_OK;
	samples->listed[cell->event].count += cell->sum.count;
	samples->listed[cell->event].period += cell->sum.period;
	const struct symbol *symbol = frame_names_symbol(&samples->source.names, &frame, &store_id);
	if (!symbol || !name->symbol)
		return TALLY_OK;
	bool is_new;
	uint64_t *id = map_u64_at(&samples->target_ids, (uint64_t)(uintptr_t)symbol, &is_new);
	if (!id)
		return error_nomem(err);
	if (is_new) {
		struct annotate_target *target = arena_new(&samples->arena, struct annotate_target);
		struct annotate_sum *sums = arena_array(&samples->arena, struct annotate_sum, samples->event_count);
		if (!target || !sums || !vec_push(&samples->targets, target))
			return error_nomem(err);
		*target = (struct annotate_target){.store_id = store_id, .symbol = symbol, .frame = name, .sums = sums};
		*id = samples->targets.len - 1;
		target->order = (uint32_t)*id;
	}
	struct annotate_target *target = samples->targets.items[*id];
	struct annotate_hit hit = {.address = frame.address, .event = cell->event, .sum = cell->sum};
	if (!vec_push(&target->hits, hit))
		return error_nomem(err);
	target->sums[cell->event].count += cell->sum.count;
	target->sums[cell->event].period += cell->sum.period;
	return TALLY_OK;
}

/* Adds the span (code that ran between two branches) to the function that contains it, if that has samples. */
static enum tally_status annotate_samples_add_span(
	struct annotate_samples *samples, const struct annotate_span *span, struct tally_error *err)
{
	uint32_t store_id;
	struct resolved_frame start = resolved_frame_get(&samples->source.pass.resolver.frames, (uint32_t)span->start);
	struct resolved_frame end = resolved_frame_get(&samples->source.pass.resolver.frames, (uint32_t)span->end);
	const struct symbol *symbol = frame_names_symbol(&samples->source.names, &start, &store_id);
	bool is_new;
	uint64_t *id = symbol && start.binary == end.binary && end.address < symbol->end
			       ? map_u64_at(&samples->target_ids, (uint64_t)(uintptr_t)symbol, &is_new)
			       : NULL;
	if (!id)
		return TALLY_OK;
	if (is_new)
		*id = UINT64_MAX; /* The function has no samples, so its spans are ignored. */
	if (*id >= samples->targets.len)
		return TALLY_OK;
	struct annotate_span inside = *span;
	inside.start = start.address;
	inside.end = end.address;
	return vec_push(&samples->targets.items[*id]->spans, inside) ? TALLY_OK : error_nomem(err);
}

static int annotate_samples_by_address(const void *left, const void *right)
{
	const struct annotate_hit *a = left, *b = right;
	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return COMPARE(a->event, b->event);
}

enum tally_status annotate_samples_choose(
	struct annotate_samples *samples, const char *wanted, const char **chosen, struct tally_error *err)
{
	struct annotate_names names = {0};
	enum tally_status status = TALLY_OK;
	for (size_t i = 0; i < samples->cells.len && status == TALLY_OK; i++) {
		const struct annotate_cell *cell = &samples->cells.items[i];
		const struct frame_name *name = frame_names_get(&samples->source.names, cell->frame, NULL);
		if (!name || (name->symbol && !annotate_names_see(&names, name->symbol, cell->sum.count)))
			status = error_nomem(err);
	}
	if (status == TALLY_OK)
		status = annotate_names_choose(&names, wanted, chosen, err);
	annotate_names_deinit(&names);
	return status;
}

static enum tally_status annotate_samples_read_all(
	const struct annotate_request *request, struct annotate_samples *samples, struct tally_error *err)
{
	struct data_sample sample;
	enum tally_status status;
	(void)perfdata_reader_events(samples->source.reader, &samples->event_count);
	samples->events = arena_array(&samples->arena, struct annotate_sum, samples->event_count);
	samples->listed = arena_array(&samples->arena, struct annotate_sum, samples->event_count);
	if (!samples->events || !samples->listed)
		return error_nomem(err);
	struct progress_line line;
	struct progress *progress = request->progress ? request->progress : &line.progress;
	if (!request->progress)
		progress_line_start(&line);
	progress_begin(progress, "reading samples", perfdata_reader_bytes(samples->source.reader));
	while ((status = data_source_next(&samples->source, &sample, err)) == TALLY_OK) {
		progress_add(progress, sample.record.bytes.len);
		status = annotate_samples_count_sample(samples, &sample, err);
		if (status != TALLY_OK)
			break;
	}
	if (!request->progress)
		progress_line_stop(&line);
	progress_begin(request->progress, "looking up names", 0);
	if (status == TALLY_NOMEM)
		return status;
	enum tally_status end = status == TALLY_END ? TALLY_OK : status;
	struct annotate_request chosen = *request;
	if (request->symbol &&
		(status = annotate_samples_choose(samples, request->symbol, &chosen.symbol, err)) != TALLY_OK) {
		samples->event_count = 0; /* No function is shown. */
		return status;
	}
	for (size_t i = 0; i < samples->cells.len; i++) {
		struct tally_error inner;
		status = annotate_samples_add_cell(samples, &chosen, &samples->cells.items[i], &inner);
		if (status != TALLY_OK)
			return error_nomem(err);
	}
	for (size_t i = 0; i < samples->spans.len; i++) {
		status = annotate_samples_add_span(samples, &samples->spans.items[i], err);
		if (status != TALLY_OK)
			return status;
	}
	for (size_t i = 0; i < samples->targets.len; i++)
		if (samples->targets.items[i]->hits.len > 1)
			qsort(samples->targets.items[i]->hits.items, samples->targets.items[i]->hits.len,
				sizeof(struct annotate_hit), annotate_samples_by_address);
	return end;
}

static struct data_input annotate_samples_begin(
	const struct annotate_request *request, struct annotate_samples *samples)
{
	struct data_input input = request->input;
	input.progress = request->progress;
	input.shows_origin = true;
	*samples = (struct annotate_samples){0};
	arena_init(&samples->arena);
	return input;
}

enum tally_status annotate_samples_read(const struct cli *cli, const struct annotate_request *request,
	struct annotate_samples *samples, struct tally_error *err)
{
	struct data_input input = annotate_samples_begin(request, samples);
	enum tally_status status = data_source_open(cli, &input, &samples->source, err);
	return status == TALLY_OK ? annotate_samples_read_all(request, samples, err) : status;
}

enum tally_status annotate_samples_take(const struct cli *cli, const struct annotate_request *request,
	struct perfdata_reader *reader, struct binary_store *store, struct annotate_samples *samples,
	struct tally_error *err)
{
	struct data_input input = annotate_samples_begin(request, samples);
	enum tally_status status = data_source_take(cli, &input, reader, store, &samples->source, err);
	return status == TALLY_OK ? annotate_samples_read_all(request, samples, err) : status;
}

static int annotate_samples_by_period(const void *left, const void *right)
{
	const struct annotate_ranked *a = left, *b = right;
	/* As in perf's reports, the leader of the group decides, and then its other members. */
	for (uint32_t i = a->first; i < a->first + a->count; i++)
		if (a->target->sums[i].period != b->target->sums[i].period)
			return a->target->sums[i].period > b->target->sums[i].period ? -1 : 1;
	/* Functions with equal periods are sorted by file and name, as in reports. */
	const struct frame_name *of_a = a->target->frame, *of_b = b->target->frame;
	int order = memcmp(of_a->shown.data, of_b->shown.data, MIN(of_a->shown.len, of_b->shown.len));
	if (order == 0 && of_a->shown.len != of_b->shown.len)
		order = of_a->shown.len < of_b->shown.len ? -1 : 1;
	if (order == 0)
		order = strcmp(of_a->symbol, of_b->symbol);
	if (order)
		return order;
	return a->target->order < b->target->order ? -1 : 1;
}

uint64_t annotate_sum_period(const struct annotate_sum *sums, uint32_t first, uint32_t count)
{
	uint64_t period = 0;
	for (uint32_t i = first; i < first + count; i++)
		period += sums[i].period;
	return period;
}

const struct annotate_ranked *annotate_samples_rank(struct annotate_samples *samples, uint32_t first, uint32_t count)
{
	size_t target_count = samples->targets.len;
	struct annotate_ranked *ranked = arena_array(&samples->arena, struct annotate_ranked, target_count);
	if (!ranked)
		return NULL;
	for (size_t i = 0; i < target_count; i++) {
		const struct annotate_target *target = samples->targets.items[i];
		ranked[i] =
			(struct annotate_ranked){target, annotate_sum_period(target->sums, first, count), first, count};
	}
	qsort(ranked, target_count, sizeof(*ranked), annotate_samples_by_period);
	return ranked;
}

void annotate_samples_deinit(struct annotate_samples *samples)
{
	for (size_t i = 0; i < samples->targets.len; i++) {
		vec_free(&samples->targets.items[i]->hits);
		vec_free(&samples->targets.items[i]->spans);
	}
	vec_free(&samples->spans);
	map_u64_deinit(&samples->span_ids);
	vec_free(&samples->targets);
	vec_free(&samples->cells);
	map_u64_deinit(&samples->cell_ids);
	map_u64_deinit(&samples->target_ids);
	data_source_close(&samples->source);
	arena_deinit(&samples->arena);
}
