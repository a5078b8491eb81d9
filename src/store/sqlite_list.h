/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sqlite_list.h - lists rows of a store in SQLite for queries: series, the samples of selected series, stacks and
 * locations. The functions implement those of store_backend.h.
 */
#ifndef STORE_SQLITE_LIST_H
#define STORE_SQLITE_LIST_H

#include "store/sqlite_db.h"

enum tally_status sqlite_begin_list(void *db, uint64_t deadline_ns, struct tally_error *err);
void sqlite_end_list(void *db);
enum tally_status sqlite_list_series(
	void *db, struct store_range range, const struct store_series_take *take, struct tally_error *err);
enum tally_status sqlite_find_windows(
	void *db, struct store_range range, const uint64_t *series, size_t count, bool *has, struct tally_error *err);
enum tally_status sqlite_list_sums(void *db, const struct store_scan *scan, struct tally_error *err);
enum tally_status sqlite_list_windows(void *db, const struct store_window_scan *scan, struct tally_error *err);
enum tally_status sqlite_list_stacks(void *db, const struct store_stack_list *list, struct tally_error *err);
enum tally_status sqlite_list_locations(void *db, const struct store_location_list *list, struct tally_error *err);

#endif
