/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/probing/probe_show.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define PROBE_SHOW_NAME_WIDTH 20

void probe_viewer_init(struct probe_viewer *viewer, const char *symfs, const char *vmlinux)
{
	*viewer = (struct probe_viewer){.symfs = symfs, .vmlinux = vmlinux};
}

void probe_viewer_deinit(struct probe_viewer *viewer)
{
	for (size_t i = 0; i < viewer->binaries.len; i++) {
		probe_binary_close(viewer->binaries.items[i].binary);
		free(viewer->binaries.items[i].path);
	}
	vec_free(&viewer->binaries);
}

/* Returns NULL if the binary cannot be opened. */
static struct probe_binary *probe_viewer_open(struct probe_viewer *viewer, bool is_user, struct tally_str file)
{
	for (size_t i = 0; i < viewer->binaries.len; i++)
		if (str_equal(str_from(viewer->binaries.items[i].path), file))
			return viewer->binaries.items[i].binary;
	struct probe_viewed viewed = {.path = strndup(file.len ? file.data : "", file.len)};
	if (!viewed.path || !vec_reserve(&viewer->binaries, viewer->binaries.len + 1)) {
		free(viewed.path);
		return NULL;
	}
	const struct probe_binary_options options = {.kind = is_user	    ? PROBE_PROGRAM
							     : file.len > 0 ? PROBE_MODULE
									    : PROBE_KERNEL,
		.path = is_user ? viewed.path : NULL,
		.module = is_user || file.len == 0 ? NULL : viewed.path,
		.symfs = viewer->symfs,
		.vmlinux = viewer->vmlinux};
	if (probe_binary_open(&options, &viewed.binary, NULL) != TALLY_OK)
		viewed.binary = NULL;
	viewer->binaries.items[viewer->binaries.len++] = viewed;
	return viewed.binary;
}

static void probe_show_name(const struct probe_event *event, struct text *out)
{
	text_str(out, "  ");
	size_t start = out->len;
	text_bytes(out, event->group.data, event->group.len);
	text_char(out, ':');
	text_bytes(out, event->event.data, event->event.len);
	text_align_from(out, start, -PROBE_SHOW_NAME_WIDTH);
	text_str(out, " (on ");
}

static void probe_show_file(struct tally_str file, struct text *out)
{
	if (file.len == 0)
		return;
	text_str(out, " in ");
	text_visible(out, file);
}

/* An argument without a name is shown with the name of its last field. */
static void probe_show_argument(const struct probe_argument *argument, struct text *out)
{
	struct tally_str name = argument->name;
	for (size_t i = argument->field_count; name.len == 0 && i-- > 0;)
		name = argument->fields[i].name;
	text_char(out, ' ');
	if (name.len > 0) {
		text_visible(out, name);
		text_char(out, '=');
	}
	text_visible(out, argument->value);
	if (argument->type.len > 0) {
		text_char(out, ':');
		text_visible(out, argument->type);
	}
}

void probe_show_made(const struct probe_converted *probe, const struct probe_binary *binary, struct text *out)
{
	const struct probe_definition *definition = probe->definition;
	probe_show_name(&probe->event, out);
	size_t start = out->len;
	probe_point_print(&probe->shown, out);
	text_visible_from(out, start);
	bool is_module = binary->kind == PROBE_MODULE;
	if (binary->kind != PROBE_KERNEL)
		probe_show_file(is_module ? binary->module : str_from(binary->path), out);
	if (definition->argument_count > 0)
		text_str(out, " with");
	for (size_t i = 0; i < definition->argument_count; i++)
		probe_show_argument(&definition->arguments[i], out);
	text_str(out, ")\n");
}

