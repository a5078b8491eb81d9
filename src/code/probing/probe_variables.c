/* SPDX-License-Identifier: Apache-2.0 */
#include "code/probing/probe_variables.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/order.h"
#include "code/probing/probe_binary.h"
#include "code/probing/probe_variables_internal.h"
#include "object/dwarf/dwarf_file.h"
#include "object/dwarf/dwarf_numbers.h"

#define PROBE_ARGUMENT_NAME_MAX 31 /* Maximum length of an argument's name in the kernel. */
#define PROBE_SUFFIX_MAX	100 /* Maximum number of arguments with the same name. */
#define PROBE_SYMBOLS_SEARCHED	64 /* Maximum number of symbols to search, from an address downwards. */

enum tally_status probe_scene_open(struct probe_scene *scene, struct probe_binary *binary,
	const struct probe_place *place, struct probe_fetches *fetches, struct tally_error *err)
{
	const struct probe_scope *at = &place->scope;
	*scene = (struct probe_scene){.reader = {.binary = binary, .fetches = fetches}};
	enum tally_status status = probe_variables_cache_make(binary, err);
	if (status != TALLY_OK)
		return status;
	scene->reader.types = &binary->variables->types;
	scene->reader.locator = (struct probe_locator){.binary = binary,
		.place = place,
		.lists = at->packaged	   ? at->packaged
			 : at->split_image ? &scene->lists
					   : &binary->variables->lists,
		.frame_base = &scene->scope.frame_base,
		.address = place->address - binary->moved,
		.arena = &fetches->arena};
	if (!at->file)
		return TALLY_OK;
	scene->reader.has_dots = at->unit->language == DW_LANG_Rust;
	if (at->split_image && !at->packaged)
		status = dwarf_location_lists_open(&scene->lists, at->split_image, true, err);
	const struct dwarf_function_place function = {at->file, at->unit, at->function};
	if (status == TALLY_OK)
		status = dwarf_scope_read(&scene->scope, &scene->reader.types->reader, &function, at->inlined,
			scene->reader.locator.address, err);
	scene->reader.locator.function_entry = scene->scope.entry;
	if (status != TALLY_OK)
		probe_scene_close(scene);
	return status;
}

void probe_scene_close(struct probe_scene *scene)
{
	dwarf_scope_deinit(&scene->scope);
	dwarf_scope_deinit(&scene->outer);
	dwarf_location_lists_close(&scene->lists);
}

enum tally_status probe_scene_read_globals(struct probe_scene *scene, struct tally_error *err)
{
	const struct probe_scope *at = &scene->reader.locator.place->scope;
	if (scene->globals || !at->file)
		return TALLY_OK;
	return probe_variables_cache_globals(scene->reader.binary->variables, at->file, at->unit, &scene->globals, err);
}

/* Returns 0 if the symbol is the name with a version, -1 if it only begins with the name, and otherwise 1. */
static int probe_is_versioned(const char *symbol, struct tally_str name)
{
	if (strncmp(symbol, name.data, name.len) != 0)
		return 1;
	return symbol[name.len] == '@' ? 0 : -1;
}

static bool probe_read_symbols(struct probe_reader *reader)
{
	if (!reader->symbols && probe_binary_symbols(reader->binary, &reader->symbols, NULL) != TALLY_OK) {
		reader->symbols = NULL;
		reader->types->out_of_memory = true;
	}
	return reader->symbols != NULL;
}

/* A name also matches a symbol with a version: "stdout" matches "stdout@GLIBC_2.2.5". */
bool probe_symbol_find(struct probe_reader *reader, struct tally_str name, uint64_t *address)
{
	if (!probe_read_symbols(reader))
		return false;
	const struct probe_symbols *symbols = reader->symbols;
	size_t at = probe_symbols_find(symbols, name);
	if (at == SIZE_MAX) {
		LOWER_BOUND(at, symbols->by_name.len, i,
			strncmp(symbols->items.items[symbols->by_name.items[i]].name, name.data, name.len) < 0);
		while (at < symbols->by_name.len &&
			probe_is_versioned(symbols->items.items[symbols->by_name.items[at]].name, name) < 0)
			at++;
	}
	const struct probe_symbol *symbol =
		at < symbols->by_name.len ? &symbols->items.items[symbols->by_name.items[at]] : NULL;
	if (!symbol || symbol->address == 0 ||
		(strlen(symbol->name) != name.len && probe_is_versioned(symbol->name, name) != 0))
		return false;
	*address = symbol->address;
	return true;
}

