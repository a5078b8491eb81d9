/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader_window.h - bounds how much of a mapped recording is in memory: pages behind the reader are dropped and pages
 * ahead are prefetched, a window at a time. For the parts of a reader only.
 *
 *	while (record_at(bytes, swap, position, &record, NULL) == TALLY_OK) {
 *		reader_window_pass(r, position);   ... position moves on ...
 *	}
 */
#ifndef PERFDATA_READER_WINDOW_H
#define PERFDATA_READER_WINDOW_H

#include <stddef.h>

#include "base/bytes.h"

struct perfdata_reader;

/* Call this when the walk has reached the position. */
void reader_window_pass(struct perfdata_reader *r, size_t position);
/* perfdata_reader_drop */
void reader_window_drop(const struct perfdata_reader *r, struct tally_bytes part);

#endif
