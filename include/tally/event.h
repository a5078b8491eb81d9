/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event.h - parses the event syntax of `tally stat -e` for programs that call perf_event_open(2) themselves.
 *
 * The functions have no state, and any thread may call them.
 *
 *	struct perf_event_attr attr;
 *	if (tally_event_attr("cycles:u", &attr, sizeof(attr), &err) == TALLY_OK)
 *		fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
 */
#ifndef TALLY_EVENT_H
#define TALLY_EVENT_H

#include <stddef.h>
#include <tally/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Fills a struct perf_event_attr of size bytes (64 to 4096) for one event: type, config, exclude bits, precision, and
 * the period or frequency if a term sets one. Fields beyond size are left out, and all others are 0. Returns
 * TALLY_NOT_FOUND if there is no such event (the message names the nearest), and TALLY_INVALID if the text is malformed
 * or names several events; err->offset is the column.
 * Threads: any. */
TALLY_API enum tally_status tally_event_attr(const char *event, void *attr, size_t size, struct tally_error *err);

#ifdef __cplusplus
}
#endif

#endif