const struct probe_symbol *probe_symbol_around(struct probe_reader *reader, uint64_t address)
{
	if (!probe_read_symbols(reader))
		return NULL;
	const struct probe_symbols *symbols = reader->symbols;
	const struct probe_symbol *label = NULL;
	size_t end;
	LOWER_BOUND(end, symbols->items.len, i, symbols->items.items[i].address <= address);
	for (size_t i = end; i-- > 0 && end - i <= PROBE_SYMBOLS_SEARCHED;) {
		const struct probe_symbol *symbol = &symbols->items.items[i];
		if (symbol->size && address - symbol->address < symbol->size)
			return symbol;
		if (symbol->address == address)
			label = symbol;
	}
	return label;
}

/* Reads the scope of the function around inlined code, because the code can also use that function's variables. */
static enum tally_status probe_scene_read_outer(struct probe_scene *scene, struct tally_error *err)
{
	const struct probe_scope *at = &scene->reader.locator.place->scope;
	const struct dwarf_function_place function = {at->file, at->unit, at->function};
	if (!at->inlined || scene->has_outer)
		return TALLY_OK;
	scene->has_outer = true;
	return dwarf_scope_read(
		&scene->outer, &scene->reader.types->reader, &function, 0, scene->reader.locator.address, err);
}

static const struct dwarf_scope_variable *probe_last_named(const struct dwarf_scope *scope, struct tally_str name)
{
	for (size_t i = scope->items.len; i-- > 0;)
		if (str_equal(scope->items.items[i].name, name))
			return &scope->items.items[i];
	return NULL;
}

/* Finds a variable that its unit only declares, by its symbol or by its definition in another unit. */
static const struct dwarf_scope_variable *probe_find_definition(
	struct probe_scene *scene, const struct dwarf_scope_variable *declared)
{
	struct probe_reader *reader = &scene->reader;
	const struct dwarf_file *file = debug_info_file(reader->locator.binary->info);
	struct tally_str name = declared->name;
	uint64_t address;
	if (probe_symbol_find(reader, name, &address)) {
		address -= reader->locator.binary->moved;
		scene->found = *declared;
		scene->found.is_declared_only = false;
		scene->found.has_address = true;
		scene->found.address = address;
		return &scene->found;
	}
	if (file->sections[DWARF_INFO].len > LIMIT_SEARCHED_DEBUG_INFO)
		return declared;
	for (size_t i = 0; i < file->units.len; i++) {
		struct dwarf_scope other = {.entry = 0};
		if (dwarf_scope_add_unit(&other, &reader->types->reader, file, &file->units.items[i], NULL) != TALLY_OK)
			reader->types->out_of_memory = true;
		const struct dwarf_scope_variable *found = probe_last_named(&other, name);
		bool is_defined = found && !found->is_declared_only && found->location.kind != DWARF_LOCATION_NONE;
		if (is_defined)
			scene->found = *found;
		dwarf_scope_deinit(&other);
		if (is_defined)
			return &scene->found;
	}
	return declared;
}

