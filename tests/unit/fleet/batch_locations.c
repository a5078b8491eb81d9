/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/batch_locations.h"

#include "fleet/batch.h"
#include "profile/profile_builder.h"
#include "unit_test.h"

struct maker {
	struct profile_builder *b;
	uint32_t binary;
};

static struct maker begin(void)
{
	struct maker m = {.b = profile_builder_create()};
	uint32_t name = profile_builder_string(m.b, STR("x"));
	profile_builder_event(m.b, &(struct profile_event){.name = name});
	profile_builder_thread(m.b, &(struct profile_thread){.comm = name});
	m.binary = profile_builder_binary(m.b, &(struct profile_binary){.name = name});
	return m;
}

/* name is NULL for a frame without symbol. */
static uint32_t frame_of(
	const struct maker *m, const char *name, uint64_t address, enum profile_level level, bool is_inlined)
{
	struct profile_frame frame = {
		.function = PROFILE_NONE, .binary = m->binary, .address = address, .level = (uint8_t)level};
	if (name)
		frame.function = profile_builder_function(
			m->b, &(struct profile_function){.name = profile_builder_string(m->b, str_from(name)),
				      .binary = m->binary,
				      .is_inlined = is_inlined});
	return profile_builder_frame(m->b, &frame);
}

static uint32_t user(const struct maker *m, const char *name, uint64_t address)
{
	return frame_of(m, name, address, PROFILE_LEVEL_USER, false);
}

static uint32_t inlined(const struct maker *m, const char *name, uint64_t address)
{
	return frame_of(m, name, address, PROFILE_LEVEL_USER, true);
}

static struct profile *finish(struct maker *m, uint32_t leaf, uint32_t stack)
{
	struct profile *p;
	profile_builder_sample(m->b, &(struct profile_sample){.leaf = leaf, .stack = stack, .cpu = -1, .count = 1});
	assert_int_equal(profile_builder_finish(m->b, &p, NULL), TALLY_OK);
	return p;
}

/* Frees the profile. lens has the numbers of frames of the locations. */
static void check_locations(struct profile *p, size_t count, const uint32_t *lens, const uint64_t *addresses)
{
	struct batch_locations found = {0};
	assert_true(batch_locations_find(p, &p->samples[0], &found));
	assert_int_equal(found.list.len, count);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(found.list.items[i].frame_count, lens[i]);
		assert_int_equal(found.list.items[i].address, addresses[i]);
	}
	vec_free(&found.list);
	profile_destroy(p);
}

static void inlined_calls_share_a_location(void **state)
{
	struct maker m = begin();
	uint32_t frames[] = {inlined(&m, "c", 1), inlined(&m, "b", 1), user(&m, "a", 1), user(&m, "f", 2),
		inlined(&m, "c", 3), user(&m, "main", 3)};
	uint32_t stack = profile_builder_stack(m.b, frames, 6);
	check_locations(finish(&m, frames[2], stack), 3, (const uint32_t[]){3, 1, 2}, (const uint64_t[]){1, 2, 3});
}

/* A chain that was truncated inside inlined calls, and a kernel function after an inlined call. */
static void locations_end_with_levels(void **state)
{
	struct maker m = begin();
	uint32_t frames[] = {
		inlined(&m, "a", 1), frame_of(&m, "k", 2, PROFILE_LEVEL_KERNEL, false), inlined(&m, "b", 3)};
	uint32_t stack = profile_builder_stack(m.b, frames, 3);
	check_locations(finish(&m, frames[0], stack), 3, (const uint32_t[]){1, 1, 1}, (const uint64_t[]){1, 2, 3});
}

static void a_sample_without_chain(void **state)
{
	struct maker m = begin();
	uint32_t leaf = user(&m, "f", 7);
	check_locations(finish(&m, leaf, PROFILE_NONE), 1, (const uint32_t[]){1}, (const uint64_t[]){7});
	m = begin();
	leaf = user(&m, "f", 7);
	uint32_t empty = profile_builder_stack(m.b, NULL, 0);
	check_locations(finish(&m, leaf, empty), 1, (const uint32_t[]){1}, (const uint64_t[]){7});
}

static void a_chain_that_begins_elsewhere(void **state)
{
	struct maker m = begin();
	uint32_t leaf = frame_of(&m, "k", 9, PROFILE_LEVEL_KERNEL, false);
	uint32_t frame = user(&m, "f", 7);
	uint32_t stack = profile_builder_stack(m.b, &frame, 1);
	check_locations(finish(&m, leaf, stack), 2, (const uint32_t[]){1, 1}, (const uint64_t[]){9, 7});
	m = begin(); /* The same function with a different address. */
	leaf = user(&m, "f", 8);
	frame = user(&m, "f", 7);
	stack = profile_builder_stack(m.b, &frame, 1);
	check_locations(finish(&m, leaf, stack), 1, (const uint32_t[]){1}, (const uint64_t[]){7});
	m = begin();
	leaf = user(&m, NULL, 8);
	frame = user(&m, NULL, 7);
	stack = profile_builder_stack(m.b, &frame, 1);
	check_locations(finish(&m, leaf, stack), 2, (const uint32_t[]){1, 1}, (const uint64_t[]){8, 7});
}

static void wakers_are_cut_off(void **state)
{
	struct maker m = begin();
	struct profile_frame waker = {.function = PROFILE_NONE, .binary = PROFILE_NONE, .branch = BRANCH_END_WAKER};
	uint32_t frames[] = {user(&m, "read", 1), profile_builder_frame(m.b, &waker), user(&m, "write", 2)};
	uint32_t stack = profile_builder_stack(m.b, frames, 3);
	check_locations(finish(&m, frames[0], stack), 1, (const uint32_t[]){1}, (const uint64_t[]){1});
}

static void deep_stacks_are_cut(void **state)
{
	struct maker m = begin();
	uint32_t *frames = test_malloc((FLEET_STACK_DEPTH + 5) * sizeof(*frames));
	for (uint32_t i = 0; i < FLEET_STACK_DEPTH + 5; i++)
		frames[i] = user(&m, "f", i);
	uint32_t stack = profile_builder_stack(m.b, frames, FLEET_STACK_DEPTH + 5);
	struct profile *p = finish(&m, frames[0], stack);
	struct batch_locations found = {0};
	assert_true(batch_locations_find(p, &p->samples[0], &found));
	assert_int_equal(found.list.len, FLEET_STACK_DEPTH);
	vec_free(&found.list);
	profile_destroy(p);
	test_free(frames);
}

static void names_of_events(void **state)
{
	assert_true(profile_event_is_time(STR("cpu-clock")));
	assert_true(profile_event_is_time(STR("task-clock:u")));
	assert_true(profile_event_is_time(STR("wall-clock")));
	assert_true(profile_event_is_time(STR("offcpu-time")));
	assert_false(profile_event_is_time(STR("cycles")));
	assert_false(profile_event_is_time(STR("cpu-clocks")));
	assert_true(profile_event_is_waiting(STR("offcpu-time")));
	assert_false(profile_event_is_waiting(STR("wall-clock")));
	assert_false(profile_event_is_waiting(STR("offcpu-time2")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(inlined_calls_share_a_location),
		cmocka_unit_test(locations_end_with_levels),
		cmocka_unit_test(a_sample_without_chain),
		cmocka_unit_test(a_chain_that_begins_elsewhere),
		cmocka_unit_test(wakers_are_cut_off),
		cmocka_unit_test(deep_stacks_are_cut),
		cmocka_unit_test(names_of_events),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
