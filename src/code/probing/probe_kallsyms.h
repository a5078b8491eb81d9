/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_kallsyms.h - lists the code of the running kernel, or of one of its modules, by /proc/kallsyms: for probes of a
 * kernel whose vmlinux is not there.
 *
 *	struct probe_symbols *symbols;
 *	status = probe_kallsyms_read(STR(""), &arena, &symbols, err);
 *	probe_symbols_free(symbols);
 */
#ifndef CODE_PROBING_PROBE_KALLSYMS_H
#define CODE_PROBING_PROBE_KALLSYMS_H

#include "base/arena.h"
#include "code/probing/probe_symbols.h"

/* module: its name; empty: the kernel itself. Names are in the arena. A symbol ends where the next begins. NOT_FOUND: the
 * module is not loaded; DENIED: the kernel hides its addresses. */
TALLY_MUST_CHECK enum tally_status probe_kallsyms_read(
	struct tally_str module, struct arena *arena, struct probe_symbols **symbols, struct tally_error *err);
/* The same of a list in memory (tests). */
TALLY_MUST_CHECK enum tally_status probe_kallsyms_parse(struct tally_str text, struct tally_str module,
	struct arena *arena, struct probe_symbols **symbols, struct tally_error *err);

#endif
