/* SPDX-License-Identifier: Apache-2.0 */
#include "bpf/walk_pool.h"

#include <stdlib.h>

#include "cfi_builder.h"
#include "unit_test.h"

#define CHUNKS 3

static struct unwind_table *walk_pool_test_table(struct cfi_builder *b)
{
	struct unwind_table *table = NULL;
	struct cfi_section section = cfi_builder_section(b);
	const struct unwind_table_source source = {.arch = &arch_x86_64, .sections = &section, .section_count = 1};
	assert_int_equal(unwind_table_create(&source, &table, NULL), TALLY_OK);
	return table;
}

/* The initial rules: CFA is rsp+8, and the return address is at CFA-8. */
static void walk_pool_test_cie(struct cfi_builder *b)
{
	const uint8_t initial[] = {0x0c, 7, 8, 0x90, 1};
	cfi_builder_init(b, 8, false);
	cfi_builder_cie(b, 16, -8, false, initial, sizeof(initial));
}

static struct walk_chunk *pool_block;

static struct walk_chunk *walk_pool_test_grow(void *context, uint32_t block)
{
	assert_int_equal(block, 0);
	return pool_block = calloc(WALK_BLOCK_CHUNKS, sizeof(*pool_block));
}

static const struct walk_pool_grower walk_pool_test_grower = {walk_pool_test_grow, NULL};

/* The search of the BPF program, in C. */
static struct walk_rule walk_pool_test_find(
	const struct walk_pool *pool, const struct walk_place *place, uint64_t address)
{
	uint32_t rule = WALK_NO_RULE;
	for (uint32_t c = 0; c < place->chunk_count; c++)
		for (unsigned i = 0; i < WALK_CHUNK_ROWS; i++) {
			struct walk_row row = pool->blocks.items[0][place->chunk + c].rows[i];
			if (row.address != WALK_NO_ADDRESS && row.address <= address - place->base)
				rule = row.rule;
		}
	struct walk_rule found;
	memcpy(&found, intern_get(&pool->rules, rule).data, sizeof(found));
	return found;
}

static void test_rows_and_rules(void **state)
{
	/* push rbp at offset 1 (CFA rsp+16, rbp at CFA-16), mov rsp, rbp at 4 (CFA rbp+16), leave at 16 (rsp+8). */
	const uint8_t program[] = {0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x4c, 0x0c, 7, 8};
	struct cfi_builder b;
	struct walk_pool pool;
	struct walk_place place;
	walk_pool_test_cie(&b);
	cfi_builder_fde(&b, 0x1000, 0x20, program, sizeof(program));
	cfi_builder_fde(&b, 0x1040, 0x20, program, sizeof(program));
	struct unwind_table *table = walk_pool_test_table(&b);
	assert_true(walk_pool_init(&pool, CHUNKS, 100, &walk_pool_test_grower));
	assert_true(walk_pool_add(&pool, &arch_x86_64, table, &place));
	assert_int_equal(place.base, 0x1000);
	assert_int_equal(place.chunk_count, 1);
	struct walk_rule rule = walk_pool_test_find(&pool, &place, 0x1000);
	assert_int_equal(rule.cfa, WALK_CFA_SP);
	assert_int_equal(rule.cfa_offset, 8);
	assert_int_equal(rule.return_place, WALK_IS_AT_CFA);
	assert_int_equal(rule.return_offset, -8);
	assert_int_equal(rule.fp_place, WALK_IS_SAME);
	rule = walk_pool_test_find(&pool, &place, 0x1003);
	assert_int_equal(rule.cfa_offset, 16);
	assert_int_equal(rule.fp_place, WALK_IS_AT_CFA);
	assert_int_equal(rule.fp_offset, -16);
	assert_int_equal(walk_pool_test_find(&pool, &place, 0x1004).cfa, WALK_CFA_FP);
	assert_int_equal(walk_pool_test_find(&pool, &place, 0x1044).cfa, WALK_CFA_FP);
	/* There are no rules between the two functions and after the last one. */
	assert_int_equal(walk_pool_test_find(&pool, &place, 0x1030).cfa, WALK_CFA_NONE);
	assert_int_equal(walk_pool_test_find(&pool, &place, 0x1060).cfa, WALK_CFA_NONE);
	walk_pool_deinit(&pool);
	unwind_table_destroy(table);
	writer_deinit(&b.w);
	free(pool_block);
}

static void test_a_table_without_room_is_refused_and_counted(void **state)
{
	const uint8_t program[] = {0x41, 0x0e, 16};
	struct cfi_builder b;
	struct walk_pool pool;
	struct walk_place place;
	walk_pool_test_cie(&b);
	for (uint64_t i = 0; i < 3000; i++)
		cfi_builder_fde(&b, 0x1000 + 16 * i, 16, program, sizeof(program));
	struct unwind_table *table = walk_pool_test_table(&b);
	assert_true(walk_pool_init(&pool, CHUNKS, 100, &walk_pool_test_grower));
	assert_true(walk_pool_add(&pool, &arch_x86_64, table, &place)); /* 6,000 rows. */
	assert_int_equal(place.chunk_count, 2);
	assert_int_equal(walk_pool_test_find(&pool, &place, 0x1000 + 16 * 2999 + 1).cfa_offset, 16);
	assert_false(walk_pool_add(&pool, &arch_x86_64, table, &place));
	assert_int_equal(pool.refused, 1);
	assert_int_equal(pool.chunks_used, 2);
	walk_pool_deinit(&pool);
	unwind_table_destroy(table);
	writer_deinit(&b.w);
	free(pool_block);
}

