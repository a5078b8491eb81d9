/* SPDX-License-Identifier: Apache-2.0 */
#include "object/elf/go_lines.h"

#include <elf.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/writer.h"
#include "unit_test.h"

/*
 * The program has two functions: outer, of 0x40 bytes, into which middle is inlined at 0x10..0x30, into which leaf is
 * inlined at 0x18..0x20; and plain, of 0x20 bytes. The tables by address have pairs of a difference of values and a
 * length.
 */
#define TEXT	UINT64_C(0x401000)
#define LEAF	"main.leaf"
#define MIDDLE	"main.middle"
#define OUTER	"main.outer"
#define PLAIN	"runtime.plain"
#define PATH_A	"/src/a.go"
#define PATH_B	"/src/b.go"
#define TREE_AT 8

static const uint32_t magics[] = {0xfffffffbu, 0xfffffffau, 0xfffffff0u, 0xfffffff1u};

struct go_lines_table { /* State while the table is built. */
	struct writer w, names, values, units, files, list, records, tree;
	enum go_format format;
	uint8_t word, place;
	uint32_t name_at[4], value_at[5], path_at[2];
};

static void put_word(struct writer *w, uint8_t word, uint64_t v)
{
	if (word == 8)
		writer_u64(w, v);
	else
		writer_u32(w, (uint32_t)v);
}

static uint32_t put_text(struct writer *w, const char *text)
{
	uint32_t at = (uint32_t)w->len;
	writer_bytes(w, text, strlen(text) + 1);
	return at;
}

/* Writes a table from pairs of value and end, terminated by a value of -2. */
static uint32_t put_values(struct writer *w, const int (*pairs)[2])
{
	uint32_t at = (uint32_t)w->len;
	int value = -1, end = 0;
	for (size_t i = 0; pairs[i][0] != -2; i++) {
		int change = pairs[i][0] - value;
		uint32_t coded = change < 0 ? ~((uint32_t)change << 1) : (uint32_t)change << 1;
		for (; coded >= 0x80; coded >>= 7)
			writer_u8(w, (uint8_t)(coded | 0x80));
		writer_u8(w, (uint8_t)coded);
		writer_u8(w, (uint8_t)(pairs[i][1] - end));
		value = pairs[i][0];
		end = pairs[i][1];
	}
	writer_u8(w, 0);
	return at;
}

static void put_inlined(struct go_lines_table *t, uint32_t name, uint32_t call)
{
	bool is_short = t->format == GO_FORMAT_1_20;
	for (int i = 0; i < (is_short ? 4 : 12); i++)
		writer_u8(&t->tree, 0xee);
	writer_u32(&t->tree, name);
	writer_u32(&t->tree, call);
	if (is_short)
		writer_u32(&t->tree, 7);
}

static void put_record(struct go_lines_table *t, size_t function, uint32_t tree, uint32_t records_at)
{
	bool has_unit = t->format >= GO_FORMAT_1_16, has_tree = function == 0;
	put_word(&t->records, t->place, TEXT);
	writer_u32(&t->records, t->name_at[function]);
	for (int i = 0; i < 3; i++)
		writer_u32(&t->records, 0);
	writer_u32(&t->records, t->value_at[function ? 3 : 0]);
	writer_u32(&t->records, t->value_at[function ? 4 : 1]);
	writer_u32(&t->records, has_tree ? 3 : 0); /* Number of tables by address. */
	if (has_unit)
		writer_u32(&t->records, 1); /* The files of the unit begin at index 1. */
	if (t->format == GO_FORMAT_1_20)
		writer_u32(&t->records, 7);
	for (int i = 0; i < 3; i++) /* Kind and flags. */
		writer_u8(&t->records, 0);
	writer_u8(&t->records, has_tree ? 4 : 0);
	if (!has_tree)
		return;
	writer_u32(&t->records, 0);
	writer_u32(&t->records, 0);
	writer_u32(&t->records, t->value_at[2]);
	uint8_t bytes = t->format == GO_FORMAT_1_16 ? t->word : 4;
	while (t->format == GO_FORMAT_1_16 && (records_at + t->records.len) % t->word)
		writer_u8(&t->records, 0);
	for (int i = 0; i < 3; i++)
		put_word(&t->records, bytes, UINT32_MAX);
	put_word(&t->records, bytes, tree);
}

