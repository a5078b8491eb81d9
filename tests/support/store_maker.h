/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_maker.h - opens stores in temporary directories for tests, and stores batches made from recipes.
 *
 *	struct test_store t = test_store_open();
 *	test_store_add(&t, &(struct batch_recipe){...});
 *	test_store_close(&t);
 */
#ifndef SUPPORT_STORE_MAKER_H
#define SUPPORT_STORE_MAKER_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "batch_maker.h"
#include "store/store.h"
#include "unit_test.h"

struct test_store {
	char folder[64], path[80], url[192];
	struct store *store;
};

static inline struct store *test_store_reopen(const struct test_store *t, bool may_write)
{
	struct store *store = NULL;
	struct tally_error err = {0};
	if (store_open(t->url, may_write, &store, &err) != TALLY_OK)
		fail_msg("%s", err.text);
	return store;
}

static inline struct test_store test_store_folder(void)
{
	struct test_store t = {.folder = "/tmp/tally-store-XXXXXX"};
	assert_non_null(mkdtemp(t.folder));
	snprintf(t.path, sizeof(t.path), "%s/s.db", t.folder);
	/* tests/e2e/test_clickhouse.py runs the same tests on a server, where each store is a separate database. */
	const char *server = getenv("TALLY_TEST_CLICKHOUSE");
	if (server)
		snprintf(t.url, sizeof(t.url), "clickhouse://%.64s/t_%.8s", server,
			t.folder + sizeof("/tmp/tally-store-") - 1);
	else
		snprintf(t.url, sizeof(t.url), "sqlite:%s", t.path);
	return t;
}

static inline struct test_store test_store_open(void)
{
	struct test_store t = test_store_folder();
	t.store = test_store_reopen(&t, true);
	return t;
}

static inline void test_store_close(struct test_store *t)
{
	static const char *const suffixes[] = {"", "-wal", "-shm"};
	store_close(t->store);
	for (size_t i = 0; i < ARRAY_LEN(suffixes); i++) {
		char name[96];
		snprintf(name, sizeof(name), "%s%s", t->path, suffixes[i]);
		(void)unlink(name);
	}
	assert_int_equal(rmdir(t->folder), 0);
}

static inline struct store_receipt test_store_ingest(struct store *store, const struct fleet_batch *batch)
{
	struct store_receipt receipt;
	struct tally_error err = {0};
	if (store_ingest(store, &batch, 1, &receipt, &err) != TALLY_OK)
		fail_msg("%s", err.text);
	return receipt;
}

static inline struct store_receipt test_store_add(struct test_store *t, const struct batch_recipe *recipe)
{
	struct fleet_batch *batch = batch_make(recipe);
	struct store_receipt receipt = test_store_ingest(t->store, batch);
	fleet_batch_destroy(batch);
	return receipt;
}

static inline struct fleet_batch *test_store_query(struct store *store, const struct store_selection *selection)
{
	struct fleet_batch *batch = NULL;
	struct tally_error err = {0};
	if (store_query(store, selection, &batch, &err) != TALLY_OK)
		fail_msg("%s", err.text);
	return batch;
}

/* Returns all samples of a store as text. The caller frees it. */
static inline char *test_store_text(struct store *store, bool by_thread)
{
	struct batch_lines lines = {0};
	struct fleet_batch *batch =
		test_store_query(store, &(struct store_selection){.end_ns = UINT64_MAX, .by_thread = by_thread});
	batch_lines_add(&lines, batch, by_thread);
	fleet_batch_destroy(batch);
	char *text = batch_lines_text(&lines);
	batch_lines_free(&lines);
	return text;
}

static inline struct store_figures test_store_figures(struct store *store)
{
	struct store_figures figures;
	assert_int_equal(store_figures(store, &figures, NULL), TALLY_OK);
	return figures;
}

#endif
