/* SPDX-License-Identifier: Apache-2.0 */
#include "store/store_answer.h"

#include <stdlib.h>

#include "abi/wait_record.h"
#include "base/error.h"
#include "base/id_table.h"
#include "base/limits.h"
#include "base/name_identity.h"
#include "base/order.h"
#include "profile/profile_builder.h"

struct store_answer_stack {
	uint32_t stack, leaf; /* IDs that the profile builder has assigned. */
};

struct store_answer_range {
	size_t first, count;
};

/* A frame whose function has not been added to the profile yet. */
struct store_answer_named {
	struct profile_frame frame;
	struct profile_function function;
	uint32_t file; /* Name of the function's file, as a string of the builder. */
	bool has_symbol;
};

struct store_answer {
	const struct store_query *query;
	struct profile_builder *builder;
	struct arena arena;
	/* Database IDs of the stacks. */
	VEC(uint64_t) stack_ids;
	VEC(uint64_t) chain; /* Per stack, the number of locations and then their indexes. */
	VEC(size_t) chain_begins; /* Start of each stack in chain. */
	struct map_u64 stacks, locations; /* Map database IDs to indexes. */
	VEC(uint64_t) location_ids;
	struct store_answer_range *location_frames; /* Range of each location's frames. */
	VEC(struct store_answer_named) named;
	VEC(uint32_t) frames; /* Frames of the builder, one per element of named. */
	struct store_answer_stack *made; /* One per stack. */
	VEC(uint32_t) room; /* Frames of one stack. */
	uint32_t *events; /* One per series: the builder's event + 1, or 0 if it is not made. */
	uint32_t *sets; /* One per series: the label set + 1, or 0 if it is not made. */
	VEC(struct fleet_labels) labels; /* The sets; the first one is empty. */
	struct fleet_labels common;
	uint32_t empty; /* The empty string of the builder. */
	uint32_t unknown; /* Frame of samples without a stack. */
	bool has_chains; /* Whether any stack has more than one location. */
	bool failed; /* Memory ran out. */
};

static bool store_answer_fail(struct store_answer *a)
{
	a->failed = true;
	return false;
}

/* Finds the index of an ID; the caller appends the ID if it is new. */
static bool store_answer_number(struct map_u64 *map, uint64_t id, size_t count, uint32_t *index, bool *is_new)
{
	uint64_t *slot = count < STORE_NONE ? map_u64_at(map, id, is_new) : NULL;
	if (!slot)
		return false;
	if (*is_new)
		*slot = count;
	*index = (uint32_t)*slot;
	return true;
}

static bool store_answer_take_stack(void *context, uint64_t id, const uint64_t *locations, size_t count)
{
	struct store_answer *a = context;
	uint64_t stack;
	if (!map_u64_find(&a->stacks, id, &stack) || !vec_reserve(&a->chain, a->chain.len + count + 1))
		return store_answer_fail(a);
	a->chain_begins.items[stack] = a->chain.len;
	a->chain.items[a->chain.len++] = count;
	a->has_chains = a->has_chains || count > 1;
	for (size_t i = 0; i < count; i++) {
		uint32_t index;
		bool is_new = false;
		if (!store_answer_number(&a->locations, locations[i], a->location_ids.len, &index, &is_new) ||
			(is_new && !vec_push(&a->location_ids, locations[i])))
			return store_answer_fail(a);
		a->chain.items[a->chain.len++] = index;
	}
	return true;
}

/* *file becomes the name of the binary's file, which is the same for all of its builds. */
static uint32_t store_answer_binary(struct store_answer *a, const struct store_binary *binary, uint32_t *file)
{
	*file = PROFILE_NONE;
	if (!binary)
		return PROFILE_NONE;
	struct profile_builder *b = a->builder;
	struct text room = {0};
	struct tally_str name = name_identity_shared(binary->name, &room);
	bool is_of_process = !str_equal(name, binary->name);
	if (room.failed)
		(void)store_answer_fail(a);
	uint32_t shown = profile_builder_string(b, name);
	text_deinit(&room);
	*file = shown;
	return profile_builder_binary(
		b, &(struct profile_binary){.name = shown,
			   .long_name = is_of_process ? a->empty : profile_builder_string(b, binary->path),
			   .build_id = profile_builder_string(b, binary->build_id),
			   .is_kernel = binary->is_kernel});
}

