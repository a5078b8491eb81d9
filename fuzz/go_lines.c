/* SPDX-License-Identifier: Apache-2.0 */
/*
 * go_lines.c - reads lines, inlined calls and frames from the function table of Go, alone or in an ELF file: at many
 * addresses, the texts end within the input, and there are no more frames than bytes.
 */
#include "object/elf/go_lines.h"

#include <stdlib.h>

#include "object/elf/go_frames.h"

#define PLACES	  8
#define ADDRESSES 64

static void check_text(struct tally_bytes bytes, const char *text)
{
	const uint8_t *begin = (const uint8_t *)text;
	if (text && (begin < bytes.data || begin >= bytes.data + bytes.len ||
			    !memchr(begin, '\0', (size_t)(bytes.data + bytes.len - begin))))
		abort();
}

static void find_many(struct tally_bytes bytes, const struct go_lines *lines, uint64_t first)
{
	struct go_place places[PLACES];
	for (uint64_t i = 0; i < ADDRESSES; i++) {
		size_t count = go_lines_find(lines, first + i * i, places, PLACES);
		if (count > PLACES)
			abort();
		for (size_t p = 0; p < count; p++) {
			check_text(bytes, places[p].function);
			check_text(bytes, places[p].path);
		}
	}
}

static bool count_frame(void *context, const struct go_frame *frame)
{
	size_t *left = context;
	if (frame->low >= frame->high || (frame->sets_fp && !frame->saves_fp) || (*left)-- == 0)
		abort();
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct tally_bytes bytes = {data, size};
	struct elf_image *image;
	struct go_lines lines;
	for (int swap = 0; swap < 2; swap++) {
		lines = (struct go_lines){.trees = bytes, .program.text = 0x1000};
		size_t left = size;
		if (!go_header_read(bytes, swap != 0, &lines.program.header))
			continue;
		find_many(bytes, &lines, 0x1000);
		go_frames_of_table(&lines.program, count_frame, &left);
	}
	if (elf_image_open_bytes(bytes, &image, NULL) != TALLY_OK)
		return 0;
	if (go_lines_open(image, &lines, NULL) == TALLY_OK)
		find_many(elf_image_bytes(image), &lines, lines.program.text);
	size_t left = size;
	go_frames_each(image, count_frame, &left);
	elf_image_close(image);
	return 0;
}
