/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bpf_lines.h - finds the source lines of a recording's BPF programs by run-time address.
 *
 * A zero-initialised struct is empty; the caller frees it with bpf_lines_deinit before it frees the recording's
 * features, because paths are borrowed from them. One thread.
 *
 *	status = bpf_lines_read(&lines, features, is_swapped, err);
 *	const struct bpf_line *line = bpf_lines_find(&lines, function_start, address);
 */
#ifndef ANALYSIS_BPF_LINES_H
#define ANALYSIS_BPF_LINES_H

#include "base/vec.h"
#include "perfdata/bpf_functions.h"

struct bpf_lines {
	struct bpf_functions *functions; /* Owned; NULL if the recording has no BPF programs. */
	VEC(struct bpf_line) lines; /* Sorted by address. */
};

/* Fails only with TALLY_NOMEM. */
TALLY_MUST_CHECK enum tally_status bpf_lines_read(
	struct bpf_lines *lines, const struct perfdata_features *features, bool swap, struct tally_error *err);
void bpf_lines_deinit(struct bpf_lines *lines);
/* Returns the line of an address in the function that starts at function_start, or NULL if it was not recorded. */
const struct bpf_line *bpf_lines_find(const struct bpf_lines *lines, uint64_t function_start, uint64_t address);

#endif
