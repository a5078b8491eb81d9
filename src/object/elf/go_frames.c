/* SPDX-License-Identifier: Apache-2.0 */
#include "object/elf/go_frames.h"

#include <elf.h>

#include "base/array.h"

/* Limits the number of values by the size of the table, because functions can share values. */
#define BYTES_A_VALUE	8
#define PROLOGUE_BYTES	24
#define AARCH64_SAVE_FP UINT32_C(0xf81f83fd) /* stur x29, [sp, #-8] */
#define AARCH64_SET_FP	UINT32_C(0xd10023fd) /* sub x29, sp, #8 */

struct go_frames_walk {
	const struct go_header *header;
	const struct elf_image *image; /* NULL if the program's code is not available. */
	uint64_t text;
	uint64_t left; /* Maximum number of values that may still be read. */
	go_frame_fn *take;
	void *context;
	bool has_ended;
	bool swap; /* Code has another byte order than the host's: code of aarch64 is always little-endian. */
};

/* Addresses after which a function has saved the caller's frame pointer and set its own; UINT64_MAX if it does
 * neither. */
struct go_prologue {
	uint64_t saved, set;
};

static const struct go_prologue no_prologue = {UINT64_MAX, UINT64_MAX};

/* Compares the name with those of functions of Go's runtime, because older tables have no flags, and because mcall has
 * the flags of a function that returns. */
static enum go_frame_kind kind_by_name(const char *name)
{
	static const struct {
		const char *name;
		enum go_frame_kind kind;
	} known[] = {
		{"runtime.goexit", GO_FRAME_FIRST},
		{"runtime.mstart", GO_FRAME_FIRST},
		{"runtime.rt0_go", GO_FRAME_FIRST},
		{"runtime.sigtramp", GO_FRAME_FIRST},
		{"runtime.mcall", GO_FRAME_LEFT},
		{"runtime.systemstack", GO_FRAME_SWITCHED},
		{"runtime.morestack", GO_FRAME_SWITCHED},
		{"runtime.asmcgocall", GO_FRAME_SWITCHED},
		{"runtime.cgocallback", GO_FRAME_SWITCHED},
		{"runtime.cgocallback_gofunc", GO_FRAME_SWITCHED},
		{"runtime.gogo", GO_FRAME_SWITCHED},
		{"runtime.nanotime1", GO_FRAME_SWITCHED},
		{"runtime.walltime1", GO_FRAME_SWITCHED},
	};
	for (size_t i = 0; name && i < ARRAY_LEN(known); i++)
		if (strcmp(name, known[i].name) == 0)
			return known[i].kind;
	return GO_FRAME_CALLED;
}

static enum go_frame_kind kind_of(const struct go_header *header, const struct go_record *record)
{
	enum go_frame_kind kind = kind_by_name(go_header_text(header, header->names, record->name));
	if (kind == GO_FRAME_LEFT)
		return kind;
	if (record->flags & GO_FLAG_TOP)
		return GO_FRAME_FIRST;
	if (record->flags & GO_FLAG_WRITES_SP)
		return GO_FRAME_SWITCHED;
	return header->format >= GO_FORMAT_1_18 ? GO_FRAME_CALLED : kind;
}

/* Returns the size of an instruction that has a stack-pointer-relative operand; 0 if it is another instruction. */
static size_t x86_sp_operand(struct tally_bytes code, uint8_t operation, uint32_t *distance)
{
	struct cursor c = cursor_make(code, false);
	bool is_it = cursor_u8(&c) == 0x48 && cursor_u8(&c) == operation;
	uint8_t mode = cursor_u8(&c);
	is_it = is_it && (mode == 0x2c || mode == 0x6c || mode == 0xac) && cursor_u8(&c) == 0x24;
	*distance = mode == 0x2c ? 0 : mode == 0x6c ? cursor_u8(&c) : cursor_u32(&c);
	return is_it && !c.failed ? c.pos : 0;
}

/* At address, the frame was just allocated. Since Go 1.21, the prologue is push %rbp; mov %rsp,%rbp. Earlier versions
 * use sub ..., %rsp; mov %rbp,N(%rsp); lea N(%rsp),%rbp. */
static struct go_prologue prologue_of_x86(struct tally_bytes code, uint64_t address, uint32_t depth)
{
	static const uint8_t set[] = {0x48, 0x89, 0xe5};
	uint32_t at, again;
	if (depth == 8 && code.len > sizeof(set) && memcmp(code.data, set, sizeof(set)) == 0)
		return (struct go_prologue){address, address + sizeof(set)};
	size_t save = x86_sp_operand(code, 0x89, &at);
	if (save == 0 || depth < 8 || at != depth - 8)
		return no_prologue;
	size_t point = x86_sp_operand(bytes_part(code, save, code.len), 0x8d, &again);
	return (struct go_prologue){address + save, point && again == at ? address + save + point : UINT64_MAX};
}

/* The instruction that allocates the frame saves the return address; it or the next instruction saves the frame
 * pointer. */
static struct go_prologue prologue_of_aarch64(struct tally_bytes bytes, uint64_t address, bool swap)
{
	struct cursor c = cursor_make(bytes, swap);
	uint32_t code = cursor_u32(&c);
	if (code == AARCH64_SAVE_FP)
		address += sizeof(code), code = cursor_u32(&c);
	return (struct go_prologue){address, code == AARCH64_SET_FP ? address + sizeof(code) : UINT64_MAX};
}