static void fill_parts(struct go_lines_table *t)
{
	static const int files[][2] = {{0, 0x18}, {1, 0x20}, {0, 0x40}, {-2, 0}};
	static const int lines[][2] = {{10, 0x10}, {200, 0x18}, {31, 0x20}, {201, 0x30}, {12, 0x40}, {-2, 0}};
	static const int inlined[][2] = {{-1, 0x10}, {0, 0x18}, {1, 0x20}, {0, 0x30}, {-1, 0x40}, {-2, 0}};
	static const int plain_files[][2] = {{1, 0x20}, {-2, 0}};
	static const int plain_lines[][2] = {{5, 0x20}, {-2, 0}};
	static const char *const names[] = {OUTER, PLAIN, MIDDLE, LEAF};
	writer_u8(&t->names, 0);
	writer_u8(&t->values, 0);
	writer_u8(&t->files, 0);
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		t->name_at[i] = put_text(&t->names, names[i]);
	t->value_at[0] = put_values(&t->values, files);
	t->value_at[1] = put_values(&t->values, lines);
	t->value_at[2] = put_values(&t->values, inlined);
	t->value_at[3] = put_values(&t->values, plain_files);
	t->value_at[4] = put_values(&t->values, plain_lines);
	t->path_at[0] = put_text(&t->files, PATH_A);
	t->path_at[1] = put_text(&t->files, PATH_B);
	writer_u32(&t->units, 0); /* An entry of another unit. */
	writer_u32(&t->units, t->path_at[0]);
	writer_u32(&t->units, t->path_at[1]);
	writer_u64(&t->tree, UINT64_MAX); /* An entry of other functions. */
	put_inlined(t, t->name_at[2], 0x0c); /* middle is called at line 10 of outer. */
	put_inlined(t, t->name_at[3], 0x14); /* leaf is called at line 200 of middle. */
}

/* Writes the list of functions: start address and record offset of each, and finally the end of the text. */
static void put_list(struct go_lines_table *t, const uint64_t *described)
{
	uint64_t base = t->place == 4 && t->format >= GO_FORMAT_1_18 ? 0 : TEXT;
	put_word(&t->list, t->place, base);
	put_word(&t->list, t->place, described[0]);
	put_word(&t->list, t->place, base + 0x40);
	put_word(&t->list, t->place, described[1]);
	put_word(&t->list, t->place, base + 0x60);
}

static void build_of_1_2(struct go_lines_table *t)
{
	/* Offsets of texts and values count from the beginning of the table: they come first, after the list. */
	size_t list = 8u + t->word, files = list + 5u * t->word + 4, texts = files + 8;
	size_t values = texts + t->names.len + t->files.len, records = values + t->values.len;
	records = (records + 7) / 8 * 8;
	for (size_t i = 0; i < ARRAY_LEN(t->name_at); i++)
		t->name_at[i] += (uint32_t)texts;
	for (size_t i = 0; i < ARRAY_LEN(t->value_at); i++)
		t->value_at[i] += (uint32_t)values;
	uint64_t described[2] = {records, 0};
	put_record(t, 0, UINT32_MAX, 0);
	described[1] = records + t->records.len;
	put_record(t, 1, UINT32_MAX, 0);
	put_list(t, described);
	writer_bytes(&t->w, t->list.data, t->list.len);
	writer_u32(&t->w, (uint32_t)files);
	writer_u32(&t->w, t->path_at[0] + (uint32_t)(texts + t->names.len));
	writer_u32(&t->w, t->path_at[1] + (uint32_t)(texts + t->names.len));
	writer_bytes(&t->w, t->names.data, t->names.len);
	writer_bytes(&t->w, t->files.data, t->files.len);
	writer_bytes(&t->w, t->values.data, t->values.len);
	writer_align(&t->w, 8);
	assert_int_equal(t->w.len, records);
}

