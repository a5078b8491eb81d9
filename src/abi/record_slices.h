/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_slices.h - reads records that are split over several slices of memory, as in a ring that wraps around.
 *
 * A record may begin in one slice and end in the next. The bytes are borrowed. Bad input: if the size of a record is
 * smaller than a header, the records end there, because the position of the next one is unknown.
 *
 *	struct record_slices from = {slices, count};
 *	struct record_slice_header header;
 *	for (size_t at = 0; record_slices_header(&from, at, &header); at += header.size)
 */
#ifndef ABI_RECORD_SLICES_H
#define ABI_RECORD_SLICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cursor.h"

struct record_slices {
	const struct tally_bytes *items;
	size_t count;
};

/* A record header in the byte order of this machine. */
struct record_slice_header {
	uint32_t type;
	uint16_t misc, size; /* size includes the header. */
};

/* Copies len bytes from offset at of the concatenated slices; returns false if they end before. */
bool record_slices_copy(const struct record_slices *from, size_t at, void *to, size_t len);
/* Reads the header of the record at offset at; returns false at the end. */
bool record_slices_header(const struct record_slices *from, size_t at, struct record_slice_header *header);

#endif