static struct go_prologue prologue_at(const struct go_frames_walk *walk, uint64_t address, uint32_t depth)
{
	struct tally_bytes code = go_program_bytes(walk->image, address);
	code = bytes_part(code, 0, PROLOGUE_BYTES);
	if (elf_image_machine(walk->image) == EM_X86_64)
		return prologue_of_x86(code, address, depth);
	if (elf_image_machine(walk->image) == EM_AARCH64)
		return prologue_of_aarch64(code, address, walk->swap);
	return no_prologue;
}

/* Finds where a function saves and sets the frame pointer: directly after the instruction that allocates its frame. */
static struct go_prologue find_prologue(const struct go_frames_walk *walk, const struct go_record *record)
{
	struct go_values values = go_values_begin(walk->header, record->stack);
	uint64_t distance = 0;
	while (walk->image && go_values_next(&values) && values.value == 0)
		distance = values.end;
	bool has_frame = walk->image && !values.c.failed && values.value > 0 && distance < record->size;
	return has_frame ? prologue_at(walk, walk->text + record->start + distance, (uint32_t)values.value)
			 : no_prologue;
}

static void go_frames_give(struct go_frames_walk *walk, const struct go_frame *frame)
{
	if (frame->low < frame->high && !walk->has_ended)
		walk->has_ended = !walk->take(walk->context, frame);
}

/* Reports a range of code, divided where the caller's frame pointer has been saved and where the function's own is
 * set. */
static void go_frames_divide(struct go_frames_walk *walk, struct go_frame frame, const struct go_prologue *prologue)
{
	const uint64_t high = frame.high, ends[] = {prologue->saved, prologue->set, high};
	const bool is_switched = frame.kind == GO_FRAME_SWITCHED;
	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		frame.high = MIN(ends[i], high);
		frame.saves_fp = frame.depth > 0 && i > 0;
		frame.sets_fp = frame.depth > 0 && i > 1;
		/* A function with a frame switches to another stack and back only while it has the frame. */
		if (is_switched && prologue->set != UINT64_MAX)
			frame.kind = frame.sets_fp ? GO_FRAME_SWITCHED : GO_FRAME_CALLED;
		go_frames_give(walk, &frame);
		frame.low = MAX(frame.low, frame.high);
	}
}

static void go_frames_of_function(struct go_frames_walk *walk, const struct go_record *record)
{
	struct go_values values = go_values_begin(walk->header, record->stack);
	const uint64_t start = walk->text + record->start, end = start + record->size;
	struct go_frame frame = {.low = start, .high = start, .kind = kind_of(walk->header, record)};
	if (frame.kind == GO_FRAME_FIRST || frame.kind == GO_FRAME_LEFT) {
		frame.high = end;
		go_frames_give(walk, &frame);
		return;
	}
	if (record->stack == 0)
		return;
	const struct go_prologue prologue = find_prologue(walk, record);
	const enum go_frame_kind kind = frame.kind;
	for (; frame.high < end && walk->left > 0 && !walk->has_ended && go_values_next(&values); walk->left--) {
		frame = (struct go_frame){.low = frame.high,
			.high = start + MIN(values.end, record->size),
			.kind = kind,
			.depth = (uint32_t)values.value};
		if (values.value >= 0) /* Assembly code may pop what its caller pushed. */
			go_frames_divide(walk, frame, &prologue);
	}
}

static bool is_code(const struct elf_image *image, uint64_t begin, uint64_t size)
{
	size_t count;
	const struct elf_segment *segments = elf_image_segments(image, &count);
	for (size_t i = 0; i < count; i++)
		if (segments[i].is_executable && begin >= segments[i].vaddr &&
			begin - segments[i].vaddr < segments[i].memory_size &&
			size <= segments[i].memory_size - (begin - segments[i].vaddr))
			return true;
	return false;
}

static void go_frames_walk(struct go_frames_walk *walk)
{
	const struct go_header *header = walk->header;
	uint64_t next, description, unused;
	walk->left = header->table.len / BYTES_A_VALUE;
	for (uint64_t i = 0; i < header->function_count && !walk->has_ended; i++) {
		struct go_record record = {0};
		if (!go_list_item(header, i, &record.start, &description) ||
			!go_list_item(header, i + 1, &next, &unused) || next < record.start)
			return;
		record.size = next - record.start;
		bool has_code = record.size > 0 && walk->text + next > walk->text + record.start &&
				(!walk->image || is_code(walk->image, walk->text + record.start, record.size));
		if (has_code && go_record_read(header, description, &record))
			go_frames_of_function(walk, &record);
	}
}

void go_frames_each(const struct elf_image *image, go_frame_fn *take, void *context)
{
	struct go_program program;
	if (go_program_find(image, &program, NULL) != TALLY_OK)
		return;
	struct go_frames_walk walk = {.header = &program.header,
		.image = image,
		.text = go_header_is_relative(&program.header) ? program.text : 0,
		.take = take,
		.context = context,
		.swap = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__};
	go_frames_walk(&walk);
}

void go_frames_of_table(const struct go_program *program, go_frame_fn *take, void *context)
{
	struct go_frames_walk walk = {.header = &program->header,
		.text = go_header_is_relative(&program->header) ? program->text : 0,
		.take = take,
		.context = context};
	go_frames_walk(&walk);
}
