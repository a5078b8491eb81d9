/* SPDX-License-Identifier: Apache-2.0 */
/*
 * python_code.h - reads what the walk in the kernel sends of a code object of CPython 3.11 (struct python_code): its
 * name and file as UTF-8, and the source line of an instruction. The bytes are another process's, so nothing in them is
 * trusted: sizes are bounded by what the struct holds.
 *
 *	python_code_text(&w, &code->name);   line = python_code_line(code->first_line, lines, index);
 */
#ifndef BPF_PYTHON_CODE_H
#define BPF_PYTHON_CODE_H

#include "base/bytes.h"
#include "base/writer.h"
#include "bpf/python_layout.h"

/* Appends a text without characters that a line of a map cannot have. */
void python_code_text(struct writer *w, const struct python_text *text);
/* The table of lines, as far as it was kept. */
struct tally_bytes python_code_lines(const struct python_code *code);
/* Of the instruction with that index, in code units; 0: the table does not say. */
uint32_t python_code_line(int32_t first_line, struct tally_bytes lines, uint32_t index);
/* The last line of the code object; first_line if the table says no more. */
uint32_t python_code_last_line(int32_t first_line, struct tally_bytes lines);

#endif
