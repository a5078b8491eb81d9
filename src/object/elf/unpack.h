/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unpack.h - decompresses a whole file in memory, such as a kernel module (.ko.gz, .ko.xz, .ko.zst). The size of the
 * result is bounded.
 *
 *	if (unpack_is_packed(bytes)) status = unpack(bytes, LIMIT_PACKED_ELF, &data, &len, err);
 */
#ifndef OBJECT_ELF_UNPACK_H
#define OBJECT_ELF_UNPACK_H

#include <tally/status.h>

#include "base/bytes.h"

/* Returns whether the first bytes are those of a compressed file. */
bool unpack_is_packed(struct tally_bytes bytes);
/* Decompresses into *out, which is malloc'ed and owned by the caller. LIMIT: more than limit bytes; CORRUPT;
 * UNSUPPORTED: this build lacks the library. */
TALLY_MUST_CHECK enum tally_status unpack(
	struct tally_bytes packed, size_t limit, uint8_t **out, size_t *len, struct tally_error *err);

#endif
