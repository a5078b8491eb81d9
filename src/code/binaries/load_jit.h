/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_jit.h - loads the symbols of JIT code: from the perf map (/tmp/perf-PID.map) or the jitdump (jit-PID.dump) that
 * its runtime wrote.
 *
 * Anyone may write to /tmp: a file is accepted only if it is regular, not a symbolic link, and owned by root, by this
 * user, or by the owner of the process while it runs. In a container, the process has another PID and root.
 */
#ifndef CODE_BINARIES_LOAD_JIT_H
#define CODE_BINARIES_LOAD_JIT_H

#include "code/binaries/binary_entry.h"

/* Loads the symbols of a perf map. A failure is reported in entry->status. */
void load_perf_map(const struct binary_store_options *options, struct binary_entry *entry);
/* Finds the source line of Python code at an address in a loaded perf map. Returns false if it has none. */
bool load_jit_python_line(const struct binary_entry *entry, uint64_t address, struct source_place *place);
/* Loads the symbols of a jitdump. A failure is reported in entry->status. */
void load_jitdump(const struct binary_store_options *options, struct binary_entry *entry);
/* Loads a dump from memory; the entry becomes the owner of bytes (malloc'ed). */
void load_jitdump_bytes(
	const struct binary_store_options *options, struct binary_entry *entry, char *bytes, size_t len);
/* Builds the unwind table of the functions in an entry's dump, by reading the file again. Any thread. Returns NULL if
 * the dump has no unwinding information. */
struct unwind_table *load_jit_unwind(const struct binary_store_options *options, const struct binary_key *key);

/* Returns whether the file has been replaced or has grown since the entry was loaded; *bytes becomes its current
 * size. */
bool load_jit_has_changed(
	const struct binary_store_options *options, const struct binary_entry *entry, uint64_t *bytes);
/* Opens the perf map or dump for reading, if its type and owner are accepted. Returns the descriptor, which the caller
 * closes; -1 if there is none. */
int load_jit_open(const struct binary_store_options *options, const struct binary_key *key);
/* Returns the architecture of a dump's code: the one in its header, or that of the recording's machine if the header
 * has no known one (CPython 3.13.0 writes 0, because perf does not read it). NULL: neither is known. */
const struct arch *load_jit_arch(const struct binary_store_options *options, uint16_t elf_machine);

#endif
