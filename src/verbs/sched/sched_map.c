/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/id_table.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/vec.h"
#include "base/word_list.h"
#include "cli/output_terminal.h"
#include "tasks/session/cpu_filter.h"
#include "verbs/sched/sched_text.h"
#include "view/text/percent_text.h"

#define SCHED_MAP_JSON_SCHEMA 1
#define SHORT_BYTES	      2
#define SCHED_MAP_NO_NAME     (INTERN_NONE - 1) /* No name has been shown yet. */
#define OTHER_TASK	      (ID_TABLE_NONE - 1) /* A task that --task-name does not select. */
#define TASK_COLOUR	      "\033[34m"
#define CPU_COLOUR	      "\033[41m"

struct map_task {
	int32_t tid;
	char letters[SHORT_BYTES];
	uint32_t comm; /* The name that was shown last. */
	bool is_coloured;
};

struct map_cpu {
	uint32_t task; /* ID_TABLE_NONE if the running task is unknown. */
	bool has_column, is_coloured;
};

struct map {
	const struct sched_settings *settings;
	struct json *json; /* NULL for text output. */
	bool with_colours;
	struct id_table tids;
	VEC(struct map_task) tasks; /* Indexed by the IDs of tids. */
	VEC(struct map_cpu) cpus;
	VEC(uint32_t) columns; /* CPUs from left to right. */
	char next[SHORT_BYTES];
};

/* As in perf, the letters are A0 to Z0, A1 to Z1 and so on, and repeat after Z9. */
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
	const char *coloured = map->settings->colour_pids;
	*task = (struct map_task){.tid = tid, .letters = {'.', ' '}, .comm = SCHED_MAP_NO_NAME};
	task->is_coloured = map->with_colours && coloured && word_list_has_number(coloured, tid);
	if (tid != 0)
		take_letters(map, task->letters);
	return id;
}

/* Makes the name be shown again at the next switch to the task. */
static void forget_name(struct map *map, int32_t tid)
{
	const uint64_t key = (uint32_t)tid;
	uint32_t id = id_table_find(&map->tids, &key);
	if (id != ID_TABLE_NONE)
		map->tasks.items[id].comm = SCHED_MAP_NO_NAME;
}

/* After lost events, the running task is unknown until the next switch. If the CPU is unknown, this holds for all
 * CPUs. */
static void forget_running(struct map *map, uint32_t cpu)
{
	for (uint32_t i = 0; i < map->cpus.len; i++)
		if (i == cpu || cpu >= LIMIT_CPUS)
			map->cpus.items[i].task = ID_TABLE_NONE;
}

static bool add_cpus(struct map *map, uint32_t count)
{
	if (!vec_reserve(&map->cpus, count))
		return false;
	while (map->cpus.len < count)
		map->cpus.items[map->cpus.len++] = (struct map_cpu){.task = ID_TABLE_NONE};
	return true;
}

/* Adds columns for the CPUs below count in ascending order. If wanted is not NULL, only CPUs in it get a column. */
static bool sched_map_add_columns(struct map *map, const bool *wanted, uint32_t count)
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
	static const struct map_task other = {.letters = {'-', ' '}};
	text_str(out, "  ");
	for (size_t i = 0; i < map->columns.len; i++) {
		uint32_t of = map->columns.items[i], task = map->cpus.items[of].task;
		if (task == ID_TABLE_NONE) {
			text_str(out, "    ");
			continue;
		}
		const struct map_task *shown = task == OTHER_TASK ? &other : &map->tasks.items[task];
		bool is_coloured = map->cpus.items[of].is_coloured || shown->is_coloured;
		if (is_coloured)
			text_colour(out, shown->is_coloured ? TASK_COLOUR : CPU_COLOUR);
		text_char(out, of == cpu ? '*' : ' ');
		text_bytes(out, shown->letters, SHORT_BYTES);
		text_colour(out, is_coloured ? COLOUR_END : "");
		text_char(out, ' ');
	}
}

static bool is_part_of(const char *names, struct tally_str name)
{
	struct tally_str rest = str_from(names), part;
	while (str_next_item(&rest, &part))
		if (memmem(name.data, name.len, part.data, part.len))
			return true;
	return false;
}

static bool sched_map_is_listed(const struct sched_job *job, const struct sched_event *event)
{
	const struct sched_settings *settings = job->settings;
	char room[16];
	if (!settings->task_name)
		return true;
	struct tally_str name = sched_comm(&job->source, event->next, event->sample.clock, room);
	return settings->has_fuzzy_name ? is_part_of(settings->task_name, name)
					: word_list_has(settings->task_name, name);
}

static void sched_map_print_task(
	const struct sched_job *job, struct map_task *task, const struct sched_event *event, struct text *out)
{
	uint32_t comm = machine_comm_at(job->source.pass.sideband.machine, event->next, event->sample.clock);
	char room[16];
	if (task->comm == comm)
		return;
	struct tally_str name = sched_comm(&job->source, event->next, event->sample.clock, room);
	text_bytes(out, task->letters, SHORT_BYTES);
	text_printf(out, " => %.*s:%" PRId32, (int)name.len, name.data, event->next);
	task->comm = comm;
}

