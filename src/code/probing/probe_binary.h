/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_binary.h - opens a binary that is to be probed, with its debug information: its own, or that of a separate debug
 * file, dwz's common file, .dwp and .dwo files.
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
	const char *
		path; /* of a program, a vmlinux or a module's file; NULL: the running kernel's, found as for reports */
	const char *module; /* name of a loaded module; NULL: path says it */
	const char *symfs; /* NULL or "": none */
	const char *vmlinux; /* NULL: found */
	int32_t root_pid; /* > 0: path is in the mount namespace of this process */
};

/* NOT_FOUND: no such file. A binary without debug information is opened too, with info NULL. */
TALLY_MUST_CHECK enum tally_status probe_binary_open(
	const struct probe_binary_options *options, struct probe_binary **binary, struct tally_error *err);
void probe_binary_close(struct probe_binary *binary);
/* The offset in the program file of an address of it; UINT64_MAX: no segment has it. */
uint64_t probe_binary_offset(const struct probe_binary *binary, uint64_t address);

/* The symbols, borrowed from the binary. One thread. NOMEM only. */
TALLY_MUST_CHECK enum tally_status probe_binary_symbols(
	struct probe_binary *binary, const struct probe_symbols **symbols, struct tally_error *err);
/* The symbol whose code has the address; NULL: none has. start: its address. One thread. */
const char *probe_binary_symbol_at(struct probe_binary *binary, uint64_t address, uint64_t *start);

#endif
