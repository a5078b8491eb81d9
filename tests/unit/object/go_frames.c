/* SPDX-License-Identifier: Apache-2.0 */
#include "object/elf/go_frames.h"

#include <elf.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/writer.h"
#include "unit_test.h"

#define VADDR	  UINT64_C(0x400000)
#define CODE_AT	  0x80 /* Offset in the file. */
#define CODE	  (VADDR + CODE_AT)
#define SIZE	  0x40 /* Size of each function. */
#define FUNCTIONS 8
#define FRAMES	  32

struct go_test_function {
	const char *name;
	uint8_t flags;
	int values[6][2]; /* Pairs of depth and end; an end of 0 terminates them. */
	uint8_t code[0x18]; /* Code from the first end on. */
};

struct go_test_program {
	struct writer file, table;
	unsigned machine;
	enum go_format format;
	bool swap;
};

struct go_test_frames {
	struct go_frame items[FRAMES];
	size_t count, most;
};

static const uint32_t magics[] = {0xfffffffbu, 0xfffffffau, 0xfffffff0u, 0xfffffff1u};

static void put_varint(struct writer *w, uint32_t value)
{
	for (; value >= 0x80; value >>= 7)
		writer_u8(w, (uint8_t)(value | 0x80));
	writer_u8(w, (uint8_t)value);
}

static uint32_t put_values(struct writer *w, const int (*pairs)[2], unsigned quantum)
{
	uint32_t at = (uint32_t)w->len;
	int value = -1, end = 0;
	for (size_t i = 0; i < 6 && pairs[i][1]; i++) {
		int change = pairs[i][0] - value;
		put_varint(w, change < 0 ? ~((uint32_t)change << 1) : (uint32_t)change << 1);
		put_varint(w, (uint32_t)(pairs[i][1] - end) / quantum);
		value = pairs[i][0], end = pairs[i][1];
	}
	writer_u8(w, 0);
	return at;
}

static void put_place(struct writer *w, enum go_format format, uint64_t place)
{
	if (format >= GO_FORMAT_1_18)
		writer_u32(w, (uint32_t)place);
	else
		writer_u64(w, CODE + place);
}

/* Writes the record of one function; from Go 1.20 on it has the first line of the function too. */
static void put_record(
	struct writer *w, enum go_format format, uint64_t place, const uint32_t name_and_values[2], uint8_t flags)
{
	const uint32_t words[] = {name_and_values[0], 0, 0, name_and_values[1], 0, 0, 0, 0, 7};
	const uint8_t bytes[] = {0, flags, 0, 0};
	put_place(w, format, place);
	for (size_t i = 0; i < ARRAY_LEN(words) - (format < GO_FORMAT_1_20); i++)
		writer_u32(w, words[i]);
	writer_bytes(w, bytes, sizeof(bytes));
}

/* Writes the table in the format of Go 1.16 and later: names, values, the list of functions and their records. */
static void put_table(struct go_test_program *p, const struct go_test_function *functions, size_t count)
{
	const unsigned quantum = p->machine == EM_AARCH64 ? 4 : 1;
	const bool is_relative = p->format >= GO_FORMAT_1_18;
	struct writer names = {.swap = p->swap}, values = {.swap = p->swap}, list = {.swap = p->swap};
	struct writer records = {.swap = p->swap}, *w = &p->table;
	const size_t place = is_relative ? 4 : 8, list_bytes = ((2 * count + 1) * place + 7) / 8 * 8;
	writer_u8(&names, 0);
	writer_u8(&values, 0);
	for (size_t i = 0; i < count; i++) {
		const uint32_t words[] = {(uint32_t)names.len, put_values(&values, functions[i].values, quantum)};
		put_place(&list, p->format, i * SIZE);
		if (is_relative)
			writer_u32(&list, (uint32_t)(list_bytes + records.len));
		else
			writer_u64(&list, list_bytes + records.len);
		put_record(&records, p->format, i * SIZE, words, functions[i].flags);
		writer_bytes(&names, functions[i].name, strlen(functions[i].name) + 1);
	}
	put_place(&list, p->format, count * SIZE);
	struct writer *const parts[] = {&names, &values, &list, &records};
	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		writer_align(parts[i], 8);
	writer_u32(w, magics[p->format]);
	writer_u16(w, 0);
	writer_u8(w, (uint8_t)quantum);
	writer_u8(w, 8);
	writer_u64(w, count);
	writer_u64(w, 0); /* Offset of the file table. */
	if (is_relative)
		writer_u64(w, CODE);
	const size_t header = 8 + (is_relative ? 8 : 7) * 8;
	const uint64_t offsets[] = {header, header, header, header + names.len, header + names.len + values.len};
	for (size_t i = 0; i < ARRAY_LEN(offsets); i++)
		writer_u64(w, offsets[i]);
	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		writer_bytes(w, parts[i]->data, parts[i]->len);
		writer_deinit(parts[i]);
	}
}

