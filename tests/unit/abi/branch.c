/* SPDX-License-Identifier: Apache-2.0 */
#include "abi/branch.h"

#include "base/array.h"
#include "base/writer.h"
#include "unit_test.h"

#define FORWARD UINT64_C(0x401ff0)

static void kinds_by_type_and_direction(void **state)
{
	static const struct {
		uint64_t from, to;
		unsigned type, more_type, kind;
	} cases[] = {{FORWARD, FORWARD + 8, 0, 0, 0}, {0, FORWARD, 1, 0, 0}, {FORWARD, FORWARD + 8, 1, 0, 1},
		{FORWARD, FORWARD, 1, 0, 1 | BRANCH_KIND_BACKWARD},
		{FORWARD, FORWARD - 8, 14, 0, 14 | BRANCH_KIND_BACKWARD},
		{FORWARD, FORWARD + 0x10, 4, 0, 4 | BRANCH_KIND_CROSS_4K},
		{UINT64_C(0x5fffff), UINT64_C(0x600000), 4, 0, 4 | BRANCH_KIND_CROSS_2M},
		{FORWARD, 0, 6, 0, 6 | BRANCH_KIND_BACKWARD | BRANCH_KIND_CROSS_2M},
		{UINT64_C(0xffffffff81000000), UINT64_C(0xffffffff81000010), 7, 9, 7},
		{FORWARD, FORWARD + 8, 15, 0, BRANCH_KIND_EXTENDED}, {FORWARD, FORWARD + 8, 15, 15, BRANCH_KINDS - 1}};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct sample_branch branch = {.from = cases[i].from,
			.to = cases[i].to,
			.type = cases[i].type,
			.more_type = cases[i].more_type};
		assert_int_equal(sample_branch_kind(&branch), cases[i].kind);
	}
}

static void types_by_name(void **state)
{
	static const struct {
		unsigned type;
		const char *name;
	} cases[] = {{1, "COND"}, {14, "NO_TX"}, {15, "FAULT_ALGN"}, {22, "ARCH_5"}, {23, "TYPE_8"}, {30, "TYPE_15"}};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct text t = {0};
		branch_kind_print(&t, cases[i].type);
		text_char(&t, 0);
		assert_string_equal(t.data, cases[i].name);
		text_deinit(&t);
	}
}

/* The flags are a bit field, which each byte order fills from its own end. */
static void entries_of_a_sample(void **state)
{
	for (int is_big = 0; is_big < 2; is_big++) {
		struct writer w = {.swap = is_big}; /* The tests run on little-endian machines. */
		for (unsigned bit = 0; bit < 4; bit++) {
			writer_u64(&w, 0x1000 + bit);
			writer_u64(&w, 0x2000 + bit);
			uint64_t little =
				UINT64_C(1) << bit | UINT64_C(0x1234) << 4 | UINT64_C(15) << 20 | UINT64_C(9) << 26;
			uint64_t big = UINT64_C(1) << (63 - bit) | UINT64_C(0x1234) << 44 | UINT64_C(15) << 40 |
				       UINT64_C(9) << 34;
			writer_u64(&w, is_big ? big : little);
		}
		struct sample sample = {.swap = is_big, .branches.entries = {w.data, 12}};
		for (unsigned bit = 0; bit < 4; bit++) {
			struct sample_branch branch = sample_branch_at(&sample, bit);
			struct text t = {0};
			assert_int_equal(branch.from, 0x1000 + bit);
			assert_int_equal(branch.to, 0x2000 + bit);
			assert_int_equal(branch.is_mispredicted, bit == 0);
			assert_int_equal(branch.is_predicted, bit == 1);
			assert_int_equal(branch.in_transaction, bit == 2);
			assert_int_equal(branch.is_abort, bit == 3);
			assert_int_equal(branch.cycles, 0x1234);
			assert_int_equal(branch.type, 15);
			assert_int_equal(branch.more_type, 9);
			sample_branch_type_print(&t, &branch);
			assert_memory_equal(t.data, "TYPE_9", 6);
			assert_int_equal(t.len, 6);
			text_deinit(&t);
		}
		writer_deinit(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kinds_by_type_and_direction),
		cmocka_unit_test(types_by_name),
		cmocka_unit_test(entries_of_a_sample),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
