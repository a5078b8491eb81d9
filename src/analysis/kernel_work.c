/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/kernel_work.h"

#include "base/array.h"

#define UNKNOWN UINT64_MAX

void kernel_work_init(struct kernel_work *work)
{
	*work = (struct kernel_work){.ids.words = 2, .raise_ids.words = 2};
	intern_init(&work->names);
}

void kernel_work_deinit(struct kernel_work *work)
{
	id_table_deinit(&work->ids);
	id_table_deinit(&work->raise_ids);
	intern_deinit(&work->names);
	vec_free(&work->rows);
	vec_free(&work->raised_ns);
}

const char *softirq_name(uint64_t vector)
{
	static const char *const names[] = {
		"HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU"};
	return vector < ARRAY_LEN(names) ? names[vector] : NULL;
}

struct work_row *kernel_work_row(struct kernel_work *work, enum work_kind kind, uint64_t id, uint32_t cpu)
{
	const uint64_t key[2] = {(uint64_t)kind << 32 | cpu, id};
	bool is_new;
	if (!vec_reserve(&work->rows, work->rows.len + 1))
		return NULL;
	uint32_t at = id_table_add(&work->ids, key, &is_new);
	if (at == ID_TABLE_NONE)
		return NULL;
	if (is_new)
		work->rows.items[work->rows.len++] = (struct work_row){
			.kind = kind, .cpu = cpu, .id = id, .name = INTERN_NONE, .waited_ns = UNKNOWN};
	return &work->rows.items[at];
}

/* Returns when the work was raised, 0 if it is not pending; NULL if out of memory. */
static uint64_t *kernel_work_raise(struct kernel_work *work, const struct work_event *event)
{
	uint32_t cpu = event->kind == WORK_QUEUE ? UINT32_MAX : event->cpu;
	const uint64_t key[2] = {(uint64_t)event->kind << 32 | cpu, event->id};
	bool is_new;
	if (!vec_reserve(&work->raised_ns, work->raised_ns.len + 1))
		return NULL;
	uint32_t at = id_table_add(&work->raise_ids, key, &is_new);
	if (at == ID_TABLE_NONE)
		return NULL;
	if (is_new)
		work->raised_ns.items[work->raised_ns.len++] = 0;
	return &work->raised_ns.items[at];
}

static void work_times_add(struct work_times *times, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t ns = to_ns - from_ns;
	times->count++;
	times->total_ns += ns;
	if (ns > times->max_ns || times->count == 1) {
		times->max_ns = ns;
		times->max_from_ns = from_ns;
		times->max_to_ns = to_ns;
	}
}

/* Counts a raise that was never handled. */
static bool kernel_work_miss(struct kernel_work *work, enum work_kind kind, uint64_t id, uint32_t cpu)
{
	if (kind == WORK_QUEUE) {
		work->unmatched_items++;
		return true;
	}
	struct work_row *row = kernel_work_row(work, kind, id, cpu);
	if (row)
		row->unmatched_delays[WORK_IS_RAISED]++;
	return row != NULL;
}

static void work_row_see(struct work_row *row, uint64_t time_ns)
{
	if (row->first_ns == 0)
		row->first_ns = time_ns;
	row->last_ns = MAX(row->last_ns, time_ns);
}

static bool kernel_work_take_raise(struct kernel_work *work, const struct work_event *event)
{
	uint64_t *raised_ns = kernel_work_raise(work, event);
	if (!raised_ns)
		return false;
	bool waits_already = *raised_ns != 0;
	if (!waits_already)
		*raised_ns = event->time_ns;
	return !waits_already || kernel_work_miss(work, event->kind, event->id, event->cpu);
}

static bool kernel_work_take_entry(struct kernel_work *work, const struct work_event *event)
{
	uint64_t *raised_ns = event->kind == WORK_IRQ ? NULL : kernel_work_raise(work, event);
	struct work_row *row = kernel_work_row(work, event->kind, event->id, event->cpu);
	if (!row || (!raised_ns && event->kind != WORK_IRQ))
		return false;
	if (row->entered_ns)
		row->unmatched_runs[WORK_ENTERS]++;
	work_row_see(row, event->time_ns);
	row->entered_ns = event->time_ns;
	row->waited_ns = UNKNOWN;
	row->function = event->function ? event->function : row->function;
	if (event->name.len && row->name == INTERN_NONE &&
		!intern_add(&work->names, event->name.data, event->name.len, &row->name))
		return false;
	if (!raised_ns)
		return true;
	if (*raised_ns && *raised_ns <= event->time_ns) {
		work_times_add(&row->delay, *raised_ns, event->time_ns);
		row->waited_ns = event->time_ns - *raised_ns;
	} else {
		row->unmatched_delays[WORK_ENTERS]++;
	}
	*raised_ns = 0;
	return true;
}

static bool kernel_work_take_exit(struct kernel_work *work, const struct work_event *event, struct work_span *span)
{
	struct work_row *row = kernel_work_row(work, event->kind, event->id, event->cpu);
	if (!row)
		return false;
	if (!row->entered_ns || row->entered_ns > event->time_ns) {
		row->unmatched_runs[WORK_EXITS]++;
		return true;
	}
	work_row_see(row, event->time_ns);
	work_times_add(&row->run, row->entered_ns, event->time_ns);
	*span = (struct work_span){
		.row = row, .from_ns = row->entered_ns, .to_ns = event->time_ns, .delay_ns = row->waited_ns};
	row->entered_ns = 0;
	return true;
}

bool kernel_work_take(struct kernel_work *work, const struct work_event *event, struct work_span *span)
{
	*span = (struct work_span){.row = NULL};
	work->events++;
	switch (event->step) {
	case WORK_IS_RAISED:
		return kernel_work_take_raise(work, event);
	case WORK_ENTERS:
		return kernel_work_take_entry(work, event);
	case WORK_EXITS:
		return kernel_work_take_exit(work, event, span);
	case WORK_STEPS:
		break;
	}
	return true;
}

void kernel_work_lost(struct kernel_work *work, uint32_t cpu)
{
	for (size_t i = 0; i < work->rows.len; i++) {
		struct work_row *row = &work->rows.items[i];
		if (!row->entered_ns || (cpu != UINT32_MAX && row->cpu != cpu))
			continue;
		row->entered_ns = 0;
		work->cut++;
	}
	for (size_t i = 0; i < work->raised_ns.len; i++) {
		uint32_t of = (uint32_t)id_table_key(&work->raise_ids, (uint32_t)i)[0];
		if (!work->raised_ns.items[i] || (cpu != UINT32_MAX && of != UINT32_MAX && of != cpu))
			continue;
		work->raised_ns.items[i] = 0;
		work->cut++;
	}
}

bool kernel_work_finish(struct kernel_work *work)
{
	for (size_t i = 0; i < work->rows.len; i++)
		if (work->rows.items[i].entered_ns)
			work->rows.items[i].unmatched_runs[WORK_ENTERS]++;
	for (size_t i = 0; i < work->raised_ns.len; i++) {
		const uint64_t *key = id_table_key(&work->raise_ids, (uint32_t)i);
		if (work->raised_ns.items[i] &&
			!kernel_work_miss(work, (enum work_kind)(key[0] >> 32), key[1], (uint32_t)key[0]))
			return false;
	}
	return true;
}
