/* SPDX-License-Identifier: Apache-2.0 */
#include "jitdump_builder.h"

static size_t begin(struct writer *w, uint32_t id, uint64_t time)
{
	size_t start = w->len;
	writer_u32(w, id);
	writer_u32(w, 0);
	writer_u64(w, time);
	return start;
}

static void end(struct writer *w, size_t start)
{
	writer_patch_u32(w, start + 4, (uint32_t)(w->len - start));
}

void jitdump_builder_header(struct writer *w, uint32_t pid, uint64_t flags)
{
	writer_u32(w, 0x4A695444);
	writer_u32(w, 1);
	writer_u32(w, 40);
	writer_u32(w, 62); /* EM_X86_64 */
	writer_u32(w, 0);
	writer_u32(w, pid);
	writer_u64(w, 1);
	writer_u64(w, flags);
}

void jitdump_builder_load(struct writer *w, uint64_t time, const struct jitdump_builder_code *code)
{
	size_t start = begin(w, 0, time);
	writer_u32(w, 42);
	writer_u32(w, 42);
	writer_u64(w, code->address);
	writer_u64(w, code->address);
	writer_u64(w, code->size);
	writer_u64(w, code->index);
	writer_bytes(w, code->name, strlen(code->name) + 1);
	writer_bytes(w, code->bytes, code->size);
	end(w, start);
}

void jitdump_builder_move(struct writer *w, uint64_t time, uint64_t from, uint64_t to, uint64_t size, uint64_t index)
{
	size_t start = begin(w, 1, time);
	writer_u32(w, 42);
	writer_u32(w, 42);
	writer_u64(w, to);
	writer_u64(w, from);
	writer_u64(w, to);
	writer_u64(w, size);
	writer_u64(w, index);
	end(w, start);
}

void jitdump_builder_lines(
	struct writer *w, uint64_t time, uint64_t address, const struct jitdump_builder_line *lines, uint64_t count)
{
	size_t start = begin(w, 2, time);
	writer_u64(w, address);
	writer_u64(w, count);
	for (uint64_t i = 0; i < count; i++) {
		writer_u64(w, lines[i].address);
		writer_u32(w, lines[i].line);
		writer_u32(w, 0);
		writer_bytes(w, lines[i].path, strlen(lines[i].path) + 1);
	}
	end(w, start);
}

void jitdump_builder_unwinding(struct writer *w, uint64_t time, const void *bytes, uint64_t size, uint64_t header_size)
{
	size_t start = begin(w, 4, time);
	writer_u64(w, size);
	writer_u64(w, header_size);
	writer_u64(w, size);
	writer_bytes(w, bytes, size);
	end(w, start);
}

void jitdump_builder_close(struct writer *w, uint64_t time)
{
	end(w, begin(w, 3, time));
}
