/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_kernel.h - loads the symbols of the kernel: from this machine's /proc/kallsyms if the recording is of this
 * kernel, else from a copy or a vmlinux that has the recorded build id. Failures are in entry->status.
 *
 * host_kernel belongs to the store; it is read once, by the one worker that loads kernel entries.
 */
#ifndef CODE_BINARIES_LOAD_KERNEL_H
#define CODE_BINARIES_LOAD_KERNEL_H

#include "code/binaries/binary_entry.h"
#include "code/binaries/search_path.h"
#include "code/symbols/kallsyms.h"

#define KERNEL_LIST "list of the kernel's symbols"

struct host_kernel {
	bool is_read;
	bool is_foreign; /* the recording is known to be of another kernel */
	bool is_proven; /* the recording is known to be of this one */
	char *text; /* its kallsyms */
	enum tally_status status; /* of reading them */
	struct kallsyms kallsyms;
	struct elf_build_id build_id;
	const char *
		copy_path; /* of the list that named the recorded kernel; NULL: there is none, or it is of another boot */
	struct kallsyms copy; /* its text is the kernel entry's */
};

void host_kernel_deinit(struct host_kernel *host);
/* Reads which kernel this machine runs, and notes if the recording's kernel is another. */
void host_kernel_compare(
	const struct binary_store_options *options, struct host_kernel *host, struct binary_entry *kernel);
/* Whether the running kernel may be used. */
bool host_kernel_is_recorded(const struct binary_store_options *options, const struct host_kernel *host);
/* /proc/kallsyms, or the file of --kallsyms; NULL: it cannot be read, as the entry's trail says. */
const struct kallsyms *host_kernel_list(const struct binary_store_options *options, struct host_kernel *host,
	struct binary_entry *entry, const char **path);
/* The build id of a file in /sys that has notes; size 0: none. */
struct elf_build_id host_kernel_notes(const char *path);
void load_kernel(const struct binary_store_options *options, struct host_kernel *host, struct binary_entry *entry);
/* The distance from addresses in this file to those of the kernel, which every boot places differently. */
uint64_t load_kernel_displacement(const struct binary_entry *entry, struct elf_image *image);

#endif
