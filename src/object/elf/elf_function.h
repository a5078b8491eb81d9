/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elf_function.h - writes one generated function as an ELF file, from which other programs read symbols, code, lines
 * and unwind tables.
 *
 * A pure function that appends to a writer. It makes 64-bit files of either byte order. Lines are DWARF 4 in
 * .debug_line, with one unit in .debug_info that refers to them.
 *
 *	struct writer w = {0};
 *	elf_function_write(&w, &(struct elf_function){.machine = EM_X86_64, .name = "f", .code = bytes});
 *	if (w.failed) return error_nomem(err);
 */
#ifndef OBJECT_ELF_ELF_FUNCTION_H
#define OBJECT_ELF_ELF_FUNCTION_H

#include "base/writer.h"

#define ELF_FUNCTION_CODE_OFFSET UINT64_C(0x80) /* of the code in the file; its address too */

struct elf_function_line { /* from that offset of the code on */
	uint64_t offset;
	uint32_t line;
	const char *path;
};

struct elf_function {
	uint16_t machine; /* EM_* of a 64-bit machine */
	bool is_swapped; /* not of this host's byte order */
	const char *name;
	struct tally_bytes code;
	struct tally_bytes eh_frame; /* as if it lay behind the code, aligned to 8; empty: none */
	struct tally_bytes eh_frame_header; /* directly behind it; empty: none */
	const struct elf_function_line *lines; /* by offset */
	size_t line_count;
};

/* The writer must be empty. A failure is the writer's. */
void elf_function_write(struct writer *w, const struct elf_function *function);

#endif
