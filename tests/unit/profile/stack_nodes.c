/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/stack_nodes.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/id_table.h"
#include "profile/profile_builder.h"
#include "unit_test.h"

#define FRAMES 40

static uint64_t state;

static uint32_t next(uint32_t limit)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(state >> 33) % limit;
}

/* Makes stacks of 1 to 12 frames, innermost first, with common outer frames; some are the outer part of others. */
static struct profile *make(size_t count, unsigned breadth)
{
	struct profile *p;
	struct profile_builder *b = profile_builder_create();
	uint32_t frames[FRAMES], stack[12];
	for (uint32_t i = 0; i < FRAMES; i++)
		frames[i] = profile_builder_frame(
			b, &(struct profile_frame){.function = PROFILE_NONE, .binary = PROFILE_NONE, .address = i});
	for (size_t i = 0; i < count; i++) {
		uint32_t depth = 1 + next(12);
		for (uint32_t k = 0; k < depth; k++)
			stack[depth - 1 - k] = frames[(k + next(breadth)) % FRAMES];
		(void)profile_builder_stack(b, stack, depth);
	}
	assert_int_equal(profile_builder_finish(b, &p, NULL), TALLY_OK);
	return p;
}

/* Computes the expected numbers, one stack after another. */
static void check(const struct profile *p, const struct stack_nodes *nodes, const uint32_t *ids, const bool *is_wanted)
{
	struct id_table known = {.words = 1};
	for (uint32_t i = 0; i < list_table_len(&p->stacks); i++) {
		struct list stack = profile_stack(p, i);
		uint32_t node = PROFILE_NONE;
		for (uint32_t k = stack.count; is_wanted[i] && k-- > 0;) {
			const uint64_t key = (uint64_t)node << 32 | (stack.items[k] + 100);
			uint32_t parent = node;
			node = id_table_add(&known, &key, NULL);
			assert_true(node < nodes->len);
			assert_int_equal(nodes->items[node].parent, parent);
			assert_int_equal(nodes->items[node].frame, stack.items[k] + 100);
		}
		assert_int_equal(ids[i], node);
	}
	assert_int_equal(nodes->len, known.len);
	id_table_deinit(&known);
}

static void check_profile(size_t count, unsigned breadth, unsigned each)
{
	struct profile *p = make(count, breadth);
	size_t stacks = list_table_len(&p->stacks);
	uint32_t names[FRAMES];
	uint32_t *ids = malloc((stacks + 1) * sizeof(*ids));
	bool *is_wanted = calloc(stacks + 1, sizeof(*is_wanted));
	struct stack_nodes nodes;
	assert_true(ids && is_wanted);
	for (uint32_t i = 0; i < FRAMES; i++)
		names[i] = i + 100;
	for (size_t i = 0; i < stacks; i++) {
		is_wanted[i] = next(each) == 0;
		ids[i] = is_wanted[i] ? 0 : PROFILE_NONE;
	}
	assert_true(stack_nodes_init(&nodes, p, names, ids));
	check(p, &nodes, ids, is_wanted);
	size_t len = nodes.len;
	assert_true(stack_nodes_add(&nodes, (struct stack_node){PROFILE_NONE, 7}));
	assert_true(stack_nodes_add(&nodes, (struct stack_node){PROFILE_NONE, 8}));
	assert_int_equal(nodes.len, len + 2);
	assert_int_equal(nodes.items[len + 1].frame, 8);
	stack_nodes_deinit(&nodes);
	free(ids);
	free(is_wanted);
	profile_destroy(p);
}

static void nodes_are_numbered_as_a_walk_meets_them(void **unused)
{
	const size_t counts[] = {0, 1, 2, 3, 50, 30000}; /* The last count needs more than one thread. */
	for (size_t i = 0; i < ARRAY_LEN(counts); i++)
		for (unsigned breadth = 1; breadth <= 4; breadth += 1)
			check_profile(counts[i], breadth, 1);
}

static void what_is_not_wanted_has_no_nodes(void **unused)
{
	check_profile(30000, 3, 3);
	check_profile(100, 2, 1000000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_are_numbered_as_a_walk_meets_them),
		cmocka_unit_test(what_is_not_wanted_has_no_nodes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