static void build_newer(struct go_lines_table *t, uint64_t text)
{
	struct writer *const parts[] = {&t->names, &t->units, &t->files, &t->values};
	bool is_relative = t->format >= GO_FORMAT_1_18;
	size_t at = 8 + (size_t)(is_relative ? 8 : 7) * t->word;
	put_word(&t->w, t->word, 2); /* Number of files. */
	if (is_relative)
		put_word(&t->w, t->word, text);
	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		writer_align(parts[i], 8);
		put_word(&t->w, t->word, at);
		at += parts[i]->len;
	}
	put_word(&t->w, t->word, at);
	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		writer_bytes(&t->w, parts[i]->data, parts[i]->len);
	assert_int_equal(t->w.len, at);
	size_t list = (5u * t->place + 7) / 8 * 8;
	uint64_t described[2] = {list, 0};
	put_record(t, 0, TREE_AT, (uint32_t)(at + list));
	writer_align(&t->records, 8);
	described[1] = list + t->records.len;
	put_record(t, 1, UINT32_MAX, (uint32_t)(at + list));
	put_list(t, described);
	writer_align(&t->list, 8);
	writer_bytes(&t->w, t->list.data, t->list.len);
}

/* text is the text address in the header of newer formats. */
static void go_lines_build(struct go_lines_table *t, enum go_format format, uint8_t word, bool swap, uint64_t text)
{
	struct writer *const all[] = {
		&t->w, &t->names, &t->values, &t->units, &t->files, &t->list, &t->records, &t->tree};
	*t = (struct go_lines_table){.format = format, .word = word, .place = format >= GO_FORMAT_1_18 ? 4 : word};
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		all[i]->swap = swap;
	fill_parts(t);
	writer_u32(&t->w, magics[format]);
	writer_u16(&t->w, 0);
	writer_u8(&t->w, 1);
	writer_u8(&t->w, word);
	put_word(&t->w, word, 2);
	if (format == GO_FORMAT_1_2)
		build_of_1_2(t);
	else
		build_newer(t, text);
	writer_bytes(&t->w, t->records.data, t->records.len);
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		assert_false(all[i]->failed);
}

static void go_lines_free(struct go_lines_table *t)
{
	struct writer *const all[] = {
		&t->w, &t->names, &t->values, &t->units, &t->files, &t->list, &t->records, &t->tree};
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		writer_deinit(all[i]);
}

static void check_place(const struct go_place *place, const char *function, const char *path, unsigned line)
{
	assert_string_equal(place->function, function);
	assert_string_equal(place->path, path);
	assert_int_equal(place->line, line);
}

static void check_inlined(const struct go_lines *lines)
{
	struct go_place places[8];
	assert_int_equal(go_lines_find(lines, TEXT + 0x1a, places, 8), 3);
	check_place(&places[0], LEAF, PATH_B, 31);
	check_place(&places[1], MIDDLE, PATH_A, 200);
	check_place(&places[2], OUTER, PATH_A, 10);
	assert_true(places[0].is_inlined && places[1].is_inlined && !places[2].is_inlined);
	assert_int_equal(go_lines_find(lines, TEXT + 0x2f, places, 8), 2);
	check_place(&places[0], MIDDLE, PATH_A, 201);
	check_place(&places[1], OUTER, PATH_A, 10);
	/* The function itself is always the last place, however small the limit. */
	assert_int_equal(go_lines_find(lines, TEXT + 0x1a, places, 2), 2);
	assert_string_equal(places[0].function, LEAF);
	assert_string_equal(places[1].function, OUTER);
	assert_int_equal(go_lines_find(lines, TEXT + 0x1a, places, 0), 0);
}

static void check_lines(const struct go_lines *lines)
{
	struct go_place places[8];
	assert_int_equal(go_lines_find(lines, TEXT, places, 8), 1);
	check_place(&places[0], OUTER, PATH_A, 10);
	assert_int_equal(go_lines_find(lines, TEXT + 0x3f, places, 8), 1);
	check_place(&places[0], OUTER, PATH_A, 12);
	assert_int_equal(go_lines_find(lines, TEXT + 0x40, places, 8), 1);
	check_place(&places[0], PLAIN, PATH_B, 5);
	assert_int_equal(go_lines_find(lines, TEXT + 0x60, places, 8), 0);
	assert_int_equal(go_lines_find(lines, TEXT - 1, places, 8), 0);
	if (lines->program.header.format != GO_FORMAT_1_2)
		check_inlined(lines);
}

static struct go_lines lines_of(struct tally_bytes table, struct tally_bytes trees, bool swap)
{
	struct go_lines lines = {.trees = trees, .program.text = TEXT};
	if (!go_header_read(table, swap, &lines.program.header))
		lines.program.header.function_count = 0;
	return lines;
}

