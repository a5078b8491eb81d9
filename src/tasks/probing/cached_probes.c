/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/probing/cached_probes.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "base/intern.h"
#include "object/elf/sdt_notes.h"

#define CACHED_PROBES_SDT "sdt_" /* Prefix of the provider's name in the group name of the kernel's events. */

struct cached_probes_scan { /* State while the notes of one program are read. */
	struct elf_image *image;
	const char *path;
	struct intern symbols; /* Empty until the first note refers to a symbol. */
	VEC(uint64_t) addresses; /* Addresses of the symbols, indexed by ID in symbols. */
	bool has_symbols;
	struct sdt_arguments_left *left;
	const struct cached_probe_query *query; /* Selects probes; NULL selects all. */
};

/* Reads the symbols of the program. If several have the same name, the first one is used. */
static void cached_probes_read_symbols(struct cached_probes_scan *scan)
{
	struct elf_symbol_list list = {0};
	bool ok = elf_image_symbols(scan->image, &list, NULL) == TALLY_OK;
	for (size_t i = 0; i < list.symbols.len && ok; i++) {
		const struct elf_symbol *symbol = &list.symbols.items[i];
		uint32_t id;
		ok = intern_add(&scan->symbols, symbol->name, strlen(symbol->name), &id) &&
		     (id < scan->addresses.len || vec_push(&scan->addresses, symbol->vaddr));
	}
	vec_free(&list.symbols);
	scan->has_symbols = true;
}

static bool cached_probes_symbol(void *context, struct tally_str name, uint64_t *address)
{
	struct cached_probes_scan *scan = context;
	if (!scan->has_symbols)
		cached_probes_read_symbols(scan);
	uint32_t id = intern_find(&scan->symbols, name.data, name.len);
	if (id >= scan->addresses.len)
		return false;
	*address = scan->addresses.items[id];
	return true;
}

/* Prints a name with "_" in place of other characters than letters and digits: the kernel requires C identifiers, but
 * names in notes may contain any character. */
static void cached_probes_print_name(struct text *out, const char *name)
{
	for (; *name; name++)
		text_char(out, isalnum((unsigned char)*name) ? *name : '_');
}

static void cached_probes_print_note(struct cached_probes_scan *scan, const struct sdt_note *note, struct text *out)
{
	struct sdt_arguments_place place = {
		.arch = arch_find_elf((uint16_t)elf_image_machine(scan->image), elf_image_pointer_bytes(scan->image)),
		.address = note->address,
		.offset = note->offset,
		.find_symbol = cached_probes_symbol,
		.context = scan};
	struct sdt_arguments_left left;
	text_str(out, "p:" CACHED_PROBES_SDT);
	cached_probes_print_name(out, note->provider);
	text_char(out, '/');
	cached_probes_print_name(out, note->name);
	text_printf(out, " %s:0x%llx", scan->path, (unsigned long long)note->offset);
	if (note->semaphore)
		text_printf(out, "(0x%llx)", (unsigned long long)note->semaphore);
	sdt_arguments_write(&place, note->arguments, out, &left);
	text_char(out, '\n');
	if (scan->left->count == 0)
		*scan->left = left;
	else
		scan->left->count += left.count;
}

static bool cached_probes_matches(
	const struct cached_probe_query *query, struct tally_str group, struct tally_str event)
{
	return (query->group.len == 0 || str_glob(query->group, group)) && str_glob(query->event, event);
}

/* Returns whether the query selects the probe of a note. key is like "sdt_tw:turn=turn". */
static bool cached_probes_wants_note(const struct cached_probes_scan *scan, const struct text *key)
{
	struct tally_str rest = text_view(key), group, event;
	return !scan->query || (str_next(&rest, ':', &group) && str_next(&rest, '=', &event) &&
				       cached_probes_matches(scan->query, group, event));
}

/* Adds one entry for each probe name, in the order of the notes; an entry has one line for each location of the
 * probe. */