/* Converts an offset in the file to a link-time address. Returns false if no executable segment contains it. */
static bool probe_show_address(const struct probe_binary *binary, uint64_t offset, uint64_t *address)
{
	size_t count;
	const struct elf_segment *segments = elf_image_segments(binary->image, &count);
	for (size_t i = 0; i < count; i++) {
		if (offset < segments[i].offset || offset - segments[i].offset >= segments[i].file_size)
			continue;
		*address = segments[i].vaddr + (offset - segments[i].offset);
		if (segments[i].is_executable)
			return true;
	}
	return false;
}

static bool probe_show_find(struct probe_binary *binary, const struct probe_event *event, uint64_t *address)
{
	const struct probe_symbols *symbols;
	if (event->is_user)
		return binary->image && probe_show_address(binary, event->offset, address);
	*address = event->offset;
	if (event->symbol.len == 0)
		return true;
	if (probe_binary_symbols(binary, &symbols, NULL) != TALLY_OK)
		return false;
	size_t at = probe_symbols_find(symbols, event->symbol);
	if (at == SIZE_MAX)
		return false;
	*address += symbols->items.items[symbols->by_name.items[at]].address;
	return true;
}

/* Prints the place by debug information, like "walk:2@/src/a.c". */
static bool probe_show_source(
	struct probe_binary *binary, const struct probe_event *event, uint64_t address, struct text *out)
{
	struct arena arena;
	struct probe_place place;
	arena_init(&arena);
	bool is_known = binary->info && probe_places_describe(binary, address, &arena, &place, NULL) == TALLY_OK &&
			place.function;
	if (is_known) {
		struct probe_point point = {.function = str_from(place.function),
			.file = str_from(place.source),
			.is_return = event->kind == 'r'};
		bool has_line = !place.is_entry && place.line > place.declared && place.declared > 0;
		if (has_line)
			point.line = place.line - place.declared;
		else if (!place.is_entry && place.line == 0 && address > place.entry)
			point.offset = address - place.entry;
		size_t start = out->len;
		probe_point_print(&point, out);
		text_visible_from(out, start);
	}
	arena_deinit(&arena);
	return is_known;
}

static bool probe_show_symbol(
	struct probe_binary *binary, const struct probe_event *event, uint64_t address, struct text *out)
{
	uint64_t start;
	const char *symbol = probe_binary_symbol_at(binary, address, &start);
	if (!symbol)
		return false;
	text_visible(out, str_from(symbol));
	if (address > start)
		text_printf(out, "+%" PRIu64, address - start);
	if (event->kind == 'r')
		text_str(out, "%return");
	return true;
}

/* Prints the place as the kernel reports it, if nothing else is known. */
static void probe_show_raw(const struct probe_event *event, struct text *out)
{
	text_visible(out, event->symbol);
	if (event->symbol.len == 0)
		text_printf(out, "0x%" PRIx64, event->offset);
	else if (event->offset > 0)
		text_printf(out, "+%" PRIu64, event->offset);
	if (event->kind == 'r')
		text_str(out, "%return");
}

void probe_show_place(struct probe_viewer *viewer, const struct probe_event *event, struct text *out)
{
	struct probe_binary *binary = NULL;
	uint64_t address = 0;
	if (event->kind == 'p' || event->kind == 'r')
		binary = probe_viewer_open(viewer, event->is_user, event->file);
	bool is_found = binary && probe_show_find(binary, event, &address);
	if (!is_found ||
		(!probe_show_source(binary, event, address, out) && !probe_show_symbol(binary, event, address, out)))
		probe_show_raw(event, out);
}

void probe_show_listed(struct probe_viewer *viewer, const struct probe_event *event, struct text *out)
{
	probe_show_name(event, out);
	probe_show_place(viewer, event, out);
	probe_show_file(event->file, out);
	struct tally_str rest = event->arguments;
	struct probe_event_argument argument;
	if (rest.len > 0)
		text_str(out, " with");
	while (probe_event_next_argument(&rest, &argument)) {
		text_char(out, ' ');
		text_visible(out, argument.name.len > 0 ? argument.name : argument.text);
	}
	text_str(out, ")\n");
}
