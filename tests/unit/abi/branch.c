#include "unit_test.h"

#include "abi/branch.h"

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
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
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
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct text t = {0};
		branch_kind_print(&t, cases[i].type);
		text_char(&t, 0);
		assert_string_equal(t.data, cases[i].name);
		text_deinit(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kinds_by_type_and_direction),
		cmocka_unit_test(types_by_name),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
