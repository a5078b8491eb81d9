/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/listing/annotate_names.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/symbol_name.h"
#include "base/text.h"

#define NAMES_TOLD 5

bool annotate_names_is(const char *symbol, const char *wanted)
{
	/* strstr rejects most names quickly, because the name without return type and parameters is a part of the
	 * symbol. */
	return symbol && strstr(symbol, wanted) &&
	       (!strcmp(symbol, wanted) || str_equal(symbol_name_plain(str_from(symbol)), str_from(wanted)));
}

/* Returns whether the character belongs to an operator name such as "operator<", "operator<<" or "operator->", not to
 * template arguments. */
static bool is_of_operator(struct tally_str name, size_t at)
{
	static const char word[] = "operator";
	size_t len = sizeof(word) - 1;
	while (at > 0 && strchr("<>-=", name.data[at - 1]))
		at--;
	return at >= len && memcmp(name.data + at - len, word, len) == 0;
}

static void append_without_arguments(struct text *t, struct tally_str name)
{
	size_t depth = 0;
	for (size_t i = 0; i < name.len; i++) {
		char c = name.data[i];
		bool is_bracket = (c == '<' || c == '>') && !is_of_operator(name, i);
		if (is_bracket && c == '>' && depth > 0)
			depth--;
		else if (is_bracket && c == '<')
			depth++;
		else if (depth == 0)
			text_char(t, c);
	}
}

/* Returns whether name equals wanted, or ends with it after a scope such as "ns::", "package." or "Class;". */
static bool ends_in_scope_with(struct tally_str name, struct tally_str wanted)
{
	if (wanted.len == 0 || !str_ends_with(name, wanted))
		return false;
	size_t before = name.len - wanted.len;
	return before == 0 || strchr(":.;/", name.data[before - 1]) != NULL;
}

bool annotate_names_is_part(const char *symbol, const char *wanted)
{
	struct tally_str plain = symbol_name_plain(str_from(symbol)), asked = symbol_name_plain(str_from(wanted));
	if (ends_in_scope_with(plain, asked) || ends_in_scope_with(str_from(symbol), str_from(wanted)))
		return true;
	struct text bare = {0};
	append_without_arguments(&bare, plain);
	bool is_part =
		!bare.failed && bare.len > 0 && ends_in_scope_with((struct tally_str){bare.data, bare.len}, asked);
	text_deinit(&bare);
	return is_part;
}

bool annotate_names_see(struct annotate_names *names, const char *symbol, uint64_t samples)
{
	bool is_new;
	uint64_t *at = map_u64_at(&names->by_symbol, (uint64_t)(uintptr_t)symbol, &is_new);
	if (!at || (is_new && !vec_push(&names->items, ((struct annotate_name){.symbol = symbol}))))
		return false;
	if (is_new)
		*at = names->items.len - 1;
	names->items.items[*at].samples += samples;
	return true;
}

static int by_samples(const void *left, const void *right)
{
	const struct annotate_name *a = left, *b = right;
	if (a->samples != b->samples)
		return a->samples > b->samples ? -1 : 1;
	return strcmp(a->symbol, b->symbol);
}

static int by_distance(const void *left, const void *right)
{
	const struct annotate_name *a = left, *b = right;
	return a->distance != b->distance ? (a->distance < b->distance ? -1 : 1) : by_samples(left, right);
}

/* Returns the edit distance between the wanted name and the symbol's name without scope and arguments; 0 if the symbol
 * contains the wanted name. */
static unsigned distance_of(const char *symbol, const char *wanted)
{
	struct text bare = {0};
	append_without_arguments(&bare, symbol_name_plain(str_from(symbol)));
	struct tally_str name = {bare.data ? bare.data : "", bare.len};
	for (size_t i = 0; i + 2 < name.len; i++)
		if (name.data[i] == ':' && name.data[i + 1] == ':') {
			name = (struct tally_str){name.data + i + 2, name.len - i - 2};
			i = (size_t)-1;
		}
	unsigned distance = strcasestr(symbol, wanted) ? 0 : text_distance(name, str_from(wanted));
	text_deinit(&bare);
	return distance;
}

/* Appends up to NAMES_TOLD of the first `count` names, and how many more there are. */
static void annotate_names_list(const struct annotate_names *names, size_t count, struct text *t)
{
	for (size_t i = 0; i < count && i < NAMES_TOLD; i++)
		text_printf(t, "%s'%s' (%" PRIu64 " samples)", i ? ", " : "", names->items.items[i].symbol,
			names->items.items[i].samples);
	if (count > NAMES_TOLD)
		text_printf(t, " and %zu more", count - NAMES_TOLD);
	text_char(t, '\0');
}

static enum tally_status tell_candidates(
	struct annotate_names *names, size_t count, const char *wanted, struct tally_error *err)
{
	struct text list = {0};
	qsort(names->items.items, count, sizeof(*names->items.items), by_samples);
	annotate_names_list(names, count, &list);
	enum tally_status status =
		list.failed ? error_nomem(err)
			    : error_set(err, TALLY_INVALID, "'%s' matches several symbols: %s; name one of them",
				      wanted, list.data);
	text_deinit(&list);
	return status;
}

static enum tally_status tell_nearest(struct annotate_names *names, const char *wanted, struct tally_error *err)
{
	size_t near = 0;
	struct text list = {0};
	for (size_t i = 0; i < names->items.len; i++)
		names->items.items[i].distance = distance_of(names->items.items[i].symbol, wanted);
	qsort(names->items.items, names->items.len, sizeof(*names->items.items), by_distance);
	while (near < names->items.len && near < NAMES_TOLD &&
		names->items.items[near].distance <= 1 + strlen(wanted) / 3)
		near++;
	bool is_near = near > 0;
	if (!is_near) { /* The functions with the most samples are suggested instead. */
		qsort(names->items.items, names->items.len, sizeof(*names->items.items), by_samples);
		near = MIN(names->items.len, NAMES_TOLD);
	}
	annotate_names_list(names, near, &list);
	enum tally_status status =
		list.failed ? error_nomem(err)
			    : error_set(err, TALLY_NOT_FOUND, "no samples fell on a function '%s'; %s: %s", wanted,
				      is_near ? "the nearest names" : "the functions with the most samples", list.data);
	text_deinit(&list);
	return status;
}

enum tally_status annotate_names_choose(
	struct annotate_names *names, const char *wanted, const char **chosen, struct tally_error *err)
{
	size_t count = 0;
	*chosen = wanted;
	for (size_t i = 0; i < names->items.len; i++)
		if (annotate_names_is(names->items.items[i].symbol, wanted))
			return TALLY_OK;
	for (size_t i = 0; i < names->items.len; i++) {
		struct annotate_name *name = &names->items.items[i], part = *name;
		if (!annotate_names_is_part(name->symbol, wanted))
			continue;
		*name = names->items.items[count];
		names->items.items[count++] = part;
	}
	if (names->items.len == 0)
		return TALLY_OK;
	if (count != 1)
		return count > 1 ? tell_candidates(names, count, wanted, err) : tell_nearest(names, wanted, err);
	*chosen = names->items.items[0].symbol;
	return TALLY_OK;
}

void annotate_names_deinit(struct annotate_names *names)
{
	vec_free(&names->items);
	map_u64_deinit(&names->by_symbol);
}
