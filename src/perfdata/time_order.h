/* SPDX-License-Identifier: Apache-2.0 */
/*
 * time_order.h - sorts the records of a recording by time. It relies on the guarantee of rounds that records after a
 * FINISHED_ROUND are not older than those before the previous one.
 *
 * Owned by the caller. Records are borrowed from the reader. Records without a time, or with 0 or all ones, are
 * returned immediately, in file order. Records of the same time remain in file order. Memory is bounded even if a round
 * never ends: the positions of waiting records are moved to a file (time_runs.h), and pages of the recording are
 * dropped. After perfdata_reader_pass, a record of a stream is valid until the second end of a round after it, so that
 * three rounds are in memory.
 *
 *	time_order_create(reader, &order, err);
 *	while ((status = time_order_next(order, &item, err)) == TALLY_OK) use(&item.record, item.time_ns);
 */
#ifndef PERFDATA_TIME_ORDER_H
#define PERFDATA_TIME_ORDER_H

#include "perfdata/reader.h"

struct time_order;
struct time_order_item {
	struct record record;
	bool has_time;
	uint64_t time_ns;
};

TALLY_MUST_CHECK enum tally_status time_order_create(
	struct perfdata_reader *reader, struct time_order **order, struct tally_error *err);
/* Disables sorting: all records are returned in file order. */
void time_order_keep_file_order(struct time_order *order);
void time_order_destroy(struct time_order *order);
/* Returns the next record. All complete records are returned before an error of the reader. */
TALLY_MUST_CHECK enum tally_status time_order_next(
	struct time_order *order, struct time_order_item *item, struct tally_error *err);
/* Returns the number of records that were returned after a younger one, because they came after the end of their
 * round. */
uint64_t time_order_late(const struct time_order *order);
/* Returns the time of a record of the reader; 0 if it has none. swap is that of the reader. */
uint64_t time_order_time_of(const struct perfdata_reader *reader, const struct record *record, bool swap);

#endif
