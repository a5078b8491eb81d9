/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live_records.h - sorts the records of a stream by time while it is still arriving: the mappings and names of a round
 * are applied to the machine before the round's samples are returned. It keeps three rounds and the history in memory.
 *
 * It reads one reader from start to end, and nothing twice. The sideband's machine grows, so only one thread may use
 * it, and only between two calls; a resolver that uses it is notified of each change. Streams that must be read
 * completely first are refused: those with events without times, with deferred call chains, or with cgroups in samples.
 *
 *	status = live_records_create(reader, &sideband, &live, err);   // TALLY_UNSUPPORTED: use another method
 *	live_records_tell(live, &resolver);
 *	while ((status = live_records_next(live, &item, err)) == TALLY_OK) ...
 */
#ifndef ANALYSIS_LIVE_LIVE_RECORDS_H
#define ANALYSIS_LIVE_LIVE_RECORDS_H

#include "analysis/resolve.h"
#include "analysis/sideband.h"
#include "perfdata/time_order.h"

struct live_records;

/* Reads the first round, so that the events are known. The caller deinitialises the sideband. */
TALLY_MUST_CHECK enum tally_status live_records_create(
	struct perfdata_reader *reader, struct sideband *sideband, struct live_records **live, struct tally_error *err);
void live_records_destroy(struct live_records *live);
/* Registers the resolver that is notified of changes to the machine. */
void live_records_tell(struct live_records *live, struct resolver *resolver);
/* Returns the next record in order of time; the end of the stream is reported as by time_order_next. */
TALLY_MUST_CHECK enum tally_status live_records_next(
	struct live_records *live, struct time_order_item *item, struct tally_error *err);
/* Returns true if the next call will wait for the stream, so that the caller can flush its output first. */
bool live_records_is_drained(const struct live_records *live);
/* Returns the number of records that came after their round had ended. */
uint64_t live_records_late(const struct live_records *live);

#endif
