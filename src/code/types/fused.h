/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fused.h - determines which instructions a CPU fuses with the next one: samples of such a pair are attributed to the
 * second one, even if the first one accessed memory.
 *
 *	set = fused_set_of(STR("AuthenticAMD,26,2,1"));
 *	if (fused_has(set, operation.fusing)) ...
 */
#ifndef CODE_TYPES_FUSED_H
#define CODE_TYPES_FUSED_H

#include "base/bytes.h"
#include "code/disasm/operation.h"

/* Returns a bit mask with bits 1 << enum operation_fusing; 0 if the CPU is not known to fuse anything. cpu_id is that
 * of the recording, "vendor,family,model,stepping"; it may be empty. */
unsigned fused_set_of(struct tally_str cpu_id);
static inline bool fused_has(unsigned set, enum operation_fusing fusing)
{
	return fusing != OPERATION_FUSES_NEVER && (set & 1u << fusing) != 0;
}

#endif
