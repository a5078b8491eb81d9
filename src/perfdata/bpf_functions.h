/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bpf_functions.h - lists the functions of a recording's BPF programs with name, address and size, and reads their
 * source lines.
 *
 * Reads BPF_PROG_INFO (struct bpf_prog_info of linux/bpf.h, pointers as offsets) and the names in BPF_BTF
 * (linux/btf.h). Owned by the caller; borrows from the features. Bad input: a program whose data does not fit its
 * section has no functions or no names; types are read once, at creation.
 *
 *	bpf_functions_create(features, is_swapped, &functions, err);
 *	for (size_t i = 0; bpf_function_at(functions, program, i, &f); i++) ...
 */
#ifndef PERFDATA_BPF_FUNCTIONS_H
#define PERFDATA_BPF_FUNCTIONS_H

#include "perfdata/features.h"

#define BPF_TAG_BYTES 8

struct bpf_function {
	uint64_t address;
	uint32_t size; /* bytes */
	uint8_t tag[BPF_TAG_BYTES];
	struct tally_str name; /* by the types; else the program's, which the kernel cuts at 15 characters; else "F" */
};

struct bpf_line {
	uint64_t address; /* from which on, up to the next line of the function */
	struct tally_str path; /* as the compiler knew it */
	uint32_t number;
};

struct bpf_functions;

TALLY_MUST_CHECK enum tally_status bpf_functions_create(
	const struct perfdata_features *features, bool swap, struct bpf_functions **functions, struct tally_error *err);
void bpf_functions_destroy(struct bpf_functions *functions);
/* The kernel's number of a program. */
uint32_t bpf_program_id(const struct bpf_functions *functions, const struct perfdata_bpf_program *program);
size_t bpf_function_count(const struct bpf_functions *functions, const struct perfdata_bpf_program *program);
/* False after the last one. */
bool bpf_function_at(const struct bpf_functions *functions, const struct perfdata_bpf_program *program, size_t index,
	struct bpf_function *function);
size_t bpf_line_count(const struct bpf_functions *functions, const struct perfdata_bpf_program *program);
/* False after the last one. A line without types has no path. */
bool bpf_line_at(const struct bpf_functions *functions, const struct perfdata_bpf_program *program, size_t index,
	struct bpf_line *line);

#endif
