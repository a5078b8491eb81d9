/* SPDX-License-Identifier: Apache-2.0 */
#include "abi/transaction.h"

#include "base/array.h"
#include "unit_test.h"

static void transactions_in_words(void **state)
{
	static const struct {
		uint64_t transaction;
		const char *text;
	} cases[] = {{0, ""}, {2, "TX NEITHER "}, {4, "SYNC "}, {3 | UINT64_C(5) << 32, "EL TX NEITHER :5"},
		{0xff, "EL TX SYNC ASYNC RETRY CON CAP-WRITE CAP-READ "},
		{0x15 | UINT64_C(0x12) << 32, "EL SYNC RETRY :12"}};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct text t = {0};
		transaction_print(&t, cases[i].transaction);
		text_char(&t, 0);
		assert_string_equal(t.data, cases[i].text);
		text_deinit(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(transactions_in_words),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
