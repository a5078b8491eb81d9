/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/events/attr_bytes.h"

#include <string.h>

#include "base/error.h"

#define ATTR_BYTES_SIZE_OFFSET 4 /* Offset of the size field. */

enum tally_status attr_from_bytes(const void *bytes, struct perf_attr *attr, struct tally_error *err)
{
	struct perf_attr made;
	uint32_t size;
	memcpy(&size, (const uint8_t *)bytes + ATTR_BYTES_SIZE_OFFSET, sizeof(size));
	if (size < ATTR_SIZE_VER0 || size > ATTR_BYTES_MAX || size % sizeof(uint64_t) != 0)
		return error_set(err, TALLY_INVALID, "%u is not a valid size of struct perf_event_attr", size);
	struct cursor c = cursor_make((struct tally_bytes){bytes, size}, false);
	enum tally_status status = attr_decode(&c, &made, err);
	if (status != TALLY_OK)
		return status;
	if (made.excess_is_nonzero)
		return error_set(err, TALLY_UNSUPPORTED,
			"the attr has fields beyond the %u bytes that this library knows", ATTR_SIZE_KNOWN);
	if (made.size > ATTR_SIZE_KNOWN)
		made.size = ATTR_SIZE_KNOWN;
	*attr = made;
	return TALLY_OK;
}