static enum tally_status probe_no_variable(struct probe_scene *scene, struct tally_str name, struct tally_error *err)
{
	const struct probe_place *place = scene->reader.locator.place;
	struct dwarf_reference function = {
		place->scope.file, place->scope.inlined ? place->scope.inlined : place->scope.function};
	VEC(const char *) names = {0};
	bool ok = true;
	if (dwarf_scope_is_declared(&scene->reader.types->reader, function, name))
		return error_set(err, TALLY_NOT_FOUND,
			"Failed to find the location of the '%.*s' variable at this address: it was optimised out, or "
			"its block does not have the address",
			(int)name.len, name.data);
	const struct dwarf_scope *both[] = {&scene->scope, scene->globals};
	for (size_t s = 0; s < 2; s++)
		for (size_t i = 0; both[s] && i < both[s]->items.len && ok; i++) {
			const struct dwarf_scope_variable *item = &both[s]->items.items[i];
			char *copy = arena_string(scene->reader.locator.arena, item->name.data, item->name.len);
			ok = copy && vec_push(&names, copy);
		}
	char *wanted = arena_string(scene->reader.locator.arena, name.data, name.len);
	size_t nearest = ok && wanted && names.len > 0 ? text_nearest(names.items, names.len, wanted) : SIZE_MAX;
	enum tally_status status = !ok || !wanted ? error_nomem(err)
						  : error_set(err, TALLY_NOT_FOUND,
							    "Failed to find the location of the '%s' variable at this "
							    "address: there is none of that name in %s%s%s%s",
							    wanted, place->function ? place->function : "its function",
							    nearest == SIZE_MAX ? "" : "; is '",
							    nearest == SIZE_MAX ? "" : names.items[nearest],
							    nearest == SIZE_MAX ? "" : "' meant?");
	vec_free(&names);
	return status;
}

static enum tally_status probe_find_variable(struct probe_scene *scene, struct tally_str name,
	const struct dwarf_scope_variable **variable, struct tally_error *err)
{
	const struct probe_place *place = scene->reader.locator.place;
	if (place->is_return)
		return error_set(err, TALLY_INVALID,
			"Semantic error: You can't specify local variable for kretprobe: '%.*s' is gone when the "
			"function has returned; $retval is its result",
			(int)name.len, name.data);
	if (!place->scope.file)
		return error_set(err, TALLY_NOT_FOUND,
			"Failed to find the location of the '%.*s' variable at this address: there is no debug "
			"information for it; build the program with -g",
			(int)name.len, name.data);
	*variable = probe_last_named(&scene->scope, name);
	enum tally_status status = *variable ? TALLY_OK : probe_scene_read_outer(scene, err);
	if (!*variable && status == TALLY_OK)
		*variable = probe_last_named(&scene->outer, name);
	if (*variable || status != TALLY_OK)
		return status;
	status = probe_scene_read_globals(scene, err);
	if (status != TALLY_OK)
		return status;
	*variable = scene->globals ? probe_last_named(scene->globals, name) : NULL;
	if (*variable && (*variable)->is_declared_only && (*variable)->location.kind == DWARF_LOCATION_NONE)
		*variable = probe_find_definition(scene, *variable);
	return *variable ? TALLY_OK : probe_no_variable(scene, name, err);
}

/* Returns a unique name that is an identifier, as the kernel requires; NULL if memory ran out. */
static const char *probe_fetch_name(struct probe_fetches *fetches, const char *wanted)
{
	char *name = arena_string(&fetches->arena, wanted, strlen(wanted));
	if (!name)
		return NULL;
	for (char *c = name; *c; c++)
		if (!isalnum((unsigned char)*c) && *c != '_')
			*c = '_';
	if (isdigit((unsigned char)name[0]))
		name = arena_printf(&fetches->arena, "_%s", name);
	if (name && strlen(name) > PROBE_ARGUMENT_NAME_MAX)
		name[PROBE_ARGUMENT_NAME_MAX] = 0;
	const char *unique = name;
	for (unsigned suffix = 1; unique && suffix < PROBE_SUFFIX_MAX; suffix++) {
		size_t i = 0;
		while (i < fetches->items.len &&
			(!fetches->items.items[i].name || strcmp(fetches->items.items[i].name, unique) != 0))
			i++;
		if (i == fetches->items.len)
			return unique;
		unique = arena_printf(&fetches->arena, "%.*s_%u", PROBE_ARGUMENT_NAME_MAX - 3, name, suffix);
	}
	return unique;
}

/* Returns the name that the user gave the argument, or else the one that perf chooses: the last member, "VARIABLE" or
 * "VARIABLE_TYPE". */
static const char *probe_argument_name(
	struct probe_fetches *fetches, const struct probe_argument *argument, const struct probe_value *value)
{
	struct arena *arena = &fetches->arena;
	if (argument->name.len > 0)
		return arena_string(arena, argument->name.data, argument->name.len);
	if (argument->field_count > 0 || argument->type.len == 0)
		return probe_fetch_name(fetches, value->name);
	const char *name = arena_printf(arena, "%s_%.*s", value->name, (int)argument->type.len, argument->type.data);
	return name ? probe_fetch_name(fetches, name) : NULL;
}

