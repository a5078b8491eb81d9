/* SPDX-License-Identifier: Apache-2.0 */
#include "store/sqlite_backend.h"

#include "store/sqlite_db.h"
#include "store/sqlite_insert.h"
#include "store/sqlite_list.h"
#include "store/sqlite_retain.h"

static const uint8_t *sqlite_backend_id(const void *db)
{
	return ((const struct sqlite_store *)db)->id;
}

static const char *sqlite_backend_file(const void *db)
{
	return ((const struct sqlite_store *)db)->path;
}

const struct store_backend sqlite_backend = {
	.scheme = "sqlite:",
	.open = sqlite_db_open,
	.close = sqlite_db_close,
	.id = sqlite_backend_id,
	.file = sqlite_backend_file,
	.insert = sqlite_insert,
	.begin_list = sqlite_begin_list,
	.end_list = sqlite_end_list,
	.list_series = sqlite_list_series,
	.find_windows = sqlite_find_windows,
	.list_sums = sqlite_list_sums,
	.list_windows = sqlite_list_windows,
	.list_stacks = sqlite_list_stacks,
	.list_locations = sqlite_list_locations,
	.figures = sqlite_figures,
	.retain = sqlite_retain,
};
