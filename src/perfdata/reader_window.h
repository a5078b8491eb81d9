/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader_window.h - limits how much of a mapped recording is in memory: pages that were read are dropped, and pages
 * ahead are prefetched, one window at a time. Private to the reader.
 *
 *	while (record_at(bytes, swap, position, &record, NULL) == TALLY_OK) {
 *		reader_window_pass(r, position);   ... position advances ...
 *	}
 */
#ifndef PERFDATA_READER_WINDOW_H
#define PERFDATA_READER_WINDOW_H

#include <stddef.h>

#include "base/bytes.h"

struct perfdata_reader;

/* Moves the window; called when reading has reached the position. */
void reader_window_pass(struct perfdata_reader *r, size_t position);
/* Implements perfdata_reader_drop. */
void reader_window_drop(const struct perfdata_reader *r, struct tally_bytes part);

#endif
