/* SPDX-License-Identifier: Apache-2.0 */
#include "code/probing/probe_prologue.h"

#include <string.h>

#include "base/order.h"

/* Returns whether the producer's options include optimization. *is_said: the producer records its options, as gcc does;
 * clang and rustc do not. */
static bool probe_prologue_is_optimized(struct tally_str producer, bool *is_said)
{
	bool is_optimized = false;
	struct tally_str word;
	*is_said = str_starts_with(producer, STR("GNU "));
	while (str_next(&producer, ' ', &word))
		if (str_starts_with(word, STR("-O")))
			is_optimized = !str_equal(word, STR("-O0"));
	return is_optimized;
}

bool probe_prologue_find(
	struct probe_functions *functions, struct probe_code code, uint64_t entry, struct probe_prologue *prologue)
{
	const struct debug_unit *debug = &functions->units[code.unit].debug;
	struct tally_str producer = dwarf_unit_producer(&functions->reader, debug->file, debug->unit);
	bool is_said;
	if (!producer.data || probe_prologue_is_optimized(producer, &is_said))
		return false;
	const struct dwarf_lines *lines = probe_unit_lines(functions, code.unit);
	const struct dwarf_code_range *range = dwarf_functions_range(debug->functions, code.function, entry);
	if (!lines || !range)
		return false;
	const struct dwarf_statement *statements = lines->statements.items;
	size_t first;
	LOWER_BOUND(first, lines->statements.len, middle, statements[middle].address < entry);
	uint64_t second = entry;
	for (size_t i = first; i < lines->statements.len && statements[i].address < range->high; i++) {
		if (statements[i].ends_prologue) {
			*prologue = (struct probe_prologue){statements[i].address, is_said};
			return true;
		}
		/* If the table does not mark the end of the prologue, the prologue is the code of the function's first
		 * statement. */
		if (second == entry)
			second = statements[i].address;
	}
	*prologue = (struct probe_prologue){second, is_said};
	return true;
}
