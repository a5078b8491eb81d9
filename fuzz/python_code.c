/* SPDX-License-Identifier: Apache-2.0 */
/*
 * python_code.c - decodes the description of a Python code object that was read from a process: texts and lines stay
 * within the bytes that were read.
 */
#include "bpf/python_code.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct python_code *code = calloc(1, sizeof(*code));
	struct writer w = {0};
	if (!code)
		return 0;
	memcpy(code, data, MIN(size, sizeof(*code)));
	python_code_text(&w, &code->name);
	python_code_text(&w, &code->file);
	for (size_t i = 0; i < w.len; i++)
		if (w.data[i] < 0x20)
			abort();
	struct tally_bytes lines = python_code_lines(code);
	uint32_t last = python_code_last_line(code->first_line, lines);
	for (uint32_t index = 0; index < 64; index++)
		if (python_code_line(code->first_line, lines, index * index) > last)
			abort();
	writer_deinit(&w);
	free(code);
	return 0;
}
