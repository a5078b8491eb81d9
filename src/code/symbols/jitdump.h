/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jitdump.h - reads a jitdump (jit-PID.dump), which a runtime writes about its JIT code: which function was at which
 * address at which time, its lines, and its unwinding information.
 *
 * Each function has a unique address, even if its memory is reused later: the offset of its code in the dump. The
 * caller owns the dump and its bytes, which are borrowed and must outlive it. After parsing it is read-only: any
 * thread. Format: tools/perf/Documentation/jitdump-specification.txt of Linux. Bad input: a damaged record is skipped
 * and counted; nothing is read after a record with an impossible size.
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

/* A function. The list is sorted by offset. */
struct jitdump_code {
	uint64_t offset, size; /* Position and size of its code in the dump. */
	uint64_t address; /* Its first address, to which its lines are relative. */
	const char *name;
	/* Position and number of its encoded lines; the count is 0 if there are none. */
	size_t line_position, line_count;
	struct tally_bytes eh_frame; /* .eh_frame as if it followed the code, aligned to 8 bytes; empty if none. */
	struct tally_bytes eh_frame_header; /* .eh_frame_hdr, as if it followed .eh_frame directly. */
};

/* Code at an address from a time on, until other code replaces it. The list is in file order. */
struct jitdump_place {
	uint64_t time; /* Time on the dump's clock. */
	uint64_t address, size;
	uint64_t offset; /* Offset of the code in the dump. */
};

struct jitdump {
	struct tally_bytes bytes;
	VEC(struct jitdump_code) codes;
	VEC(struct jitdump_place) places;
	uint32_t pid; /* PID in the PID namespace of the process. */
	uint16_t elf_machine;
	/* What the runtime has added to the addresses of lines: V8 counts them from the start of the ELF file that perf
	 * would write; 0 for other runtimes. */
	uint8_t line_shift;
	bool swap;
	bool has_cpu_time; /* Times are those of the CPU's counter; otherwise CLOCK_MONOTONIC in ns. */
	bool is_cut; /* The last record is incomplete: the runtime is still writing, or was killed. */
	uint64_t damaged; /* Number of damaged records. */
};

/* Sizes of the format, for code that reads a dump while it is written. */
#define JITDUMP_HEADER_BYTES 40
#define JITDUMP_RECORD_BYTES 16 /* Header of each record: kind, length, time. */
#define JITDUMP_LOAD_BYTES \
	40 /* Fixed part of a function record before its name: process, thread, VMA, address, size, index. */
#define JITDUMP_UNWINDING_BYTES 24 /* Fixed part before .eh_frame: its size, size of its header, mapped size. */
enum jitdump_record_id {
	JITDUMP_CODE_LOAD,
	JITDUMP_CODE_MOVE,
	JITDUMP_CODE_DEBUG_INFO,
	JITDUMP_CODE_CLOSE,
	JITDUMP_CODE_UNWINDING
};
struct jitdump_header {
	uint32_t pid; /* PID in the PID namespace of the process. */
	uint16_t elf_machine; /* Some runtimes write 0. */
	uint8_t line_shift; /* See struct jitdump. */
	bool swap, has_cpu_time;
};
/* Reads the header, sets the cursor's byte order to that of the dump, and leaves it at the first record. Returns false
 * if it is not a jitdump of version 1. */
bool jitdump_read_header(struct cursor *c, struct jitdump_header *header);

/* Parses a dump. INVALID: it is not a jitdump, or its version is not known. */
TALLY_MUST_CHECK enum tally_status jitdump_parse(
	struct jitdump *dump, struct tally_bytes bytes, struct tally_error *err);
void jitdump_deinit(struct jitdump *dump);
/* Returns the function that has its code at that offset of the dump; NULL if there is none. */
const struct jitdump_code *jitdump_find(const struct jitdump *dump, uint64_t offset);
/* Iterator over a function's lines, in file order. */
struct jitdump_lines {
	struct cursor at;
	size_t left; /* Number of rows that have not been returned yet. */
	uint64_t start; /* Address of the function's first byte in the line records. */
	const char *path; /* Path of the previous row; NULL if none was stated. */
};
struct jitdump_row {
	uint64_t offset; /* Offset in the code at which the line begins. */
	uint32_t line;
	const char *path; /* NULL if not known. */
};
struct jitdump_lines jitdump_lines_of(const struct jitdump *dump, const struct jitdump_code *code);
/* Returns false after the last row. */
bool jitdump_lines_next(struct jitdump_lines *lines, struct jitdump_row *row);
/* Finds the line of the instruction at that offset of the dump. Returns false if the dump does not contain it. */
bool jitdump_line(const struct jitdump *dump, uint64_t offset, struct source_place *place);

#endif
