/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_rows.c - prints the unwind table of a file, for comparison with readelf --debug-dump=frames-interp.
 *
 * usage: unwind_rows FILE MACHINE. Prints one line per row, with addresses in hex: ADDRESS CFA RETURN FP. CFA is a
 * DWARF register number and an offset (r7+8); RETURN and FP are offsets from the CFA (c-8), "same", "other", or, only
 * for RETURN, "root". Lines of code that switches to another stack end with "switch"; code without a rule has only
 * "none".
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code/binary_store.h"
#include "code/unwind/unwind_table.h"

static void print_place(const struct unwind_rule *rule, unsigned number)
{
	for (unsigned i = 0; i < rule->saved_count; i++)
		if (rule->saved[i].number == number) {
			if (rule->saved[i].kind == CFI_AT_OFFSET)
				printf(" c%+" PRId64, rule->saved[i].value);
			else
				printf(" %s", rule->saved[i].kind == CFI_SAME ? "same" : "other");
			return;
		}
	printf(" same");
}

static bool print_row(void *context, uint64_t address, const struct unwind_rule *rule)
{
	const unsigned *fp = context;
	printf("%" PRIx64, address);
	if (!rule) {
		puts(" none");
		return true;
	}
	if (rule->cfa_is_expression)
		printf(" exp");
	else
		printf(" r%u%+" PRId64, rule->cfa_register, rule->cfa);
	if (rule->is_root)
		printf(" root");
	else
		print_place(rule, rule->return_register);
	print_place(rule, *fp);
	puts(rule->is_switch ? " switch" : "");
	return true;
}

int main(int argc, char **argv)
{
	struct binary_store *store;
	uint32_t id;
	if (argc != 3 || binary_store_create(&(struct binary_store_options){0}, &store, NULL) != TALLY_OK) {
		fprintf(stderr, "usage: unwind_rows FILE MACHINE\n");
		return 2;
	}
	struct binary_key key = {.kind = BINARY_USER, .path = str_from(argv[1]), .pid = -1};
	const struct arch *arch = arch_find(argv[2]);
	unsigned fp = arch ? arch->dwarf_fp : 0;
	const struct unwind_table *table =
		binary_store_add(store, &key, &id, NULL) == TALLY_OK ? binary_store_unwind(store, id) : NULL;
	if (table)
		unwind_table_each(table, print_row, &fp);
	binary_store_destroy(store);
	return table ? 0 : 1;
}
