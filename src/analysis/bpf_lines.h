/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bpf_lines.h - finds the source lines of a recording's BPF programs by run-time address.
 *
 * Zero-initialised is empty; the caller frees with bpf_lines_deinit, before the recording's features, whose paths are
 * borrowed. One thread.
 *
 *	status = bpf_lines_read(&lines, features, is_swapped, err);
 *	const struct bpf_line *line = bpf_lines_find(&lines, function_start, address);
 */
#ifndef ANALYSIS_BPF_LINES_H
#define ANALYSIS_BPF_LINES_H

#include "base/vec.h"
#include "perfdata/bpf_functions.h"

struct bpf_lines {
	struct bpf_functions *functions;
	VEC(struct bpf_line) lines; /* by address */
};

/* NOMEM only. */
TALLY_MUST_CHECK enum tally_status bpf_lines_read(
	struct bpf_lines *lines, const struct perfdata_features *features, bool swap, struct tally_error *err);
void bpf_lines_deinit(struct bpf_lines *lines);
/* The line of an address in the function that starts there; NULL: not recorded. */
const struct bpf_line *bpf_lines_find(const struct bpf_lines *lines, uint64_t function_start, uint64_t address);

#endif
