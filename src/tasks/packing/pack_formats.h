/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pack_formats.h - selects the part of a recording's tracing data that is not private: the formats of the kernel's own
 * tracepoints. Lists of kernel symbols, strings and names of threads, and formats of events that users made (probes,
 * synthetic events), are left out.
 *
 *	if (pack_formats_scrub(features->tracing_data, &out)) ...  // false if it cannot be parsed, or memory runs out
 */
#ifndef TASKS_PACKING_PACK_FORMATS_H
#define TASKS_PACKING_PACK_FORMATS_H

#include "base/writer.h"

bool pack_formats_scrub(struct tally_bytes tracing_data, struct writer *out);

#endif
