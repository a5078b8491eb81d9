/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/profile_bulk.h"

#include <stdlib.h>

#include "unit_test.h"

#define FRAMES	1000
#define STACKS	20000
#define SAMPLES 30000

/* The items of each kind are computed, and some are equal, so that any worker can produce any of them. */
static struct profile_frame get_frame(const void *context, uint32_t i)
{
	return (struct profile_frame){.function = PROFILE_NONE, .binary = PROFILE_NONE, .address = i * 7 % 400};
}

struct source {
	uint32_t (*stacks)[3];
	const uint32_t *stack_ids;
	uint64_t (*keys)[PROFILE_SAMPLE_WORDS];
};

static struct list get_stack(const void *context, uint32_t i)
{
	const struct source *source = context;
	return (struct list){source->stacks[i], i % 4};
}

static uint32_t hash_stack(const void *context, uint32_t i)
{
	struct list list = get_stack(context, i);
	return list_table_hash(list.items, list.count);
}

static struct profile_sample get_sample(const void *context, uint32_t i)
{
	const struct source *source = context;
	return (struct profile_sample){.event = i % 2,
		.thread = i / 3 % 2,
		.leaf = i % 5,
		.stack = i % 7 ? source->stack_ids[i % 100] : PROFILE_NONE,
		.cpu = (int32_t)(i % 3) - 1,
		.count = 1 + i % 2,
		.period = i,
		.first_order = (uint64_t)i * 48271 % 65521,
		.first_tid = (int32_t)((uint64_t)i * 48271 % 65521 % 89)};
}

static const uint64_t *get_key(const void *context, uint32_t i)
{
	const struct source *source = context;
	return source->keys[i];
}

/* Sets the current keys of the stacks of the source. */
static void make_keys(struct source *source)
{
	for (uint32_t i = 0; i < SAMPLES; i++) {
		struct profile_sample s = get_sample(source, i);
		source->keys[i][0] = s.event | (uint64_t)s.thread << 32;
		source->keys[i][1] = s.leaf | (uint64_t)s.stack << 32;
		source->keys[i][2] = (uint32_t)s.cpu | (uint64_t)s.facets << 32;
	}
}

static struct profile_builder *begin(void)
{
	struct profile_builder *b = profile_builder_create();
	uint32_t name = profile_builder_string(b, STR("x"));
	for (int i = 0; i < 2; i++) {
		profile_builder_event(b, &(struct profile_event){.name = name});
		profile_builder_thread(b, &(struct profile_thread){i, i, name, name, name, 0});
	}
	return b;
}

static struct profile *finish(struct profile_builder *b)
{
	struct profile *p = NULL;
	assert_int_equal(profile_builder_finish(b, &p, NULL), TALLY_OK);
	return p;
}

static struct profile *build_one_by_one(struct source *source, uint32_t *stack_ids)
{
	struct profile_builder *b = begin();
	for (uint32_t i = 0; i < FRAMES; i++) {
		struct profile_frame frame = get_frame(NULL, i);
		profile_builder_frame(b, &frame);
	}
	for (uint32_t i = 0; i < STACKS; i++)
		stack_ids[i] = profile_builder_stack(b, get_stack(source, i).items, get_stack(source, i).count);
	source->stack_ids = stack_ids;
	for (uint32_t i = 0; i < SAMPLES; i++) {
		struct profile_sample sample = get_sample(source, i);
		profile_builder_sample(b, &sample);
	}
	return finish(b);
}

static struct profile *build_in_bulk(struct source *source, const uint32_t *stack_ids, unsigned threads)
{
	struct profile_builder *b = begin();
	struct dedup frames, stacks, samples;
	assert_true(profile_builder_all_frames(
		b, &(struct frame_source){.count = FRAMES, .get = get_frame}, threads, &frames));
	const struct stack_source stack_source = {{STACKS, get_stack, source}, hash_stack};
	assert_true(profile_builder_all_stacks(b, &stack_source, threads, &stacks));
	assert_memory_equal(stacks.numbers, stack_ids, STACKS * sizeof(*stack_ids));
	source->stack_ids = stacks.numbers;
	make_keys(source);
	const struct sample_source sample_source = {.count = SAMPLES,
		.key_words = PROFILE_SAMPLE_WORDS,
		.key = get_key,
		.get = get_sample,
		.context = source};
	assert_true(profile_builder_all_samples(b, &sample_source, threads, &samples));
	dedup_deinit(&frames);
	dedup_deinit(&stacks);
	dedup_deinit(&samples);
	return finish(b);
}

static void assert_same(const struct profile *a, const struct profile *b)
{
	assert_int_equal(a->frame_count, b->frame_count);
	for (size_t i = 0; i < a->frame_count; i++)
		assert_int_equal(a->frames[i].address, b->frames[i].address);
	assert_int_equal(list_table_len(&a->stacks), list_table_len(&b->stacks));
	assert_int_equal(a->stacks.words.len, b->stacks.words.len);
	assert_memory_equal(a->stacks.words.items, b->stacks.words.items, a->stacks.words.len * sizeof(uint32_t));
	assert_int_equal(a->sample_count, b->sample_count);
	assert_memory_equal(a->samples, b->samples, a->sample_count * sizeof(*a->samples));
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(a->events[i].sample_count, b->events[i].sample_count);
		assert_int_equal(a->events[i].total_period, b->events[i].total_period);
	}
}

static void bulk_is_one_by_one(void **state)
{
	uint32_t(*stacks)[3] = calloc(STACKS, sizeof(*stacks));
	uint32_t *stack_ids = calloc(STACKS, sizeof(*stack_ids));
	struct source source = {.stacks = stacks, .keys = calloc(SAMPLES, sizeof(*source.keys))};
	for (uint32_t i = 0; i < STACKS; i++)
		for (uint32_t k = 0; k < 3; k++)
			stacks[i][k] = (i * (k + 1) * 31 + i / 100) % 400;
	struct profile *expected = build_one_by_one(&source, stack_ids);
	for (unsigned threads = 1; threads <= 5; threads += 2) {
		struct profile *p = build_in_bulk(&source, stack_ids, threads);
		assert_same(p, expected);
		profile_destroy(p);
	}
	profile_destroy(expected);
	free(stacks);
	free(stack_ids);
	free(source.keys);
}

static void ids_that_were_not_handed_out_are_refused(void **state)
{
	uint32_t stacks[4][3] = {{0}};
	struct source source = {.stacks = stacks,
		.stack_ids = (const uint32_t[100]){0},
		.keys = (uint64_t[1][PROFILE_SAMPLE_WORDS]){{0}}};
	for (int which = 0; which < 3; which++) {
		struct profile_builder *b = begin();
		struct dedup found;
		struct profile *p = NULL;
		if (which == 0) /* Stacks are requested before frames. */
			assert_true(profile_builder_all_stacks(
				b, &(struct stack_source){{4, get_stack, &source}, hash_stack}, 1, &found));
		else if (which == 1)
			assert_true(profile_builder_all_samples(b,
				&(struct sample_source){.count = 1,
					.key_words = PROFILE_SAMPLE_WORDS,
					.key = get_key,
					.get = get_sample,
					.context = &source},
				1, &found));
		else
			assert_true(profile_builder_all_stacks(
				b, &(struct stack_source){{0, get_stack, &source}, hash_stack}, 1, &found));
		dedup_deinit(&found);
		if (which == 2)
			profile_builder_stack(b, NULL, 0);
		assert_int_equal(profile_builder_finish(b, &p, NULL), TALLY_INVALID);
		assert_null(p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bulk_is_one_by_one),
		cmocka_unit_test(ids_that_were_not_handed_out_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