static void put_section(struct writer *w, uint32_t name, uint32_t type, uint64_t begin, uint64_t size)
{
	writer_u32(w, name);
	writer_u32(w, type);
	writer_u64(w, type == SHT_PROGBITS ? SHF_ALLOC : 0);
	writer_u64(w, type == SHT_PROGBITS ? VADDR + begin : 0);
	writer_u64(w, begin);
	writer_u64(w, size);
	writer_u64(w, 0);
	writer_u64(w, 8);
	writer_u64(w, 0);
}

static void put_head(struct go_test_program *p, uint64_t sections_at)
{
	struct writer *w = &p->file;
	const uint8_t ident[EI_NIDENT] = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT};
	writer_bytes(w, ident, sizeof(ident));
	writer_u16(w, ET_EXEC);
	writer_u16(w, (uint16_t)p->machine);
	writer_u32(w, EV_CURRENT);
	writer_u64(w, CODE);
	writer_u64(w, sizeof(Elf64_Ehdr));
	writer_u64(w, sections_at);
	writer_u32(w, 0);
	const uint16_t sizes[] = {sizeof(Elf64_Ehdr), sizeof(Elf64_Phdr), 1, sizeof(Elf64_Shdr), 3, 2};
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
		writer_u16(w, sizes[i]);
	writer_u32(w, PT_LOAD);
	writer_u32(w, PF_R | PF_X);
	const uint64_t segment[] = {0, VADDR, VADDR, sections_at, sections_at, 8};
	for (size_t i = 0; i < ARRAY_LEN(segment); i++)
		writer_u64(w, segment[i]);
}

static void go_test_build(struct go_test_program *p, const struct go_test_function *functions, size_t count)
{
	static const char strings[] = "\0.gopclntab\0.shstrtab";
	p->file = p->table = (struct writer){.swap = p->swap};
	put_table(p, functions, count);
	const uint64_t table_at = CODE_AT + count * SIZE, strings_at = table_at + p->table.len;
	const uint64_t sections_at = (strings_at + sizeof(strings) + 7) / 8 * 8;
	put_head(p, sections_at);
	writer_align(&p->file, CODE_AT);
	for (size_t i = 0; i < count; i++) {
		for (int at = 0; at < SIZE; at++) {
			int from = at - functions[i].values[0][1];
			bool is_said = from >= 0 && from < (int)sizeof(functions[i].code);
			writer_u8(&p->file, is_said ? functions[i].code[from] : 0x90);
		}
	}
	writer_bytes(&p->file, p->table.data, p->table.len);
	writer_bytes(&p->file, strings, sizeof(strings));
	writer_align(&p->file, 8);
	assert_int_equal(p->file.len, sections_at);
	put_section(&p->file, 0, SHT_NULL, 0, 0);
	put_section(&p->file, 1, SHT_PROGBITS, table_at, p->table.len);
	put_section(&p->file, 12, SHT_STRTAB, strings_at, sizeof(strings));
	assert_false(p->file.failed || p->table.failed);
}

static void go_test_free(struct go_test_program *p)
{
	writer_deinit(&p->file);
	writer_deinit(&p->table);
}

static bool take_frame(void *context, const struct go_frame *frame)
{
	struct go_test_frames *frames = context;
	assert_true(frame->low < frame->high);
	if (frames->count < FRAMES)
		frames->items[frames->count] = *frame;
	frames->count++;
	return frames->most == 0 || frames->count < frames->most;
}

static struct go_test_frames frames_of(struct tally_bytes file, size_t most)
{
	struct go_test_frames frames = {.most = most};
	struct elf_image *image;
	if (elf_image_open_bytes(file, &image, NULL) != TALLY_OK)
		return frames;
	go_frames_each(image, take_frame, &frames);
	elf_image_close(image);
	return frames;
}

