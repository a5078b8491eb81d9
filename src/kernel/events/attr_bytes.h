/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attr_bytes.h - converts a caller's struct perf_event_attr, of any version of the kernel's header, to struct
 * perf_attr.
 */
#ifndef KERNEL_EVENTS_ATTR_BYTES_H
#define KERNEL_EVENTS_ATTR_BYTES_H

#include "abi/attr.h"

#define ATTR_BYTES_MAX 4096u /* The kernel accepts at most a page. */

/* Converts the structure at bytes, whose size field says how large it is. Returns TALLY_INVALID if the size is not
 * valid, and TALLY_UNSUPPORTED if a field that tally does not know is not 0. */
TALLY_MUST_CHECK enum tally_status attr_from_bytes(const void *bytes, struct perf_attr *attr, struct tally_error *err);

#endif