static void sched_map_put_switch(
	const struct sched_job *job, const struct map *map, const struct sched_event *event, bool is_shown)
{
	char room[16];
	json_object(map->json, NULL);
	json_u64(map->json, "time_ns", event->time_ns);
	json_u64(map->json, "cpu", event->cpu);
	if (is_shown) {
		json_string(map->json, "comm", sched_comm(&job->source, event->next, event->sample.clock, room));
		json_i64(map->json, "tid", event->next);
	}
	/* "running" lists the tasks that run from now on. CPUs are omitted if their task is unknown or not selected by
	 * --task-name. */
	json_array(map->json, "running");
	for (size_t i = 0; i < map->columns.len; i++) {
		uint32_t cpu = map->columns.items[i], task = map->cpus.items[cpu].task;
		if (task == ID_TABLE_NONE || task == OTHER_TASK)
			continue;
		json_object(map->json, NULL);
		json_u64(map->json, "cpu", cpu);
		json_i64(map->json, "tid", map->tasks.items[task].tid);
		json_object_end(map->json);
	}
	json_array_end(map->json);
	json_object_end(map->json);
}

/* With --task-name, prints only switches to or from a selected task. */
static bool sched_map_print_switch(
	struct sched_job *job, struct map *map, const struct sched_event *event, struct text *out)
{
	const bool *wanted = job->cpus;
	bool is_new_cpu = false, is_wanted = !wanted || wanted[event->cpu];
	if (!add_cpus(map, event->cpu + 1))
		return false;
	struct map_cpu *cpu = &map->cpus.items[event->cpu];
	bool is_shown = sched_map_is_listed(job, event);
	if (!is_shown && (cpu->task == ID_TABLE_NONE || cpu->task == OTHER_TASK))
		return true;
	uint32_t task = is_shown ? find_task(map, event->next) : OTHER_TASK;
	if (task == ID_TABLE_NONE)
		return false;
	if (!cpu->has_column && is_wanted) {
		is_new_cpu = job->settings->is_compact;
		cpu->has_column = true;
		if (!vec_push(&map->columns, event->cpu))
			return false;
	}
	cpu->task = task;
	if (map->json) {
		sched_map_put_switch(job, map, event, is_shown);
		return true;
	}
	print_columns(map, event->cpu, out);
	if (!is_wanted) {
		text_char(out, '\n');
		return true;
	}
	text_str(out, "  ");
	sched_text_time(out, event->time_ns, 12);
	text_str(out, " secs ");
	if (is_shown)
		sched_map_print_task(job, &map->tasks.items[task], event, out);
	if (is_new_cpu)
		text_printf(out, " (CPU %" PRIu32 ")", event->cpu);
	text_char(out, '\n');
	return true;
}

static enum tally_status colour_cpus(struct map *map, struct tally_error *err)
{
	bool *cpus;
	enum tally_status status = cpu_filter_parse(map->settings->colour_cpus, &cpus, err);
	if (status != TALLY_OK)
		return status;
	for (uint32_t cpu = 0; cpu < LIMIT_CPUS && map->with_colours; cpu++)
		if (cpus[cpu] && !add_cpus(map, cpu + 1))
			status = error_nomem(err);
		else if (cpus[cpu])
			map->cpus.items[cpu].is_coloured = true;
	free(cpus);
	return status;
}

static void sched_map_json_begin(struct map *map, struct json *json)
{
	map->json = json;
	json_object(json, NULL);
	json_u64(json, "schema", SCHED_MAP_JSON_SCHEMA);
	json_string(json, "path", str_from(recording_name(map->settings->input.path)));
	json_array(json, "switches");
}

static void sched_map_json_end(const struct sched_job *job, struct json *json)
{
	json_array_end(json);
	json_u64(json, "lost_events", job->source.pass.sideband.health.lost_events);
	json_object_end(json);
}

enum tally_status sched_print_map(struct sched_job *job, struct text *out, struct tally_error *err)
{
	const struct sched_settings *settings = job->settings;
	struct map map = {.settings = settings, .tids.words = 1, .next = {'A', '0'}};
	struct sched_event event;
	enum tally_status status = TALLY_OK;
	uint64_t shown = 0;
	struct json json = {.out = out};
	map.with_colours = colours_are_wanted();
	if (settings->colour_cpus)
		status = colour_cpus(&map, err);
	if (status == TALLY_OK && !job->settings->is_compact &&
		!sched_map_add_columns(&map, job->cpus, sched_cpu_count(&job->source)))
		status = error_nomem(err);
	if (settings->is_json)
		sched_map_json_begin(&map, &json);
	while (status == TALLY_OK && (status = sched_job_next(job, &event, err)) == TALLY_OK) {
		if (event.kind == SCHED_LOST)
			forget_running(&map, event.cpu);
		if (event.kind == SCHED_NAMED)
			forget_name(&map, event.tid);
		if (event.kind != SCHED_SWITCH)
			continue;
		shown += sched_map_is_listed(job, &event);
		job->asked += !job->cpus || job->cpus[event.cpu];
		if (!sched_map_print_switch(job, &map, &event, out))
			status = error_nomem(err);
		else if (!text_line_end(out))
			/* The reader of the output has closed it; cli_finish_text reports other errors. */
			status = TALLY_END;
	}
	if (map.json)
		sched_map_json_end(job, map.json);
	if (shown == 0 && status == TALLY_END && settings->task_name)
		cli_failf(job->cli, "note: no task named '%s' was switched to", settings->task_name);
	id_table_deinit(&map.tids);
	vec_free(&map.tasks);
	vec_free(&map.cpus);
	vec_free(&map.columns);
	return status == TALLY_END ? TALLY_OK : status;
}
