/* SPDX-License-Identifier: Apache-2.0 */
#include "base/limits.h"
#include "fleet/batch_reader.h"

/* Limits for damaged batches: real ones need less than 2 bytes of line texts and 2 frames of stacks for each of their
 * bytes. */
#define LINE_BYTES_FREE	   ((size_t)1 << 20)
#define LINE_BYTES_RATIO   16
#define STACK_FRAMES_FREE  ((size_t)1 << 16)
#define STACK_FRAMES_RATIO 4

static uint32_t batch_read_build_id(struct batch_reader *r, const struct protobuf_field *f)
{
	static const char digits[] = "0123456789abcdef";
	char text[2 * BUILD_ID_BYTES];
	struct tally_bytes id = f->bytes;
	if (f->wire != PROTOBUF_BYTES || id.len > BUILD_ID_BYTES) {
		batch_reader_fail(r, TALLY_CORRUPT, f->offset, "a build ID is not %d bytes or less", BUILD_ID_BYTES);
		return PROFILE_NONE;
	}
	for (size_t i = 0; i < id.len; i++) {
		text[2 * i] = digits[id.data[i] >> 4];
		text[2 * i + 1] = digits[id.data[i] & 15];
	}
	return profile_builder_string(r->builder, (struct tally_str){text, 2 * id.len});
}

static void batch_read_binary(struct batch_reader *r, struct protobuf_reader binary, size_t index)
{
	struct profile_binary to = {.name = r->strings[0], .long_name = r->strings[0], .build_id = r->strings[0]};
	struct protobuf_field f;
	while (r->status == TALLY_OK && protobuf_next(&binary, &f)) {
		if (f.number == BINARY_NAME)
			to.name = r->strings[batch_reader_string(r, &f)];
		else if (f.number == BINARY_PATH)
			to.long_name = r->strings[batch_reader_string(r, &f)];
		else if (f.number == BINARY_BUILD_ID)
			to.build_id = batch_read_build_id(r, &f);
		else if (f.number == BINARY_IS_KERNEL)
			to.is_kernel = batch_reader_u64(r, &f) != 0;
	}
	batch_reader_end(r, &binary);
	r->binaries[index] = profile_builder_binary(r->builder, &to);
}

void batch_read_binaries(struct batch_reader *r)
{
	struct protobuf_reader pass = batch_reader_pass(r, BATCH_BINARY);
	struct protobuf_field f;
	r->binaries = batch_reader_array(r, r->counts[BATCH_BINARY], sizeof(*r->binaries));
	for (size_t i = 0; batch_reader_next(r, &pass, BATCH_BINARY, &f); i++)
		batch_read_binary(r, protobuf_nested(&pass, &f), i);
}

struct batch_read_frame {
	uint32_t function, file; /* Indexes of strings of the batch. */
	uint32_t line;
	uint64_t start, size;
	bool is_start;
};

static struct batch_read_frame batch_read_frame(struct batch_reader *r, struct protobuf_reader frame)
{
	struct batch_read_frame to = {0};
	struct protobuf_field f;
	while (r->status == TALLY_OK && protobuf_next(&frame, &f)) {
		if (f.number == FRAME_FUNCTION)
			to.function = batch_reader_string(r, &f);
		else if (f.number == FRAME_FILE)
			to.file = batch_reader_string(r, &f);
		else if (f.number == FRAME_LINE)
			to.line = batch_reader_u32(r, &f);
		else if (f.number == FRAME_START)
			to.start = batch_reader_u64(r, &f);
		else if (f.number == FRAME_SIZE)
			to.size = batch_reader_u64(r, &f);
		else if (f.number == FRAME_IS_START)
			to.is_start = batch_reader_u64(r, &f) != 0;
	}
	batch_reader_end(r, &frame);
	return to;
}

struct batch_read_location {
	uint32_t binary; /* Binary of the profile. */
	uint64_t address;
	uint8_t level;
	bool is_left_out;
	size_t frame_count;
	uint64_t offset; /* Position in the bytes, for messages. */
};

