/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inject_mmap.h - rewrites the mapping record of a file with a known build ID as an MMAP2 record that holds it, in the
 * form that the kernel writes for attr.build_id. Only mappings of processes are changed, not those of the kernel.
 *
 *	switch (inject_mmap(mmaps, &record, &out)) ...
 */
#ifndef ANALYSIS_INJECT_INJECT_MMAP_H
#define ANALYSIS_INJECT_INJECT_MMAP_H

#include "abi/record.h"
#include "base/intern.h"
#include "base/vec.h"
#include "base/writer.h"

struct inject_mmaps { /* Files with their build IDs. */
	struct intern paths;
	VEC(struct record_build_id) ids; /* Indexed by the number of the path; size 0 if the build ID is unknown. */
	bool drop_others; /* Drop the mappings of files without a known build ID. */
};

enum inject_mmap_result { INJECT_MMAP_KEPT, INJECT_MMAP_CHANGED, INJECT_MMAP_DROPPED };

/* For INJECT_MMAP_CHANGED, the new record has been appended to out, in the recording's byte order. */
enum inject_mmap_result inject_mmap(const struct inject_mmaps *mmaps, const struct record *record, struct writer *out);

#endif
