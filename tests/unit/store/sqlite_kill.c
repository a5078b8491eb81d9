/* SPDX-License-Identifier: Apache-2.0 */
/* Tests processes that are killed while they store batches, and concurrent queries. */
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "store/store.h"
#include "store_maker.h"

#define KILLS	  (IS_SANITIZED ? 15 : 50)
#define BATCH	  60 /* Samples per batch. */
#define AT_ONCE	  3 /* Batches per commit. */
#define MAX_BATCH 100000U

static struct batch_recipe recipe_of(unsigned number)
{
	return (struct batch_recipe){.number = number,
		.begin_ns = number,
		.labels = number % 2 ? "host=a" : "host=b",
		.sets = "api:service=api",
		.seed = number % 17,
		.samples = BATCH};
}

/* Stores batches from number on, and reports each acknowledged one, until it is killed. */
static void store_until_killed(const struct test_store *t, unsigned number, int tell)
{
	struct store *store = NULL;
	if (store_open(t->url, true, &store, NULL) != TALLY_OK)
		_exit(1);
	while (number < MAX_BATCH) {
		const struct fleet_batch *batches[AT_ONCE];
		struct store_receipt receipts[AT_ONCE];
		for (unsigned i = 0; i < AT_ONCE; i++) {
			const struct batch_recipe recipe = recipe_of(number + i);
			batches[i] = batch_make(&recipe);
		}
		if (store_ingest(store, batches, AT_ONCE, receipts, NULL) != TALLY_OK)
			_exit(2);
		number += AT_ONCE;
		if (write(tell, &number, sizeof(number)) != sizeof(number))
			_exit(3);
		for (unsigned i = 0; i < AT_ONCE; i++)
			fleet_batch_destroy((struct fleet_batch *)batches[i]);
	}
	_exit(4);
}

/* Returns the end of the batches that a child stored and reported before it was killed after a random time. */
static unsigned store_and_kill(const struct test_store *t, unsigned number, unsigned *random)
{
	int tell[2], status;
	assert_int_equal(pipe(tell), 0);
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0)
		store_until_killed(t, number, tell[1]);
	assert_int_equal(close(tell[1]), 0);
	unsigned told = number;
	/* Waits for the first commit, so that each child makes progress on a busy machine, and then for
	 * a random time. */
	ssize_t got = read(tell[0], &told, sizeof(told));
	*random = *random * 1664525 + 1013904223;
	const struct timespec pause = {0, (long)(*random >> 8) % 5000000};
	(void)nanosleep(&pause, NULL);
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	if (!WIFSIGNALED(status) || got != sizeof(told))
		fail_msg("a child that stored batches ended by itself: status %x", status);
	while (read(tell[0], &told, sizeof(told)) == sizeof(told))
		;
	assert_int_equal(close(tell[0]), 0);
	return told;
}

/* All batches before the end are stored completely and once: their sums are those of the recipes. */
static void assert_stored(struct store *store, unsigned end)
{
	struct batch_lines lines = {0};
	for (unsigned i = 0; i < end; i++) {
		const struct batch_recipe recipe = recipe_of(i);
		struct fleet_batch *batch = batch_make(&recipe);
		batch_lines_add(&lines, batch, true);
		fleet_batch_destroy(batch);
	}
	char *put = batch_lines_text(&lines), *got = test_store_text(store, true);
	assert_string_equal(got, put);
	free(put);
	free(got);
	batch_lines_free(&lines);
}

static void acknowledged_batches_survive_kills(void **state)
{
	struct test_store t = test_store_folder();
	unsigned told = 0, random = 7, beyond = 0;
	for (int i = 0; i < KILLS; i++) {
		/* Batches that were stored but not reported are delivered again. */
		unsigned end = store_and_kill(&t, told, &random);
		assert_true(end > told && end < MAX_BATCH);
		told = end;
		struct store *store = test_store_reopen(&t, i % 2);
		struct store_figures figures = test_store_figures(store);
		/* At most one commit, with all its batches, was made but not reported. */
		assert_true(figures.batches == told || figures.batches == told + AT_ONCE);
		assert_int_equal(figures.samples, figures.batches * BATCH);
		beyond += figures.batches > told;
		if (i == KILLS - 1)
			assert_stored(store, (unsigned)figures.batches);
		store_close(store);
	}
	print_message("%u batches were stored, %u commits were not told\n", told, beyond);
	test_store_close(&t);
}

static uint64_t sum_of(struct store *store, uint64_t *value)
{
	struct fleet_batch *batch = test_store_query(store, &(struct store_selection){.end_ns = UINT64_MAX});
	uint64_t count = fleet_batch_sample_count(batch);
	*value = 0;
	for (size_t i = 0; i < batch->profile->event_count; i++)
		*value += batch->profile->events[i].total_period;
	fleet_batch_destroy(batch);
	return count;
}

/* Another process stores and removes batches: each result is consistent, with complete batches. */
static void readers_see_whole_batches(void **state)
{
	struct test_store t = test_store_open();
	test_store_add(&t, &(struct batch_recipe){.number = MAX_BATCH, .begin_ns = 0, .samples = BATCH});
	store_close(t.store);
	int tell[2], status;
	assert_int_equal(pipe(tell), 0);
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0)
		store_until_killed(&t, 1, tell[1]);
	t.store = test_store_reopen(&t, false);
	uint64_t last = 0, value = 0, answers = 0;
	for (unsigned told = 0; told < 300;) {
		uint64_t count = sum_of(t.store, &value);
		assert_int_equal(count % BATCH, 0);
		assert_true(count >= last);
		last = count;
		answers++;
		assert_int_equal(read(tell[0], &told, sizeof(told)), sizeof(told));
	}
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(close(tell[0]), 0);
	assert_int_equal(close(tell[1]), 0);
	assert_true(answers > 10 && last >= BATCH);
	test_store_close(&t);
}

/* Two processes store the same batches: each batch counts once. */
static void two_writers_store_each_batch_once(void **state)
{
	struct test_store t = test_store_folder();
	pid_t child[2];
	int status;
	store_close(test_store_reopen(&t, true));
	for (int i = 0; i < 2; i++) {
		child[i] = fork();
		assert_true(child[i] >= 0);
		if (child[i] > 0)
			continue;
		struct store *store = test_store_reopen(&t, true);
		for (unsigned k = 0; k < 60; k++) {
			const struct batch_recipe recipe = recipe_of(i ? k : 59 - k);
			const struct fleet_batch *batch = batch_make(&recipe);
			struct store_receipt receipt;
			if (store_ingest(store, &batch, 1, &receipt, NULL) != TALLY_OK)
				_exit(1);
		}
		_exit(0);
	}
	for (int i = 0; i < 2; i++) {
		assert_int_equal(waitpid(child[i], &status, 0), child[i]);
		assert_int_equal(status, 0);
	}
	t.store = test_store_reopen(&t, true);
	assert_int_equal(test_store_figures(t.store).batches, 60);
	assert_stored(t.store, 60);
	test_store_close(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(acknowledged_batches_survive_kills),
		cmocka_unit_test(readers_see_whole_batches),
		cmocka_unit_test(two_writers_store_each_batch_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
