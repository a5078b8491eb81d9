/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/counts/stat_replay.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/order.h"
#include "base/vec.h"
#include "kernel/events/tool_events.h"
#include "kernel/system/cpu_topology.h"
#include "perfdata/origin.h"

#define ROUND_FINAL	  1
#define THREAD_ENTRY	  24 /* Size in bytes of an entry of a THREAD_MAP record: u64 pid, char comm[16]. */
#define THREAD_NAME	  16
#define PERF_CACHE_LEVELS 5 /* perf's number for the last level of caches, which is above any real level. */

struct stat_replay_replay {
	const struct stat_replay_request *request;
	struct arena arena;
	struct event_list events;
	bool *supported;
	VEC(int) cpus; /* Sorted, without duplicates. */
	VEC(pid_t) threads;
	VEC(char *) comms; /* Allocated in arena. */
	/* Set once replay_prepare has set events, supported, and the members from aggregation to origin. */
	bool is_ready;
	struct aggregation aggregation;
	struct counter *counters; /* One for each event, with counts for all CPUs and threads. */
	struct count *counts, *previous;
	struct stat_cell *cells;
	char *heading;
	struct stat_origin origin; /* The strings are in arena; kind is NULL if the counts are those of perf events. */
	uint64_t mode, level, last_ns;
	bool has_level, is_scaling;
	size_t rounds;
	struct tally_error *err;
};

static void cpus_listed(struct stat_replay_replay *r, struct cursor *c)
{
	uint16_t count = cursor_u16(c);
	for (uint32_t i = 0; i < count && cursor_left(c) >= 2; i++) {
		uint16_t cpu = cursor_u16(c);
		(void)vec_push(&r->cpus, cpu == UINT16_MAX ? -1 : cpu);
	}
}

/* Reads a bit mask of CPUs. Words of 8 bytes follow 4 bytes of padding, as in a C struct. */
static void cpus_masked(struct stat_replay_replay *r, struct cursor *c)
{
	uint16_t count = cursor_u16(c), bytes = cursor_u16(c);
	if (bytes != 4 && bytes != 8)
		return;
	if (bytes == 8)
		cursor_skip(c, 4);
	for (int i = 0; i < count && cursor_left(c) >= bytes; i++) {
		uint64_t word = bytes == 8 ? cursor_u64(c) : cursor_u32(c);
		for (int bit = 0; bit < bytes * 8; bit++)
			if (word >> bit & 1)
				(void)vec_push(&r->cpus, i * bytes * 8 + bit);
	}
}

static void cpus_ranged(struct stat_replay_replay *r, struct cursor *c)
{
	if (cursor_u8(c))
		(void)vec_push(&r->cpus, -1);
	cursor_skip(c, 1);
	uint16_t first = cursor_u16(c), last = cursor_u16(c);
	for (int cpu = first; cpu <= last && !c->failed; cpu++)
		(void)vec_push(&r->cpus, cpu);
}

static void cpu_map_take(struct stat_replay_replay *r, const struct record_cpu_map *map, bool swap)
{
	struct cursor c = cursor_make(map->payload, swap);
	r->cpus.len = 0;
	if (map->encoding == CPU_MAP_CPUS)
		cpus_listed(r, &c);
	else if (map->encoding == CPU_MAP_MASK)
		cpus_masked(r, &c);
	else if (map->encoding == CPU_MAP_RANGE)
		cpus_ranged(r, &c);
	if (r->cpus.len > 1)
		qsort(r->cpus.items, r->cpus.len, sizeof(int), order_ints);
	size_t unique = 0;
	for (size_t i = 0; i < r->cpus.len; i++)
		if (i == 0 || r->cpus.items[i] != r->cpus.items[unique - 1])
			r->cpus.items[unique++] = r->cpus.items[i];
	r->cpus.len = unique;
}

static enum tally_status thread_map_take(struct stat_replay_replay *r, const struct record_thread_map *map, bool swap)
{
	struct cursor c = cursor_make(map->entries, swap);
	r->threads.len = r->comms.len = 0;
	while (cursor_left(&c) >= THREAD_ENTRY) {
		pid_t pid = (pid_t)cursor_u64(&c);
		struct tally_str comm = cursor_text(&c, THREAD_NAME);
		char *text = arena_string(&r->arena, comm.data, comm.len);
		if (!text || !vec_push(&r->threads, pid) || !vec_push(&r->comms, text))
			return error_nomem(r->err);
	}
	return TALLY_OK;
}

