#include "analysis/flat_sum.h"

#include <string.h>

#include "base/key_sort.h"
#include "base/thread_pool.h"
#include "base/zeroed.h"

#define GROUP_WORDS 2
#define TASK_SPOTS  8192
#define TASK_PLACES 8192
#define AHEAD	    12 /* spots and places that are fetched before they are needed */
#define MOST_LEVELS 8 /* letters that resolver_level gives */

struct area { /* a binary's addresses that were hit */
	uint64_t first, last;
	uint64_t shift; /* added to a key: the address */
	size_t begin, end; /* in the order */
	uint32_t binary;
	bool is_mixed; /* functions lie in others: their spots are not side by side yet */
};

struct place { /* a group's samples in one function */
	uint64_t start; /* of the function; the address where none is known */
	const struct symbol *symbol; /* of the function; NULL: none is known */
	uint64_t first; /* its first spot: fold and index */
	struct sample_sum sum;
	uint32_t group;
};

struct function_run { /* one function's spots in the order */
	size_t begin, end;
	const struct symbol *symbol;
};

struct stamp { /* of a group */
	size_t function; /* that its place is of: the first spot's index in the order, + 1 */
	size_t place;
};

struct summing {
	const struct flat_sum_job *job;
	struct sample_pass *pass;
	struct id_table group_ids;
	VEC(struct flat_group) groups; /* of all folds */
	uint32_t **group_of; /* by fold and its group */
	size_t *begin; /* by fold, and behind the last one: its first spot among all */
	size_t spot_count;
	struct area *areas;
	size_t area_count;
	struct sort_key *order; /* spots: fold and index; by address, then by where their function starts */
	struct sort_key *room; /* then by place in the order: the symbol, in areas that are not mixed; two times as much
				 is behind it, for those that are */
	struct stamp **stamps; /* by worker, then by group */
	unsigned worker_count;
	struct place *places; /* of a task from where its spots begin, as is all that is by place */
	uint32_t *frames; /* by place: the place that first has its frame, + 1 */
	uint32_t *place_at; /* by spot of all: its place + 1, if it is the place's first one; 0: it is not */
	uint32_t *numbers; /* by place that first has a frame: the frame's number + 1 */
	uint32_t *firsts; /* places, in order of their first spots */
	uint32_t *frame_firsts; /* by frame's number: the place that first has it */
	size_t place_count, frame_count;
	bool failed; /* out of memory; any worker sets it */
};

static uint64_t pack(uint32_t low, uint32_t high)
{
	return (uint64_t)high << 32 | low;
}

static uint64_t pack_spot(size_t fold, size_t index)
{
	return (uint64_t)fold << 32 | index;
}

static struct flat_spot *spot_of(const struct summing *s, uint64_t packed)
{
	return &s->job->folds[packed >> 32].spots[(uint32_t)packed];
}

static uint32_t group_of(const struct summing *s, uint64_t packed)
{
	return s->group_of[packed >> 32][spot_of(s, packed)->group];
}

/* False: out of memory. */
static bool join_threads(struct summing *s, size_t fold, uint32_t *threads)
{
	const struct id_table *from = &s->job->folds[fold].threads;
	for (size_t i = 0; i < from->len; i++) {
		threads[i] = id_table_add(&s->pass->threads, id_table_key(from, (uint32_t)i), NULL);
		if (threads[i] == ID_TABLE_NONE)
			return false;
	}
	return true;
}

static bool join_groups(struct summing *s, size_t fold)
{
	const struct flat_fold *from = &s->job->folds[fold];
	uint32_t *threads = malloc((from->threads.len + 1) * sizeof(*threads));
	uint32_t *ids = s->group_of[fold] = malloc((from->groups.len + 1) * sizeof(*ids));
	bool is_done = threads && ids && join_threads(s, fold, threads);
	for (size_t i = 0; is_done && i < from->groups.len; i++) {
		struct flat_group group = from->groups.items[i];
		group.thread = threads[group.thread];
		uint64_t words[GROUP_WORDS] = {pack(group.event, group.thread), pack(group.binary, group.level)};
		ids[i] = id_table_add(&s->group_ids, words, NULL);
		is_done = ids[i] != ID_TABLE_NONE && (ids[i] < s->groups.len || vec_push(&s->groups, group));
	}
	free(threads);
	return is_done;
}

