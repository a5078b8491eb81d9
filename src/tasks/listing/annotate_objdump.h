/* SPDX-License-Identifier: Apache-2.0 */
/*
 * annotate_objdump.h - disassembles with an external objdump program (--objdump).
 *
 * The program gets the code as an object file in memory, whatever its origin, so it disassembles the same bytes. It
 * runs without a shell. Its output is not trusted: addresses outside of the code and sizes beyond it are left out.
 *
 *	struct objdump_lines lines = {0};
 *	objdump_run("aarch64-linux-gnu-objdump", NULL, &code, &lines, err);
 *	objdump_lines_deinit(&lines);
 */
#ifndef TASKS_LISTING_ANNOTATE_OBJDUMP_H
#define TASKS_LISTING_ANNOTATE_OBJDUMP_H

#include "base/arena.h"
#include "base/config_text.h"
#include "base/vec.h"
#include "base/writer.h"
#include "cli/cli.h"
#include "code/binary_store.h"

struct objdump_line {
	uint64_t address;
	unsigned size; /* bytes */
	const char *text; /* without names of addresses; "mov    %edi,%ecx" */
	const char *mnemonic, *operands; /* parts of text; operands without comments */
};

struct objdump_lines {
	VEC(struct objdump_line) items; /* by address, apart */
	struct arena arena;
};

/* Without objdump, -M takes the styles of the disassembler here. 0, or the exit code after saying what is wrong. */
int disassembly_style_check(const struct cli *cli, const char *style, const char *objdump);
/* The style that the configuration sets, if it is "intel" or "att"; NULL: it sets none, or an unknown one. */
const char *annotate_config_style(const struct config_text *config);
/* style: as of -M; NULL: none. NOT_FOUND: no such program. INVALID: it failed, or gave no instructions. */
TALLY_MUST_CHECK enum tally_status objdump_run(const char *program, const char *style, const struct binary_code *code,
	struct objdump_lines *lines, struct tally_error *err);
void objdump_lines_deinit(struct objdump_lines *lines);
/* Parses a line of output; a line that is not an instruction in the code adds nothing. False: out of memory. */
bool objdump_lines_add(struct objdump_lines *lines, struct tally_str line, const struct binary_code *code);
/* An object file with the code as its one section. False: out of memory. */
bool objdump_object(struct writer *w, const struct binary_code *code);

#endif
