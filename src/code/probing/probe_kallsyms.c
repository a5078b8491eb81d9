/* SPDX-License-Identifier: Apache-2.0 */
#include "code/probing/probe_kallsyms.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "code/binaries/kernel_list_cache.h"

#define PROBE_KALLSYMS "/proc/kallsyms"

struct probe_kallsyms_row {
	uint64_t address;
	char type;
	struct tally_str name, module;
};

/* Parses "ffffffff816b89f0 T vfs_read" or, for a symbol of a module, "... t helper\t[nf_nat]". */
static bool probe_kallsyms_row_parse(struct tally_str line, struct probe_kallsyms_row *row)
{
	struct tally_str address, type, rest = line;
	if (!str_next(&rest, ' ', &address) || !str_next(&rest, ' ', &type) || type.len != 1 || rest.len == 0 ||
		!str_to_u64(address, 16, &row->address))
		return false;
	const char *tab = memchr(rest.data, '\t', rest.len);
	row->type = type.data[0];
	row->name = (struct tally_str){rest.data, tab ? (size_t)(tab - rest.data) : rest.len};
	row->module = (struct tally_str){"", 0};
	if (tab && tab[1] == '[' && line.data[line.len - 1] == ']')
		row->module = (struct tally_str){tab + 2, rest.len - row->name.len - 3};
	return row->name.len > 0;
}

static enum tally_status probe_kallsyms_add(struct tally_str text, struct tally_str module, struct arena *arena,
	struct probe_symbols *symbols, struct tally_error *err)
{
	struct tally_str rest = text, line;
	while (rest.len > 0 && str_next(&rest, '\n', &line)) {
		struct probe_kallsyms_row row;
		if (!probe_kallsyms_row_parse(line, &row) || !str_equal(row.module, module) ||
			!strchr("tTwW", row.type))
			continue;
		const struct probe_symbol symbol = {.address = row.address,
			.name = arena_string(arena, row.name.data, row.name.len),
			.is_code = true,
			.is_function = true,
			.is_global = row.type == 'T' || row.type == 'W'};
		if (!symbol.name || !vec_push(&symbols->items, symbol))
			return error_nomem(err);
	}
	return TALLY_OK;
}

enum tally_status probe_kallsyms_parse(struct tally_str text, struct tally_str module, struct arena *arena,
	struct probe_symbols **out, struct tally_error *err)
{
	if (kallsyms_is_hidden(text.data, text.len))
		return error_set(err, TALLY_DENIED,
			"the kernel hides the addresses in " PROBE_KALLSYMS
			": run as root, or see /proc/sys/kernel/kptr_restrict");
	struct probe_symbols *symbols = calloc(1, sizeof(*symbols));
	if (!symbols)
		return error_nomem(err);
	enum tally_status status = probe_kallsyms_add(text, module, arena, symbols, err);
	if (status == TALLY_OK && symbols->items.len == 0)
		status = module.len > 0 ? error_set(err, TALLY_NOT_FOUND, "the module %.*s is not loaded",
						  (int)module.len, module.data)
					: error_set(err, TALLY_NOT_FOUND, "the kernel lists no symbols");
	/* The first pass sorts, so that sizes can be computed; the second one computes ends from the sizes. */
	for (int pass = 0; pass < 2 && status == TALLY_OK; pass++) {
		status = probe_symbols_finish(symbols, err);
		uint64_t next = 0;
		for (size_t i = symbols->items.len; i-- > 0;) {
			struct probe_symbol *symbol = &symbols->items.items[i];
			const struct probe_symbol *behind = i + 1 < symbols->items.len ? symbol + 1 : NULL;
			if (behind && behind->address != symbol->address)
				next = behind->address;
			symbol->size = next > symbol->address ? next - symbol->address : 0;
		}
	}
	if (status != TALLY_OK) {
		probe_symbols_free(symbols);
		return status;
	}
	*out = symbols;
	return TALLY_OK;
}

enum tally_status probe_kallsyms_read(
	struct tally_str module, struct arena *arena, struct probe_symbols **symbols, struct tally_error *err)
{
	char *text;
	size_t len;
	enum tally_status status = kernel_list_read(PROBE_KALLSYMS, &text, &len, err);
	if (status != TALLY_OK)
		return status;
	status = probe_kallsyms_parse((struct tally_str){text, len}, module, arena, symbols, err);
	free(text);
	return status;
}