static struct profile_place store_answer_place(struct store_answer *a, const struct store_frame *frame)
{
	struct text text = {0};
	if (frame->file.len == 0)
		return (struct profile_place){a->empty, a->empty};
	text_bytes(&text, frame->file.data, frame->file.len);
	text_char(&text, ':');
	text_u64(&text, frame->line);
	if (text.failed)
		(void)store_answer_fail(a);
	struct profile_place place = {
		profile_builder_string(a->builder, text_view(&text)), profile_builder_string(a->builder, frame->file)};
	text_deinit(&text);
	return place;
}

struct store_answer_location {
	const struct store_location *location;
	uint32_t binary, file;
	struct profile_place innermost;
	bool is_generated;
};

static void store_answer_frame(
	struct store_answer *a, const struct store_answer_location *at, const struct store_frame *frame, bool is_last)
{
	struct profile_builder *b = a->builder;
	struct profile_place line = store_answer_place(a, frame);
	bool has_symbol = frame->function.len > 0;
	struct profile_frame to = {.function = PROFILE_NONE,
		.binary = at->binary,
		.address = at->location->address,
		.raw_address = has_symbol ? 0 : at->location->address,
		.level = at->location->level,
		.is_start = !has_symbol && frame->is_start,
		.own_line = line,
		.innermost_line = is_last ? at->innermost : line};
	struct store_answer_named named = {.frame = to, .file = at->file, .has_symbol = has_symbol};
	if (has_symbol)
		named.function = (struct profile_function){.name = profile_builder_string(b, frame->function),
			.binary = at->binary,
			.start = is_last && !at->is_generated ? frame->start : 0,
			.size = is_last && !at->is_generated ? frame->size : 0,
			.is_inlined = !is_last,
			.is_start = is_last && frame->is_start};
	if (!vec_push(&a->named, named))
		(void)store_answer_fail(a);
}

/* The first address range of each function, by file (or binary) and name, and whether it has other ranges. */
struct store_answer_places {
	struct id_table ids;
	VEC(struct store_answer_range) first; /* Start and size of the first range. */
	VEC(bool) are_several;
};

static bool store_answer_add_place(struct store_answer_places *places, uint32_t file, const struct profile_function *f)
{
	bool is_new;
	uint32_t id = id_table_add(&places->ids, (const uint64_t[]){file, f->name}, &is_new);
	const struct store_answer_range place = {f->start, f->size};
	if (id == ID_TABLE_NONE ||
		(is_new && !(vec_push(&places->first, place) && vec_push(&places->are_several, false))))
		return false;
	const struct store_answer_range *first = &places->first.items[id];
	if (first->first != place.first || first->count != place.count)
		places->are_several.items[id] = true;
	return true;
}

static bool store_answer_has_places(struct store_answer_places *places, uint32_t file, const struct profile_function *f)
{
	uint32_t id = id_table_add(&places->ids, (const uint64_t[]){file, f->name}, NULL);
	return id == ID_TABLE_NONE || places->are_several.items[id];
}

static void store_answer_places_deinit(struct store_answer_places *places)
{
	id_table_deinit(&places->ids);
	vec_free(&places->first);
	vec_free(&places->are_several);
}

/* The address of a function differs between the builds of its program, so it is omitted and the name identifies the
 * function. Functions of the same name in one build are distinguished by their addresses. */
static bool store_answer_name_frames(struct store_answer *a)
{
	struct store_answer_places of_files = {.ids = {.words = 2}}, of_builds = {.ids = {.words = 2}};
	bool is_done = true;
	for (size_t i = 0; is_done && i < a->named.len; i++) {
		const struct store_answer_named *named = &a->named.items[i];
		if (named->has_symbol && !named->function.is_inlined)
			is_done = store_answer_add_place(&of_files, named->file, &named->function) &&
				  store_answer_add_place(&of_builds, named->function.binary, &named->function);
	}
	for (size_t i = 0; is_done && i < a->named.len; i++) {
		struct store_answer_named *named = &a->named.items[i];
		struct profile_function *f = &named->function;
		if (named->has_symbol && !f->is_inlined && store_answer_has_places(&of_files, named->file, f) &&
			!store_answer_has_places(&of_builds, f->binary, f))
			f->start = f->size = 0;
		if (named->has_symbol)
			named->frame.function = profile_builder_function(a->builder, f);
		is_done = vec_push(&a->frames, profile_builder_frame(a->builder, &named->frame));
	}
	store_answer_places_deinit(&of_files);
	store_answer_places_deinit(&of_builds);
	return is_done;
}

