/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bpf_functions.h - lists the functions of a recording's BPF programs with name, address and size, and reads their
 * source lines.
 *
 * It reads BPF_PROG_INFO (struct bpf_prog_info of linux/bpf.h, with offsets for pointers) and the names in BPF_BTF
 * (linux/btf.h). The caller owns struct bpf_functions, which borrows from the features. Types are read once, at
 * creation. Bad input: a program with data that does not fit its section has no functions or no names.
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
	uint32_t size; /* In bytes. */
	uint8_t tag[BPF_TAG_BYTES]; /* Hash of the instructions; that of the program if the function has none. */
	/* Name from the BTF types. Without them, the name of the program, which the kernel truncates to 15 characters,
	 * if this is its only function; "F" otherwise. */
	struct tally_str name;
};

struct bpf_line {
	uint64_t address; /* The line starts at this address and ends at the next line of the function. */
	struct tally_str path; /* Path as the compiler recorded it. */
	uint32_t number;
};

struct bpf_functions;

TALLY_MUST_CHECK enum tally_status bpf_functions_create(
	const struct perfdata_features *features, bool swap, struct bpf_functions **functions, struct tally_error *err);
void bpf_functions_destroy(struct bpf_functions *functions);
/* Returns the ID that the kernel gave the program. */
uint32_t bpf_program_id(const struct bpf_functions *functions, const struct perfdata_bpf_program *program);
size_t bpf_function_count(const struct bpf_functions *functions, const struct perfdata_bpf_program *program);
/* Gets the function with this index; returns false if there are fewer. */
bool bpf_function_at(const struct bpf_functions *functions, const struct perfdata_bpf_program *program, size_t index,
	struct bpf_function *function);
size_t bpf_line_count(const struct bpf_functions *functions, const struct perfdata_bpf_program *program);
/* Gets the line with this index; returns false if there are fewer. In a program without BTF types, path is empty. */
bool bpf_line_at(const struct bpf_functions *functions, const struct perfdata_bpf_program *program, size_t index,
	struct bpf_line *line);

#endif
