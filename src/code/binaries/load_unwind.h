/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_unwind.h - builds the unwind table of an entry: from .eh_frame and .debug_frame of the program file, from its
 * debug file or .gnu_debugdata for code that these do not cover, from .gopclntab of Go programs, and for the PLT. Used
 * by the store. Any thread may call it; the first one builds the table, and others wait.
 */
#ifndef CODE_BINARIES_LOAD_UNWIND_H
#define CODE_BINARIES_LOAD_UNWIND_H

#include "code/binaries/binary_entry.h"

void load_unwind_init(struct load_unwind *unwind);
void load_unwind_deinit(struct load_unwind *unwind);
/* Returns the unwinding data of an entry, which need not be loaded. The first call opens the file and closes it
 * again. */
const struct load_unwind *load_unwind(const struct binary_store_options *options, struct binary_entry *entry);
/* Converts a file offset to a link-time address. Returns false if no segment contains it. */
bool load_unwind_va(
	const struct elf_segment *segments, size_t count, struct tally_file_off offset, struct tally_elf_va *va);
/* Describes .eh_frame of an image for the CFI reader, except for its bytes. */
struct cfi_section load_unwind_eh_frame(const struct elf_image *image, const struct elf_frames *frames);
#define LOAD_UNWIND_OTHERS 2
/* Builds the table of one image. others are its debug files (at most LOAD_UNWIND_OTHERS), used for code that the
 * image's own sections do not cover. Returns NULL if there is no call-frame information, or memory ran out. */
struct unwind_table *load_unwind_image(
	struct elf_image *image, const struct elf_image *const *others, size_t other_count, bool is_vdso);

#endif
