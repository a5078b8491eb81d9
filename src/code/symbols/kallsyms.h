/*
 * kallsyms.h - /proc/kallsyms (or a copy of it) as symbols: of the kernel, or of one module.
 *
 * Names are copied into the arena. Bad input: a line that is none is skipped. All addresses 0 means that the kernel
 * hides them (kptr_restrict): is_hidden, no symbols.
 */
#ifndef CODE_SYMBOLS_KALLSYMS_H
#define CODE_SYMBOLS_KALLSYMS_H

#include "base/arena.h"
#include "code/symbols/symbol_table.h"

struct kallsyms_request {
	struct tally_str text;
	struct tally_str module; /* "[name]", or empty for the kernel itself */
};

bool kallsyms_parse(
	const struct kallsyms_request *request, struct arena *arena, struct symbol_table *table, bool *is_hidden);

#endif
