/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/agent/agent_symbols.h"

#include "batch_example.h"
#include "fleet/batch_locations.h"
#include "fleet/batch_pack.h"
#include "unit_test.h"
#include "verbs/agent/agent_sender.h"

static const uint8_t one[AGENT_STORE_BYTES] = {1}, other[AGENT_STORE_BYTES] = {2};

struct encoded {
	struct text text;
	struct tally_bytes bytes;
};

static struct encoded encoded_example(void)
{
	struct encoded e = {0};
	struct fleet_batch *batch = batch_example();
	assert_non_null(batch);
	assert_int_equal(fleet_batch_write(batch, NULL, &e.text, NULL), TALLY_OK);
	e.bytes = (struct tally_bytes){(const uint8_t *)e.text.data, e.text.len};
	fleet_batch_destroy(batch);
	return e;
}

/* Counts the locations of the example by whether their symbols never change. */
static void count_locations(const struct fleet_batch *batch, size_t *lasting, size_t *left_out, size_t *wrong)
{
	const struct profile *p = batch->profile;
	struct batch_locations found = {0};
	*lasting = *left_out = *wrong = 0;
	for (size_t i = 0; i < p->sample_count; i++) {
		assert_true(batch_locations_find(p, &p->samples[i], &found));
		for (size_t k = 0; k < found.list.len; k++) {
			const struct batch_location *l = &found.list.items[k];
			bool is_lasting = l->binary != PROFILE_NONE && !p->binaries[l->binary].is_kernel &&
					  profile_string(p, p->binaries[l->binary].build_id).len > 0;
			bool is_out = batch->symbols_left_out && batch->symbols_left_out[l->frames[0]];
			*lasting += is_lasting;
			*left_out += is_out;
			*wrong += is_out && !is_lasting;
		}
	}
	vec_free(&found.list);
}

static size_t shorten(const struct agent_symbols *symbols, struct tally_bytes bytes)
{
	struct text shorter = {0};
	struct fleet_batch *batch;
	size_t lasting, left_out, wrong;
	assert_int_equal(agent_symbols_shorten(symbols, bytes, &shorter, NULL), TALLY_OK);
	if (shorter.len == 0)
		return 0;
	struct tally_bytes packed = {(const uint8_t *)shorter.data, shorter.len};
	struct text raw = {0};
	if (fleet_batch_can_compress()) {
		assert_int_equal(fleet_batch_decompress(packed, FLEET_BATCH_BYTES, &raw, NULL), TALLY_OK);
		packed = (struct tally_bytes){(const uint8_t *)raw.data, raw.len};
	}
	assert_int_equal(fleet_batch_read(packed, &batch, NULL), TALLY_OK);
	count_locations(batch, &lasting, &left_out, &wrong);
	assert_int_equal(wrong, 0);
	fleet_batch_destroy(batch);
	text_deinit(&raw);
	text_deinit(&shorter);
	return left_out;
}

static void what_a_store_has_is_left_out(void **state)
{
	struct encoded e = encoded_example();
	struct agent_symbols symbols;
	agent_symbols_init(&symbols);
	assert_int_equal(shorten(&symbols, e.bytes), 0);
	assert_int_equal(agent_symbols_acknowledge(&symbols, one, e.bytes, NULL), TALLY_OK);
	size_t left_out = shorten(&symbols, e.bytes);
	assert_true(left_out > 0);
	agent_symbols_forget(&symbols);
	assert_int_equal(shorten(&symbols, e.bytes), 0);
	agent_symbols_deinit(&symbols);
	text_deinit(&e.text);
}

static void another_store_has_nothing_yet(void **state)
{
	struct encoded e = encoded_example();
	struct agent_symbols symbols;
	agent_symbols_init(&symbols);
	assert_int_equal(agent_symbols_acknowledge(&symbols, one, e.bytes, NULL), TALLY_OK);
	size_t known = symbols.known.len;
	assert_true(known > 0);
	assert_int_equal(agent_symbols_acknowledge(&symbols, one, e.bytes, NULL), TALLY_OK);
	assert_int_equal(symbols.known.len, known);
	/* The batch is damaged: the knowledge about the first store is discarded, and nothing is added. */
	assert_int_not_equal(
		agent_symbols_acknowledge(&symbols, other, (struct tally_bytes){e.bytes.data, 3}, NULL), TALLY_OK);
	assert_int_equal(symbols.known.len, 0);
	agent_symbols_deinit(&symbols);
	text_deinit(&e.text);
}

static void pauses(void **state)
{
	assert_int_equal(agent_sender_pause_ms(1, 0), 1000);
	assert_int_equal(agent_sender_pause_ms(2, 0), 2000);
	assert_int_equal(agent_sender_pause_ms(9, 0), 256000);
	assert_int_equal(agent_sender_pause_ms(10, 0), 300000);
	assert_int_equal(agent_sender_pause_ms(4000000000, 0), 300000);
	assert_int_equal(agent_sender_pause_ms(1, 30), 30000);
	assert_int_equal(agent_sender_pause_ms(10, 3600), 3600000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_store_has_is_left_out),
		cmocka_unit_test(another_store_has_nothing_yet),
		cmocka_unit_test(pauses),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
