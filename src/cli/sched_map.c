#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/id_table.h"
#include "base/vec.h"
#include "cli/sched_text.h"

#define SHORT_BYTES 2
#define NO_NAME	    (INTERN_NONE - 1) /* shown yet */

struct map_task {
	char letters[SHORT_BYTES];
	uint32_t comm; /* as it was last shown */
};

struct map_cpu {
	uint32_t task; /* ID_TABLE_NONE: not seen yet */
	bool has_column;
};

struct map {
	struct id_table tids;
	VEC(struct map_task) tasks; /* by id of tids */
	VEC(struct map_cpu) cpus;
	VEC(uint32_t) columns; /* CPUs, from left to right */
	char next[SHORT_BYTES];
};

/* A0 to Z0, A1 to Z1, ... and again from A0, as perf has it. */
static void take_letters(struct map *map, char letters[SHORT_BYTES])
{
	memcpy(letters, map->next, SHORT_BYTES);
	if (map->next[0] < 'Z') {
		map->next[0]++;
		return;
	}
	map->next[0] = 'A';
	map->next[1] = map->next[1] < '9' ? (char)(map->next[1] + 1) : '0';
}

static uint32_t find_task(struct map *map, int32_t tid)
{
	const uint64_t key = (uint32_t)tid;
	bool is_new;
	if (!vec_reserve(&map->tasks, map->tasks.len + 1))
		return ID_TABLE_NONE;
	uint32_t id = id_table_add(&map->tids, &key, &is_new);
	if (id == ID_TABLE_NONE || !is_new)
		return id;
	struct map_task *task = &map->tasks.items[map->tasks.len++];
	*task = (struct map_task){.letters = {'.', ' '}, .comm = NO_NAME};
	if (tid != 0)
		take_letters(map, task->letters);
	return id;
}

/* It is shown again when the task comes in. */
static void forget_name(struct map *map, int32_t tid)
{
	const uint64_t key = (uint32_t)tid;
	uint32_t id = id_table_find(&map->tids, &key);
	if (id != ID_TABLE_NONE)
		map->tasks.items[id].comm = NO_NAME;
}

static bool add_cpus(struct map *map, uint32_t count)
{
	if (!vec_reserve(&map->cpus, count))
		return false;
	while (map->cpus.len < count)
		map->cpus.items[map->cpus.len++] = (struct map_cpu){.task = ID_TABLE_NONE};
	return true;
}

/* Columns for all CPUs below count, in their order. */
static bool add_columns(struct map *map, const bool *wanted, uint32_t count)
{
	if (!add_cpus(map, count))
		return false;
	for (uint32_t cpu = 0; cpu < count; cpu++) {
		if (map->cpus.items[cpu].has_column || (wanted && !wanted[cpu]))
			continue;
		map->cpus.items[cpu].has_column = true;
		if (!vec_push(&map->columns, cpu))
			return false;
	}
	return true;
}

static void print_columns(const struct map *map, uint32_t cpu, struct text *out)
{
	text_str(out, "  ");
	for (size_t i = 0; i < map->columns.len; i++) {
		uint32_t of = map->columns.items[i], task = map->cpus.items[of].task;
		if (task == ID_TABLE_NONE) {
			text_str(out, "    ");
			continue;
		}
		text_char(out, of == cpu ? '*' : ' ');
		text_bytes(out, map->tasks.items[task].letters, SHORT_BYTES);
		text_char(out, ' ');
	}
}

static bool print_switch(struct sched_job *job, struct map *map, const struct sched_event *event, struct text *out)
{
	const bool *wanted = job->cpus;
	bool is_new_cpu = false, is_wanted = !wanted || wanted[event->cpu];
	uint32_t task = find_task(map, event->next);
	if (task == ID_TABLE_NONE || !add_cpus(map, event->cpu + 1))
		return false;
	struct map_cpu *cpu = &map->cpus.items[event->cpu];
	if (!cpu->has_column && is_wanted) {
		is_new_cpu = job->settings->is_compact;
		cpu->has_column = true;
		if (!vec_push(&map->columns, event->cpu))
			return false;
	}
	cpu->task = task;
	print_columns(map, event->cpu, out);
	if (!is_wanted) {
		text_char(out, '\n');
		return true;
	}
	text_str(out, "  ");
	sched_text_time(out, event->time_ns, 12);
	text_str(out, " secs ");
	uint32_t comm = machine_comm_at(job->source.sideband.machine, event->next, event->sample.clock);
	struct map_task *shown = &map->tasks.items[task];
	if (shown->comm != comm) {
		char room[16];
		struct tally_str name = sched_comm(&job->source, event->next, event->sample.clock, room);
		text_bytes(out, shown->letters, SHORT_BYTES);
		text_printf(out, " => %.*s:%" PRId32, (int)name.len, name.data, event->next);
		shown->comm = comm;
	}
	if (is_new_cpu)
		text_printf(out, " (CPU %" PRIu32 ")", event->cpu);
	text_char(out, '\n');
	return true;
}

enum tally_status sched_print_map(struct sched_job *job, struct text *out, struct tally_error *err)
{
	struct map map = {.tids.words = 1, .next = {'A', '0'}};
	struct sched_event event;
	enum tally_status status = TALLY_OK;
	if (!job->settings->is_compact && !add_columns(&map, job->cpus, sched_cpu_count(&job->source)))
		status = error_nomem(err);
	while (status == TALLY_OK && (status = sched_job_next(job, &event, err)) == TALLY_OK) {
		if (event.kind == SCHED_NAMED)
			forget_name(&map, event.tid);
		if (event.kind != SCHED_SWITCH)
			continue;
		if (!print_switch(job, &map, &event, out))
			status = error_nomem(err);
		else if (!text_line_end(out))
			status = TALLY_END; /* nobody reads on; cli_finish_text says why where that is worth it */
	}
	id_table_deinit(&map.tids);
	vec_free(&map.tasks);
	vec_free(&map.cpus);
	vec_free(&map.columns);
	return status == TALLY_END ? TALLY_OK : status;
}
