/*
 * load_unwind.h - the unwind table of an entry: from .eh_frame and .debug_frame of the program file, .debug_frame of its
 * debug file, and the PLT. For the store. Any thread; the first that asks builds, others wait for it.
 */
#ifndef CODE_BINARIES_LOAD_UNWIND_H
#define CODE_BINARIES_LOAD_UNWIND_H

#include "code/binaries/binary_entry.h"

void load_unwind_init(struct load_unwind *unwind);
void load_unwind_deinit(struct load_unwind *unwind);
/* Opens the file once, whether the entry is loaded or not; it is closed again. */
const struct load_unwind *load_unwind(const struct binary_store_options *options, struct binary_entry *entry);
/* The table of one image; debug: where .debug_frame may lie besides, NULL none. NULL: it says nothing, or no memory. */
struct unwind_table *load_unwind_image(struct elf_image *image, const struct elf_image *debug, bool is_vdso);

#endif