static bool join_all_groups(struct summing *s)
{
	size_t count = s->job->count;
	s->group_of = calloc(count + 1, sizeof(*s->group_of));
	s->begin = calloc(count + 1, sizeof(*s->begin));
	bool is_done = s->group_of && s->begin;
	for (size_t i = 0; is_done && i < count; i++) {
		is_done = join_groups(s, i);
		s->begin[i + 1] = s->begin[i] + s->job->folds[i].spot_count;
	}
	s->spot_count = is_done ? s->begin[count] : 0;
	return is_done && s->spot_count < UINT32_MAX;
}

/* By binary, and one for what lies in none. */
static struct area *area_of(const struct summing *s, uint32_t binary)
{
	return &s->areas[binary == RESOLVE_NONE ? s->area_count - 1 : binary];
}

static void measure_area(struct summing *s, const struct flat_group *group)
{
	struct area *area = area_of(s, group->binary);
	if (area->end == 0 || group->first < area->first)
		area->first = group->first;
	if (area->end == 0 || group->last > area->last)
		area->last = group->last;
	area->end += group->spots;
}

/* Where areas lie in the order. False: as keys one behind another they are more than 64 bits can tell apart. */
static bool lay_out_areas(struct summing *s)
{
	size_t begin = 0;
	uint64_t key = 0;
	bool fits = true;
	for (size_t i = 0; i < s->area_count; i++) {
		struct area *area = &s->areas[i];
		size_t count = area->end;
		uint64_t last;
		area->binary = i + 1 < s->area_count ? (uint32_t)i : RESOLVE_NONE;
		area->begin = begin;
		area->end = begin += count;
		if (count == 0)
			continue;
		area->shift = area->first - key;
		fits = fits && !__builtin_add_overflow(key, area->last - area->first, &last) && last < UINT64_MAX;
		key = fits ? last + 1 : 0;
	}
	return fits;
}

static void put_fold(void *context, size_t fold, unsigned worker)
{
	const struct summing *s = context;
	const struct flat_fold *from = &s->job->folds[fold];
	struct sort_key *to = s->order + s->begin[fold];
	for (size_t i = 0; i < from->spot_count; i++) {
		const struct flat_spot *spot = &from->spots[i];
		const struct area *area = area_of(s, from->groups.items[spot->group].binary);
		to[i] = (struct sort_key){spot->address - area->shift, pack_spot(fold, i)};
	}
}

static void sort_order(const struct summing *s, size_t begin, size_t end)
{
	key_sort_by_all(s->order + begin, s->room + begin, end - begin, s->job->threads);
}

/* By address, then by area, where keys cannot tell both. */
static void sort_by_area(const struct summing *s)
{
	sort_order(s, 0, s->spot_count);
	for (size_t i = 0; i < s->spot_count; i++) {
		uint32_t binary = s->groups.items[group_of(s, s->order[i].index)].binary;
		s->order[i].key = (uint64_t)(area_of(s, binary) - s->areas);
	}
	sort_order(s, 0, s->spot_count);
	for (size_t i = 0; i < s->spot_count; i++)
		s->order[i].key = spot_of(s, s->order[i].index)->address;
}

static bool order_spots(struct summing *s)
{
	const struct machine *machine = s->pass->input.sideband->machine;
	s->area_count = machine_binary_count(machine) + 1;
	s->areas = calloc(s->area_count, sizeof(*s->areas));
	s->order = malloc((s->spot_count + 1) * sizeof(*s->order));
	s->room = malloc((3 * s->spot_count + 1) * sizeof(*s->room));
	if (!s->areas || !s->order || !s->room)
		return false;
	for (size_t fold = 0; fold < s->job->count; fold++)
		for (size_t i = 0; i < s->job->folds[fold].groups.len; i++)
			measure_area(s, &s->job->folds[fold].groups.items[i]);
	bool fits = lay_out_areas(s);
	for (size_t i = 0; !fits && i < s->area_count; i++)
		s->areas[i].shift = 0;
	thread_pool_for(s->job->count, s->job->threads, put_fold, s);
	if (fits)
		sort_order(s, 0, s->spot_count);
	else
		sort_by_area(s);
	return true;
}

