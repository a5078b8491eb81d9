/* SPDX-License-Identifier: Apache-2.0 */
#include "code/probing/probe_nearest.h"

#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "code/demangle/demangle.h"
#include "code/probing/probe_functions.h"

/* Returns the demangled name without its parameters; empty if the name is not mangled or contains blanks. */
static struct tally_str probe_nearest_readable(const char *name, struct arena *arena)
{
	const struct tally_str whole = str_from(probe_symbol_is_mangled(name) ? demangle(arena, name) : "");
	size_t bars, len = whole.len > 0 ? demangle_length(name, &bars) : 0;
	len = MIN(len, whole.len);
	return (struct tally_str){whole.data, len > 0 && memchr(whole.data, ' ', len) ? 0 : len};
}

static bool probe_nearest_leave_scope(struct tally_str *name)
{
	const char *colons = memmem(name->data, name->len, "::", 2);
	if (!colons)
		return false;
	*name = (struct tally_str){colons + 2, name->len - (size_t)(colons + 2 - name->data)};
	return true;
}

static size_t probe_nearest_scopes(struct tally_str name)
{
	size_t count = 0;
	while (probe_nearest_leave_scope(&name))
		count++;
	return count;
}

/* Returns the end of a name with at most this many scopes, such as "Circle::area" of "shapes::Circle::area" for 1. */
static struct tally_str probe_nearest_end(struct tally_str name, size_t scopes)
{
	for (size_t all = probe_nearest_scopes(name); all > scopes; all--)
		(void)probe_nearest_leave_scope(&name);
	return name;
}

/* Returns whether the name is closer to the wanted one than the nearest so far. *least is the maximum distance, then
 * that of the nearest name. */
static bool probe_nearest_is_nearer(struct tally_str name, struct tally_str wanted, bool has_nearest, unsigned *least)
{
	size_t difference = name.len > wanted.len ? name.len - wanted.len : wanted.len - name.len;
	if (name.len == 0 || difference > *least)
		return false;
	unsigned distance = text_distance(wanted, name);
	if (distance == 0 || distance > *least || (distance == *least && has_nearest))
		return false;
	*least = distance;
	return true;
}

const char *probe_nearest_symbol(const struct probe_symbols *symbols, struct tally_str name, struct arena *arena)
{
	const char *nearest = NULL;
	unsigned least = (unsigned)(name.len / 3 + 1);
	size_t scopes = probe_nearest_scopes(name);
	for (size_t i = 0; i < symbols->by_name.len; i++) {
		const struct probe_symbol *symbol = &symbols->items.items[symbols->by_name.items[i]];
		if (!symbol->is_code)
			continue;
		if (probe_nearest_is_nearer(str_from(symbol->name), name, nearest, &least)) {
			nearest = symbol->name;
			continue;
		}
		const struct tally_str readable = probe_nearest_readable(symbol->name, arena);
		if (probe_nearest_is_nearer(probe_nearest_end(readable, scopes), name, nearest, &least))
			nearest = arena_string(arena, readable.data, readable.len);
	}
	return nearest;
}

const char *probe_nearest_function(struct probe_binary *binary, struct tally_str wanted, struct arena *arena)
{
	const struct probe_symbols *symbols;
	const struct probe_functions *functions = binary->functions;
	const char *nearest = NULL;
	unsigned least = (unsigned)(wanted.len / 3 + 1);
	if (probe_binary_symbols(binary, &symbols, NULL) == TALLY_OK)
		nearest = probe_nearest_symbol(symbols, wanted, arena);
	size_t count = !nearest && functions ? functions->roots.len : 0;
	for (size_t i = 0; i < count; i++) {
		const struct tally_str name = probe_root_name(&functions->roots.items[i]);
		if (name.data && probe_nearest_is_nearer(name, wanted, nearest, &least))
			nearest = arena_string(arena, name.data, name.len);
	}
	return nearest;
}
