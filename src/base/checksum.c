/* SPDX-License-Identifier: Apache-2.0 */
#include "base/checksum.h"

#include "tally_config.h"

#if HAVE_LIBDEFLATE
#include <libdeflate.h>
#else
#include <zlib.h>
#endif

uint32_t checksum_crc32(struct tally_bytes bytes)
{
#if HAVE_LIBDEFLATE
	return libdeflate_crc32(0, bytes.data, bytes.len);
#else
	return (uint32_t)crc32_z(0, bytes.data, bytes.len);
#endif
}