static struct profile_place batch_read_line(
	struct batch_reader *r, const struct batch_read_location *at, const struct batch_read_frame *frame)
{
	struct tally_str file = r->texts[frame->file];
	struct text text = {0};
	if (file.len == 0)
		return (struct profile_place){r->strings[0], r->strings[0]};
	r->line_bytes += file.len + 1;
	if (r->line_bytes > LINE_BYTES_FREE + LINE_BYTES_RATIO * r->bytes) {
		batch_reader_fail(r, TALLY_LIMIT, at->offset, "the lines of the batch need too much memory");
		return (struct profile_place){PROFILE_NONE, PROFILE_NONE};
	}
	text_visible(&text, file);
	text_char(&text, ':');
	text_u64(&text, frame->line);
	struct profile_place place = {PROFILE_NONE, r->strings[frame->file]};
	if (text.failed)
		batch_reader_nomem(r);
	else
		place.line = profile_builder_string(r->builder, text_view(&text));
	text_deinit(&text);
	return place;
}

/* Adds one of the frames of a location; the function itself is the last one. */
static void batch_read_add_frame(struct batch_reader *r, const struct batch_read_location *at,
	const struct batch_read_frame *frame, bool is_last, struct profile_place *innermost)
{
	struct profile_frame to = {.function = PROFILE_NONE,
		.binary = at->binary,
		.address = at->address,
		.level = at->level,
		.own_line = batch_read_line(r, at, frame)};
	bool has_symbol = r->texts[frame->function].len > 0;
	if (!has_symbol && at->frame_count > 1) {
		batch_reader_fail(
			r, TALLY_CORRUPT, at->offset, "a location has several frames, and one has no function");
		return;
	}
	if (innermost->line == PROFILE_NONE)
		*innermost = to.own_line;
	to.innermost_line = is_last ? *innermost : to.own_line;
	to.raw_address = has_symbol ? 0 : at->address;
	to.is_start = !has_symbol && frame->is_start;
	if (has_symbol)
		to.function = profile_builder_function(
			r->builder, &(struct profile_function){.name = r->strings[frame->function],
					    .binary = at->binary,
					    .start = is_last ? frame->start : 0,
					    .size = is_last ? frame->size : 0,
					    .is_inlined = !is_last,
					    .is_start = is_last && frame->is_start});
	if (!vec_push(&r->frames, profile_builder_frame(r->builder, &to)))
		batch_reader_nomem(r);
}

/* Adds the only frame of a location without frames. */
static void batch_read_add_nameless(struct batch_reader *r, const struct batch_read_location *at)
{
	struct profile_place innermost = {PROFILE_NONE, PROFILE_NONE};
	size_t index = r->frames.len;
	batch_read_add_frame(r, at, &(struct batch_read_frame){0}, true, &innermost);
	if (at->is_left_out && r->frames.len > index && !vec_push(&r->left_out, r->frames.items[index]))
		batch_reader_nomem(r);
}

static void batch_read_location(struct batch_reader *r, struct protobuf_reader location, uint64_t offset)
{
	static const uint8_t levels[] = BATCH_LEVELS;
	struct batch_read_location at = {.binary = PROFILE_NONE, .offset = offset};
	struct protobuf_reader again = location;
	struct protobuf_field f;
	while (r->status == TALLY_OK && protobuf_next(&location, &f)) {
		if (f.number == LOCATION_BINARY) {
			uint32_t binary = batch_reader_reference(r, &f, r->counts[BATCH_BINARY], "binary");
			at.binary = binary ? r->binaries[binary - 1] : PROFILE_NONE;
		} else if (f.number == LOCATION_ADDRESS) {
			at.address = batch_reader_u64(r, &f);
		} else if (f.number == LOCATION_LEVEL) {
			uint32_t level = batch_reader_u32(r, &f);
			at.level = level < ARRAY_LEN(levels) ? levels[level] : PROFILE_LEVEL_UNKNOWN;
		} else if (f.number == LOCATION_LEFT_OUT) {
			at.is_left_out = batch_reader_u64(r, &f) != 0;
		}
		at.frame_count += f.number == LOCATION_FRAME;
	}
	batch_reader_end(r, &location);
	if (at.frame_count > LIMIT_INLINE_DEPTH + 1 || r->frames.len + at.frame_count > FLEET_FRAMES)
		batch_reader_fail(r, TALLY_LIMIT, offset, "the locations of the batch have too many frames");
	if (at.frame_count == 0 && r->status == TALLY_OK)
		batch_read_add_nameless(r, &at);
	struct profile_place innermost = {PROFILE_NONE, PROFILE_NONE};
	for (size_t left = at.frame_count; left > 0 && r->status == TALLY_OK && protobuf_next(&again, &f);) {
		if (f.number != LOCATION_FRAME)
			continue;
		struct batch_read_frame frame = batch_read_frame(r, protobuf_nested(&again, &f));
		if (r->status == TALLY_OK)
			batch_read_add_frame(r, &at, &frame, --left == 0, &innermost);
	}
}

