/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/tracks.h"

#include <string.h>

#define FIRST_RESOLUTION_BITS 10
#define MOST_RESOLUTION_BITS  63

void tracks_init(struct tracks *t, size_t max_items)
{
	*t = (struct tracks){.max_items = max_items};
	intern_init(&t->strings);
}

void tracks_deinit(struct tracks *t)
{
	for (size_t i = 0; i < t->tracks.len; i++) {
		vec_free(&t->tracks.items[i].names);
		vec_free(&t->tracks.items[i].spans);
		vec_free(&t->tracks.items[i].levels);
	}
	vec_free(&t->tracks);
	vec_free(&t->arrows);
	intern_deinit(&t->strings);
}

uint32_t tracks_add(struct tracks *t, enum track_kind kind, int32_t id, int32_t pid)
{
	const struct track track = {.kind = kind, .id = id, .pid = pid, .first_ns = UINT64_MAX};
	if (t->tracks.len >= TRACK_NONE || !vec_push(&t->tracks, track))
		return TRACK_NONE;
	return (uint32_t)(t->tracks.len - 1);
}

struct tally_str tracks_last_name(const struct tracks *t, const struct track *track)
{
	return track->names.len > 0 ? intern_get(&t->strings, track->names.items[track->names.len - 1].name) : STR("");
}

bool tracks_name(struct tracks *t, uint32_t track, uint64_t time_ns, struct tally_str name)
{
	struct track *named = &t->tracks.items[track];
	uint32_t id;
	if (named->names.len > 0 && str_equal(tracks_last_name(t, named), name))
		return true;
	return intern_add(&t->strings, name.data, name.len, &id) &&
	       vec_push(&named->names, ((struct track_name){time_ns, id}));
}

bool tracks_text(struct tracks *t, struct tally_str text, uint32_t *id)
{
	*id = text.len > 0 ? intern_find(&t->strings, text.data, text.len) : INTERN_NONE;
	if (text.len == 0 || *id != INTERN_NONE)
		return true;
	if (t->texts >= TRACKS_MAX_TEXTS) {
		t->texts_dropped++;
		return true;
	}
	t->texts++;
	return intern_add(&t->strings, text.data, text.len, id);
}

static void see_all(struct tracks *t, uint64_t time_ns)
{
	if (t->end_ns == 0 || time_ns < t->start_ns)
		t->start_ns = time_ns;
	if (time_ns > t->end_ns)
		t->end_ns = time_ns;
}

void tracks_see(struct tracks *t, uint32_t track, uint64_t time_ns)
{
	struct track *seen = &t->tracks.items[track];
	if (time_ns < seen->first_ns)
		seen->first_ns = time_ns;
	if (time_ns > seen->last_ns)
		seen->last_ns = time_ns;
	see_all(t, time_ns);
}

static int compare_spans(const void *left, const void *right)
{
	const struct track_span *a = left, *b = right;
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	if (a->end_ns != b->end_ns)
		return a->end_ns < b->end_ns ? -1 : 1;
	return (int)a->kind - (int)b->kind;
}

static void sort_spans(struct track_spans *spans)
{
	for (size_t i = 1; i < spans->len; i++)
		if (compare_spans(&spans->items[i - 1], &spans->items[i]) > 0) {
			qsort(spans->items, spans->len, sizeof(*spans->items), compare_spans);
			return;
		}
}

/* Returns whether a span is merged with the last group of its kind: both begin in one interval of resolution_ns, and
 * neither is longer than that. */
static bool tracks_joins(const struct track_span *group, const struct track_span *span, uint64_t resolution_ns)
{
	return group->start_ns / resolution_ns == span->start_ns / resolution_ns && group->held_ns < resolution_ns &&
	       span->held_ns < resolution_ns && group->is_cut == span->is_cut && !group->error == !span->error;
}

static void tracks_join(struct track_span *group, const struct track_span *span)
{
	if (span->end_ns > group->end_ns)
		group->end_ns = span->end_ns;
	group->held_ns += span->held_ns;
	group->bytes += span->bytes;
	group->count += span->count;
	if (group->detail != span->detail)
		group->detail = TRACK_MIXED;
	if (group->text != span->text)
		group->text = INTERN_NONE;
}

