/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/replay/replay_twins.h"

#include <stdlib.h>

#include "base/array.h"
#include "unit_test.h"

#define NONE PROFILE_NONE

/* Three binaries of the machine, of which the profile merges the first and the last. */
static uint32_t profile_binaries[] = {0, 1, 0};
static uint32_t machine_binaries[] = {0, 1};

struct fixture {
	struct replay_options options;
	struct replay replay;
};

static void add_frame(struct fixture *f, uint64_t address, uint32_t binary, uint32_t level)
{
	const struct resolved_frame frame = {.address = address, .binary = binary, .level = level};
	uint64_t words[RESOLVED_FRAME_WORDS];
	resolved_frame_pack(&frame, words);
	assert_int_not_equal(id_table_append(&f->replay.frames, words), ID_TABLE_NONE);
}

static void setup(struct fixture *f, uint32_t *functions, uint32_t *callers)
{
	*f = (struct fixture){.replay = {.frames = {.words = RESOLVED_FRAME_WORDS - 1},
				      .profile_binaries = profile_binaries,
				      .functions = functions,
				      .callers = callers,
				      .has_namesakes = true}};
	f->replay.options = &f->options;
	f->replay.machine_binaries.items = machine_binaries;
	f->replay.machine_binaries.len = 2;
	for (int i = 0; i < 4; i++)
		assert_true(vec_push(&f->replay.function_roles, 0));
}

static void teardown(struct fixture *f)
{
	id_table_deinit(&f->replay.frames);
	vec_free(&f->replay.function_roles);
}

static void frames_of_one_function_are_one(void **state)
{
	uint32_t functions[] = {NONE, 2, 1, 2, NONE, 1}, firsts[6];
	static const uint32_t expected[] = {0, 1, 2, 1, 4, 2};
	struct fixture f;
	setup(&f, functions, NULL);
	for (uint32_t i = 0; i < 6; i++)
		add_frame(&f, i, functions[i] == 1, '.');
	assert_true(replay_find_twins(&f.replay, 6, firsts));
	assert_memory_equal(firsts, expected, sizeof(expected));
	f.options.with_exact_frames = true; /* Exact frames are compared by address, not by function. */
	assert_false(replay_find_twins(&f.replay, 6, firsts));
	teardown(&f);
}

static void calls_are_one_at_one_place_only(void **state)
{
	uint32_t functions[] = {NONE, 1, 3, 2, 3, 3, 2}, callers[] = {0, 0, 0, 1, 1}, firsts[7];
	static const uint32_t expected[] = {0, 1, 2, 3, 2, 5, 6};
	struct fixture f;
	setup(&f, functions, callers);
	add_frame(&f, 10, 0, '.');
	add_frame(&f, 20, 0, '.');
	assert_true(replay_find_twins(&f.replay, 7, firsts));
	assert_memory_equal(firsts, expected, sizeof(expected));
	teardown(&f);
}

static void what_functions_do_not_tell_is_not_guessed(void **state)
{
	static const struct {
		uint32_t functions[2], binaries[2], levels[2];
		bool is_told;
	} cases[] = {
		{{1, 1}, {0, 2}, {'.', '.'}, true}, /* The profile has one binary for both. */
		{{1, 1}, {0, 1}, {'.', '.'}, false},
		{{1, 1}, {0, 0}, {'.', 'k'}, false},
		{{NONE, NONE}, {0, 1}, {'.', '.'}, true},
		{{NONE, NONE}, {0, 2}, {'.', '.'}, false}, /* The addresses may belong to one frame. */
		{{NONE, NONE}, {0, RESOLVE_NONE}, {'.', '.'}, true},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		uint32_t functions[] = {cases[i].functions[0], cases[i].functions[1]}, firsts[2];
		struct fixture f;
		setup(&f, functions, NULL);
		for (size_t k = 0; k < 2; k++)
			add_frame(&f, k, cases[i].binaries[k], cases[i].levels[k]);
		assert_int_equal(replay_find_twins(&f.replay, 2, firsts), cases[i].is_told);
		teardown(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_of_one_function_are_one),
		cmocka_unit_test(calls_are_one_at_one_place_only),
		cmocka_unit_test(what_functions_do_not_tell_is_not_guessed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
