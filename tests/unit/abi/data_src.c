/* SPDX-License-Identifier: Apache-2.0 */
#include "abi/data_src.h"

#include "unit_test.h"

static void assert_words(uint64_t data_src, const char *words)
{
	struct text t = {0};
	data_src_print(&t, data_src);
	text_char(&t, '\0');
	assert_string_equal(t.data, words);
	text_deinit(&t);
}

/* The output of perf 7.3 for the same values. */
static void all_parts(void **state)
{
	assert_words(0, "|OP No|LVL N/A|SNP N/A|TLB N/A|LCK No|BLK  N/A");
	assert_words(0x68100142, "|OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A");
	assert_words(0x1026a100142, "|OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK Yes|BLK  N/A");
	assert_words(0x582, "|OP LOAD|LVL L1 or L2 miss|SNP N/A|TLB N/A|LCK No|BLK  N/A");
	assert_words(0x1e000005c2, "|OP LOAD|LVL L1 or L2 hit|SNP N/A|TLB N/A|LCK No|BLK  N/A");
	assert_words(0x2600000081, "|OP N/A|LVL Remote L3 miss|SNP N/A|TLB N/A|LCK No|BLK  N/A");
	assert_words(0x181000000002, "|OP LOAD|LVL socket, same board Uncached |SNP N/A|TLB N/A|LCK No|BLK  N/A");
	assert_words(0x280600000002, "|OP LOAD|LVL 5 hops L3 |SNP N/A|TLB N/A|LCK No|BLK  N/A");
	assert_words(0xe00000041, "|OP N/A|LVL Unknown level 7 hit|SNP N/A|TLB N/A|LCK No|BLK  N/A");
	assert_words(0xc000f80000,
		"|OP No|LVL N/A|SNP N/A or None or Hit or Miss or HitM or Fwd or Peer|TLB N/A|LCK No|BLK  N/A");
	assert_words(0x1f8000000, "|OP No|LVL N/A|SNP N/A|TLB L1 or L2 or Walker or Fault hit miss|LCK No|BLK  N/A");
	assert_words(0x60000000000, "|OP No|LVL N/A|SNP N/A|TLB N/A|LCK No|BLK  Data Addr");
	assert_words(0x1000000, "|OP No|LVL N/A|SNP N/A|TLB N/A|LCK N/A|BLK  N/A");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(all_parts)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
