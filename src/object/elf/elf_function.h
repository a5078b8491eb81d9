/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elf_function.h - writes one JIT-compiled function as an ELF file, from which other programs read symbols, code, lines
 * and unwind tables.
 *
 * elf_function_write has no state, and may be called from any thread. It creates 64-bit files of either byte order.
 * Lines are DWARF 4 in .debug_line, with one unit in .debug_info that refers to them.
 *
 *	struct writer w = {0};
 *	elf_function_write(&w, &(struct elf_function){.machine = EM_X86_64, .name = "f", .code = bytes});
 *	if (w.failed) return error_nomem(err);
 */
#ifndef OBJECT_ELF_ELF_FUNCTION_H
#define OBJECT_ELF_ELF_FUNCTION_H

#include "base/writer.h"

#define ELF_FUNCTION_CODE_OFFSET UINT64_C(0x80) /* Offset of the code in the file, which is also its address. */

/* A line that begins at an offset of the code. */
struct elf_function_line {
	uint64_t offset;
	uint32_t line;
	const char *path;
};

struct elf_function {
	uint16_t machine; /* EM_* value of a 64-bit machine. */
	bool is_swapped; /* The file has another byte order than this host. */
	const char *name;
	struct tally_bytes code;
	struct tally_bytes eh_frame; /* .eh_frame as if it followed the code, aligned to 8 bytes; empty if none. */
	struct tally_bytes eh_frame_header; /* .eh_frame_hdr, as if it followed .eh_frame directly; empty if none. */
	const struct elf_function_line *lines; /* Sorted by offset. */
	size_t line_count;
};

/* Writes the file. The writer must be empty; errors are reported by the writer. */
void elf_function_write(struct writer *w, const struct elf_function *function);

#endif
