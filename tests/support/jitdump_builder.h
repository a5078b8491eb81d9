/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jitdump_builder.h - writes the records of a jitdump for tests, in the byte order of the writer.
 *
 *	jitdump_builder_header(&w, pid, 0);
 *	jitdump_builder_load(&w, time, &(struct jitdump_builder_code){address, 1, "name", bytes, count});
 */
#ifndef SUPPORT_JITDUMP_BUILDER_H
#define SUPPORT_JITDUMP_BUILDER_H

#include "base/writer.h"

#define JITDUMP_BUILDER_SIZE_AT	 40 /* Offset of the code size in a code load record. */
#define JITDUMP_BUILDER_LINES_AT 24 /* Offset of the number of entries in a debug info record. */

struct jitdump_builder_code {
	uint64_t address, index;
	const char *name;
	const char *bytes;
	uint64_t size;
};

struct jitdump_builder_line {
	uint64_t address;
	uint32_t line;
	const char *path;
};

void jitdump_builder_header(struct writer *w, uint32_t pid, uint64_t flags);
void jitdump_builder_load(struct writer *w, uint64_t time, const struct jitdump_builder_code *code);
void jitdump_builder_move(struct writer *w, uint64_t time, uint64_t from, uint64_t to, uint64_t size, uint64_t index);
void jitdump_builder_lines(
	struct writer *w, uint64_t time, uint64_t address, const struct jitdump_builder_line *lines, uint64_t count);
/* Writes an unwinding info record with size bytes, the last header_size of which are the .eh_frame_hdr. */
void jitdump_builder_unwinding(struct writer *w, uint64_t time, const void *bytes, uint64_t size, uint64_t header_size);
void jitdump_builder_close(struct writer *w, uint64_t time);

#endif
