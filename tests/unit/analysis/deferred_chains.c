/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/deferred_chains.h"

#include "base/writer.h"
#include "unit_test.h"

/* Makes a record with that cookie; count may be larger than the number of entries. */
static struct record make_record(struct writer *w, bool swap, uint64_t cookie, uint64_t count, size_t words)
{
	writer_clear(w);
	w->swap = swap;
	writer_u32(w, RECORD_CALLCHAIN_DEFERRED);
	writer_u16(w, MISC_CPUMODE_USER);
	writer_u16(w, (uint16_t)(24 + 8 * words));
	writer_u64(w, cookie);
	writer_u64(w, count);
	for (size_t i = 0; i < words; i++)
		writer_u64(w, 0x400000 + i);
	return (struct record){.type = RECORD_CALLCHAIN_DEFERRED, .swap = swap, .bytes = writer_view(w)};
}

static void add(struct deferred_chains *chains, const struct record *record, bool is_damaged)
{
	bool told;
	assert_int_equal(deferred_chains_add(chains, record, &told, NULL), TALLY_OK);
	assert_int_equal(told, is_damaged);
}

static void check(bool swap)
{
	struct deferred_chains chains = {0};
	struct writer first = {0}, second = {0}, damaged = {0}, chain = {.swap = swap};
	struct record record = make_record(&first, swap, 7, 3, 3);
	add(&chains, &record, false);
	record = make_record(&second, swap, 8, 1, 1);
	add(&chains, &record, false);
	record = make_record(&damaged, swap, 9, 1000, 2);
	add(&chains, &record, true);
	writer_u64(&chain, CONTEXT_KERNEL);
	writer_u64(&chain, CONTEXT_USER_DEFERRED);
	writer_u64(&chain, 7);
	uint64_t cookie = 0;
	struct sample_array words = {chain.data, 3};
	assert_true(deferred_chains_cookie(&words, swap, &cookie));
	assert_int_equal(cookie, 7);
	struct sample_array later = deferred_chains_find(&chains, cookie);
	assert_int_equal(later.count, 3);
	assert_true(sample_u64_at(later.data, 2, swap) == 0x400002);
	words.count = 2; /* The marker is not at its place. */
	assert_false(deferred_chains_cookie(&words, swap, &cookie));
	words.count = 1;
	assert_false(deferred_chains_cookie(&words, swap, &cookie));
	assert_int_equal(deferred_chains_find(&chains, 9).count, 0);
	assert_int_equal(deferred_chains_find(NULL, 7).count, 0);
	deferred_chains_deinit(&chains);
	writer_deinit(&first);
	writer_deinit(&second);
	writer_deinit(&damaged);
	writer_deinit(&chain);
}

static void test_a_cookie_finds_its_chain(void **state)
{
	check(false);
	check(true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_cookie_finds_its_chain)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
