/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_files.h - finds and opens the files of a kernel and its modules: vmlinux by build ID, modules by the recorded
 * path or modules.dep.
 *
 * For load_kernel, load_module and load_lines. A file is accepted by its build ID, never by its name alone. The entry's
 * trail records what was at each place. One thread.
 *
 *	struct elf_image *image = kernel_files_open(options, entry, KERNEL_FILE_LINES, &path);
 */
#ifndef CODE_BINARIES_KERNEL_FILES_H
#define CODE_BINARIES_KERNEL_FILES_H

#include "code/binaries/binary_entry.h"

enum kernel_file_need { KERNEL_FILE_NAMES, KERNEL_FILE_LINES };

/* Opens the vmlinux of entry->kernel_id, or the module's file, that has the needed sections; the caller closes it.
 * path: in the entry's arena. NULL: there is none. */
struct elf_image *kernel_files_open(const struct binary_store_options *options, struct binary_entry *entry,
	enum kernel_file_need need, const char **path);
/* The kernel release of the recording; empty: not known yet. */
struct tally_str kernel_files_release(const struct binary_store_options *options);
/* A file of this machine, or of the root that stands for it; NULL when memory runs out. */
const char *kernel_files_system_path(struct arena *arena, const struct binary_store_options *options, const char *path);

#endif