static void config_take(struct stat_replay_replay *r, const struct record_stat_config *config, bool swap)
{
	struct cursor c = cursor_make(config->entries, swap);
	while (cursor_left(&c) >= 16) {
		uint64_t tag = cursor_u64(&c), value = cursor_u64(&c);
		if (tag == STAT_CONFIG_AGGR_MODE) {
			r->mode = value;
		} else if (tag == STAT_CONFIG_SCALE) {
			r->is_scaling = value != 0;
		} else if (tag == STAT_CONFIG_AGGR_LEVEL) {
			r->has_level = true;
			r->level = value;
		}
	}
}

/* Returns whether perf 6.5 to 6.8 made the recording. */
static bool has_no_clusters(const struct stat_replay_replay *r)
{
	struct tally_str version = perfdata_reader_features(r->request->reader)->version;
	return version.len >= 3 && str_starts_with(version, STR("6.")) && version.data[2] >= '5' &&
	       version.data[2] <= '8' && (version.len == 3 || version.data[3] < '0' || version.data[3] > '9');
}

/* perf 6.5 inserted caches into the list of modes, and 6.9 clusters before them. Since 6.5, recordings have the level of
 * the caches. */
static enum aggregation_mode recorded_mode(const struct stat_replay_replay *r)
{
	static const enum aggregation_mode modes[] = {AGGREGATE_CPU, AGGREGATE_ALL, AGGREGATE_SOCKET, AGGREGATE_DIE,
		AGGREGATE_CLUSTER, AGGREGATE_CACHE, AGGREGATE_CORE, AGGREGATE_THREAD, AGGREGATE_ALL, AGGREGATE_NODE};
	const size_t first = 4, absent = !r->has_level ? 2 : has_no_clusters(r) ? 1 : 0;
	if (r->mode >= ARRAY_LEN(modes) - absent)
		return AGGREGATE_ALL;
	return modes[r->mode < first ? r->mode : r->mode + absent];
}

static enum tally_status stat_replay_events_take(struct stat_replay_replay *r)
{
	size_t count;
	const struct perfdata_event *events = perfdata_reader_events(r->request->reader, &count);
	r->events.specs = arena_array(&r->arena, struct event_spec, count);
	r->supported = arena_array(&r->arena, bool, count);
	if (!r->events.specs || !r->supported)
		return error_nomem(r->err);
	r->events.len = count;
	for (size_t i = 0; i < count; i++) {
		const struct perfdata_event *event = &events[i];
		struct event_spec *spec = &r->events.specs[i];
		*spec = (struct event_spec){.attr = event->attr,
			.leader = event->leader_index,
			.member_count = event->member_count,
			.scale = event->scale != 0 ? event->scale : 1,
			.name = arena_string(&r->arena, event->name.data, event->name.len),
			.unit = arena_string(&r->arena, event->unit.data ? event->unit.data : "", event->unit.len)};
		if (!spec->name || !spec->unit)
			return error_nomem(r->err);
		/* Events that stat measures itself are stored as dummy events with their names. */
		bool is_dummy = spec->attr.type == EVENT_SOFTWARE && spec->attr.config == SW_DUMMY;
		spec->tool = is_dummy ? tool_event_find(str_from(spec->name)) : TOOL_NONE;
		if (stat_event_is_clock(spec)) { /* Clocks are always shown in milliseconds. */
			spec->scale = 1;
			spec->unit = "";
		}
		r->supported[i] = event->id_count > 0;
	}
	return TALLY_OK;
}

static int stat_replay_number_at(const uint32_t *numbers, const struct perfdata_topology *t, int cpu)
{
	return numbers && cpu >= 0 && (size_t)cpu < t->cpu_count ? (int)numbers[cpu] : -1;
}