/* Of some spots that lie in one area: addresses become where their functions start. */
static void find_starts(const struct summing *s, struct area *area, size_t begin, size_t end)
{
	uint32_t binary = area->binary;
	uint32_t id = binary == RESOLVE_NONE ? RESOLVE_NONE : s->job->store_ids[binary];
	const struct machine_binary *bpf =
		binary == RESOLVE_NONE ? NULL : machine_binary_get(s->pass->input.sideband->machine, binary);
	struct symbol_span span = {.first = 1, .last = 0};
	if (bpf && bpf->kind != MACHINE_BPF)
		bpf = NULL;
	for (size_t i = begin; i < end; i++) {
		uint64_t address = s->order[i].key + area->shift, start = bpf ? bpf->start : address;
		if (id != RESOLVE_NONE) {
			if (address < span.first || address > span.last)
				binary_store_find_span(s->job->store, id, address, &span);
			start = span.symbol ? span.symbol->start : address;
		}
		s->order[i].key = start;
		s->room[i].index = id != RESOLVE_NONE ? (uintptr_t)span.symbol : 0;
		if (i > begin && start < s->order[i - 1].key)
			__atomic_store_n(&area->is_mixed, true, __ATOMIC_RELAXED);
	}
}

/* The area that the spot at this place of the order lies in. */
static size_t find_area(const struct summing *s, size_t at)
{
	size_t low = 0, high = s->area_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (s->areas[middle].end <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void find_some_starts(void *context, size_t task, unsigned worker)
{
	const struct summing *s = context;
	size_t at = task * TASK_SPOTS, end = thread_pool_task_end(task, TASK_SPOTS, s->spot_count);
	for (size_t area = find_area(s, at); at < end; area++) {
		size_t area_end = s->areas[area].end < end ? s->areas[area].end : end;
		find_starts(s, &s->areas[area], at, area_end);
		at = area_end;
	}
}

/* Those that come too late for the order of their keys are few: they are sorted alone, and joined with the others. */
static void bring_area_together(const struct summing *s, const struct area *area)
{
	struct sort_key *order = s->order, *late = s->room + s->spot_count;
	size_t kept = area->begin, late_count = 0;
	for (size_t i = area->begin; i < area->end; i++) {
		if (kept > area->begin && order[i].key < order[kept - 1].key)
			late[late_count++] = order[i];
		else
			order[kept++] = order[i];
	}
	key_sort(late, late + late_count, late_count);
	for (size_t to = area->end; late_count > 0;) {
		bool is_late = kept == area->begin || late[late_count - 1].key >= order[kept - 1].key;
		order[--to] = is_late ? late[--late_count] : order[--kept];
	}
}

/* A function that lies in another one parts that one's spots. */
static void bring_together(const struct summing *s)
{
	for (size_t at = TASK_SPOTS; at < s->spot_count; at += TASK_SPOTS) {
		struct area *area = &s->areas[find_area(s, at)];
		if (at > area->begin && s->order[at].key < s->order[at - 1].key)
			area->is_mixed = true;
	}
	for (size_t i = 0; i < s->area_count; i++)
		if (s->areas[i].is_mixed)
			bring_area_together(s, &s->areas[i]);
}

/* The place of the function that has this group's frame: one of the same level; + 1. */
static uint32_t frame_of(const struct summing *s, uint32_t *levels, size_t *level_count, size_t place)
{
	uint32_t level = s->groups.items[s->places[place].group].level;
	for (size_t i = 0; i < *level_count; i++)
		if (s->groups.items[s->places[levels[i] - 1].group].level == level)
			return levels[i];
	if (*level_count < MOST_LEVELS)
		levels[(*level_count)++] = (uint32_t)place + 1;
	return (uint32_t)place + 1;
}

static void add_spot(const struct summing *s, struct place *to, uint64_t packed)
{
	const struct flat_spot *spot = spot_of(s, packed);
	to->sum.count += spot->count;
	to->sum.period += spot->period;
	if (spot->first_order < to->sum.first_order)
		to->sum.first_order = spot->first_order;
	if (packed < to->first)
		to->first = packed;
}

static const struct symbol *symbol_at(const struct summing *s, const struct area *area, size_t at)
{
	if (!area->is_mixed)
		return (const struct symbol *)(uintptr_t)s->room[at].index;
	uint32_t id = area->binary == RESOLVE_NONE ? RESOLVE_NONE : s->job->store_ids[area->binary];
	return id == RESOLVE_NONE ? NULL : binary_store_find(s->job->store, id, s->order[at].key);
}

/* The spots of one function. Their places go where next says, which moves on. */
static void sum_function(const struct summing *s, struct stamp *stamps, const struct function_run *run, size_t *next)
{
	size_t begin = run->begin, end = run->end;
	uint32_t levels[MOST_LEVELS];
	size_t level_count = 0, first = *next;
	for (size_t i = begin; i < end; i++) {
		uint64_t packed = s->order[i].index;
		uint32_t group = group_of(s, packed);
		struct stamp *stamp = &stamps[group];
		if (i + AHEAD < s->spot_count)
			__builtin_prefetch(spot_of(s, s->order[i + AHEAD].index));
		if (stamp->function != begin + 1) {
			*stamp = (struct stamp){begin + 1, *next};
			s->places[*next] = (struct place){.start = s->order[i].key,
				.symbol = run->symbol,
				.first = UINT64_MAX,
				.sum = {.first_order = UINT64_MAX},
				.group = group};
			s->frames[*next] = frame_of(s, levels, &level_count, *next);
			++*next;
		}
		add_spot(s, &s->places[stamp->place], packed);
	}
	for (size_t i = first; i < *next; i++) {
		uint64_t packed = s->places[i].first;
		s->place_at[s->begin[packed >> 32] + (uint32_t)packed] = (uint32_t)i + 1;
	}
}

/* Where the function ends whose spots begin there. */
static size_t function_end(const struct summing *s, const struct area *area, size_t at)
{
	uint64_t start = s->order[at].key;
	while (at < area->end && s->order[at].key == start)
		at++;
	return at;
}

/* A task has the functions whose first spots are its own. */
static void sum_task(void *context, size_t task, unsigned worker)
{
	struct summing *s = context;
	size_t at = task * TASK_SPOTS, end = thread_pool_task_end(task, TASK_SPOTS, s->spot_count),
	       area = find_area(s, at);
	struct stamp *stamps = s->stamps[worker];
	if (!stamps)
		stamps = s->stamps[worker] = calloc(s->groups.len + 1, sizeof(*stamps));
	if (!stamps) {
		__atomic_store_n(&s->failed, true, __ATOMIC_RELAXED);
		return;
	}
	if (at > s->areas[area].begin && s->order[at].key == s->order[at - 1].key)
		at = function_end(s, &s->areas[area], at);
	size_t next = at;
	while (at < end) {
		while (at >= s->areas[area].end)
			area++;
		struct function_run run = {.begin = at, .end = function_end(s, &s->areas[area], at)};
		run.symbol = symbol_at(s, &s->areas[area], at);
		sum_function(s, stamps, &run, &next);
		at = run.end;
	}
}

static bool sum_all(struct summing *s)
{
	size_t count = s->spot_count, tasks = thread_pool_tasks(count, TASK_SPOTS);
	s->places = malloc((count + 1) * sizeof(*s->places));
	s->frames = malloc((count + 1) * sizeof(*s->frames));
	s->place_at = zeroed_new(count + 1, sizeof(*s->place_at));
	s->worker_count = thread_pool_workers(tasks, s->job->threads);
	s->stamps = calloc(s->worker_count + 1, sizeof(*s->stamps));
	if (!s->places || !s->frames || !s->place_at || !s->stamps)
		return false;
	thread_pool_for(tasks, s->job->threads, find_some_starts, s);
	bring_together(s);
	thread_pool_for(tasks, s->job->threads, sum_task, s);
	return !s->failed;
}

/* Places and frames are numbered as the recording first has them. */
static bool number_places(struct summing *s)
{
	s->numbers = zeroed_new(s->spot_count + 1, sizeof(*s->numbers));
	s->firsts = malloc((s->spot_count + 1) * sizeof(*s->firsts));
	s->frame_firsts = malloc((s->spot_count + 1) * sizeof(*s->frame_firsts));
	if (!s->numbers || !s->firsts || !s->frame_firsts)
		return false;
	for (size_t i = 0; i < s->spot_count; i++) {
		if (!s->place_at[i])
			continue;
		uint32_t place = s->place_at[i] - 1, frame = s->frames[place] - 1;
		if (!s->numbers[frame]) {
			s->frame_firsts[s->frame_count] = place;
			s->numbers[frame] = (uint32_t)++s->frame_count;
		}
		s->firsts[s->place_count++] = place;
	}
	return true;
}

struct filling {
	const struct summing *s;
	uint64_t *keys, *frames; /* of the pass */
};

static void fill_keys(void *context, size_t task, unsigned worker)
{
	const struct filling *f = context;
	const struct summing *s = f->s;
	unsigned words = s->pass->keys.words;
	for (size_t i = task * TASK_PLACES; i < thread_pool_task_end(task, TASK_PLACES, s->place_count); i++) {
		uint32_t index = s->firsts[i];
		const struct place *place = &s->places[index];
		if (i + AHEAD < s->place_count)
			__builtin_prefetch(&s->places[s->firsts[i + AHEAD]]);
		const struct flat_group *group = &s->groups.items[place->group];
		const struct sample_key key = {.event = group->event,
			.thread = group->thread,
			.leaf = s->numbers[s->frames[index] - 1] - 1,
			.stack = RESOLVE_NONE,
			.cpu = -1};
		uint64_t packed[SAMPLE_KEY_WORDS];
		sample_key_pack(&key, packed);
		memcpy(f->keys + i * words, packed, words * sizeof(*packed));
		s->pass->sums.items[i] = place->sum;
	}
}

static void fill_frames(void *context, size_t task, unsigned worker)
{
	const struct filling *f = context;
	const struct summing *s = f->s;
	struct resolver *resolver = &s->pass->resolver;
	unsigned words = resolver->frames.words;
	for (size_t i = task * TASK_PLACES; i < thread_pool_task_end(task, TASK_PLACES, s->frame_count); i++) {
		const struct place *place = &s->places[s->frame_firsts[i]];
		if (i + AHEAD < s->frame_count)
			__builtin_prefetch(&s->places[s->frame_firsts[i + AHEAD]]);
		const struct flat_group *group = &s->groups.items[place->group];
		const struct resolved_frame frame = {
			.address = place->start, .binary = group->binary, .level = group->level};
		uint64_t packed[RESOLVED_FRAME_WORDS];
		resolved_frame_pack(&frame, packed);
		memcpy(f->frames + i * words, packed, words * sizeof(*packed));
		s->pass->symbols[i] = place->symbol;
		resolver->first_ips.items[i] =
			s->job->folds[place->first >> 32].first_ips.items[(uint32_t)place->first];
	}
}

static bool fill_pass(const struct summing *s)
{
	struct sample_pass *pass = s->pass;
	unsigned threads = s->job->threads;
	if (s->spot_count == 0)
		return true;
	struct filling filling = {s, id_table_append_many(&pass->keys, s->place_count),
		id_table_append_many(&pass->resolver.frames, s->frame_count)};
	pass->symbols = malloc((s->frame_count + 1) * sizeof(*pass->symbols));
	if (!pass->symbols || !filling.keys || !filling.frames || !vec_reserve(&pass->sums, s->place_count) ||
		!vec_reserve(&pass->resolver.first_ips, s->frame_count))
		return false;
	pass->sums.len = s->place_count;
	pass->resolver.first_ips.len = s->frame_count;
	thread_pool_for(thread_pool_tasks(s->place_count, TASK_PLACES), threads, fill_keys, &filling);
	thread_pool_for(thread_pool_tasks(s->frame_count, TASK_PLACES), threads, fill_frames, &filling);
	return true;
}

static void summing_deinit(struct summing *s)
{
	for (size_t i = 0; s->group_of && i < s->job->count; i++)
		free(s->group_of[i]);
	free(s->group_of);
	free(s->begin);
	id_table_deinit(&s->group_ids);
	vec_free(&s->groups);
	free(s->areas);
	free(s->order);
	free(s->room);
	for (unsigned i = 0; s->stamps && i < s->worker_count; i++)
		free(s->stamps[i]);
	free(s->stamps);
	free(s->places);
	free(s->frames);
	free(s->place_at);
	free(s->numbers);
	free(s->firsts);
	free(s->frame_firsts);
}

bool flat_sum(const struct flat_sum_job *job, struct sample_pass *pass)
{
	struct summing s = {.job = job, .pass = pass, .group_ids = {.words = GROUP_WORDS}};
	bool is_done = join_all_groups(&s) && order_spots(&s) && sum_all(&s) && number_places(&s) && fill_pass(&s);
	summing_deinit(&s);
	for (size_t i = 0; i < job->count; i++) {
		pass->damaged += job->folds[i].part->damaged;
		pass->unattributed += job->folds[i].part->unattributed;
	}
	resolver_end_lookups(&pass->resolver);
	return is_done;
}
