/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_frame.h - finds by call-frame information where the frame of a function is at an address, as a register and a
 * distance: what DWARF calls the canonical frame address (CFA).
 *
 *	struct probe_frame frame;
 *	status = probe_frame_find(binary, place->address, DWARF_NO_REGISTER, &frame, err);
 */
#ifndef CODE_PROBING_PROBE_FRAME_H
#define CODE_PROBING_PROBE_FRAME_H

#include "code/probing/probe_place.h"

struct probe_frame {
	bool is_known; /* the CFA is reg + offset at the address */
	uint32_t reg; /* DWARF's number */
	int64_t offset;
	bool has_body; /* behind the prologue the CFA is the register that was asked for + body_offset */
	int64_t body_offset;
};

/* base: a register that the function's variables are relative to, of which body_offset is wanted. NOMEM only. */
TALLY_MUST_CHECK enum tally_status probe_frame_find(const struct probe_binary *binary, uint64_t address, uint32_t base,
	struct probe_frame *frame, struct tally_error *err);

#endif