static bool store_answer_take_location(void *context, uint64_t id, const struct store_location *location,
	const struct store_binary *binary, const struct store_frame *frames)
{
	static const struct store_frame nameless = {.function = {"", 0}, .file = {"", 0}};
	struct store_answer *a = context;
	uint64_t index;
	if (!map_u64_find(&a->locations, id, &index))
		return store_answer_fail(a);
	size_t count = location->frame_count ? location->frame_count : 1;
	const struct store_frame *from = location->frame_count ? frames : &nameless;
	struct store_answer_location at = {.location = location,
		.innermost = store_answer_place(a, &from[0]),
		.is_generated = binary && name_identity_is_generated(binary->name)};
	at.binary = store_answer_binary(a, binary, &at.file);
	a->location_frames[index] = (struct store_answer_range){a->named.len, count};
	for (size_t i = 0; i < count; i++)
		store_answer_frame(a, &at, &from[i], i + 1 == count);
	return !a->failed;
}

/* Collects the stacks of the sums. */
static bool store_answer_find_stacks(struct store_answer *a)
{
	const struct store_sums *sums = &a->query->sums;
	for (size_t i = 0; i < sums->values.len; i++) {
		uint64_t stack = store_sums_key(sums, i).stack;
		uint32_t index;
		bool is_new = false;
		if (stack && (!store_answer_number(&a->stacks, stack, a->stack_ids.len, &index, &is_new) ||
				     (is_new && (!vec_push(&a->stack_ids, stack) || !vec_push(&a->chain_begins, 0)))))
			return false;
	}
	a->made = arena_array(&a->arena, struct store_answer_stack, a->stack_ids.len);
	return a->made != NULL;
}

static enum tally_status store_answer_load_stacks(struct store_answer *a, struct tally_error *err)
{
	const struct store *store = a->query->store;
	if (!store_answer_find_stacks(a))
		return error_nomem(err);
	const struct store_stack_list stacks = {a->stack_ids.items, a->stack_ids.len, store_answer_take_stack, a};
	enum tally_status status = store->backend->list_stacks(store->db, &stacks, err);
	if (status != TALLY_OK || a->failed)
		return status != TALLY_OK ? status : error_nomem(err);
	a->location_frames = arena_array(&a->arena, struct store_answer_range, a->location_ids.len);
	if (!a->location_frames)
		return error_nomem(err);
	const struct store_location_list locations = {
		a->location_ids.items, a->location_ids.len, store_answer_take_location, a};
	status = store->backend->list_locations(store->db, &locations, err);
	if (status == TALLY_OK && (a->failed || !store_answer_name_frames(a)))
		return error_nomem(err);
	return status;
}

static void store_answer_make_stack(struct store_answer *a, size_t index)
{
	const uint64_t *chain = a->chain.items + a->chain_begins.items[index];
	struct store_answer_stack *made = &a->made[index];
	a->room.len = 0;
	made->leaf = a->unknown;
	for (size_t i = 0; i < chain[0]; i++) {
		const struct store_answer_range *range = &a->location_frames[chain[i + 1]];
		if (!vec_reserve(&a->room, a->room.len + range->count)) {
			(void)store_answer_fail(a);
			return;
		}
		memcpy(a->room.items + a->room.len, a->frames.items + range->first,
			range->count * sizeof(*a->room.items));
		a->room.len += range->count;
		if (i == 0 && range->count > 0) /* This function contains the inlined calls. */
			made->leaf = a->room.items[range->count - 1];
	}
	made->stack = a->room.len && a->has_chains ? profile_builder_stack(a->builder, a->room.items, a->room.len)
						   : PROFILE_NONE;
}

static size_t store_answer_keep_common(struct fleet_label *items, size_t count, const struct fleet_labels *labels)
{
	size_t kept = 0;
	for (size_t i = 0; i < count; i++) {
		const struct fleet_label *other = fleet_labels_find(labels, items[i].name);
		if (other && str_equal(other->value, items[i].value))
			items[kept++] = items[i];
	}
	return kept;
}

/* Finds the labels that all series of the sums share. */
static bool store_answer_find_common(struct store_answer *a)
{
	const struct store_query *q = a->query;
	struct fleet_label *items = NULL;
	size_t count = 0;
	for (size_t i = 0; i < q->catalog.series.len; i++) {
		const struct fleet_labels *labels = &q->catalog.series.items[i].labels;
		if (!q->sums.has_samples[i])
			continue;
		if (items) {
			count = store_answer_keep_common(items, count, labels);
			continue;
		}
		count = labels->count;
		items = arena_array(&a->arena, struct fleet_label, count);
		if (!items)
			return false;
		if (count > 0)
			memcpy(items, labels->items, count * sizeof(*items));
	}
	a->common = (struct fleet_labels){items, count};
	return vec_push(&a->labels, ((struct fleet_labels){NULL, 0}));
}