static void check_frame(const struct go_test_frames *frames, size_t i, struct go_frame wanted)
{
	const struct go_frame *frame = &frames->items[i];
	assert_true(i < frames->count);
	assert_int_equal(frame->low, CODE + wanted.low);
	assert_int_equal(frame->high, CODE + wanted.high);
	assert_int_equal(frame->kind, wanted.kind);
	assert_int_equal(frame->depth, wanted.depth);
	assert_int_equal(frame->saves_fp, wanted.saves_fp);
	assert_int_equal(frame->sets_fp, wanted.sets_fp);
}

/* A leaf function; a function of a Go version before 1.21 and one of a later version; one with meaningless code; and
 * stack switches. */
static const struct go_test_function x86_functions[] = {
	{"main.leaf", 0, {{0, 0x30}}, {0}},
	{"main.older", 0, {{0, 4}, {0x18, 0x20}, {0, 0x21}, {0x18, 0x40}},
		{0x48, 0x89, 0x6c, 0x24, 0x10, 0x48, 0x8d, 0x6c, 0x24, 0x10}},
	{"main.newer", 0, {{0, 1}, {8, 8}, {0x20, 0x30}}, {0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x18}},
	{"main.unusual", 0, {{0, 2}, {0x20, 0x40}}, {0x48, 0x89, 0x6c, 0x24, 0x08}},
	{"runtime.goexit", GO_FLAG_TOP, {{0, 0x40}}, {0}},
	{"runtime.systemstack", GO_FLAG_WRITES_SP, {{0, 0x40}}, {0}},
	{"runtime.nanotime1", GO_FLAG_WRITES_SP, {{0, 4}, {0x10, 0x30}, {0, 0x40}},
		{0x48, 0x89, 0xac, 0x24, 8, 0, 0, 0, 0x48, 0x8d, 0x6c, 0x24, 8}},
	{"runtime.mcall", GO_FLAG_WRITES_SP, {{0, 0x40}}, {0}},
};

static void check_x86(const struct go_test_frames *frames)
{
	const struct go_frame wanted[] = {
		{0, 0x30, GO_FRAME_CALLED, 0, false, false},
		{0x40, 0x44, GO_FRAME_CALLED, 0, false, false},
		{0x44, 0x49, GO_FRAME_CALLED, 0x18, false, false},
		{0x49, 0x4e, GO_FRAME_CALLED, 0x18, true, false},
		{0x4e, 0x60, GO_FRAME_CALLED, 0x18, true, true},
		{0x60, 0x61, GO_FRAME_CALLED, 0, false, false},
		{0x61, 0x80, GO_FRAME_CALLED, 0x18, true, true},
		{0x80, 0x81, GO_FRAME_CALLED, 0, false, false},
		{0x81, 0x84, GO_FRAME_CALLED, 8, true, false},
		{0x84, 0x88, GO_FRAME_CALLED, 8, true, true},
		{0x88, 0xb0, GO_FRAME_CALLED, 0x20, true, true},
		{0xc0, 0xc2, GO_FRAME_CALLED, 0, false, false},
		{0xc2, 0x100, GO_FRAME_CALLED, 0x20, false, false},
		{0x100, 0x140, GO_FRAME_FIRST, 0, false, false},
		{0x140, 0x180, GO_FRAME_SWITCHED, 0, false, false},
		{0x180, 0x184, GO_FRAME_CALLED, 0, false, false},
		{0x184, 0x18c, GO_FRAME_CALLED, 0x10, false, false},
		{0x18c, 0x191, GO_FRAME_CALLED, 0x10, true, false},
		{0x191, 0x1b0, GO_FRAME_SWITCHED, 0x10, true, true},
		{0x1b0, 0x1c0, GO_FRAME_CALLED, 0, false, false},
		{0x1c0, 0x200, GO_FRAME_LEFT, 0, false, false},
	};
	assert_int_equal(frames->count, ARRAY_LEN(wanted));
	for (size_t i = 0; i < ARRAY_LEN(wanted); i++)
		check_frame(frames, i, wanted[i]);
}

static void test_frames_of_x86(void **state)
{
	struct go_test_program p = {.machine = EM_X86_64, .format = GO_FORMAT_1_20};
	go_test_build(&p, x86_functions, FUNCTIONS);
	struct go_test_frames frames = frames_of(writer_view(&p.file), 0);
	check_x86(&frames);
	/* At most the requested number of frames is returned. */
	frames = frames_of(writer_view(&p.file), 3);
	assert_int_equal(frames.count, 3);
	go_test_free(&p);
}

