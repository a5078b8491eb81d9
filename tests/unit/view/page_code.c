/* SPDX-License-Identifier: Apache-2.0 */
#include "view/html/page_code.h"

#include <string.h>

#include "base/array.h"
#include "unit_test.h"

#define PLAIN .values = ANNOTATE_NONE, .place = ANNOTATE_NONE

static void code_has_source_and_jumps(void **state)
{
	(void)state;
	static const struct annotate_line lines[] = {
		{.kind = ANNOTATE_TEXT, .text = "Disassembly of section .text:", .target = ANNOTATE_NONE, PLAIN},
		{.kind = ANNOTATE_TEXT,
			.text = "if (a < b)",
			.is_source = true,
			.source_number = 12,
			.target = ANNOTATE_NONE,
			PLAIN},
		{.kind = ANNOTATE_CODE, .text = "jl 1008 <work+0x8>", .address = 0x1000, .target = 4, PLAIN},
		{.kind = ANNOTATE_MORE_BYTES, .address = 0x1004, .target = ANNOTATE_NONE, PLAIN},
		{.kind = ANNOTATE_CODE, .text = "ret", .address = 0x1008, .target = ANNOTATE_NONE, PLAIN},
		{.kind = ANNOTATE_TEXT,
			.text = "</script>",
			.is_source = true,
			.source_number = 14,
			.target = ANNOTATE_NONE,
			PLAIN},
		{.kind = ANNOTATE_CODE, .text = "nop", .address = 0x1009, .target = ANNOTATE_NONE, PLAIN},
	};
	const struct annotate_function function = {.name = "work<int>",
		.file = "/bin/demo",
		.start = 0x1000,
		.lines = lines,
		.line_count = ARRAY_LEN(lines)};
	static const char expected[] = "[\"work\\u003cint\\u003e\",\"/bin/demo\",[\n"
				       "[0,\"jl 1008 \\u003cwork+0x8\\u003e\",8,[[12,\"if (a \\u003c b)\"]]],\n"
				       "[8,\"ret\"],\n"
				       "[9,\"nop\",-1,[[14,\"\\u003c/script\\u003e\"]]]]]";
	struct text t = {0};
	page_code_function(&t, &function);
	assert_false(t.failed);
	assert_int_equal(t.len, strlen(expected));
	assert_memory_equal(t.data, expected, t.len);
	text_deinit(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(code_has_source_and_jumps)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
