/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checksum.h - computes the CRC-32 of zlib, gzip and .gnu_debuglink. It uses libdeflate if available, which is ten
 * times as fast; this matters for large files of debug information.
 *
 *	if (checksum_crc32(bytes) != wanted) ...
 */
#ifndef BASE_CHECKSUM_H
#define BASE_CHECKSUM_H

#include "base/bytes.h"

uint32_t checksum_crc32(struct tally_bytes bytes);

#endif
