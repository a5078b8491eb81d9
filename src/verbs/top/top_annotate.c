/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/top/top_annotate.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/live/live_profile.h"
#include "base/error.h"
#include "base/order.h"
#include "profile/profile_copy.h"

/* Maximum number of files in a store. A store with more is recreated, because programs that are built and run
 * continually add files. */
#define FILES_KEPT 512

/* Counts are in fractions of a sample (LIVE_COUNT_UNIT), as those of the profile. */
struct kept_function {
	const struct symbol *symbol; /* Owned by the store. */
	uint32_t store_id;
	char *name;
	struct tally_str path; /* Stored behind the name, in the same allocation. */
	VEC(struct annotate_hit) hits; /* Sorted by address and event. */
};

struct top_annotate {
	struct top_annotate_config config;
	struct annotate_samples samples, former;
	bool has_samples, has_former, has_failed;
	VEC(struct kept_function) kept;
	struct map_u64 by_symbol; /* Maps the address of a symbol to an index of kept. */
	VEC(struct annotate_sum) whole; /* Sums of the samples of all functions, indexed by event. */
};

enum tally_status top_annotate_create(
	const struct top_annotate_config *config, struct top_annotate **annotate, struct tally_error *err)
{
	struct top_annotate *a = calloc(1, sizeof(*a));
	if (!a)
		return error_nomem(err);
	a->config = *config;
	*annotate = a;
	return TALLY_OK;
}

static void drop_function(struct kept_function *kept)
{
	free(kept->name);
	vec_free(&kept->hits);
}

void top_annotate_zero(struct top_annotate *a)
{
	for (size_t i = 0; i < a->kept.len; i++)
		drop_function(&a->kept.items[i]);
	a->kept.len = 0;
	map_u64_deinit(&a->by_symbol);
	a->by_symbol = (struct map_u64){0};
	a->whole.len = 0;
}

void top_annotate_destroy(struct top_annotate *a)
{
	if (!a)
		return;
	top_annotate_zero(a);
	vec_free(&a->kept);
	vec_free(&a->whole);
	if (a->has_samples)
		annotate_samples_deinit(&a->samples);
	if (a->has_former)
		annotate_samples_deinit(&a->former);
	free(a);
}

/* ---- retained samples ---- */

static void fade_sum(struct annotate_sum *sum)
{
	const struct profile_ratio ratio = LIVE_FADE;
	sum->count = sum->count * ratio.numerator / ratio.denominator;
	sum->period = sum->period * ratio.numerator / ratio.denominator;
}

/* Reduces the weight of all samples, as the profile does, and removes those whose weight has become too small. */
static void top_annotate_fade(struct top_annotate *a)
{
	for (size_t i = 0; i < a->whole.len; i++)
		fade_sum(&a->whole.items[i]);
	for (size_t i = 0; i < a->kept.len; i++) {
		struct kept_function *kept = &a->kept.items[i];
		size_t left = 0;
		for (size_t h = 0; h < kept->hits.len; h++) {
			struct annotate_hit hit = kept->hits.items[h];
			fade_sum(&hit.sum);
			if (hit.sum.count >= LIVE_LEAST_COUNT)
				kept->hits.items[left++] = hit;
		}
		kept->hits.len = left;
	}
}

static bool top_annotate_add_function(struct top_annotate *a, const struct annotate_target *target, uint64_t *index)
{
	const char *symbol = target->frame->symbol;
	struct tally_str path = target->frame->path;
	size_t len = strlen(symbol) + 1;
	struct kept_function kept = {
		.symbol = target->symbol, .store_id = target->store_id, .name = malloc(len + path.len + 1)};
	if (!kept.name)
		return false;
	memcpy(kept.name, symbol, len);
	memcpy(kept.name + len, path.data, path.len);
	kept.path = (struct tally_str){kept.name + len, path.len};
	*index = a->kept.len;
	if (vec_push(&a->kept, kept))
		return true;
	free(kept.name);
	return false;
}

static int top_annotate_compare_hits(const struct annotate_hit *a, const struct annotate_hit *b)
{
	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return COMPARE(a->event, b->event);
}

