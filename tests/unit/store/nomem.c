/* SPDX-License-Identifier: Apache-2.0 */
/* Lets every allocation fail once while a store is opened, a batch is stored and a query is run: the error is reported,
 * and nothing is stored partially. */
#include "failing_malloc.h"
#include "store/store.h"
#include "store_maker.h"

#define MOST 20000 /* Largest number of allocations. */

static struct batch_recipe recipe_of(unsigned number)
{
	return (struct batch_recipe){.number = number,
		.begin_ns = number,
		.labels = "host=a",
		.sets = "api:service=api",
		.seed = number,
		.samples = 20};
}

static void opening_without_memory(void **state)
{
	struct test_store t = test_store_open();
	store_close(t.store);
	t.store = NULL;
	bool has_failed = true;
	for (size_t n = 0; has_failed; n++) {
		struct store *store = NULL;
		assert_true(n < MOST);
		failing_malloc_begin(n);
		enum tally_status status = store_open(t.url, true, &store, NULL);
		has_failed = failing_malloc_end();
		assert_true(has_failed || status == TALLY_OK);
		assert_int_equal(status == TALLY_OK, store != NULL);
		store_close(store);
	}
	test_store_close(&t);
}

static void storing_without_memory(void **state)
{
	struct test_store t = test_store_open();
	struct batch_lines lines = {0};
	bool has_failed = true;
	unsigned n = 0, stored = 0;
	for (; has_failed; n += 1 + n / 8) {
		const struct batch_recipe recipe = recipe_of(n);
		const struct fleet_batch *batch = batch_make(&recipe);
		struct store_receipt receipt;
		assert_true(n < MOST);
		failing_malloc_begin(n);
		enum tally_status status = store_ingest(t.store, &batch, 1, &receipt, NULL);
		has_failed = failing_malloc_end();
		assert_true(status == TALLY_NOMEM || status == TALLY_OK);
		assert_int_equal(test_store_figures(t.store).batches, stored + (status == TALLY_OK));
		receipt = test_store_ingest(t.store, batch);
		assert_int_equal(receipt.is_duplicate, status == TALLY_OK);
		stored++;
		batch_lines_add(&lines, batch, true);
		fleet_batch_destroy((struct fleet_batch *)batch);
	}
	char *put = batch_lines_text(&lines), *got = test_store_text(t.store, true);
	assert_string_equal(got, put);
	assert_true(stored > 10);
	free(put);
	free(got);
	batch_lines_free(&lines);
	test_store_close(&t);
}

static void asking_without_memory(void **state)
{
	struct test_store t = test_store_open();
	for (unsigned i = 0; i < 3; i++) {
		const struct batch_recipe recipe = recipe_of(i);
		test_store_add(&t, &recipe);
	}
	const struct store_selection all = {.end_ns = UINT64_MAX, .by_thread = true};
	bool has_failed = true;
	for (size_t n = 0; has_failed; n++) {
		struct fleet_batch *batch = NULL;
		struct store_points points = {NULL, 0};
		assert_true(n < MOST);
		failing_malloc_begin(n);
		enum tally_status status = store_query(t.store, &all, &batch, NULL);
		if (status == TALLY_OK)
			status = store_load(t.store, &(struct store_selection){.end_ns = 9}, 3, &points, NULL);
		has_failed = failing_malloc_end();
		assert_true(status == TALLY_NOMEM || status == TALLY_OK);
		assert_true(has_failed || status == TALLY_OK);
		if (batch)
			assert_int_equal(fleet_batch_sample_count(batch), 60);
		fleet_batch_destroy(batch);
		free(points.items);
	}
	test_store_close(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(opening_without_memory),
		cmocka_unit_test(storing_without_memory),
		cmocka_unit_test(asking_without_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