/* Makes the label set of a series: its labels without those that all series share. Series with equal sets share one. */
static bool store_answer_make_set(struct store_answer *a, uint32_t series, struct map_u64 *known)
{
	const struct fleet_labels *labels = &a->query->catalog.series.items[series].kept;
	struct fleet_labels rest = {NULL, 0};
	struct fleet_label *items = arena_array(&a->arena, struct fleet_label, labels->count);
	if (!items)
		return false;
	for (size_t i = 0; i < labels->count; i++)
		if (!fleet_labels_find(&a->common, labels->items[i].name))
			items[rest.count++] = labels->items[i];
	rest.items = items;
	uint32_t index = 0;
	bool is_new = false;
	if (rest.count > 0 && (!store_answer_number(known, store_labels_id(&rest), a->labels.len, &index, &is_new) ||
				      (is_new && !vec_push(&a->labels, rest))))
		return false;
	a->sets[series] = index + 1;
	return true;
}

static int store_answer_compare_events(const void *left, const void *right, void *strings)
{
	struct tally_str a = intern_get(strings, *(const uint32_t *)left);
	struct tally_str b = intern_get(strings, *(const uint32_t *)right);
	int order = memcmp(a.data, b.data, MIN(a.len, b.len));
	return order ? order : COMPARE(a.len, b.len);
}

/* Events are ordered by name, so that every database gives the same answer. `names` are those of series with
 * samples. */
static bool store_answer_make_events(struct store_answer *a, uint32_t *names, size_t count)
{
	const struct store_catalog *catalog = &a->query->catalog;
	struct map_u64 known = {0};
	bool ok = true;
	qsort_r(names, count, sizeof(*names), store_answer_compare_events, (void *)&catalog->strings);
	for (size_t i = 0; ok && i < count; i++) {
		bool is_new = false;
		uint64_t *slot = map_u64_at(&known, names[i], &is_new);
		ok = slot != NULL;
		if (!ok || !is_new)
			continue;
		*slot = profile_builder_event(a->builder,
			&(struct profile_event){
				.name = profile_builder_string(a->builder, intern_get(&catalog->strings, names[i])),
				.leader = (uint32_t)known.len - 1,
				.member_count = 1,
				.has_callchain = a->has_chains});
	}
	for (size_t i = 0; ok && i < catalog->series.len; i++) {
		uint64_t event;
		if (a->sets[i] && map_u64_find(&known, catalog->series.items[i].event, &event))
			a->events[i] = (uint32_t)event + 1;
	}
	map_u64_deinit(&known);
	return ok;
}

static bool store_answer_make_series(struct store_answer *a)
{
	struct map_u64 sets = {0};
	VEC(uint32_t) names = {0};
	size_t count = a->query->catalog.series.len;
	a->events = arena_array(&a->arena, uint32_t, count);
	a->sets = arena_array(&a->arena, uint32_t, count);
	bool ok = a->events && a->sets && store_answer_find_common(a);
	for (size_t i = 0; ok && i < a->query->sums.values.len; i++) {
		uint32_t series = store_sums_key(&a->query->sums, i).series;
		if (a->sets[series] == 0)
			ok = store_answer_make_set(a, series, &sets) &&
			     vec_push(&names, a->query->catalog.series.items[series].event);
	}
	ok = ok && (names.len == 0 || store_answer_make_events(a, names.items, names.len));
	map_u64_deinit(&sets);
	vec_free(&names);
	return ok;
}

static uint32_t store_answer_thread(struct store_answer *a, const struct store_sums_key *key)
{
	const struct intern *strings = &a->query->catalog.strings;
	uint32_t comm = profile_builder_string(a->builder, intern_get(strings, key->comm));
	return profile_builder_thread(a->builder,
		&(struct profile_thread){.pid = key->pid,
			.tid = key->tid,
			.comm = comm,
			.last_comm = comm,
			.process_comm = profile_builder_string(a->builder, intern_get(strings, key->process_comm)),
			.label_set = a->sets[key->series] - 1});
}

