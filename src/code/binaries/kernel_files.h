/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_files.h - finds and opens the files of a kernel and its modules: vmlinux by build ID, modules by the recorded
 * path or modules.dep.
 *
 * Used by load_kernel, load_module and load_lines. A file is accepted by its build ID, never by its name alone. The
 * entry's trail records what was found at each place. One thread.
 *
 *	struct elf_image *image = kernel_files_open(options, entry, KERNEL_FILE_LINES, &path);
 */
#ifndef CODE_BINARIES_KERNEL_FILES_H
#define CODE_BINARIES_KERNEL_FILES_H

#include "code/binaries/binary_entry.h"

enum kernel_file_need { KERNEL_FILE_NAMES, KERNEL_FILE_LINES };

/* Opens the vmlinux with entry->kernel_id, or the module's file, that has the needed sections. The caller closes it.
 * *path becomes its path, which is in the entry's arena. Returns NULL if there is none. */
struct elf_image *kernel_files_open(const struct binary_store_options *options, struct binary_entry *entry,
	enum kernel_file_need need, const char **path);
/* Returns the kernel release of the recording; empty if it is not known yet. */
struct tally_str kernel_files_release(const struct binary_store_options *options);
/* Returns the path of a system file, below options.system_root if that is set; NULL if memory runs out. */
const char *kernel_files_system_path(struct arena *arena, const struct binary_store_options *options, const char *path);

#endif