/* Returns the first CPU of the list if it contains cpu, else -1. */
static int first_if_listed(struct tally_str list, int cpu)
{
	int *cpus = NULL, first = -1;
	size_t count = 0;
	if (cpu_list_parse(list, &cpus, &count, NULL) == TALLY_OK && cpu_list_has(cpus, count, cpu))
		first = cpus[0];
	free(cpus);
	return first;
}

static unsigned cache_level(const struct stat_replay_replay *r, const struct perfdata_features *f)
{
	uint64_t level = r->request->has_mode ? r->request->cache_level : r->level;
	if (level > 0 && level < PERF_CACHE_LEVELS)
		return (unsigned)level;
	unsigned last = 0;
	for (size_t i = 0; i < f->cache_count; i++)
		last = MAX(f->caches[i].level, last);
	return last;
}

static struct cpu_place stat_replay_place_of(const struct perfdata_features *f, int cpu, unsigned level)
{
	const struct perfdata_topology *t = &f->topology;
	struct cpu_place place = {.cpu = cpu,
		.core = stat_replay_number_at(t->core_ids, t, cpu),
		.die = t->die_ids ? stat_replay_number_at(t->die_ids, t, cpu) : 0,
		.socket = stat_replay_number_at(t->socket_ids, t, cpu),
		.node = -1,
		.cluster = -1,
		.cache = -1};
	for (size_t i = 0; i < f->numa_count && place.node < 0; i++)
		if (first_if_listed(f->numa[i].cpus, cpu) >= 0)
			place.node = (int)f->numa[i].node;
	for (size_t i = 0; i < f->cache_count && place.cache < 0; i++)
		if (f->caches[i].level == level)
			place.cache = first_if_listed(f->caches[i].map, cpu);
	return place;
}

static enum tally_status stat_replay_places_make(struct stat_replay_replay *r, enum aggregation_mode mode)
{
	const struct perfdata_features *f = perfdata_reader_features(r->request->reader);
	struct cpu_place *places = arena_array(&r->arena, struct cpu_place, r->cpus.len);
	if (!places)
		return error_nomem(r->err);
	unsigned level = mode == AGGREGATE_CACHE ? cache_level(r, f) : 0;
	for (size_t i = 0; i < r->cpus.len; i++)
		places[i] = stat_replay_place_of(f, r->cpus.items[i], level);
	enum tally_status status = aggregation_group(places, r->cpus.len, mode, &r->aggregation, r->err);
	r->aggregation.cache_level = level;
	return status;
}

static enum tally_status aggregation_choose(struct stat_replay_replay *r)
{
	enum aggregation_mode mode = r->request->has_mode ? r->request->mode : recorded_mode(r);
	bool has_cpus = r->cpus.items[0] >= 0;
	if (mode != AGGREGATE_ALL && mode != AGGREGATE_THREAD && has_cpus)
		return stat_replay_places_make(r, mode);
	/* Counts of tasks cannot be assigned to CPUs. */
	r->aggregation.mode = mode == AGGREGATE_THREAD ? mode : AGGREGATE_ALL;
	r->aggregation.len = mode == AGGREGATE_THREAD ? r->threads.len : 1;
	if (mode != AGGREGATE_THREAD)
		return TALLY_OK;
	r->aggregation.threads = malloc(r->threads.len * sizeof(pid_t) + 1);
	if (!r->aggregation.threads)
		return error_nomem(r->err);
	memcpy(r->aggregation.threads, r->threads.items, r->threads.len * sizeof(pid_t));
	return TALLY_OK;
}

static enum tally_status stat_replay_heading_make(struct stat_replay_replay *r)
{
	const struct perfdata_string_list *words = &perfdata_reader_features(r->request->reader)->cmdline;
	bool is_pipe = perfdata_reader_is_pipe(r->request->reader);
	struct text t = {0};
	text_char(&t, '\'');
	for (size_t i = 0; i < words->len && !is_pipe; i++)
		text_printf(&t, "%s%.*s", i ? " " : "", (int)words->items[i].len, words->items[i].data);
	text_str(&t, is_pipe ? "pipe'" : "'"); /* As in perf, a pipe is shown without its command line. */
	text_char(&t, '\0');
	r->heading = t.data;
	return t.failed ? error_nomem(r->err) : TALLY_OK;
}

