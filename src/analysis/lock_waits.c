#include "analysis/lock_waits.h"

void lock_waits_init(struct lock_waits *w)
{
	*w = (struct lock_waits){.keys.words = LOCK_ROW_WORDS, .waiting.words = 2};
}

void lock_waits_deinit(struct lock_waits *w)
{
	id_table_deinit(&w->keys);
	id_table_deinit(&w->waiting);
	vec_free(&w->rows);
	vec_free(&w->waits);
	vec_free(&w->is_waiting);
}

bool lock_waits_row(struct lock_waits *w, const uint64_t key[LOCK_ROW_WORDS], uint32_t *row, bool *is_new)
{
	if (!vec_reserve(&w->rows, w->rows.len + 1))
		return false;
	*row = id_table_add(&w->keys, key, is_new);
	if (*row == ID_TABLE_NONE)
		return false;
	if (*is_new)
		w->rows.items[w->rows.len++] = (struct lock_row){.min_ns = UINT64_MAX};
	return true;
}

/* The place of a thread's wait at a lock. */
static bool find_wait(struct lock_waits *w, int32_t tid, uint64_t address, uint32_t *id)
{
	const uint64_t key[2] = {(uint32_t)tid, address};
	if (!vec_reserve(&w->waits, w->waits.len + 1) || !vec_reserve(&w->is_waiting, w->is_waiting.len + 1))
		return false;
	bool is_new;
	*id = id_table_add(&w->waiting, key, &is_new);
	if (*id == ID_TABLE_NONE)
		return false;
	if (is_new) {
		w->waits.items[w->waits.len++] = (struct lock_wait){0};
		w->is_waiting.items[w->is_waiting.len++] = false;
	}
	return true;
}

bool lock_waits_begin(struct lock_waits *w, const struct lock_wait *wait)
{
	uint32_t id;
	if (!find_wait(w, wait->tid, wait->address, &id))
		return false;
	if (w->is_waiting.items[id])
		return true;
	w->is_waiting.items[id] = true;
	w->waits.items[id] = *wait;
	return true;
}

bool lock_waits_end(struct lock_waits *w, int32_t tid, uint64_t address, uint64_t time_ns)
{
	uint32_t id;
	if (!find_wait(w, tid, address, &id))
		return false;
	if (!w->is_waiting.items[id]) {
		w->unbegun++;
		return true;
	}
	const struct lock_wait *wait = &w->waits.items[id];
	struct lock_row *row = &w->rows.items[wait->row];
	uint64_t waited_ns = time_ns > wait->time_ns ? time_ns - wait->time_ns : 0;
	w->is_waiting.items[id] = false;
	if (row->contended == 0)
		row->flags = wait->flags;
	row->contended++;
	row->acquired++;
	row->total_ns += waited_ns;
	if (waited_ns > row->max_ns)
		row->max_ns = waited_ns;
	if (waited_ns < row->min_ns)
		row->min_ns = waited_ns;
	return true;
}

bool lock_waits_acquire(struct lock_waits *w, const struct lock_wait *taken)
{
	uint32_t id;
	if (!find_wait(w, taken->tid, taken->address, &id))
		return false;
	if (w->is_waiting.items[id])
		return lock_waits_end(w, taken->tid, taken->address, taken->time_ns);
	w->rows.items[taken->row].acquired++;
	return true;
}

void lock_waits_finish(struct lock_waits *w)
{
	for (size_t i = 0; i < w->is_waiting.len; i++)
		w->unended += w->is_waiting.items[i];
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
