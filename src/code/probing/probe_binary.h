/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_binary.h - opens a binary that is to be probed, with its debug information: its own, or that of a separate
 * debug file, dwz's common file, .dwp and .dwo files.
 *
 *	struct probe_binary *binary;
 *	if (probe_binary_open(&(struct probe_binary_options){.path = "./app"}, &binary, err) == TALLY_OK) ...
 *	probe_binary_close(binary);
 */
#ifndef CODE_PROBING_PROBE_BINARY_H
#define CODE_PROBING_PROBE_BINARY_H

#include "code/probing/probe_place.h"
#include "code/probing/probe_symbols.h"

struct probe_binary_options {
	enum probe_binary_kind kind;
	/* Path of a program, a vmlinux or a module's file; NULL to find the running kernel's files as for reports. */
	const char *path;
	const char *module; /* Name of a loaded module; NULL if path is the module's file. */
	const char *symfs; /* Directory that replaces "/" for files; NULL or "" if none. */
	const char *vmlinux; /* Path of the vmlinux; NULL to search for it. */
	int32_t root_pid; /* PID of the process in the mount namespace of which path is resolved; 0 if none. */
};

/* Opens a binary; if it has no debug information, info is NULL. If no file of the kernel or module is found, only the
 * symbols of /proc/kallsyms are available. NOT_FOUND: the file does not exist, or the module is not loaded. DENIED: the
 * kernel hides the addresses in /proc/kallsyms. */
TALLY_MUST_CHECK enum tally_status probe_binary_open(
	const struct probe_binary_options *options, struct probe_binary **binary, struct tally_error *err);
void probe_binary_close(struct probe_binary *binary);
/* Returns the offset in the program file of an address in binary->image; UINT64_MAX if no segment contains it, or there
 * is no image. */
uint64_t probe_binary_offset(const struct probe_binary *binary, uint64_t address);

/* Returns the symbols, borrowed from the binary. One thread. NOMEM is the only error. */
TALLY_MUST_CHECK enum tally_status probe_binary_symbols(
	struct probe_binary *binary, const struct probe_symbols **symbols, struct tally_error *err);
/* Returns the name of the symbol that contains the address, and its start address; NULL if there is none. One
 * thread. */
const char *probe_binary_symbol_at(struct probe_binary *binary, uint64_t address, uint64_t *start);

#endif
