/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_jit.h - loads the symbols of generated code: from the map (/tmp/perf-PID.map) or the dump (jit-PID.dump) that
 * its runtime wrote.
 *
 * Anyone may write to /tmp: a file counts only if it is regular, no symbolic link, and owned by root, by us, or by the
 * process while it runs. In a container, the process has another PID and root.
 */
#ifndef CODE_BINARIES_LOAD_JIT_H
#define CODE_BINARIES_LOAD_JIT_H

#include "code/binaries/binary_entry.h"

void load_perf_map(const struct binary_store_options *options, struct binary_entry *entry);
/* The source line of an address of Python's code, in a map that was loaded; false: it has none. */
bool load_jit_python_line(const struct binary_entry *entry, uint64_t address, struct source_place *place);
void load_jitdump(const struct binary_store_options *options, struct binary_entry *entry);
/* The same of a dump in memory, which becomes the entry's (malloc'ed). */
void load_jitdump_bytes(
	const struct binary_store_options *options, struct binary_entry *entry, char *bytes, size_t len);
/* How to unwind the functions of an entry's dump, from any thread; the file is read again. NULL: it does not say. */
struct unwind_table *load_jit_unwind(const struct binary_store_options *options, const struct binary_key *key);

/* Whether the file is another one, or a longer one, than when the entry was loaded, and how long it is now. */
bool load_jit_has_changed(
	const struct binary_store_options *options, const struct binary_entry *entry, uint64_t *bytes);
/* The map or dump, opened to read by the rules above; -1: it is not there. */
int load_jit_open(const struct binary_store_options *options, const struct binary_key *key);
/* The architecture of a dump's code: the one in its header, or that of the recording's machine if the header has no
 * known one (CPython 3.13.0 writes 0, because perf does not read it). NULL: neither is known. */
const struct arch *load_jit_arch(const struct binary_store_options *options, uint16_t elf_machine);

#endif