static uint32_t store_answer_state(struct store_answer *a, int state)
{
	struct tally_str name = STR("not known");
	if (state == PROFILE_STATE_NOT_TOLD)
		name = STR("off-cpu");
	else if (state >= 0 && state < PROFILE_STATES)
		name = wait_state_name((enum wait_state)state);
	return profile_builder_facets(
		a->builder, &(struct profile_value){.number = state >= 0 ? (uint64_t)state : PROFILE_STATES,
				    .text = profile_builder_string(a->builder, name),
				    .frame = PROFILE_NONE});
}

static void store_answer_add_sample(struct store_answer *a, size_t index, bool has_states)
{
	const struct store_sums *sums = &a->query->sums;
	struct store_sums_key key = store_sums_key(sums, index);
	struct profile_sample sample = {.event = a->events[key.series] - 1,
		.thread = store_answer_thread(a, &key),
		.leaf = a->unknown,
		.stack = PROFILE_NONE,
		.cpu = -1,
		.facets = has_states ? store_answer_state(a, key.state) : 0,
		.count = sums->values.items[index].count,
		.period = sums->values.items[index].value,
		.first_order = index};
	uint64_t stack;
	if (key.stack && map_u64_find(&a->stacks, key.stack, &stack)) {
		sample.leaf = a->made[stack].leaf;
		sample.stack = a->made[stack].stack;
	}
	(void)profile_builder_sample(a->builder, &sample);
}

static bool store_answer_add_samples(struct store_answer *a)
{
	const struct store_sums *sums = &a->query->sums;
	bool has_states = false;
	for (size_t i = 0; i < a->stack_ids.len; i++)
		store_answer_make_stack(a, i);
	for (size_t i = 0; i < sums->values.len; i++)
		has_states = has_states || store_sums_key(sums, i).state != STORE_STATE_UNKNOWN;
	profile_builder_keep_facets(a->builder, has_states ? UINT64_C(1) << FACET_STATE : 0);
	for (size_t i = 0; !a->failed && i < sums->values.len; i++)
		store_answer_add_sample(a, i, has_states);
	return !a->failed;
}

static enum tally_status store_answer_finish(
	struct store_answer *a, const struct fleet_losses *losses, struct fleet_batch **batch, struct tally_error *err)
{
	struct profile *profile;
	struct profile_builder *builder = a->builder;
	a->builder = NULL;
	enum tally_status status = profile_builder_finish(builder, &profile, err);
	if (status != TALLY_OK)
		return status;
	uint32_t *set_of_thread = arena_array(&a->arena, uint32_t, profile->thread_count);
	const struct store_selection *selection = a->query->selection;
	for (size_t i = 0; set_of_thread && i < profile->thread_count; i++)
		set_of_thread[i] = profile->threads[i].label_set;
	const struct fleet_batch parts = {.begin_ns = MIN(selection->begin_ns, INT64_MAX),
		.end_ns = MIN(MAX(selection->begin_ns, selection->end_ns), INT64_MAX),
		.labels = a->common,
		.sets = a->labels.items,
		.set_count = a->labels.len,
		.set_of_thread = set_of_thread,
		.losses = *losses};
	status = set_of_thread ? fleet_batch_make(&parts, profile, batch, err) : error_nomem(err);
	if (status != TALLY_OK)
		profile_destroy(profile);
	return status;
}

enum tally_status store_answer_make(const struct store_query *query, const struct fleet_losses *losses,
	struct fleet_batch **batch, struct tally_error *err)
{
	struct store_answer a = {.query = query, .builder = profile_builder_create()};
	if (!a.builder)
		return error_nomem(err);
	arena_init(&a.arena);
	a.empty = profile_builder_string(a.builder, STR(""));
	enum tally_status status = store_answer_load_stacks(&a, err);
	a.unknown = profile_builder_frame(a.builder, &(struct profile_frame){.function = PROFILE_NONE,
							     .binary = PROFILE_NONE,
							     .own_line = {a.empty, a.empty},
							     .innermost_line = {a.empty, a.empty}});
	if (status == TALLY_OK && (!store_answer_make_series(&a) || !store_answer_add_samples(&a)))
		status = error_nomem(err);
	if (status == TALLY_OK)
		status = store_answer_finish(&a, losses, batch, err);
	profile_builder_destroy(a.builder);
	arena_deinit(&a.arena);
	vec_free(&a.stack_ids);
	vec_free(&a.chain);
	vec_free(&a.chain_begins);
	map_u64_deinit(&a.stacks);
	map_u64_deinit(&a.locations);
	vec_free(&a.location_ids);
	vec_free(&a.named);
	vec_free(&a.frames);
	vec_free(&a.room);
	vec_free(&a.labels);
	return status;
}