/* Flags were added in Go 1.17, in the format of 1.16; before that, only names identify special functions. */
static void test_frames_of_older_formats(void **state)
{
	struct go_test_function unflagged[FUNCTIONS];
	memcpy(unflagged, x86_functions, sizeof(unflagged));
	for (size_t i = 0; i < FUNCTIONS; i++)
		unflagged[i].flags = 0;
	for (enum go_format format = GO_FORMAT_1_16; format <= GO_FORMAT_1_18; format++)
		for (int has_flags = format == GO_FORMAT_1_18; has_flags < 2; has_flags++) {
			struct go_test_program p = {.machine = EM_X86_64, .format = format};
			go_test_build(&p, has_flags ? x86_functions : unflagged, FUNCTIONS);
			const struct go_test_frames frames = frames_of(writer_view(&p.file), 0);
			check_x86(&frames);
			go_test_free(&p);
		}
}

/* The frame pointer is saved by a separate instruction, or together with the frame. */
static void test_frames_of_aarch64(void **state)
{
	static const struct go_test_function functions[] = {
		{"main.small", 0, {{0, 4}, {0x20, 0x40}}, {0xfd, 0x83, 0x1f, 0xf8, 0xfd, 0x23, 0x00, 0xd1}},
		{"main.large", 0, {{0, 0xc}, {0x4000, 0x40}}, {0xfd, 0x23, 0x00, 0xd1}},
		{"runtime.debugCallV2", 0, {{-16, 0x10}, {0, 0x20}}, {0}},
	};
	const struct go_frame wanted[] = {
		{0, 4, GO_FRAME_CALLED, 0, false, false},
		{4, 8, GO_FRAME_CALLED, 0x20, false, false},
		{8, 0xc, GO_FRAME_CALLED, 0x20, true, false},
		{0xc, 0x40, GO_FRAME_CALLED, 0x20, true, true},
		{0x40, 0x4c, GO_FRAME_CALLED, 0, false, false},
		{0x4c, 0x50, GO_FRAME_CALLED, 0x4000, true, false},
		{0x50, 0x80, GO_FRAME_CALLED, 0x4000, true, true},
		{0x90, 0xa0, GO_FRAME_CALLED, 0, false, false},
	};
	struct go_test_program p = {.machine = EM_AARCH64, .format = GO_FORMAT_1_20};
	go_test_build(&p, functions, ARRAY_LEN(functions));
	const struct go_test_frames frames = frames_of(writer_view(&p.file), 0);
	assert_int_equal(frames.count, ARRAY_LEN(wanted));
	for (size_t i = 0; i < ARRAY_LEN(wanted); i++)
		check_frame(&frames, i, wanted[i]);
	go_test_free(&p);
}

/* A table without code, in both byte orders: information from the code is missing. */
static void test_frames_of_a_table(void **state)
{
	for (int swap = 0; swap < 2; swap++) {
		struct go_test_program p = {.machine = EM_X86_64, .format = GO_FORMAT_1_20, .swap = swap};
		struct go_program program = {.text = CODE};
		struct go_test_frames frames = {0};
		go_test_build(&p, x86_functions, 2);
		assert_true(go_header_read(writer_view(&p.table), swap, &program.header));
		go_frames_of_table(&program, take_frame, &frames);
		assert_int_equal(frames.count, 5);
		check_frame(&frames, 2, (struct go_frame){0x44, 0x60, GO_FRAME_CALLED, 0x18, false, false});
		go_test_free(&p);
	}
}

