/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_frame.h - finds the frame of a function at an address by call-frame information, as a register and an offset:
 * the canonical frame address (CFA) of DWARF.
 *
 *	struct probe_frame frame;
 *	status = probe_frame_find(binary, place->address, DWARF_NO_REGISTER, &frame, err);
 */
#ifndef CODE_PROBING_PROBE_FRAME_H
#define CODE_PROBING_PROBE_FRAME_H

#include "code/probing/probe_place.h"

struct probe_frame {
	bool is_known; /* The CFA at the address is reg + offset. */
	uint32_t reg; /* DWARF register number. */
	int64_t offset;
	bool has_body; /* After the prologue, the CFA is the requested base register + body_offset. */
	int64_t body_offset;
};

/* Finds the frame. base is the register to which the function's variables are relative, for body_offset. NOMEM is the
 * only error. */
TALLY_MUST_CHECK enum tally_status probe_frame_find(const struct probe_binary *binary, uint64_t address, uint32_t base,
	struct probe_frame *frame, struct tally_error *err);

#endif
