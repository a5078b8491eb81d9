/* SPDX-License-Identifier: Apache-2.0 */
/*
 * time_order.h - sorts the records of a recording by time, using the round contract: records after a FINISHED_ROUND are
 * not older than those before the previous one.
 *
 * Owned by the caller. Records are borrowed from the reader. Records without a time, or with 0 or all ones, come out at
 * once, in file order. Ties keep file order. Memory does not grow with the length of rounds, even if none ever ends:
 * the positions of waiting records move to a file (time_runs.h), and pages of the recording are dropped. Of a stream
 * without a file, three rounds are kept. If the reader passes (perfdata_reader_pass), a record stays valid until the
 * second end of a round after it.
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
/* From now on every record comes out as the file has it. */
void time_order_keep_file_order(struct time_order *order);
void time_order_destroy(struct time_order *order);
/* Delivers everything complete before it passes on the reader's error. */
TALLY_MUST_CHECK enum tally_status time_order_next(
	struct time_order *order, struct time_order_item *item, struct tally_error *err);
/* Items that came out with a time before that of one already given: their round was over. */
uint64_t time_order_late(const struct time_order *order);
/* When a record of the reader's events was made; 0: it does not say. swap: the reader's. */
uint64_t time_order_time_of(const struct perfdata_reader *reader, const struct record *record, bool swap);

#endif