static enum tally_status probe_add_variable(
	struct probe_scene *scene, const struct probe_argument *argument, struct tally_error *err)
{
	struct probe_reader *reader = &scene->reader;
	const struct dwarf_scope_variable *variable = NULL;
	struct probe_fetch fetch = {.name = NULL};
	struct probe_value value;
	reader->is_user = argument->is_user && reader->locator.binary->kind != PROBE_PROGRAM;
	enum tally_status status = probe_find_variable(scene, argument->variable, &variable, err);
	if (status == TALLY_OK)
		status = probe_value_begin(reader, variable, &value, err);
	for (size_t i = 0; i < argument->field_count && status == TALLY_OK; i++)
		status = probe_value_step(reader, &value, &argument->fields[i], err);
	if (status == TALLY_OK)
		status = probe_value_print(reader, &value, argument->type, &fetch, err);
	if (status != TALLY_OK)
		return status;
	fetch.name = probe_argument_name(reader->fetches, argument, &value);
	if (!fetch.name || !vec_push(&reader->fetches->items, fetch))
		return error_nomem(err);
	return TALLY_OK;
}

/* Adds the variables that can be fetched, and a note for each of the others. */
static enum tally_status probe_add_all(
	struct probe_scene *scene, const struct probe_argument *argument, struct tally_error *err)
{
	struct probe_fetches *fetches = scene->reader.fetches;
	const struct dwarf_scope *scope = &scene->scope;
	bool is_parameters = argument->kind == PROBE_ARGUMENT_PARAMETERS;
	struct tally_error reason;
	if (!scene->reader.locator.place->scope.file || scene->reader.locator.place->is_return) {
		const struct dwarf_scope_variable *unused;
		return probe_find_variable(scene, argument->value, &unused, err);
	}
	for (size_t i = 0; i < scope->items.len; i++) {
		const struct dwarf_scope_variable *item = &scope->items.items[i];
		struct probe_argument one = {.variable = item->name, .type = argument->type};
		bool is_hidden = probe_last_named(scope, item->name) != item;
		if (is_hidden || (is_parameters && !item->is_parameter))
			continue;
		enum tally_status status = probe_add_variable(scene, &one, &reason);
		if (status == TALLY_NOMEM)
			return error_nomem(err);
		const char *why = strstr(reason.text, " variable at this address: ");
		why = why ? why + strlen(" variable at this address: ") : reason.text;
		const char *note = status == TALLY_OK ? NULL
						      : arena_printf(&fetches->arena, "%.*s leaves out '%.*s': %s",
								(int)argument->value.len, argument->value.data,
								(int)item->name.len, item->name.data, why);
		if (status != TALLY_OK && (!note || !vec_push(&fetches->notes, note)))
			return error_nomem(err);
	}
	return TALLY_OK;
}

static bool probe_is_symbol_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '$';
}

/* uprobes know no symbols, so "@counter+4" becomes an offset in the file. All other text remains unchanged. */
static enum tally_status probe_translate_symbols(
	struct probe_scene *scene, struct tally_str value, const char **out, struct tally_error *err)
{
	struct text text = {0};
	enum tally_status status = TALLY_OK;
	for (size_t i = 0; i < value.len && status == TALLY_OK;) {
		size_t end = i + 1;
		text_char(&text, value.data[i]);
		bool is_symbol = value.data[i] == '@' && end < value.len && !isdigit((unsigned char)value.data[end]) &&
				 probe_is_symbol_char(value.data[end]);
		while (is_symbol && end < value.len && probe_is_symbol_char(value.data[end]))
			end++;
		struct tally_str symbol = {value.data + i + 1, end - i - 1};
		uint64_t address = 0;
		i = end;
		if (!is_symbol)
			continue;
		if (!probe_symbol_find(&scene->reader, symbol, &address)) {
			status = error_set(err, TALLY_NOT_FOUND, "'%s' has no symbol '%.*s'",
				scene->reader.locator.binary->path, (int)symbol.len, symbol.data);
			continue;
		}
		char *number_end = NULL;
		char digits[32] = {0};
		size_t left = value.len - end < sizeof(digits) - 1 ? value.len - end : sizeof(digits) - 1;
		memcpy(digits, value.data + end, left);
		long long offset = digits[0] == '+' || digits[0] == '-' ? strtoll(digits, &number_end, 0) : 0;
		i += number_end ? (size_t)(number_end - digits) : 0;
		const char *distance = probe_file_distance(&scene->reader, address + (uint64_t)offset);
		text_str(&text, distance ? distance : "");
		text.failed |= !distance;
	}
	if (status == TALLY_OK) {
		*out = text.failed ? NULL : arena_string(scene->reader.locator.arena, text.data, text.len);
		status = *out ? TALLY_OK : error_nomem(err);
	}
	text_deinit(&text);
	return status;
}

