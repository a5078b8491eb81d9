/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/lock_waits.h"

#include "base/array.h"

/* Ended waits are removed from the tables when there are this many more of them than of waits that go on. */
#define ENDED_KEPT 1024

void lock_waits_init(struct lock_waits *w)
{
	*w = (struct lock_waits){.keys.words = LOCK_ROW_WORDS, .waiting.words = 2, .others.min_ns = UINT64_MAX};
}

void lock_waits_deinit(struct lock_waits *w)
{
	id_table_deinit(&w->keys);
	id_table_deinit(&w->waiting);
	vec_free(&w->rows);
	vec_free(&w->waits);
	vec_free(&w->is_waiting);
}

bool lock_waits_is_full(const struct lock_waits *w)
{
	return w->row_limit && w->rows.len >= w->row_limit;
}

bool lock_waits_row(struct lock_waits *w, const uint64_t key[LOCK_ROW_WORDS], uint32_t *row, bool *is_new)
{
	*is_new = false;
	if (lock_waits_is_full(w)) {
		uint32_t known = id_table_find(&w->keys, key);
		*row = known == ID_TABLE_NONE ? LOCK_ROW_OTHERS : known;
		return true;
	}
	if (!vec_reserve(&w->rows, w->rows.len + 1))
		return false;
	*row = id_table_add(&w->keys, key, is_new);
	if (*row == ID_TABLE_NONE)
		return false;
	if (*is_new)
		w->rows.items[w->rows.len++] = (struct lock_row){.min_ns = UINT64_MAX};
	return true;
}

static struct lock_row *row_at(struct lock_waits *w, uint32_t row)
{
	return row == LOCK_ROW_OTHERS ? &w->others : &w->rows.items[row];
}

/* Returns the index of the thread's wait for the lock; ID_TABLE_NONE if it does not wait for it. */
static uint32_t find_wait(const struct lock_waits *w, int32_t tid, uint64_t address)
{
	const uint64_t key[2] = {(uint32_t)tid, address};
	uint32_t id = id_table_find(&w->waiting, key);
	return id != ID_TABLE_NONE && w->is_waiting.items[id] ? id : ID_TABLE_NONE;
}

/* Removes waits that have ended, because the number of threads and locks is unlimited. */
static bool forget_ended(struct lock_waits *w)
{
	struct id_table still = {.words = w->waiting.words};
	size_t kept = 0;
	for (size_t i = 0; i < w->waits.len; i++) {
		if (!w->is_waiting.items[i])
			continue;
		if (id_table_add(&still, id_table_key(&w->waiting, (uint32_t)i), NULL) == ID_TABLE_NONE) {
			id_table_deinit(&still);
			return false;
		}
		w->waits.items[kept] = w->waits.items[i];
		w->is_waiting.items[kept++] = true;
	}
	id_table_deinit(&w->waiting);
	w->waiting = still;
	w->waits.len = w->is_waiting.len = kept;
	return true;
}

bool lock_waits_begin(struct lock_waits *w, const struct lock_wait *wait)
{
	const uint64_t key[2] = {(uint32_t)wait->tid, wait->address};
	if (find_wait(w, wait->tid, wait->address) != ID_TABLE_NONE)
		return true;
	if (w->waits.len >= ENDED_KEPT + 2 * w->open && !forget_ended(w))
		return false;
	if (!vec_reserve(&w->waits, w->waits.len + 1) || !vec_reserve(&w->is_waiting, w->is_waiting.len + 1))
		return false;
	bool is_new;
	uint32_t id = id_table_add(&w->waiting, key, &is_new);
	if (id == ID_TABLE_NONE)
		return false;
	if (is_new)
		w->waits.len = w->is_waiting.len = id + 1;
	w->waits.items[id] = *wait;
	w->is_waiting.items[id] = true;
	w->open++;
	return true;
}

static void end_wait(struct lock_waits *w, uint32_t id, uint64_t time_ns)
{
	const struct lock_wait *wait = &w->waits.items[id];
	struct lock_row *row = row_at(w, wait->row);
	uint64_t waited_ns = time_ns > wait->time_ns ? time_ns - wait->time_ns : 0;
	w->is_waiting.items[id] = false;
	w->open--;
	if (row->contended == 0)
		row->flags = wait->flags;
	row->contended++;
	row->acquired++;
	row->total_ns += waited_ns;
	if (waited_ns > row->max_ns)
		row->max_ns = waited_ns;
	if (waited_ns < row->min_ns)
		row->min_ns = waited_ns;
}

void lock_waits_end(struct lock_waits *w, int32_t tid, uint64_t address, uint64_t time_ns)
{
	uint32_t id = find_wait(w, tid, address);
	if (id == ID_TABLE_NONE)
		w->unbegun++;
	else
		end_wait(w, id, time_ns);
}

void lock_waits_acquire(struct lock_waits *w, const struct lock_wait *taken)
{
	uint32_t id = find_wait(w, taken->tid, taken->address);
	if (id == ID_TABLE_NONE)
		row_at(w, taken->row)->acquired++;
	else
		end_wait(w, id, taken->time_ns);
}

void lock_waits_add(struct lock_waits *w, uint32_t row, const struct lock_row *sum)
{
	struct lock_row *to = row_at(w, row);
	if (to->contended == 0)
		to->flags = sum->flags;
	to->acquired += sum->acquired;
	to->contended += sum->contended;
	to->total_ns += sum->total_ns;
	to->max_ns = MAX(to->max_ns, sum->max_ns);
	to->min_ns = MIN(to->min_ns, sum->min_ns);
}

static void lock_waits_abandon(struct lock_waits *w, const int32_t *tid)
{
	for (size_t i = 0; w->open > 0 && i < w->waits.len; i++) {
		if (!w->is_waiting.items[i] || (tid && w->waits.items[i].tid != *tid))
			continue;
		w->is_waiting.items[i] = false;
		w->open--;
		w->unended++;
	}
}

void lock_waits_end_thread(struct lock_waits *w, int32_t tid)
{
	lock_waits_abandon(w, &tid);
}

void lock_waits_give_up(struct lock_waits *w)
{
	lock_waits_abandon(w, NULL);
}

void lock_waits_finish(struct lock_waits *w)
{
	w->unended += w->open;
}

const char *lock_type_name(uint32_t flags)
{
	bool is_spinning = flags & LOCK_FLAG_SPIN, is_reader = flags & LOCK_FLAG_READ;
	if (flags & LOCK_FLAG_MUTEX)
		return "mutex";
	if (flags & LOCK_FLAG_PERCPU)
		return is_reader ? "pcpu-sem:R" : "pcpu-sem:W";
	if (!(flags & (LOCK_FLAG_READ | LOCK_FLAG_WRITE))) {
		if (flags & LOCK_FLAG_RT)
			return "rt-mutex";
		return is_spinning ? "spinlock" : "semaphore";
	}
	if (flags & LOCK_FLAG_RT)
		return is_reader ? "rwlock-rt:R" : "rwlock-rt:W";
	if (is_spinning)
		return is_reader ? "rwlock:R" : "rwlock:W";
	return is_reader ? "rwsem:R" : "rwsem:W";
}