static enum tally_status cached_probes_put_notes(struct cached_probes_scan *scan, const struct sdt_note_list *notes,
	struct probe_cache *file, struct tally_error *err)
{
	struct intern names;
	struct text key = {0}, *lines = calloc(notes->notes.len + 1, sizeof(*lines));
	enum tally_status status = lines ? TALLY_OK : error_nomem(err);
	intern_init(&names);
	for (size_t i = 0; i < notes->notes.len && status == TALLY_OK; i++) {
		const struct sdt_note *note = &notes->notes.items[i];
		uint32_t id;
		text_clear(&key);
		text_str(&key, CACHED_PROBES_SDT);
		cached_probes_print_name(&key, note->provider);
		text_char(&key, ':');
		cached_probes_print_name(&key, note->name);
		text_char(&key, '=');
		text_utf8(&key, str_from(note->name));
		if (!key.failed && !cached_probes_wants_note(scan, &key))
			continue;
		if (key.failed || !intern_add(&names, key.data, key.len, &id))
			status = error_nomem(err);
		else
			cached_probes_print_note(scan, note, &lines[id]);
	}
	for (uint32_t id = 0; id < names.len && status == TALLY_OK; id++)
		status = lines[id].failed
				 ? error_nomem(err)
				 : probe_cache_put(file, true, intern_get(&names, id), text_view(&lines[id]), err);
	for (size_t i = 0; lines && i < notes->notes.len; i++)
		text_deinit(&lines[i]);
	free(lines);
	intern_deinit(&names);
	text_deinit(&key);
	return status;
}

/* Replaces the entries for notes in file by those of the program that match the query. */
static enum tally_status cached_probes_scan_notes(struct elf_image *image, const char *path,
	const struct cached_probe_query *query, struct probe_cache *file, struct sdt_arguments_left *left,
	struct tally_error *err)
{
	struct sdt_note_list notes;
	struct cached_probes_scan scan = {.image = image, .path = path, .left = left, .query = query};
	if (sdt_notes_are_there(image) && path[strcspn(path, " \t\n")] != '\0')
		return error_set(err, TALLY_INVALID,
			"the kernel cannot probe '%s', because there is a blank in its path; a link without one helps",
			path);
	enum tally_status status = sdt_notes_read(image, &notes, err);
	if (status != TALLY_OK)
		return status;
	probe_cache_drop_notes(file);
	intern_init(&scan.symbols);
	status = cached_probes_put_notes(&scan, &notes, file, err);
	intern_deinit(&scan.symbols);
	vec_free(&scan.addresses);
	sdt_notes_deinit(&notes);
	return status;
}

static enum tally_status cached_probes_push(struct cached_probe_list *list, const struct probe_cache_entry *entry,
	const char *path, const struct elf_build_id *id, struct tally_error *err)
{
	struct tally_str rest = entry->lines, line;
	struct arena *arena = &list->arena;
	struct cached_probe probe = {.path = path, .id = *id, .is_sdt = entry->is_sdt};
	probe.text = (struct tally_str){arena_string(arena, entry->text.data, entry->text.len), entry->text.len};
	while (str_next(&rest, '\n', &line)) {
		if (line.len == 0)
			continue;
		probe.line = (struct tally_str){arena_string(arena, line.data, line.len), line.len};
		if (!probe.text.data || !probe.line.data)
			return error_nomem(err);
		if (probe_cache_line_names(probe.line, &probe.group, &probe.event) && !vec_push(&list->probes, probe))
			return error_nomem(err);
	}
	return TALLY_OK;
}

static enum tally_status cached_probes_take(const struct cached_probe_query *query, const struct probe_cache *file,
	const char *path, const struct elf_build_id *id, struct cached_probe_list *list, struct tally_error *err)
{
	enum tally_status status = TALLY_OK;
	for (size_t i = 0; i < file->entries.len && status == TALLY_OK; i++)
		if (cached_probes_matches(query, file->entries.items[i].group, file->entries.items[i].event))
			status = cached_probes_push(list, &file->entries.items[i], path, id, err);
	return status;
}

/* Finds probes of the program that the caller has named: those in the cache, and those of its current notes. */
static enum tally_status cached_probes_of_path(
	const struct cached_probe_query *query, struct cached_probe_list *list, struct tally_error *err)
{
	struct elf_image *image;
	struct probe_cache file;
	char *real = realpath(query->path, NULL);
	const char *path = arena_string(&list->arena, real ? real : query->path, strlen(real ? real : query->path));
	free(real);
	if (!path)
		return error_nomem(err);
	enum tally_status status = elf_image_open(path, &image, err);
	if (status != TALLY_OK)
		return status;
	struct elf_build_id id = elf_image_build_id(image);
	if (query->cache && id.size > 0)
		status = probe_cache_read(query->cache, &id, &file, err);
	else
		status = probe_cache_parse(STR(""), &file, err);
	if (status == TALLY_OK) {
		status = cached_probes_scan_notes(image, path, query, &file, &list->left, err);
		if (status == TALLY_OK)
			status = cached_probes_take(query, &file, path, &id, list, err);
		probe_cache_deinit(&file);
	}
	elf_image_close(image);
	return status;
}

