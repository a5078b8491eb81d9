/* SPDX-License-Identifier: Apache-2.0 */
/*
 * python_code.h - decodes the code objects of CPython 3.11 that the walk in the kernel sends (struct python_code): name
 * and file as UTF-8, and the source line of an instruction. The bytes come from another process, so they are not
 * trusted: sizes are limited to those of the struct.
 *
 *	python_code_text(&w, &code->name);
 *	line = python_code_line(code->first_line, python_code_lines(code), index);
 */
#ifndef BPF_PYTHON_CODE_H
#define BPF_PYTHON_CODE_H

#include "base/bytes.h"
#include "base/writer.h"
#include "bpf/python_layout.h"

/* Appends a text as UTF-8, with '?' in place of control characters and invalid ones. */
void python_code_text(struct writer *w, const struct python_text *text);
/* Returns the part of the line table that was sent, which is borrowed from code. */
struct tally_bytes python_code_lines(const struct python_code *code);
/* Returns the line of the instruction that is preceded by index code units; 0 if the table has no line for it. */
uint32_t python_code_line(int32_t first_line, struct tally_bytes lines, uint32_t index);
/* Returns the last line of the code object; first_line if the table has no greater line. */
uint32_t python_code_last_line(int32_t first_line, struct tally_bytes lines);

#endif