static struct walk_rule walk_pool_test_rule(const uint8_t *program, size_t len, bool is_signal)
{
	const uint8_t initial[] = {0x0c, 7, 8, 0x90, 1};
	struct cfi_builder b;
	cfi_builder_init(&b, 8, false);
	cfi_builder_cie(&b, 16, -8, is_signal, initial, sizeof(initial));
	cfi_builder_fde(&b, 0x1000, 0x20, program, len);
	struct unwind_table *table = walk_pool_test_table(&b);
	struct walk_rule rule = walk_rule_of(&arch_x86_64, table, unwind_table_find(table, 0x1010));
	unwind_table_destroy(table);
	writer_deinit(&b.w);
	return rule;
}

static void test_rules_of_unusual_code(void **state)
{
	const uint8_t root[] = {0x07, 16}; /* The return address is undefined. */
	const uint8_t plt[] = {0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22};
	/* The CFA is at rbp-8, rbp is saved at rbp. */
	const uint8_t realigned[] = {0x0f, 3, 0x76, 0x78, 0x06, 0x10, 6, 2, 0x76, 0};
	const uint8_t by_r10[] = {0x0c, 10, 0};
	const uint8_t by_rbx[] = {0x0c, 3, 16, 0x83, 2}; /* rbx is saved at CFA-16. */
	const uint8_t by_r12[] = {0x0c, 12, 16};
	const uint8_t odd[] = {0x0f, 1, 0x30}; /* The CFA is 0. */
	assert_int_equal(walk_pool_test_rule(root, sizeof(root), false).cfa, WALK_CFA_ROOT);
	struct walk_rule rule = walk_pool_test_rule(plt, sizeof(plt), false);
	assert_int_equal(rule.cfa, WALK_CFA_PLT);
	assert_int_equal(rule.cfa_offset, 11);
	rule = walk_pool_test_rule(realigned, sizeof(realigned), false);
	assert_int_equal(rule.cfa, WALK_CFA_AT_FP);
	assert_int_equal(rule.cfa_offset, -8);
	assert_int_equal(rule.fp_place, WALK_IS_AT_FP);
	assert_int_equal(rule.fp_offset, 0);
	assert_int_equal(walk_pool_test_rule(by_r10, sizeof(by_r10), false).cfa, WALK_CFA_R10);
	rule = walk_pool_test_rule(by_rbx, sizeof(by_rbx), false);
	assert_int_equal(rule.cfa, WALK_CFA_BX);
	assert_int_equal(rule.cfa_offset, 16);
	assert_int_equal(rule.bx_place, WALK_IS_AT_CFA);
	assert_int_equal(rule.bx_offset, -16);
	assert_int_equal(walk_pool_test_rule(by_r12, sizeof(by_r12), false).cfa, WALK_CFA_OTHER);
	assert_int_equal(walk_pool_test_rule(odd, sizeof(odd), false).cfa, WALK_CFA_OTHER);
	assert_int_equal(walk_pool_test_rule(NULL, 0, true).cfa, WALK_CFA_SIGNAL);
}

/* Go functions that switch stacks, with a frame pointer or without, and the first function of a stack. */
static void test_rules_of_changes_of_stacks(void **state)
{
	static const struct go_frame frames[] = {
		{0x1000, 0x1040, GO_FRAME_CALLED, 24, true, true},
		{0x2000, 0x2040, GO_FRAME_SWITCHED, 24, true, true},
		{0x3000, 0x3040, GO_FRAME_SWITCHED, 0, false, false},
		{0x4000, 0x4040, GO_FRAME_LEFT, 0, false, false},
		{0x5000, 0x5040, GO_FRAME_FIRST, 0, false, false},
	};
	const struct unwind_table_source source = {.arch = &arch_x86_64, .go_frames = frames, .go_frame_count = 5};
	struct unwind_table *table;
	struct walk_rule rules[5];
	assert_int_equal(unwind_table_create(&source, &table, NULL), TALLY_OK);
	for (size_t i = 0; i < 5; i++)
		rules[i] = walk_rule_of(&arch_x86_64, table, unwind_table_find(table, frames[i].low + 0x10));
	assert_int_equal(rules[0].cfa, WALK_CFA_SP);
	assert_int_equal(rules[0].cfa_offset, 32);
	assert_int_equal(rules[0].fp_offset, -16);
	assert_int_equal(rules[1].cfa, WALK_CFA_SWITCH);
	assert_int_equal(rules[1].cfa_offset, 16);
	assert_int_equal(rules[1].return_place, WALK_IS_AT_CFA);
	assert_int_equal(rules[1].return_offset, -8);
	assert_int_equal(rules[2].cfa, WALK_CFA_SWITCH_CUT);
	assert_int_equal(rules[3].cfa, WALK_CFA_SWITCH_ROOT);
	assert_int_equal(rules[4].cfa, WALK_CFA_ROOT);
	unwind_table_destroy(table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows_and_rules),
		cmocka_unit_test(test_a_table_without_room_is_refused_and_counted),
		cmocka_unit_test(test_rules_of_unusual_code),
		cmocka_unit_test(test_rules_of_changes_of_stacks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
