/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/bytes.h"
#include "profile/flat/flat_table.h"
#include "profile/profile_builder.h"
#include "unit_test.h"

#define OBJECTS 3 /* The first two have the same name. */
#define PLACES	4

static uint32_t string(struct profile_builder *b, const char *text)
{
	return profile_builder_string(b, (struct tally_str){text, strlen(text)});
}

/* Adds callers of every kind: functions with one start and one or two ends, inlined functions, and addresses without
 * function. */
static size_t add_frames(struct profile_builder *b, uint32_t binary, uint64_t second_end, uint32_t *frames)
{
	size_t count = 0;
	for (uint32_t place = 0; place < PLACES; place++) {
		struct profile_function whole = {
			.name = string(b, "f"), .binary = binary, .start = place << 8, .size = 16};
		struct profile_function part = whole,
					inlined = {.name = whole.name, .binary = binary, .is_inlined = true};
		if (second_end == whole.size)
			part.name = string(b, "g"); /* A function of another build. */
		part.size = second_end;
		uint32_t functions[] = {profile_builder_function(b, &whole), profile_builder_function(b, &part),
			profile_builder_function(b, &inlined), PROFILE_NONE};
		for (uint32_t i = 0; i < 4; i++) {
			struct profile_frame frame = {.function = functions[i],
				.binary = binary,
				.address = (place << 8) + i,
				.level = PROFILE_LEVEL_USER};
			if (functions[i] == PROFILE_NONE)
				frame.raw_address = UINT64_C(0x7f0000000000) + place;
			frames[count++] = profile_builder_frame(b, &frame);
		}
	}
	return count;
}

static struct profile *make_profile(uint64_t second_end, uint32_t *frames, size_t *count)
{
	static const char *const names[OBJECTS][2] = {
		{"lib.so", "/a/lib.so"}, {"lib.so", "/b/lib.so"}, {"main", "/main"}};
	struct profile_builder *b = profile_builder_create();
	struct profile *p;
	struct tally_error err;
	*count = 0;
	for (size_t i = 0; i < OBJECTS; i++) {
		struct profile_binary binary = {.name = string(b, names[i][0]), .long_name = string(b, names[i][1])};
		*count += add_frames(b, profile_builder_binary(b, &binary), second_end, frames + *count);
	}
	*count += add_frames(b, PROFILE_NONE, second_end, frames + *count);
	(void)profile_builder_event(b, &(struct profile_event){.name = string(b, "c")});
	struct profile_sample sample = {.count = 1, .period = 1, .leaf = frames[0], .cpu = -1};
	sample.thread = profile_builder_thread(b, &(struct profile_thread){.comm = string(b, "a")});
	sample.stack = profile_builder_stack(b, frames, *count);
	(void)profile_builder_sample(b, &sample);
	assert_int_equal(profile_builder_finish(b, &p, &err), TALLY_OK);
	return p;
}

/* Makes the table that call graphs use for their frames; the caller frees it. */
static void make_table(struct flat_table *table, const struct profile *p, bool with_children)
{
	static const enum profile_key keys[] = {KEY_COMM, KEY_DSO, KEY_SYMBOL};
	const struct flat_options options = {
		.keys = keys, .key_count = 3, .member_count = 1, .with_chains = true, .with_children = with_children};
	struct tally_error err;
	assert_int_equal(flat_table_init(table, p, &options, &err), TALLY_OK);
}

/* If callers have rows, their keys are those of the rows; otherwise keys are computed for them alone. */
static void assert_keys_are_alike(uint64_t second_end, size_t expected)
{
	uint32_t frames[(OBJECTS + 1) * PLACES * 4];
	size_t count, different = 0;
	struct profile *p = make_profile(second_end, frames, &count);
	struct flat_table with, without;
	make_table(&with, p, true);
	make_table(&without, p, false);
	for (size_t i = 0; i < count; i++) {
		bool is_first = true;
		assert_true(with.chain_keys[frames[i]] < with.chain_key_count);
		assert_true(without.chain_keys[frames[i]] < without.chain_key_count);
		for (size_t k = 0; k < i; k++) {
			bool is_same = with.chain_keys[frames[i]] == with.chain_keys[frames[k]];
			assert_int_equal(is_same, without.chain_keys[frames[i]] == without.chain_keys[frames[k]]);
			is_first = is_first && !is_same;
		}
		different += is_first;
	}
	assert_int_equal(different, expected);
	flat_table_deinit(&with);
	flat_table_deinit(&without);
	profile_destroy(p);
}

static void callers_rows_tell_what_is_one_frame(void **state)
{
	/* Per object: two functions and an address for each place, and one inlined function. */
	assert_keys_are_alike(16, (OBJECTS + 1) * (3 * PLACES + 1));
}

static void functions_that_begin_at_one_place_are_one_frame(void **state)
{
	assert_keys_are_alike(32, (OBJECTS + 1) * (2 * PLACES + 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(callers_rows_tell_what_is_one_frame),
		cmocka_unit_test(functions_that_begin_at_one_place_are_one_frame),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