/* Merges neighbouring short spans, and returns the number of spans that remain. out may be spans->items, because
 * writing never overtakes reading. */
static size_t tracks_merge(const struct track_spans *spans, uint64_t resolution_ns, struct track_span *out)
{
	size_t last[SPAN_KINDS], len = 0;
	for (size_t i = 0; i < SPAN_KINDS; i++)
		last[i] = SIZE_MAX;
	for (size_t i = 0; i < spans->len; i++) {
		const struct track_span span = spans->items[i];
		size_t group = last[span.kind];
		if (group != SIZE_MAX && tracks_joins(&out[group], &span, resolution_ns)) {
			tracks_join(&out[group], &span);
		} else {
			last[span.kind] = len;
			out[len++] = span;
		}
	}
	return len;
}

bool track_merge(const struct track_spans *spans, uint64_t resolution_ns, struct track_spans *out)
{
	out->len = 0;
	if (spans->len == 0)
		return true;
	if (!vec_reserve(out, spans->len))
		return false;
	if (resolution_ns == 0) {
		memcpy(out->items, spans->items, spans->len * sizeof(*spans->items));
		out->len = spans->len;
	} else {
		out->len = tracks_merge(spans, resolution_ns, out->items);
	}
	return true;
}

static void merge_levels(struct track *track, uint64_t resolution_ns)
{
	size_t len = 0;
	for (size_t i = 0; i < track->levels.len; i++) {
		if (len > 0 && track->levels.items[len - 1].time_ns / resolution_ns ==
				       track->levels.items[i].time_ns / resolution_ns)
			len--; /* The last level of an interval stays valid after it. */
		track->levels.items[len++] = track->levels.items[i];
	}
	track->levels.len = len;
}

/* Keeps one arrow to a track per interval of resolution_ns. */
static bool merge_arrows(struct tracks *t)
{
	/* By track: the interval of its last arrow, + 1; 0: none. */
	uint64_t *interval = calloc(t->tracks.len + 1, sizeof(*interval));
	size_t len = 0;
	if (!interval)
		return false;
	for (size_t i = 0; i < t->arrows.len; i++) {
		const struct track_arrow arrow = t->arrows.items[i];
		uint64_t now = arrow.time_ns / t->resolution_ns + 1;
		if (interval[arrow.to] == now)
			continue;
		interval[arrow.to] = now;
		t->arrows.items[len++] = arrow;
	}
	t->arrows_dropped += t->arrows.len - len;
	t->arrows.len = len;
	free(interval);
	return true;
}

static bool merge_all(struct tracks *t)
{
	if (!merge_arrows(t))
		return false;
	t->items = t->arrows.len;
	for (size_t i = 0; i < t->tracks.len; i++) {
		struct track *track = &t->tracks.items[i];
		sort_spans(&track->spans);
		if (track->spans.len > 0)
			track->spans.len = tracks_merge(&track->spans, t->resolution_ns, track->spans.items);
		merge_levels(track, t->resolution_ns);
		t->items += track->spans.len + track->levels.len;
	}
	return true;
}

bool tracks_coarsen(struct tracks *t)
{
	t->resolution_ns = t->resolution_ns ? t->resolution_ns * 2 : UINT64_C(1) << FIRST_RESOLUTION_BITS;
	return merge_all(t);
}

/* counts[n]: items that join the one before at a resolution of 2^n ns and at all coarser ones. */
struct joins {
	size_t counts[MOST_RESOLUTION_BITS + 2];
};

/* Returns the least n for which all bits from the nth on are 0. */
static unsigned tracks_bits_of(uint64_t number)
{
	return number ? 64 - (unsigned)__builtin_clzll(number) : 0;
}

static void tracks_count_spans(const struct track_spans *spans, struct joins *joins)
{
	const struct track_span *last[SPAN_KINDS] = {NULL};
	for (size_t i = 0; i < spans->len; i++) {
		const struct track_span *span = &spans->items[i], *before = last[span->kind];
		last[span->kind] = span;
		if (before && before->is_cut == span->is_cut && !before->error == !span->error)
			joins->counts[tracks_bits_of(
				(before->start_ns ^ span->start_ns) | before->held_ns | span->held_ns)]++;
	}
}

