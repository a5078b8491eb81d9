/* SPDX-License-Identifier: Apache-2.0 */
/*
 * line_program.h - reads the source lines and inlined calls of one file with an external addr2line program
 * (--addr2line). It understands the programs of GNU binutils, elfutils and LLVM.
 *
 * The program runs without a shell, as "PROGRAM -e PATH -a -i -f", and gets addresses on its standard input. It keeps
 * running for single addresses, and ends after many at once. Its output is not trusted: answers to other addresses are
 * ignored, and a program that prints nothing for a minute has failed. One thread at a time.
 *
 *	line_program_open("llvm-addr2line", "/usr/bin/true", &lines, err);
 *	line_program_load(lines, addresses, count, err);
 *	count = line_program_find(lines, addresses[0], places, max);
 */
#ifndef CODE_BINARIES_LINE_PROGRAM_H
#define CODE_BINARIES_LINE_PROGRAM_H

#include <tally/status.h>

#include "base/bytes.h"
#include "code/symbol.h"

struct line_program;

/* Prepares to read the lines of the file at path; the program is started when it is needed. program and path are
 * borrowed. */
TALLY_MUST_CHECK enum tally_status line_program_open(
	const char *program, const char *path, struct line_program **lines, struct tally_error *err);
void line_program_close(struct line_program *lines);
/* Looks up the link-time addresses that were not looked up before. IO: the program cannot be run, or failed; it is not
 * used any more then, and further calls return the same error. */
TALLY_MUST_CHECK enum tally_status line_program_load(
	struct line_program *lines, const uint64_t *addresses, size_t count, struct tally_error *err);
/* Returns the places of an address, innermost first, like binary_store_places. Strings live as long as lines. */
size_t line_program_find(const struct line_program *lines, uint64_t address, struct source_place *places, size_t max);

#endif
