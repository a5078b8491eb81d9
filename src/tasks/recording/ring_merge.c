/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/recording/ring_merge.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"

#define RELEASE_SHARE 16

enum tally_status ring_merge_init(struct ring_merge *m, struct recorder *recorder,
	uint64_t (*time_of)(void *context, const struct record *record), void *context, struct tally_error *err)
{
	size_t ring_count = recorder_ring_count(recorder);
	*m = (struct ring_merge){.recorder = recorder, .share = recorder_ring_bytes(recorder) / RELEASE_SHARE};
	m->released = calloc(ring_count + 1, sizeof(*m->released));
	if (!m->released)
		return error_nomem(err);
	return live_merge_init(&m->merge, ring_count, time_of, context, err);
}

void ring_merge_deinit(struct ring_merge *m)
{
	live_merge_deinit(&m->merge);
	free(m->released);
	*m = (struct ring_merge){0};
}

static void ring_merge_release_ring(struct ring_merge *m, size_t ring)
{
	uint64_t taken = live_merge_taken(&m->merge, ring);
	if (taken > m->released[ring])
		recorder_ring_release(m->recorder, ring, taken - m->released[ring]);
	m->released[ring] = taken;
}

/* Reads all rings twice, as live_merge.h requires. */
enum tally_status ring_merge_look(struct ring_merge *m, bool is_last, uint64_t *fill, struct tally_error *err)
{
	struct tally_bytes slices[2];
	size_t count = m->merge.count;
	*fill = 0;
	live_merge_start(&m->merge, is_last);
	for (size_t i = 0; i < count; i++)
		live_merge_note(&m->merge, i, slices, recorder_ring_peek(m->recorder, i, slices));
	for (size_t i = 0; i < count; i++) {
		size_t n = recorder_ring_peek(m->recorder, i, slices);
		uint64_t bytes = n == 0 ? 0 : slices[0].len + (n == 2 ? slices[1].len : 0);
		*fill = MAX(bytes, *fill);
		m->released[i] = 0;
		if (!live_merge_show(&m->merge, i, slices, n))
			return error_nomem(err);
	}
	return TALLY_OK;
}

bool ring_merge_next(struct ring_merge *m, struct record *record)
{
	return live_merge_next(&m->merge, &m->ring, record);
}

bool ring_merge_advance(struct ring_merge *m)
{
	size_t ring = m->ring;
	if (!live_merge_advance(&m->merge))
		return false;
	if (live_merge_taken(&m->merge, ring) - m->released[ring] >= m->share)
		ring_merge_release_ring(m, ring);
	return true;
}

void ring_merge_release(struct ring_merge *m)
{
	for (size_t i = 0; i < m->merge.count; i++)
		ring_merge_release_ring(m, i);
}