/* Merges two lists that are sorted by address and event. */
static bool top_annotate_add_hits(struct kept_function *kept, const struct annotate_target *target)
{
	VEC(struct annotate_hit) merged = {0};
	size_t old = 0, count = kept->hits.len;

	if (!vec_reserve(&merged, count + target->hits.len))
		return false;
	for (size_t i = 0; i < target->hits.len; i++) {
		struct annotate_hit hit = target->hits.items[i];
		hit.sum.count *= LIVE_COUNT_UNIT;
		while (old < count && top_annotate_compare_hits(&kept->hits.items[old], &hit) < 0)
			merged.items[merged.len++] = kept->hits.items[old++];
		if (old < count && top_annotate_compare_hits(&kept->hits.items[old], &hit) == 0) {
			hit.sum.count += kept->hits.items[old].sum.count;
			hit.sum.period += kept->hits.items[old++].sum.period;
		}
		merged.items[merged.len++] = hit;
	}
	while (old < count)
		merged.items[merged.len++] = kept->hits.items[old++];
	vec_free(&kept->hits);
	kept->hits.items = merged.items;
	kept->hits.len = merged.len;
	kept->hits.cap = merged.cap;
	return true;
}

static bool top_annotate_add_samples(struct top_annotate *a, const struct annotate_samples *fresh)
{
	while (a->whole.len < fresh->event_count)
		if (!vec_push(&a->whole, ((struct annotate_sum){0})))
			return false;
	for (size_t i = 0; i < fresh->event_count; i++) {
		a->whole.items[i].count += fresh->events[i].count * LIVE_COUNT_UNIT;
		a->whole.items[i].period += fresh->events[i].period;
	}
	for (size_t i = 0; i < fresh->targets.len; i++) {
		const struct annotate_target *target = fresh->targets.items[i];
		bool is_new;
		uint64_t *index = map_u64_at(&a->by_symbol, (uint64_t)(uintptr_t)target->symbol, &is_new);
		if (!index || (is_new && !top_annotate_add_function(a, target, index)) ||
			!top_annotate_add_hits(&a->kept.items[*index], target))
			return false;
	}
	return true;
}

/* Removes functions without samples. The map is rebuilt, because this changes the indices. */
static bool forget_empty(struct top_annotate *a)
{
	size_t left = 0;
	map_u64_deinit(&a->by_symbol);
	a->by_symbol = (struct map_u64){0};
	for (size_t i = 0; i < a->kept.len; i++) {
		if (a->kept.items[i].hits.len == 0) {
			drop_function(&a->kept.items[i]);
			continue;
		}
		a->kept.items[left] = a->kept.items[i];
		if (!map_u64_set(&a->by_symbol, (uint64_t)(uintptr_t)a->kept.items[left].symbol, left))
			return false;
		left++;
	}
	a->kept.len = left;
	return true;
}

/* ---- samples for the view ---- */

/* Adds a function that had no samples in this interval. */
static struct annotate_target *add_target(struct annotate_samples *fresh, const struct kept_function *kept)
{
	struct annotate_target *target = arena_new(&fresh->arena, struct annotate_target);
	struct annotate_sum *sums = arena_array(&fresh->arena, struct annotate_sum, fresh->event_count);
	struct frame_name *frame = arena_new(&fresh->arena, struct frame_name);
	const char *path = arena_string(&fresh->arena, kept->path.data, kept->path.len);
	if (!target || !sums || !frame || !path || !vec_push(&fresh->targets, target))
		return NULL;
	*frame = (struct frame_name){
		.symbol = arena_string(&fresh->arena, kept->name, strlen(kept->name)), .path = {path, kept->path.len}};
	*target = (struct annotate_target){.store_id = kept->store_id,
		.symbol = kept->symbol,
		.frame = frame,
		.sums = sums,
		.order = (uint32_t)fresh->targets.len - 1};
	bool is_set = map_u64_set(&fresh->target_ids, (uint64_t)(uintptr_t)kept->symbol, fresh->targets.len - 1);
	return frame->symbol && is_set ? target : NULL;
}

