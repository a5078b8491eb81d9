/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_kernel.h - loads the symbols of the kernel: from this machine's /proc/kallsyms if this kernel was recorded, else
 * from a copy or a vmlinux that has the recorded build ID. Failures are reported in entry->status.
 *
 * host_kernel belongs to the store; the worker that loads kernel entries reads it once.
 */
#ifndef CODE_BINARIES_LOAD_KERNEL_H
#define CODE_BINARIES_LOAD_KERNEL_H

#include "code/binaries/binary_entry.h"
#include "code/binaries/search_path.h"
#include "code/symbols/kallsyms.h"

#define KERNEL_LIST "list of the kernel's symbols"

struct host_kernel {
	bool is_read;
	bool is_foreign; /* The recording is known to be of another kernel. */
	bool is_proven; /* The recording is known to be of this kernel. */
	char *text; /* Contents of its kallsyms file; NULL if it was not read. */
	enum tally_status status; /* Status of reading text. */
	struct kallsyms kallsyms;
	struct elf_build_id build_id;
	/* Path of the copy with the symbols of the recorded kernel; NULL if there is none, or it is of another boot. */
	const char *copy_path;
	struct kallsyms copy; /* The parsed copy; the kernel entry owns the text. */
};

void host_kernel_deinit(struct host_kernel *host);
/* Determines whether the recording is of the running kernel, and sets is_foreign and is_proven. kernel is the entry of
 * the kernel. */
void host_kernel_compare(
	const struct binary_store_options *options, struct host_kernel *host, struct binary_entry *kernel);
/* Returns whether the symbols of the running kernel may be used. */
bool host_kernel_is_recorded(const struct binary_store_options *options, const struct host_kernel *host);
/* Returns the list in /proc/kallsyms or in the file of --kallsyms; *path becomes the path of the file. NULL: it cannot
 * be read, for the reason in the entry's trail. */
const struct kallsyms *host_kernel_list(const struct binary_store_options *options, struct host_kernel *host,
	struct binary_entry *entry, const char **path);
/* Returns the build ID in a file of /sys that contains ELF notes; its size is 0 if there is none. */
struct elf_build_id host_kernel_notes(const char *path);
void load_kernel(const struct binary_store_options *options, struct host_kernel *host, struct binary_entry *entry);
/* Returns what is added to addresses in a vmlinux to get run-time addresses, which differ at every boot; 0 if not
 * known. */
uint64_t load_kernel_displacement(const struct binary_entry *entry, struct elf_image *image);

#endif