static enum tally_status stat_replay_origin_take(struct stat_replay_replay *r)
{
	const struct perfdata_origin origin = origin_of(perfdata_reader_features(r->request->reader));
	if (origin.kind == ORIGIN_EVENTS)
		return TALLY_OK;
	const struct tally_str kind = origin_kind_name(origin.kind);
	r->origin = (struct stat_origin){.kind = arena_string(&r->arena, kind.data, kind.len),
		.by = arena_string(&r->arena, origin.by.data, origin.by.len),
		.not_seen = arena_string(&r->arena, origin.not_seen.data, origin.not_seen.len)};
	return r->origin.kind && r->origin.by && r->origin.not_seen ? TALLY_OK : error_nomem(r->err);
}

/* Called for each count and round; does its work at the first one, when all maps have been read. */
static enum tally_status replay_prepare(struct stat_replay_replay *r)
{
	if (r->is_ready)
		return TALLY_OK;
	if ((r->cpus.len == 0 && !vec_push(&r->cpus, -1)) || (r->threads.len == 0 && !vec_push(&r->threads, -1)) ||
		(r->comms.len == 0 && !vec_push(&r->comms, "?")))
		return error_nomem(r->err);
	enum tally_status status = stat_replay_events_take(r);
	if (status == TALLY_OK)
		status = aggregation_choose(r);
	if (status == TALLY_OK)
		status = stat_replay_heading_make(r);
	if (status == TALLY_OK)
		status = stat_replay_origin_take(r);
	if (status != TALLY_OK)
		return status;
	/* The product cannot overflow, because both factors come from records of at most 64 KiB. */
	size_t per_event = r->cpus.len * r->threads.len, total;
	if (__builtin_mul_overflow(per_event, r->events.len, &total) || total > LIMIT_STAT_COUNTERS)
		return error_set(r->err, TALLY_LIMIT, "the recording describes more counters than any machine has");
	r->counts = arena_array(&r->arena, struct count, total);
	r->previous = arena_array(&r->arena, struct count, total);
	r->counters = arena_array(&r->arena, struct counter, r->events.len);
	r->cells = arena_array(&r->arena, struct stat_cell, r->events.len * r->aggregation.len);
	if (!r->counts || !r->previous || !r->counters || !r->cells)
		return error_nomem(r->err);
	for (size_t i = 0; i < r->events.len; i++)
		r->counters[i] = (struct counter){.spec = &r->events.specs[i],
			.cpus = r->cpus.items,
			.cpu_count = r->cpus.len,
			.threads = r->threads.items,
			.thread_count = r->threads.len,
			.counts = &r->counts[i * per_event]};
	r->is_ready = true;
	return TALLY_OK;
}

static void count_take(struct stat_replay_replay *r, const struct record_stat *stat)
{
	const struct perfdata_event *event = perfdata_reader_event_by_id(r->request->reader, stat->id);
	int cpu = (int)stat->cpu;
	const int *found = bsearch(&cpu, r->cpus.items, r->cpus.len, sizeof(int), order_ints);
	if (!event || event->index >= r->events.len || !found || stat->thread >= r->threads.len)
		return;
	size_t cell = (size_t)(found - r->cpus.items) * r->threads.len + stat->thread;
	struct count count = {stat->value, stat->enabled, stat->running};
	if (r->events.specs[event->index].tool != TOOL_NONE && count.enabled_ns == 0)
		/* For its own (tool) events, perf 6.1 stores the count in place of the times: if it is 0, so are the
		 * times, which would mean that the event was not counted. */
		count.enabled_ns = count.running_ns = 1;
	r->counters[event->index].counts[cell] = count;
}

/* Reports the counts of all supported events, sorted by event, thread and CPU. */
static void round_tell(const struct stat_replay_replay *r, uint64_t time_ns)
{
	for (size_t i = 0; i < r->events.len; i++) {
		for (size_t cell = 0; r->supported[i] && cell < r->cpus.len * r->threads.len; cell++) {
			size_t thread = cell / r->cpus.len, cpu = cell % r->cpus.len;
			const struct stat_replay_count count = {.event = r->events.specs[i].name,
				.cpu = r->cpus.items[cpu],
				.thread = r->threads.items[thread],
				.count = r->counters[i].counts[cpu * r->threads.len + thread],
				.time_ns = time_ns};
			r->request->count(r->request->context, &count);
		}
	}
}

