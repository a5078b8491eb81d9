/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_kallsyms.h - lists the code of the running kernel, or of one of its modules, from /proc/kallsyms, for probes of
 * a kernel without a vmlinux.
 *
 *	struct probe_symbols *symbols;
 *	status = probe_kallsyms_read(STR(""), &arena, &symbols, err);
 *	probe_symbols_free(symbols);
 */
#ifndef CODE_PROBING_PROBE_KALLSYMS_H
#define CODE_PROBING_PROBE_KALLSYMS_H

#include "base/arena.h"
#include "code/probing/probe_symbols.h"

/* Reads the symbols of a module by name, or of the kernel itself if module is empty. Names are in the arena. A symbol
 * ends at the start of the next one. NOT_FOUND: the module is not loaded, or the list is empty. DENIED: the kernel
 * hides its addresses. */
TALLY_MUST_CHECK enum tally_status probe_kallsyms_read(
	struct tally_str module, struct arena *arena, struct probe_symbols **symbols, struct tally_error *err);
/* Parses a list in memory, with the same parameters and errors. */
TALLY_MUST_CHECK enum tally_status probe_kallsyms_parse(struct tally_str text, struct tally_str module,
	struct arena *arena, struct probe_symbols **symbols, struct tally_error *err);

#endif