static bool cached_probes_is_same(const struct build_id_cache_entry *entry, const char *path)
{
	struct elf_build_id id;
	return elf_file_build_id(path, &id, NULL) == TALLY_OK && id.size == entry->id.size &&
	       memcmp(id.bytes, entry->id.bytes, id.size) == 0;
}

/* Returns whether a line is about the program of its entry. Lines of the running kernel ("[kernel.kallsyms]") name no
 * file. */
static bool cached_probes_is_own(const struct cached_probe *probe, const char *path)
{
	struct tally_str rest = probe->line, head;
	if (path[0] == '[')
		return true;
	return str_next(&rest, ' ', &head) && str_starts_with(rest, str_from(path)) && rest.data[strlen(path)] == ':';
}

static enum tally_status cached_probes_of_entry(const struct cached_probe_query *query,
	const struct build_id_cache_entry *entry, struct cached_probe_list *list, struct tally_error *err)
{
	struct probe_cache file;
	size_t before = list->probes.len, kept = before;
	const char *path = arena_string(&list->arena, entry->name.data, entry->name.len);
	if (!path)
		return error_nomem(err);
	if (probe_cache_read(query->cache, &entry->id, &file, err) != TALLY_OK)
		/* An entry that cannot be read or is not trusted is skipped. */
		return err && err->status == TALLY_NOMEM ? TALLY_NOMEM : TALLY_OK;
	enum tally_status status = cached_probes_take(query, &file, path, &entry->id, list, err);
	probe_cache_deinit(&file);
	if (status != TALLY_OK || list->probes.len == before)
		return status;
	if (!query->has_stale && path[0] != '[' && !cached_probes_is_same(entry, path)) {
		list->stale++;
		list->stale_path = list->stale_path ? list->stale_path : path;
		list->probes.len = before;
		return TALLY_OK;
	}
	for (size_t i = before; i < list->probes.len; i++)
		if (cached_probes_is_own(&list->probes.items[i], path))
			list->probes.items[kept++] = list->probes.items[i];
	list->probes.len = kept;
	return TALLY_OK;
}

static enum tally_status cached_probes_of_all(
	const struct cached_probe_query *query, struct cached_probe_list *list, struct tally_error *err)
{
	struct build_id_cache_list entries;
	enum tally_status status = build_id_cache_read(query->cache, &entries, err);
	if (status != TALLY_OK)
		return status;
	for (size_t i = 0; i < entries.entries.len && status == TALLY_OK; i++)
		status = cached_probes_of_entry(query, &entries.entries.items[i], list, err);
	build_id_cache_list_deinit(&entries);
	return status;
}

static enum tally_status cached_probes_missing(
	const struct cached_probe_query *query, const struct cached_probe_list *list, struct tally_error *err)
{
	struct tally_str group = query->group, event = query->event;
	const char *colon = group.len > 0 ? ":" : "";
	if (query->path)
		return error_set(err, TALLY_NOT_FOUND,
			"%s has no probe '%.*s%s%.*s' in its SDT notes, nor in the probe cache", query->path,
			(int)group.len, group.data, colon, (int)event.len, event.data);
	if (list->stale > 0)
		return error_set(err, TALLY_NOT_FOUND,
			"the probe cache knows '%.*s%s%.*s' only of programs that have changed since, as %s: add them "
			"again with 'buildid-cache --add FILE'",
			(int)group.len, group.data, colon, (int)event.len, event.data, list->stale_path);
	return error_set(err, TALLY_NOT_FOUND,
		"no program in the probe cache has '%.*s%s%.*s': name the program with -x FILE, or add it with "
		"'buildid-cache --add FILE'",
		(int)group.len, group.data, colon, (int)event.len, event.data);
}

enum tally_status cached_probes_find(
	const struct cached_probe_query *query, struct cached_probe_list *list, struct tally_error *err)
{
	enum tally_status status = TALLY_OK;
	*list = (struct cached_probe_list){0};
	arena_init(&list->arena);
	if (query->path)
		status = cached_probes_of_path(query, list, err);
	else if (query->cache)
		status = cached_probes_of_all(query, list, err);
	if (status == TALLY_OK && list->probes.len == 0)
		status = cached_probes_missing(query, list, err);
	if (status != TALLY_OK)
		cached_probe_list_deinit(list);
	return status;
}

void cached_probe_list_deinit(struct cached_probe_list *list)
{
	vec_free(&list->probes);
	arena_deinit(&list->arena);
}