/* Returns the type of the function's result; NULL if it is not known or there is none. */
static const struct dwarf_type *probe_result_type(struct probe_scene *scene)
{
	const struct probe_scope *at = &scene->reader.locator.place->scope;
	struct dwarf_reference type;
	bool is_known = at->file && !at->inlined &&
			dwarf_scope_result_type(&scene->reader.types->reader, at->file, at->unit, at->function, &type);
	return is_known ? dwarf_type_at(scene->reader.types, type) : NULL;
}

static enum tally_status probe_add_fetch(
	struct probe_scene *scene, const struct probe_argument *argument, struct tally_error *err)
{
	struct arena *arena = scene->reader.locator.arena;
	struct probe_fetch fetch = {.name = NULL};
	enum tally_status status = TALLY_OK;
	bool is_text = argument->value.len > 1 && argument->value.data[0] == '\\';
	struct probe_reader *reader = &scene->reader;
	reader->is_user = argument->is_user && reader->locator.binary->kind != PROBE_PROGRAM;
	if (reader->locator.place->is_return && str_equal(argument->value, STR("$retval")))
		status = probe_result_print(reader, probe_result_type(scene), argument->type, &fetch, err);
	else if (scene->reader.locator.binary->kind == PROBE_PROGRAM && !is_text)
		status = probe_translate_symbols(scene, argument->value, &fetch.text, err);
	else
		fetch.text = arena_string(arena, argument->value.data, argument->value.len);
	if (status != TALLY_OK)
		return status;
	if (argument->name.len > 0)
		fetch.name = arena_string(arena, argument->name.data, argument->name.len);
	if (argument->type.len > 0)
		fetch.type = arena_string(arena, argument->type.data, argument->type.len);
	bool ok = fetch.text && (fetch.name || argument->name.len == 0) && (fetch.type || argument->type.len == 0) &&
		  vec_push(&scene->reader.fetches->items, fetch);
	return ok ? TALLY_OK : error_nomem(err);
}

enum tally_status probe_variables_fetch(struct probe_binary *binary, const struct probe_place *place,
	const struct probe_argument *arguments, size_t count, struct probe_fetches *fetches, struct tally_error *err)
{
	struct probe_scene scene;
	if (count == 0)
		return TALLY_OK;
	enum tally_status status = probe_scene_open(&scene, binary, place, fetches, err);
	if (status != TALLY_OK)
		return status;
	for (size_t i = 0; i < count && status == TALLY_OK; i++) {
		switch (arguments[i].kind) {
		case PROBE_ARGUMENT_FETCH:
			status = probe_add_fetch(&scene, &arguments[i], err);
			break;
		case PROBE_ARGUMENT_VARIABLES:
		case PROBE_ARGUMENT_PARAMETERS:
			status = probe_add_all(&scene, &arguments[i], err);
			break;
		case PROBE_ARGUMENT_VARIABLE:
		default:
			status = probe_add_variable(&scene, &arguments[i], err);
			break;
		}
	}
	if (status == TALLY_OK && fetches->items.len > PROBE_ARGUMENTS_MAX)
		status = error_set(err, TALLY_LIMIT, "a probe has at most %d arguments; these are %zu",
			PROBE_ARGUMENTS_MAX, fetches->items.len);
	probe_scene_close(&scene);
	return status;
}
