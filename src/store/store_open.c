/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/error.h"
#include "base/url_text.h"
#include "store/clickhouse_db.h"
#include "store/store.h"
#include "store/store_state.h"
#include "tally_config.h"

#if HAVE_SQLITE
#include "store/sqlite_backend.h"
#endif

static const struct store_backend *const store_backends[] = {
#if HAVE_SQLITE
	&sqlite_backend,
#endif
	&clickhouse_backend,
	NULL,
};

static enum tally_status store_refuse(const char *url, struct tally_error *err)
{
	char shown[URL_SHOWN_BYTES];
	if (str_starts_with(str_from(url), STR("sqlite:")))
		return error_set(err, TALLY_UNSUPPORTED,
			"this tally was built without SQLite (-Dsqlite=disabled), so it cannot open the store '%s'",
			url);
	return error_set(err, TALLY_INVALID,
		"'%s' is not the URL of a store: use sqlite:FILE or clickhouse://HOST/DATABASE", url_shown(url, shown));
}

enum tally_status store_open(const char *url, bool may_write, struct store **store, struct tally_error *err)
{
	const struct store_backend *backend = NULL;
	for (size_t i = 0; store_backends[i] && !backend; i++)
		if (str_starts_with(str_from(url), str_from(store_backends[i]->scheme)))
			backend = store_backends[i];
	if (!backend)
		return store_refuse(url, err);
	struct store *opened = calloc(1, sizeof(*opened));
	if (!opened)
		return error_nomem(err);
	opened->backend = backend;
	enum tally_status status = backend->open(url + strlen(backend->scheme), may_write, &opened->db, err);
	if (status != TALLY_OK) {
		free(opened);
		return status;
	}
	*store = opened;
	return TALLY_OK;
}

void store_close(struct store *store)
{
	if (!store)
		return;
	store->backend->close(store->db);
	free(store);
}

const uint8_t *store_id(const struct store *store)
{
	return store->backend->id(store->db);
}

const char *store_file(const struct store *store)
{
	return store->backend->file ? store->backend->file(store->db) : NULL;
}

/* Refused batches have empty rows, which are not read. */
static enum tally_status store_make_rows(const struct fleet_batch *const *batches, size_t count,
	struct store_rows *rows, struct store_receipt *receipts, struct tally_error *err)
{
	for (size_t i = 0; i < count; i++) {
		receipts[i] = (struct store_receipt){0};
		enum tally_status status = store_rows_make(batches[i], &rows[i], err);
		if (status == TALLY_INVALID)
			receipts[i].refused = "the samples of the batch add up to more than 2^63 - 1";
		else if (status != TALLY_OK)
			return status;
	}
	return TALLY_OK;
}

enum tally_status store_ingest(struct store *store, const struct fleet_batch *const *batches, size_t count,
	struct store_receipt *receipts, struct tally_error *err)
{
	struct store_rows *rows = calloc(count + 1, sizeof(*rows));
	if (!rows)
		return error_nomem(err);
	enum tally_status status = store_make_rows(batches, count, rows, receipts, err);
	if (status == TALLY_OK)
		status = store->backend->insert(store->db, rows, count, receipts, err);
	for (size_t i = 0; i < count; i++)
		store_rows_deinit(&rows[i]);
	free(rows);
	return status;
}

enum tally_status store_figures(struct store *store, struct store_figures *figures, struct tally_error *err)
{
	return store->backend->figures(store->db, figures, err);
}

enum tally_status store_retain(
	struct store *store, uint64_t oldest_ns, uint64_t max_bytes, uint64_t *removed, struct tally_error *err)
{
	return store->backend->retain(store->db, oldest_ns, max_bytes, removed, err);
}