static enum tally_status cached_probes_store_notes(const struct build_id_cache *cache, struct elf_image *image,
	struct tally_str name, const struct elf_build_id *id, struct tally_error *err)
{
	struct probe_cache file;
	struct sdt_arguments_left left = {0};
	char path[PATH_MAX];
	enum tally_status status = probe_cache_read(cache, id, &file, err);
	if (status != TALLY_OK)
		return status;
	snprintf(path, sizeof(path), "%.*s", (int)name.len, name.data);
	status = cached_probes_scan_notes(image, path, NULL, &file, &left, err);
	if (status == TALLY_OK)
		status = probe_cache_write(cache, name, id, &file, err);
	probe_cache_deinit(&file);
	return status;
}

enum tally_status cached_probes_add_notes(const struct build_id_cache *cache, struct tally_str name,
	const struct elf_build_id *id, struct tally_error *err)
{
	struct elf_image *image;
	int fd = -1;
	enum tally_status status = build_id_cache_open(cache, id, "elf", &fd, err);
	if (status != TALLY_OK)
		return status;
	status = elf_image_open_fd(fd, "elf", &image, err);
	close(fd);
	if (status != TALLY_OK)
		return status;
	if (sdt_notes_are_there(image))
		status = cached_probes_store_notes(cache, image, name, id, err);
	elf_image_close(image);
	return status;
}

enum tally_status cached_probes_add(const struct build_id_cache *cache, const char *path, struct tally_str text,
	struct tally_str lines, struct tally_error *err)
{
	struct elf_build_id id;
	struct probe_cache file;
	enum tally_status status = elf_file_build_id(path, &id, err);
	if (status == TALLY_OK && !build_id_cache_has(cache, &id)) {
		status = build_id_cache_add(cache, str_from(path), &id, path, err);
		if (status == TALLY_OK)
			status = cached_probes_add_notes(cache, str_from(path), &id, err);
	}
	if (status == TALLY_OK)
		status = probe_cache_read(cache, &id, &file, err);
	if (status != TALLY_OK)
		return status;
	status = probe_cache_put(&file, false, text, lines, err);
	if (status == TALLY_OK)
		status = probe_cache_write(cache, str_from(path), &id, &file, err);
	probe_cache_deinit(&file);
	return status;
}

bool cached_probes_begins_entry(const struct cached_probe_list *list, size_t index)
{
	if (index == 0)
		return true;
	const struct cached_probe *a = &list->probes.items[index - 1], *b = &list->probes.items[index];
	return a->is_sdt != b->is_sdt || !str_equal(a->text, b->text) || a->id.size != b->id.size ||
	       memcmp(a->id.bytes, b->id.bytes, a->id.size) != 0;
}

static enum tally_status cached_probes_remove_one(
	const struct build_id_cache *cache, const struct cached_probe *probe, struct tally_error *err)
{
	struct probe_cache file;
	enum tally_status status = probe_cache_read(cache, &probe->id, &file, err);
	if (status != TALLY_OK)
		return status;
	for (size_t i = file.entries.len; i-- > 0;)
		if (file.entries.items[i].is_sdt == probe->is_sdt && str_equal(file.entries.items[i].text, probe->text))
			probe_cache_drop(&file, i);
	status = probe_cache_write(cache, str_from(probe->path), &probe->id, &file, err);
	probe_cache_deinit(&file);
	return status;
}

enum tally_status cached_probes_remove(
	const struct build_id_cache *cache, const struct cached_probe_list *found, struct tally_error *err)
{
	enum tally_status status = TALLY_OK;
	for (size_t i = 0; i < found->probes.len && status == TALLY_OK; i++)
		if (cached_probes_begins_entry(found, i))
			status = cached_probes_remove_one(cache, &found->probes.items[i], err);
	return status;
}

void cached_probes_print(const struct cached_probe_list *list, struct text *out)
{
	const struct cached_probe *items = list->probes.items;
	for (size_t i = 0; i < list->probes.len; i++) {
		const struct cached_probe *probe = &items[i];
		bool is_same = i > 0 && strcmp(probe->path, items[i - 1].path) == 0 &&
			       memcmp(probe->id.bytes, items[i - 1].id.bytes, sizeof(probe->id.bytes)) == 0;
		if (!is_same) {
			text_visible(out, str_from(probe->path));
			text_str(out, " (");
			for (size_t k = 0; k < probe->id.size; k++)
				text_hex(out, probe->id.bytes[k], 2);
			text_str(out, "):\n");
		}
		if (!cached_probes_begins_entry(list, i))
			continue;
		text_visible(out, probe->text);
		text_char(out, '\n');
	}
}
