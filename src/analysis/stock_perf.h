/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stock_perf.h - predicts whether perf 6.1, the version that distributions ship, can read a recording; the rules come
 * from observing that program, which is not run.
 */
#ifndef ANALYSIS_STOCK_PERF_H
#define ANALYSIS_STOCK_PERF_H

#include "analysis/health.h"

/* Returns NULL if perf 6.1 reads the recording completely. Otherwise returns the reason as a clause, which is static or
 * in room. */
const char *stock_perf_refusal(
	const struct perfdata_reader *reader, const struct recording_health *health, char *room, size_t room_bytes);

#endif