static void test_go_lines_of_each_format(void **state)
{
	for (enum go_format format = GO_FORMAT_1_2; format <= GO_FORMAT_1_20; format++)
		for (int i = 0; i < 4; i++) {
			struct go_lines_table t;
			bool swap = i & 1;
			go_lines_build(&t, format, i & 2 ? 4 : 8, swap, TEXT);
			struct go_lines lines = lines_of(writer_view(&t.w), writer_view(&t.tree), swap);
			assert_int_equal(lines.program.header.function_count, 2);
			check_lines(&lines);
			go_lines_free(&t);
		}
}

/* Tries each prefix, and sets each byte to a few values: texts always lie within the table. */
static void test_go_lines_are_hostile(void **state)
{
	static const uint8_t values[] = {0, 1, 0x7f, 0x80, 0xff};
	for (enum go_format format = GO_FORMAT_1_2; format <= GO_FORMAT_1_20; format++) {
		struct go_lines_table t;
		go_lines_build(&t, format, 8, false, TEXT);
		for (size_t i = 0; i < t.w.len; i++)
			for (size_t v = 0; v <= sizeof(values); v++) {
				bool is_prefix = v == sizeof(values);
				size_t len = is_prefix ? i : t.w.len;
				uint8_t *copy = malloc(len ? len : 1);
				memcpy(copy, t.w.data, len);
				if (!is_prefix)
					copy[i] = values[v];
				struct go_lines lines =
					lines_of((struct tally_bytes){copy, len}, writer_view(&t.tree), false);
				struct go_place places[4];
				for (uint64_t pc = TEXT; pc < TEXT + 0x60; pc += 8) {
					size_t count = go_lines_find(&lines, pc, places, 4);
					assert_true(count <= 4);
					for (size_t p = 0; p < count; p++)
						assert_true(!places[p].path || strlen(places[p].path) < t.w.len);
				}
				free(copy);
			}
		go_lines_free(&t);
	}
}

/* Inlined calls that form a cycle end when the caller's array is full. */
static void test_go_lines_of_a_circle(void **state)
{
	struct go_lines_table t;
	struct go_place places[8];
	go_lines_build(&t, GO_FORMAT_1_20, 8, false, TEXT);
	writer_patch_u32(&t.tree, TREE_AT + 8, 0x1a); /* The parent of middle is now in the code of leaf. */
	struct go_lines lines = lines_of(writer_view(&t.w), writer_view(&t.tree), false);
	assert_int_equal(go_lines_find(&lines, TEXT + 0x1a, places, 8), 8);
	assert_string_equal(places[7].function, OUTER);
	go_lines_free(&t);
}

#define IMAGE_VADDR UINT64_C(0x400000)
#define SECTIONS    6

static void put_section(struct writer *w, uint32_t name, uint32_t type, uint64_t flags, uint64_t begin, uint64_t size)
{
	writer_u32(w, name);
	writer_u32(w, type);
	writer_u64(w, flags);
	writer_u64(w, flags & SHF_ALLOC ? IMAGE_VADDR + begin : 0);
	writer_u64(w, begin);
	writer_u64(w, size);
	writer_u32(w, 0);
	writer_u32(w, 0);
	writer_u64(w, 8);
	writer_u64(w, type == SHT_RELA ? sizeof(Elf64_Rela) : 0);
}

static void put_head(struct writer *w, uint64_t sections_at)
{
	const uint8_t ident[EI_NIDENT] = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT};
	writer_bytes(w, ident, sizeof(ident));
	writer_u16(w, ET_EXEC);
	writer_u16(w, EM_X86_64);
	writer_u32(w, EV_CURRENT);
	writer_u64(w, TEXT);
	writer_u64(w, sizeof(Elf64_Ehdr));
	writer_u64(w, sections_at);
	writer_u32(w, 0);
	writer_u16(w, sizeof(Elf64_Ehdr));
	writer_u16(w, sizeof(Elf64_Phdr));
	writer_u16(w, 1);
	writer_u16(w, sizeof(Elf64_Shdr));
	writer_u16(w, SECTIONS);
	writer_u16(w, SECTIONS - 1);
	writer_u32(w, PT_LOAD);
	writer_u32(w, PF_R | PF_X);
	writer_u64(w, 0);
	writer_u64(w, IMAGE_VADDR);
	writer_u64(w, IMAGE_VADDR);
	writer_u64(w, sections_at);
	writer_u64(w, sections_at);
	writer_u64(w, 8);
}

