/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame_types.h - formats the data that an instruction accesses as reports show it: "struct node", "struct node +0x8
 * (key)". It prints "(unknown)" if the type is not known, and "(stack operation)" for pushes, pops, calls and returns.
 *
 * Borrows the store, which must have loaded the binaries (symbolise). One thread.
 *
 *	frame_types_find(&types, &resolved, &access, err);
 *	frame_type_name(&access);
 */
#ifndef ANALYSIS_FRAME_TYPES_H
#define ANALYSIS_FRAME_TYPES_H

#include "analysis/symbolise.h"
#include "base/text.h"
#include "code/data_access.h"

struct frame_types {
	const struct machine *machine;
	struct binary_store *store;
};

/* Finds the data that the frame's instruction accesses. Fails only with TALLY_NOMEM. */
TALLY_MUST_CHECK enum tally_status frame_types_find(const struct frame_types *types, const struct resolved_frame *frame,
	struct data_access *access, struct tally_error *err);
const char *frame_type_name(const struct data_access *access);
/* Appends the name, followed by the offset and the field at that offset. */
void frame_type_offset_text(const struct data_access *access, struct text *text);

#endif
