/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inject_mmap.h - makes a mapping record that holds the build ID of its file: an MMAP2 record in the form that the
 * kernel writes for attr.build_id. Only mappings of processes; those of the kernel stay.
 *
 *	switch (inject_mmap(mmaps, &record, &out)) ...
 */
#ifndef ANALYSIS_INJECT_INJECT_MMAP_H
#define ANALYSIS_INJECT_INJECT_MMAP_H

#include "abi/record.h"
#include "base/intern.h"
#include "base/vec.h"
#include "base/writer.h"

struct inject_mmaps { /* files whose mappings get build ids */
	struct intern paths;
	VEC(struct record_build_id) ids; /* by path; size 0: none is known */
	bool drop_others; /* mappings of other files are left out */
};

enum inject_mmap_result { INJECT_MMAP_KEPT, INJECT_MMAP_CHANGED, INJECT_MMAP_DROPPED };

/* Changed: the record that replaces it was appended to out, in the recording's byte order. */
enum inject_mmap_result inject_mmap(const struct inject_mmaps *mmaps, const struct record *record, struct writer *out);

#endif