/* Numbers without end or out of range, and the largest possible depths and lengths. */
static void test_hostile_values(void **state)
{
	static const struct {
		uint8_t bytes[14];
		size_t frames;
		uint32_t depth;
		uint64_t high;
	} cases[] = {
		{{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}, 0, 0, 0},
		{{0x80, 0x80, 0x80, 0x80, 0x10, 4}, 0, 0, 0}, /* 1 << 32 */
		{{2, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0}, 0, 0, 0},
		{{2, 0xff, 0xff, 0xff, 0xff, 0x0f, 0}, 1, 0, SIZE}, /* Past the end of the function. */
		{{0xfe, 0xff, 0xff, 0xff, 0x0f, 8, 0}, 1, 0x7ffffffe, 8}, /* -1 + 0x7fffffff */
		{{1, 8, 0}, 0, 0, 0}, /* -2 */
		{{2, 0, 2, 0, 2, 0, 2, 4, 0}, 1, 3, 4}, /* The length is 0. */
	};
	static const struct go_test_function function = {
		"main.main", 0, {{1, 1}, {2, 2}, {3, 3}, {4, 4}, {5, 5}, {6, 6}}, {0}};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct go_test_program p = {.machine = EM_X86_64, .format = GO_FORMAT_1_20};
		struct go_program program = {.text = CODE};
		struct go_test_frames frames = {0};
		go_test_build(&p, &function, 1);
		assert_true(go_header_read(writer_view(&p.table), false, &program.header));
		memcpy(p.table.data + program.header.values + 1, cases[i].bytes, sizeof(cases[i].bytes));
		go_frames_of_table(&program, take_frame, &frames);
		assert_int_equal(frames.count, cases[i].frames);
		if (frames.count)
			check_frame(&frames, 0,
				(struct go_frame){0, cases[i].high, GO_FRAME_CALLED, cases[i].depth, false, false});
		go_test_free(&p);
	}
}

/* Many functions share one table of values: the time must depend only on the size of the file. */
static void test_shared_values_are_bounded(void **state)
{
	enum { MANY = 4000, VALUES = 30000 };
	struct writer w = {0};
	struct go_program program = {.text = CODE};
	struct go_test_frames frames = {0};
	const uint64_t list = 8 + 8 * 8 + 8, values = list + (2 * MANY + 1) * 4 + 44;
	const uint64_t words[] = {MANY, 0, CODE, 72, 72, 72, values, list};
	writer_u32(&w, magics[GO_FORMAT_1_20]);
	writer_u32(&w, 8u << 24 | 1u << 16);
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		writer_u64(&w, words[i]);
	writer_u64(&w, 0x6100); /* Offset of a name. */
	for (uint32_t i = 0; i < MANY; i++) {
		writer_u32(&w, i << 20);
		writer_u32(&w, (2 * MANY + 1) * 4);
	}
	writer_u32(&w, UINT32_MAX);
	const uint32_t record[] = {0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0};
	for (size_t i = 0; i < ARRAY_LEN(record); i++)
		writer_u32(&w, record[i]);
	writer_u8(&w, 0);
	for (int i = 0; i < VALUES; i++) {
		writer_u8(&w, 2);
		writer_u8(&w, 1);
	}
	assert_true(go_header_read(writer_view(&w), false, &program.header));
	go_frames_of_table(&program, take_frame, &frames);
	assert_true(frames.count > 0 && frames.count <= w.len);
	writer_deinit(&w);
}

/* Tries each prefix of the table, and sets each byte of the file to a few values: no frame extends past the end of the
 * file. */
static void test_damaged_programs(void **state)
{
	static const uint8_t values[] = {0, 1, 0x7f, 0x80, 0xff};
	struct go_test_program p = {.machine = EM_X86_64, .format = GO_FORMAT_1_20};
	go_test_build(&p, x86_functions, FUNCTIONS);
	const struct tally_bytes file = writer_view(&p.file);
	for (size_t i = CODE_AT; i < file.len; i++)
		for (size_t v = 0; v <= ARRAY_LEN(values); v++) {
			bool is_prefix = v == ARRAY_LEN(values);
			size_t len = is_prefix ? i : file.len;
			uint8_t *copy = malloc(len);
			memcpy(copy, file.data, len);
			if (!is_prefix)
				copy[i] = values[v];
			const struct go_test_frames frames = frames_of((struct tally_bytes){copy, len}, 0);
			assert_true(frames.count <= 3 * p.table.len);
			for (size_t f = 0; f < frames.count && f < FRAMES; f++)
				assert_true(frames.items[f].low >= VADDR && frames.items[f].high <= VADDR + file.len);
			free(copy);
		}
	go_test_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frames_of_x86),
		cmocka_unit_test(test_frames_of_older_formats),
		cmocka_unit_test(test_frames_of_aarch64),
		cmocka_unit_test(test_frames_of_a_table),
		cmocka_unit_test(test_hostile_values),
		cmocka_unit_test(test_shared_values_are_bounded),
		cmocka_unit_test(test_damaged_programs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
