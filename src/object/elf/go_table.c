/* SPDX-License-Identifier: Apache-2.0 */
#include "object/elf/go_table.h"

#include "base/array.h"
#include "base/cursor.h"
#include "base/error.h"
#include "base/limits.h"
#include "object/elf/go_internal.h"

#define MAGIC_1_2	      0xfffffffbu
#define MAGIC_1_16	      0xfffffffau
#define MAGIC_1_18	      0xfffffff0u
#define MAGIC_1_20	      0xfffffff1u
#define GO_TABLE_HEADER_BYTES 8 /* Size of the header before the first word. */

static uint64_t go_word(struct cursor *c, uint8_t bytes)
{
	return bytes == 8 ? cursor_u64(c) : cursor_u32(c);
}

static bool format_of(uint32_t magic, enum go_format *format)
{
	switch (magic) {
	case MAGIC_1_2:
		*format = GO_FORMAT_1_2;
		return true;
	case MAGIC_1_16:
		*format = GO_FORMAT_1_16;
		return true;
	case MAGIC_1_18:
		*format = GO_FORMAT_1_18;
		return true;
	case MAGIC_1_20:
		*format = GO_FORMAT_1_20;
		return true;
	default:
		return false;
	}
}

bool go_table_is(struct tally_bytes bytes, bool swap)
{
	enum go_format format;
	struct cursor c = cursor_make(bytes, swap);
	uint32_t magic = cursor_u32(&c);
	uint16_t zeros = cursor_u16(&c);
	uint8_t quantum = cursor_u8(&c), word = cursor_u8(&c);
	return !c.failed && format_of(magic, &format) && zeros == 0 && (quantum == 1 || quantum == 2 || quantum == 4) &&
	       (word == 4 || word == 8);
}

/* In the first format, the offset of the list of files follows the list of functions. */
static void read_files_of_1_2(struct go_header *header)
{
	struct cursor c = cursor_make(header->table, header->swap);
	header->files = header->table.len;
	cursor_skip(&c, (size_t)header->functions);
	if (!cursor_count(&c, header->function_count, 2u * header->word))
		return;
	cursor_skip(&c, (size_t)(header->function_count * 2 + 1) * header->word);
	uint32_t files = cursor_u32(&c);
	header->files = c.failed ? header->table.len : files;
}

bool go_header_read(struct tally_bytes table, bool swap, struct go_header *header)
{
	if (!go_table_is(table, swap))
		return false;
	struct cursor c = cursor_make(table, swap);
	*header = (struct go_header){.table = table, .swap = swap};
	(void)format_of(cursor_u32(&c), &header->format);
	cursor_skip(&c, sizeof(uint16_t));
	header->quantum = cursor_u8(&c);
	header->word = cursor_u8(&c);
	header->place = go_header_is_relative(header) ? sizeof(uint32_t) : header->word;
	header->function_count = go_word(&c, header->word);
	header->functions = GO_TABLE_HEADER_BYTES + header->word;
	if (header->format == GO_FORMAT_1_2) {
		read_files_of_1_2(header);
	} else {
		(void)go_word(&c, header->word); /* Skips the number of files. */
		header->text = go_header_is_relative(header) ? go_word(&c, header->word) : 0;
		header->names = go_word(&c, header->word);
		header->units = go_word(&c, header->word);
		header->files = go_word(&c, header->word);
		header->values = go_word(&c, header->word);
		header->functions = go_word(&c, header->word);
	}
	/* Offsets outside of the table are limited to its end, because names are useful without the other parts. */
	header->units = MIN(header->units, table.len);
	header->files = MIN(header->files, table.len);
	header->values = MIN(header->values, table.len);
	return !c.failed && header->names <= table.len && header->functions <= table.len;
}

size_t go_table_text_offset(struct tally_bytes table, bool swap)
{
	struct go_header header;
	return go_header_read(table, swap, &header) && go_header_is_relative(&header)
		       ? GO_TABLE_HEADER_BYTES + 2u * header.word
		       : 0;
}

const char *go_header_text(const struct go_header *header, uint64_t base, uint64_t offset)
{
	size_t len = header->table.len;
	if (base > len || offset >= len - base)
		return NULL;
	const char *text = (const char *)header->table.data + base + offset;
	return *text && memchr(text, '\0', (size_t)(len - base - offset)) ? text : NULL;
}

/* description is the function's offset in the list of functions. Returns NULL if the name lies outside of the table. */
static const char *go_table_function_name(const struct go_header *header, uint64_t description)
{
	/* In the first format, all offsets are relative to the beginning of the table. */
	uint64_t from = header->format == GO_FORMAT_1_2 ? 0 : header->functions;
	if (description > header->table.len || from > header->table.len - description)
		return NULL;
	struct cursor c = cursor_make(header->table, header->swap);
	cursor_skip(&c, (size_t)(from + description));
	cursor_skip(&c, header->place); /* Skips the start of the function. */
	uint32_t offset = cursor_u32(&c);
	return c.failed ? NULL : go_header_text(header, header->names, offset);
}

enum tally_status go_table_functions(
	struct tally_bytes table, bool swap, uint64_t text, struct go_function_list *list, struct tally_error *err)
{
	struct go_header header;
	if (!go_header_read(table, swap, &header))
		return error_set(err, TALLY_CORRUPT, "the table of Go functions has an invalid header");
	uint64_t base = !go_header_is_relative(&header) ? 0 : header.text ? header.text : text;
	struct cursor c = cursor_make(table, swap);
	cursor_skip(&c, (size_t)header.functions);
	if (!cursor_count(&c, header.function_count, 2u * header.place) ||
		header.function_count > LIMIT_SYMBOLS_PER_OBJECT)
		return error_set(err, TALLY_CORRUPT, "the table of Go functions is cut");
	if (!vec_reserve(&list->functions, (size_t)header.function_count))
		return error_nomem(err);
	uint64_t start = go_word(&c, header.place);
	for (uint64_t i = 0; i < header.function_count; i++) {
		uint64_t description = go_word(&c, header.place), next = go_word(&c, header.place);
		if (c.failed || next < start)
			return error_set(err, TALLY_CORRUPT, "Go function %llu of %llu begins behind the next one",
				(unsigned long long)i, (unsigned long long)header.function_count);
		const char *name = go_table_function_name(&header, description);
		struct go_function function = {.vaddr = base + start, .size = next - start, .name = name};
		if (name && function.size > 0 && !vec_push(&list->functions, function))
			return error_nomem(err);
		start = next;
	}
	return TALLY_OK;
}

enum tally_status elf_image_go_functions(
	const struct elf_image *image, struct go_function_list *list, struct tally_error *err)
{
	struct go_program program;
	enum tally_status status = go_program_find(image, &program, err);
	if (status != TALLY_OK)
		return status;
	return go_table_functions(program.header.table, program.header.swap, program.text, list, err);
}
