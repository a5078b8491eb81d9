/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/frame_lines.h"

#include "analysis/store_entry.h"

/* Returns RESOLVE_NONE if the frame's binary has neither symbols nor lines. */
static uint32_t store_id_of(const struct frame_lines *lines, const struct resolved_frame *frame)
{
	uint32_t id;
	if (frame->binary == RESOLVE_NONE ||
		store_entry_id(lines->machine, lines->store, frame->binary, &id, NULL) != TALLY_OK)
		return RESOLVE_NONE;
	return id;
}

size_t frame_line_places(
	const struct frame_lines *lines, const struct resolved_frame *frame, struct source_place *places, size_t max)
{
	uint32_t id = store_id_of(lines, frame);
	if (id == RESOLVE_NONE || !symbolise_has_lines(machine_binary_get(lines->machine, frame->binary)->kind))
		return 0;
	return binary_store_places(lines->store, id, frame->address, places, max);
}

static void frame_lines_print_address(
	const struct frame_lines *lines, const struct resolved_frame *frame, struct text *text)
{
	uint64_t address = resolved_frame_shown(frame);
	struct tally_elf_va va = {address};
	uint32_t id = store_id_of(lines, frame);
	const struct machine_binary *binary = machine_binary_get(lines->machine, frame->binary);
	if (binary->kind == MACHINE_KERNEL_MODULE)
		va.value = machine_module_offset(binary, address);
	else if (id != RESOLVE_NONE)
		(void)binary_store_elf_va(lines->store, id, (struct tally_file_off){address}, &va);
	struct tally_str name = machine_string(lines->machine, binary->short_name);
	text_bytes(text, name.data, name.len);
	text_char(text, '[');
	text_hex(text, va.value, 0);
	text_char(text, ']');
}

void frame_line_text(const struct frame_lines *lines, const struct resolved_frame *frame, const struct symbol *symbol,
	const struct source_place *place, struct text *text, struct tally_str *file)
{
	*file = STR("");
	if (place && place->path) {
		const char *slash = lines->with_whole_path ? NULL : strrchr(place->path, '/');
		*file = str_from(slash ? slash + 1 : place->path);
		text_visible(text, *file);
		text_char(text, ':');
		text_u64(text, place->line);
	} else if (symbol) {
		text_str(text, binary_store_display_name(lines->store, symbol, lines->arena));
		text_char(text, '+');
		text_u64(text, resolved_frame_shown(frame) - symbol->start);
	} else if (frame->binary != RESOLVE_NONE) {
		frame_lines_print_address(lines, frame, text);
	} else {
		text_str(text, "??:0");
	}
}
