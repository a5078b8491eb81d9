/* SPDX-License-Identifier: Apache-2.0 */
#include "code/unwind/unwind_go.h"

static void save_at(struct cfi_row *row, unsigned number, int64_t offset)
{
	row->registers[number] = (struct cfi_rule){.kind = CFI_AT_OFFSET, .value = offset};
}

void unwind_go_row(const struct arch *arch, const struct go_frame *from, struct cfi_row *row, struct cfi_frame *frame)
{
	const bool has_link = arch->dwarf_link != ARCH_NO_DWARF;
	const int64_t word = arch->pointer_bytes, depth = from->depth;
	/* Without a link register, a call pushes the return address, which lies directly below the CFA. */
	const int64_t to_cfa = has_link ? depth : depth + word;
	const int64_t fp_at = has_link ? -depth - word : -2 * word;
	const uint8_t return_register = has_link ? arch->dwarf_link : arch->dwarf_ip;
	*frame = (struct cfi_frame){.return_register = return_register};
	*row = (struct cfi_row){.low = from->low,
		.high = from->high,
		.cfa_register = arch->dwarf_sp,
		.cfa = {.kind = CFI_IS_OFFSET, .value = to_cfa}};
	if (from->kind == GO_FRAME_FIRST || from->kind == GO_FRAME_LEFT) {
		row->registers[return_register].kind = CFI_UNDEFINED;
		return;
	}
	if (from->kind == GO_FRAME_SWITCHED && !from->sets_fp)
		return;
	if (from->kind == GO_FRAME_SWITCHED) {
		row->cfa_register = arch->dwarf_fp;
		row->cfa.value = -fp_at;
	}
	if (!has_link)
		save_at(row, return_register, -word);
	else if (depth > 0)
		save_at(row, return_register, -depth);
	if (from->saves_fp)
		save_at(row, arch->dwarf_fp, fp_at);
}