static uint64_t shown_count(uint64_t count)
{
	return (count + LIVE_COUNT_UNIT / 2) / LIVE_COUNT_UNIT;
}

static bool show_function(struct annotate_samples *fresh, const struct kept_function *kept)
{
	uint64_t index;
	bool is_there = map_u64_find(&fresh->target_ids, (uint64_t)(uintptr_t)kept->symbol, &index) &&
			index < fresh->targets.len;
	struct annotate_target *target = is_there ? fresh->targets.items[index] : add_target(fresh, kept);
	if (!target)
		return false;
	target->hits.len = 0;
	if (!vec_reserve(&target->hits, kept->hits.len))
		return false;
	memset(target->sums, 0, fresh->event_count * sizeof(*target->sums));
	for (size_t i = 0; i < kept->hits.len; i++) {
		struct annotate_hit hit = kept->hits.items[i];
		hit.sum.count = shown_count(hit.sum.count);
		target->hits.items[target->hits.len++] = hit;
		target->sums[hit.event].count += hit.sum.count;
		target->sums[hit.event].period += hit.sum.period;
	}
	return true;
}

static bool top_annotate_show(const struct top_annotate *a, struct annotate_samples *fresh)
{
	for (size_t i = 0; i < fresh->event_count; i++)
		fresh->events[i] =
			(struct annotate_sum){shown_count(a->whole.items[i].count), a->whole.items[i].period};
	for (size_t i = 0; i < a->kept.len; i++)
		if (!show_function(fresh, &a->kept.items[i]))
			return false;
	return true;
}

static bool is_full(const struct annotate_samples *samples)
{
	for (size_t i = 0; i < samples->targets.len; i++)
		if (samples->targets.items[i]->store_id >= FILES_KEPT)
			return true;
	return false;
}

/* Transfers the store from the previous samples. If it has grown too large, it remains with them and is freed with
 * them. */
static struct binary_store *take_store(struct top_annotate *a)
{
	struct binary_store *store = NULL;
	if (!a->has_samples)
		return NULL;
	if (is_full(&a->samples)) {
		top_annotate_zero(a);
		return NULL;
	}
	store = a->samples.source.store;
	a->samples.source.store = NULL;
	return store;
}

enum tally_status top_annotate_take(
	struct top_annotate *a, struct tally_bytes recording, bool fades, struct tally_error *err)
{
	const struct annotate_request request = {.input.symbols = *a->config.symbols};
	struct annotate_samples fresh;
	struct perfdata_reader *reader;
	if (a->has_failed)
		return error_set(err, TALLY_INVALID, "samples by address could not be kept");
	enum tally_status status = perfdata_reader_open_beginning(recording, &reader, err);
	if (status != TALLY_OK)
		return status;
	a->has_failed = true; /* Remains set on failure, because the store has been transferred already. */
	status = annotate_samples_take(a->config.cli, &request, reader, take_store(a), &fresh, err);
	if (status == TALLY_OK && fades)
		top_annotate_fade(a);
	if (status == TALLY_OK &&
		!(top_annotate_add_samples(a, &fresh) && forget_empty(a) && top_annotate_show(a, &fresh)))
		status = error_nomem(err);
	if (a->has_former)
		annotate_samples_deinit(&a->former);
	a->former = a->samples;
	a->has_former = a->has_samples;
	a->samples = fresh;
	a->has_samples = true;
	a->has_failed = status != TALLY_OK;
	return status;
}

struct annotate_samples *top_annotate_samples(struct top_annotate *a)
{
	return a->has_samples ? &a->samples : NULL;
}

const struct annotate_target *top_annotate_find(struct top_annotate *a, const char *symbol)
{
	const struct annotate_target *best = NULL;
	uint64_t most = 0;
	for (size_t i = 0; a->has_samples && i < a->samples.targets.len; i++) {
		const struct annotate_target *target = a->samples.targets.items[i];
		uint64_t period = annotate_sum_period(target->sums, 0, (uint32_t)a->samples.event_count);
		if (strcmp(target->frame->symbol, symbol) == 0 && (!best || period > most)) {
			best = target;
			most = period;
		}
	}
	return best;
}