static void count_levels(const struct track *track, struct joins *joins)
{
	for (size_t i = 1; i < track->levels.len; i++)
		joins->counts[tracks_bits_of(track->levels.items[i - 1].time_ns ^ track->levels.items[i].time_ns)]++;
}

static bool count_arrows(const struct tracks *t, struct joins *joins)
{
	uint64_t *last_ns = calloc(t->tracks.len + 1, sizeof(*last_ns));
	if (!last_ns)
		return false;
	for (size_t i = 0; i < t->arrows.len; i++) {
		const struct track_arrow *arrow = &t->arrows.items[i];
		if (last_ns[arrow->to])
			joins->counts[tracks_bits_of(last_ns[arrow->to] ^ arrow->time_ns)]++;
		last_ns[arrow->to] = arrow->time_ns;
	}
	free(last_ns);
	return true;
}

/* Chooses the first resolution at which half of the room may be free; trying each one would walk all items every
 * time. */
static bool coarsen_first(struct tracks *t)
{
	struct joins joins = {0};
	if (!count_arrows(t, &joins))
		return false;
	for (size_t i = 0; i < t->tracks.len; i++) {
		sort_spans(&t->tracks.items[i].spans);
		tracks_count_spans(&t->tracks.items[i].spans, &joins);
		count_levels(&t->tracks.items[i], &joins);
	}
	uint64_t whole_ns = t->end_ns - t->start_ns;
	size_t left = t->items;
	for (unsigned bits = 0; bits <= MOST_RESOLUTION_BITS; bits++) {
		left -= joins.counts[bits];
		t->resolution_ns = UINT64_C(1) << bits;
		if (bits >= FIRST_RESOLUTION_BITS && (left <= t->max_items / 2 || t->resolution_ns >= whole_ns))
			break;
	}
	return merge_all(t);
}

/* Merges new items at the same resolution, then coarsens it until half of the room is free again. */
static bool tracks_make_room(struct tracks *t)
{
	if (t->resolution_ns != 0 ? !merge_all(t) : !coarsen_first(t))
		return false;
	while (t->items > t->max_items / 2 && t->resolution_ns < t->end_ns - t->start_ns)
		if (!tracks_coarsen(t))
			return false;
	/* Merging cannot free enough if there are as many tracks as items. */
	if (t->items > t->max_items / 2)
		t->max_items = t->items * 2;
	return true;
}

static bool count_item(struct tracks *t)
{
	return ++t->items <= t->max_items || tracks_make_room(t);
}

bool tracks_span(struct tracks *t, uint32_t track, const struct track_span *span)
{
	struct track *to = &t->tracks.items[track];
	struct track_span kept = *span;
	bool is_empty = kept.end_ns <= kept.start_ns;
	if (is_empty && kept.is_cut)
		return true;
	if (kept.count == 0)
		kept.count = 1;
	if (kept.held_ns == 0)
		kept.held_ns = is_empty ? 0 : kept.end_ns - kept.start_ns;
	to->sums[kept.kind].count += kept.count;
	to->sums[kept.kind].ns += kept.held_ns;
	to->sums[kept.kind].bytes += kept.bytes;
	tracks_see(t, track, kept.start_ns);
	if (is_empty)
		return true;
	tracks_see(t, track, kept.end_ns);
	return vec_push(&to->spans, kept) && count_item(t);
}

bool tracks_arrow(struct tracks *t, const struct track_arrow *arrow)
{
	see_all(t, arrow->time_ns);
	return vec_push(&t->arrows, *arrow) && count_item(t);
}

bool tracks_level(struct tracks *t, uint32_t track, uint64_t time_ns, uint64_t value)
{
	tracks_see(t, track, time_ns);
	return vec_push(&t->tracks.items[track].levels, ((struct track_level){time_ns, value})) && count_item(t);
}

bool tracks_finish(struct tracks *t)
{
	if (t->resolution_ns != 0)
		return merge_all(t);
	for (size_t i = 0; i < t->tracks.len; i++)
		sort_spans(&t->tracks.items[i].spans);
	return true;
}