static enum tally_status round_show(struct stat_replay_replay *r, const struct record_stat_round *round)
{
	if (r->request->count) {
		round_tell(r, round->time);
		r->rounds++;
		return TALLY_OK;
	}
	bool is_final = round->round_type == ROUND_FINAL;
	size_t places = r->aggregation.len, per_event = r->cpus.len * r->threads.len;
	struct aggregate *results = calloc(places + 1, sizeof(*results));
	if (!results)
		return error_nomem(r->err);
	memset(r->cells, 0, r->events.len * places * sizeof(*r->cells));
	for (size_t i = 0; i < r->events.len; i++) {
		aggregate_counter(&r->aggregation, &r->counters[i], is_final ? NULL : &r->previous[i * per_event],
			r->is_scaling, results);
		for (size_t place = 0; place < places; place++) {
			struct stat_cell *cell = &r->cells[i * places + place];
			running_mean_add(&cell->value, (double)results[place].value);
			running_mean_add(&cell->running_ns, (double)results[place].raw.running_ns);
			running_mean_add(&cell->enabled_ns, (double)results[place].raw.enabled_ns);
			cell->cpu_count = results[place].cpu_count;
		}
	}
	free(results);
	struct stat_report report = {.events = &r->events,
		.supported = r->supported,
		.aggregation = &r->aggregation,
		.comms = r->comms.items,
		.cells = r->cells,
		.runs = 1,
		.merges_pmus = true,
		.heading = r->heading,
		.origin = r->origin.kind ? &r->origin : NULL,
		.interval_s = is_final ? -1 : (double)round->time / 1e9};
	uint64_t elapsed = is_final || round->time < r->last_ns ? round->time : round->time - r->last_ns;
	running_mean_add(&report.wall_ns, (double)elapsed);
	r->request->show(r->request->context, &report);
	memcpy(r->previous, r->counts, r->events.len * per_event * sizeof(*r->counts));
	r->last_ns = round->time;
	r->rounds++;
	return TALLY_OK;
}

static enum tally_status record_take(struct stat_replay_replay *r, const struct record *record)
{
	struct record_fields f;
	bool is_count = record->type == RECORD_STAT || record->type == RECORD_STAT_ROUND;
	bool is_map = record->type == RECORD_THREAD_MAP || record->type == RECORD_CPU_MAP ||
		      record->type == RECORD_STAT_CONFIG;
	if ((!is_count && !is_map) || (is_map && r->is_ready) || record_decode(record, &f, NULL) != TALLY_OK)
		return TALLY_OK;
	if (record->type == RECORD_THREAD_MAP)
		return thread_map_take(r, &f.thread_map, record->swap);
	if (record->type == RECORD_CPU_MAP)
		cpu_map_take(r, &f.cpu_map, record->swap);
	if (record->type == RECORD_STAT_CONFIG)
		config_take(r, &f.stat_config, record->swap);
	if (is_map)
		return TALLY_OK;
	enum tally_status status = replay_prepare(r);
	if (status != TALLY_OK)
		return status;
	if (record->type == RECORD_STAT)
		count_take(r, &f.stat);
	return record->type == RECORD_STAT_ROUND ? round_show(r, &f.stat_round) : TALLY_OK;
}

enum tally_status stat_replay(const struct stat_replay_request *request, struct tally_error *err)
{
	struct stat_replay_replay r = {.request = request, .is_scaling = true, .mode = 1, .err = err};
	struct record record;
	enum tally_status status;
	arena_init(&r.arena);
	while ((status = perfdata_reader_next(request->reader, &record, err)) == TALLY_OK) {
		status = record_take(&r, &record);
		if (status != TALLY_OK)
			break;
	}
	if (status == TALLY_END)
		status = r.rounds ? TALLY_OK : error_set(err, TALLY_NOT_FOUND, "the recording holds no counts of stat");
	aggregation_deinit(&r.aggregation);
	vec_free(&r.cpus);
	vec_free(&r.threads);
	vec_free(&r.comms);
	free(r.heading);
	arena_deinit(&r.arena);
	return status;
}
