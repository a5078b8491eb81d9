/*
 * load_kernel.h - loads the symbols of the kernel and its modules: from this machine's /proc/kallsyms if the recording
 * is of this kernel, else from a copy or a vmlinux that has the recorded build id. Failures are in entry->status.
 *
 * host_kernel belongs to the store; it is read once, by the one worker that loads kernel entries.
 */
#ifndef CODE_BINARIES_LOAD_KERNEL_H
#define CODE_BINARIES_LOAD_KERNEL_H

#include "code/binaries/binary_entry.h"
#include "code/symbols/kallsyms.h"

struct host_kernel {
	bool is_read;
	bool is_foreign; /* the recording is known to be of another kernel */
	char *text; /* its kallsyms */
	struct kallsyms kallsyms;
	struct elf_build_id build_id;
};

void host_kernel_deinit(struct host_kernel *host);
void load_kernel(const struct binary_store_options *options, struct host_kernel *host, struct binary_entry *entry);
/* After the kernel's own entry, which tells whether the recording is of this machine. */
void load_module(const struct binary_store_options *options, struct host_kernel *host, struct binary_entry *entry);
/* Reads which kernel this machine runs, and notes if the recording's kernel is another. */
void host_kernel_compare(
	const struct binary_store_options *options, struct host_kernel *host, const struct binary_entry *kernel);

#endif
