/* SPDX-License-Identifier: Apache-2.0 */
/*
 * annotate_objdump.h - disassembles with an external objdump program (--objdump).
 *
 * The program reads the code from an object file in memory, whatever its origin, so it disassembles the same bytes. It
 * runs without a shell. Its output is not trusted: addresses outside of the code and sizes beyond it are ignored.
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
	unsigned size; /* In bytes. */
	const char *text; /* Text without names of addresses, such as "mov    %edi,%ecx". */
	const char *mnemonic, *operands; /* Parts of text; operands have no comments. */
};

struct objdump_lines {
	VEC(struct objdump_line) items; /* Sorted by address, without overlaps. */
	struct arena arena;
};

/* Checks the argument of -M: if objdump is NULL, it must be a style of the built-in disassembler. Returns 0, or the
 * exit status after printing a message. */
int disassembly_style_check(const struct cli *cli, const char *style, const char *objdump);
/* Returns "intel" or "att" if the setting is annotate.disassembler_style with this value, otherwise NULL. */
const char *annotate_config_style(const struct config_text *config);
/* style is the argument of objdump's -M, or NULL. Returns NOT_FOUND if the program does not exist, and INVALID if it
 * failed or printed no instructions. */
TALLY_MUST_CHECK enum tally_status objdump_run(const char *program, const char *style, const struct binary_code *code,
	struct objdump_lines *lines, struct tally_error *err);
void objdump_lines_deinit(struct objdump_lines *lines);
/* Parses a line of output; ignores it if it is not an instruction in the code. Returns false if memory runs out. */
bool objdump_lines_add(struct objdump_lines *lines, struct tally_str line, const struct binary_code *code);
/* Writes an object file that has the code as its only section. Returns false if memory runs out. */
bool objdump_object(struct writer *w, const struct binary_code *code);

#endif
