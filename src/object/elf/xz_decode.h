/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xz_decode.h - decompresses one .xz stream in memory, with a limit on the size of the result. Bad input is
 * TALLY_CORRUPT.
 */
#ifndef OBJECT_ELF_XZ_DECODE_H
#define OBJECT_ELF_XZ_DECODE_H

#include <tally/status.h>

#include "base/bytes.h"

/* Decompresses into *out, which is malloc'ed and owned by the caller. LIMIT: more than limit bytes. */
TALLY_MUST_CHECK enum tally_status xz_decode(
	struct tally_bytes packed, size_t limit, uint8_t **out, size_t *len, struct tally_error *err);

#endif
