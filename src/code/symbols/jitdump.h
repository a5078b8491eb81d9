/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jitdump.h - reads a runtime's dump of generated code (jit-PID.dump): which function was at which address when, its
 * lines, and its unwinding information.
 *
 * Each function has a unique address, even if its memory is reused later: the offset of its code in the dump. The
 * caller owns the dump and its bytes, which are borrowed and outlive it. Read-only after it was parsed: any thread.
 * Format: tools/perf/Documentation/jitdump-specification.txt of Linux. Bad input: a damaged record is skipped and
 * counted; nothing is read after a record whose size is impossible.
 *
 *	if (jitdump_parse(&dump, bytes, err) == TALLY_OK)
 *		for (size_t i = 0; i < dump.places.len; i++) ...
 */
#ifndef CODE_SYMBOLS_JITDUMP_H
#define CODE_SYMBOLS_JITDUMP_H

#include <tally/status.h>

#include "base/bytes.h"
#include "base/cursor.h"
#include "base/vec.h"
#include "code/symbol.h"

struct jitdump_code { /* a function, by offset */
	uint64_t offset, size; /* its code in the dump */
	uint64_t address; /* its first address, from which its lines count */
	const char *name;
	size_t line_position, line_count; /* its lines, undecoded; count 0: none */
	struct tally_bytes eh_frame; /* as if it lay behind the code, aligned to 8; empty: none */
	struct tally_bytes eh_frame_header; /* directly behind it */
};

struct jitdump_place { /* in the order written: from that time on, until another takes the memory */
	uint64_t time; /* of the dump's clock */
	uint64_t address, size;
	uint64_t offset; /* of the code */
};

struct jitdump {
	struct tally_bytes bytes;
	VEC(struct jitdump_code) codes;
	VEC(struct jitdump_place) places;
	uint32_t pid; /* in the process's own namespace */
	uint16_t elf_machine;
	uint8_t line_shift; /* of addresses of lines: V8 counts them from the ELF file that perf would make */
	bool swap;
	bool has_cpu_time; /* times are the CPU's counter; else CLOCK_MONOTONIC in ns */
	bool is_cut; /* the last record is incomplete: the runtime is still writing, or was killed */
	uint64_t damaged;
};

/* The layout, for code that reads a dump while it is written. */
#define JITDUMP_HEADER_BYTES 40
#define JITDUMP_RECORD_BYTES 16 /* in front of each: kind, length, time */
#define JITDUMP_LOAD_BYTES \
	40 /* of a function, before its name: process, thread, address, where it lies, size, number */
#define JITDUMP_UNWINDING_BYTES 24 /* before .eh_frame: its size, that of its header behind it, what is mapped */
enum jitdump_record_id {
	JITDUMP_CODE_LOAD,
	JITDUMP_CODE_MOVE,
	JITDUMP_CODE_DEBUG_INFO,
	JITDUMP_CODE_CLOSE,
	JITDUMP_CODE_UNWINDING
};
struct jitdump_header {
	uint32_t pid; /* in the process's own namespace */
	uint16_t elf_machine; /* some runtimes write 0 */
	uint8_t line_shift; /* as in struct jitdump */
	bool swap, has_cpu_time;
};
/* Leaves the cursor, which then swaps as the dump wants, at the first record. False: no jitdump of version 1. */
bool jitdump_read_header(struct cursor *c, struct jitdump_header *header);

/* INVALID: no jitdump, or of a version that is not known. */
TALLY_MUST_CHECK enum tally_status jitdump_parse(
	struct jitdump *dump, struct tally_bytes bytes, struct tally_error *err);
void jitdump_deinit(struct jitdump *dump);
/* The function whose code is at that offset of the dump; NULL: none. */
const struct jitdump_code *jitdump_find(const struct jitdump *dump, uint64_t offset);
/* The rows of a function's lines, as they were written. */
struct jitdump_lines {
	struct cursor at;
	size_t left;
	uint64_t start; /* what addresses count from */
	const char *path; /* of the row before; NULL: none was named */
};
struct jitdump_row {
	uint64_t offset; /* in the code; from there on */
	uint32_t line;
	const char *path; /* NULL: not said */
};
struct jitdump_lines jitdump_lines_of(const struct jitdump *dump, const struct jitdump_code *code);
bool jitdump_lines_next(struct jitdump_lines *lines, struct jitdump_row *row);
/* The line of the instruction at that offset. False: the dump does not say. */
bool jitdump_line(const struct jitdump *dump, uint64_t offset, struct source_place *place);

#endif