void batch_read_locations(struct batch_reader *r)
{
	struct protobuf_reader pass = batch_reader_pass(r, BATCH_LOCATION);
	struct protobuf_field f;
	size_t count = r->counts[BATCH_LOCATION], i = 0;
	r->location_begins = batch_reader_array(r, count + 1, sizeof(*r->location_begins));
	while (batch_reader_next(r, &pass, BATCH_LOCATION, &f)) {
		r->location_begins[i++] = r->frames.len;
		batch_read_location(r, protobuf_nested(&pass, &f), f.offset);
	}
	if (r->status == TALLY_OK)
		r->location_begins[count] = r->frames.len;
}

struct batch_read_path {
	VEC(uint32_t) frames; /* Frames of the stack being read. */
	size_t locations;
	size_t total; /* Number of frames of all stacks. */
};

static void batch_read_path_add(
	struct batch_reader *r, struct batch_read_path *path, uint64_t location, uint64_t offset)
{
	size_t count = r->counts[BATCH_LOCATION];
	if (location >= count) {
		batch_reader_fail(r, TALLY_CORRUPT, offset, "the batch refers to location %llu, and has %zu of them",
			(unsigned long long)location, count);
		return;
	}
	size_t begin = r->location_begins[location], len = r->location_begins[location + 1] - begin;
	path->total += len;
	if (++path->locations > FLEET_STACK_DEPTH || path->total > STACK_FRAMES_FREE + STACK_FRAMES_RATIO * r->bytes) {
		batch_reader_fail(r, TALLY_LIMIT, offset, "the stacks of the batch are too deep");
		return;
	}
	if (!vec_reserve(&path->frames, path->frames.len + len)) {
		batch_reader_nomem(r);
		return;
	}
	memcpy(path->frames.items + path->frames.len, r->frames.items + begin, len * sizeof(*path->frames.items));
	path->frames.len += len;
}

static void batch_read_stack(struct batch_reader *r, struct protobuf_reader stack, uint64_t offset,
	struct batch_read_path *path, size_t index)
{
	struct protobuf_field f;
	uint64_t location, first = 0;
	path->frames.len = path->locations = 0;
	while (r->status == TALLY_OK && protobuf_next(&stack, &f)) {
		if (f.number != STACK_LOCATION)
			continue;
		struct protobuf_reader numbers = protobuf_numbers(&stack, &f, PROTOBUF_VARINT);
		while (r->status == TALLY_OK && protobuf_next_varint(&numbers, &location)) {
			first = path->locations == 0 ? location : first;
			batch_read_path_add(r, path, location, f.offset);
		}
		batch_reader_end(r, &numbers);
	}
	batch_reader_end(r, &stack);
	if (path->locations == 0)
		batch_reader_fail(r, TALLY_CORRUPT, offset, "a stack of the batch has no locations");
	if (r->status != TALLY_OK)
		return;
	r->stacks[index] = profile_builder_stack(r->builder, path->frames.items, path->frames.len);
	r->leaves[index] = r->frames.items[r->location_begins[first + 1] - 1];
	r->has_callers[index] = path->locations > 1;
}

void batch_read_stacks(struct batch_reader *r)
{
	struct protobuf_reader pass = batch_reader_pass(r, BATCH_STACK);
	struct protobuf_field f;
	struct batch_read_path path = {0};
	size_t count = r->counts[BATCH_STACK];
	r->stacks = batch_reader_array(r, count, sizeof(*r->stacks));
	r->leaves = batch_reader_array(r, count, sizeof(*r->leaves));
	r->has_callers = batch_reader_array(r, count, sizeof(*r->has_callers));
	for (size_t i = 0; batch_reader_next(r, &pass, BATCH_STACK, &f); i++)
		batch_read_stack(r, protobuf_nested(&pass, &f), f.offset, &path, i);
	vec_free(&path.frames);
}