/* Builds a program with the table, the tree and the module data that refers to both, by pointers or by relocations. */
static void build_program(struct writer *w, const struct go_lines_table *t, bool is_relocated)
{
	static const char names[] = "\0.text\0.gopclntab\0.noptrdata\0.rela.dyn\0.shstrtab";
	uint64_t table = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr), tree = (table + t->w.len + 7) / 8 * 8;
	uint64_t module = (tree + t->tree.len + 7) / 8 * 8, rela = module + 41 * 8;
	uint64_t name_list = t->format == GO_FORMAT_1_18 ? 64 : 64 + 8,
		 data_word = t->format == GO_FORMAT_1_18 ? 38 : 40;
	const uint64_t slots[][2] = {{0, IMAGE_VADDR + table}, {1, 0}, {22, TEXT}, {data_word, IMAGE_VADDR + tree}};
	uint64_t strings = rela + (is_relocated ? ARRAY_LEN(slots) * sizeof(Elf64_Rela) : 0);
	uint64_t sections_at = (strings + sizeof(names) + 7) / 8 * 8;
	put_head(w, sections_at);
	writer_bytes(w, t->w.data, t->w.len);
	writer_align(w, 8);
	writer_bytes(w, t->tree.data, t->tree.len);
	writer_align(w, 8);
	memcpy(&name_list, t->w.data + 8 + 3 * 8, sizeof(name_list)); /* The word of the header. */
	for (uint64_t i = 0; i < 41; i++) {
		uint64_t value = 0;
		for (size_t s = 0; s < ARRAY_LEN(slots) && !is_relocated; s++)
			if (slots[s][0] == i)
				value = i == 1 ? IMAGE_VADDR + table + name_list : slots[s][1];
		writer_u64(w, value);
	}
	for (size_t s = 0; s < ARRAY_LEN(slots) && is_relocated; s++) {
		writer_u64(w, IMAGE_VADDR + module + slots[s][0] * 8);
		writer_u64(w, R_X86_64_RELATIVE);
		writer_u64(w, slots[s][0] == 1 ? IMAGE_VADDR + table + name_list : slots[s][1]);
	}
	writer_bytes(w, names, sizeof(names));
	writer_align(w, 8);
	assert_int_equal(w->len, sections_at);
	put_section(w, 0, SHT_NULL, 0, 0, 0);
	put_section(w, 1, SHT_NOBITS, SHF_ALLOC | SHF_EXECINSTR, 0x900, 0x60); /* Begins before the text of Go. */
	put_section(w, 7, SHT_PROGBITS, SHF_ALLOC, table, t->w.len);
	put_section(w, 18, SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, module, 41 * 8);
	put_section(w, 29, SHT_RELA, SHF_ALLOC, rela, strings - rela);
	put_section(w, 39, SHT_STRTAB, 0, strings, sizeof(names));
	assert_false(w->failed);
}

static void test_go_lines_of_a_program(void **state)
{
	for (enum go_format format = GO_FORMAT_1_18; format <= GO_FORMAT_1_20; format++)
		for (int is_relocated = 0; is_relocated < 2; is_relocated++) {
			struct go_lines_table t;
			struct writer w = {0};
			struct elf_image *image;
			struct go_lines lines;
			struct tally_error err;
			go_lines_build(&t, format, 8, false, 0);
			build_program(&w, &t, is_relocated);
			assert_int_equal(elf_image_open_bytes(writer_view(&w), &image, &err), TALLY_OK);
			assert_int_equal(go_lines_open(image, &lines, &err), TALLY_OK);
			assert_int_equal(lines.program.text, TEXT);
			check_lines(&lines);
			elf_image_close(image);
			writer_deinit(&w);
			go_lines_free(&t);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_go_lines_of_each_format),
		cmocka_unit_test(test_go_lines_are_hostile),
		cmocka_unit_test(test_go_lines_of_a_circle),
		cmocka_unit_test(test_go_lines_of_a_program),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
