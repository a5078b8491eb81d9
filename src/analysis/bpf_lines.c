/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/bpf_lines.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/order.h"

static int bpf_lines_by_address(const void *a, const void *b)
{
	const struct bpf_line *left = a;
	const struct bpf_line *right = b;
	return COMPARE(left->address, right->address);
}

enum tally_status bpf_lines_read(
	struct bpf_lines *lines, const struct perfdata_features *features, bool swap, struct tally_error *err)
{
	if (features->bpf_program_count == 0)
		return TALLY_OK;
	enum tally_status status = bpf_functions_create(features, swap, &lines->functions, err);
	for (size_t i = 0; i < features->bpf_program_count && status == TALLY_OK; i++) {
		struct bpf_line line;
		for (size_t k = 0; bpf_line_at(lines->functions, &features->bpf_programs[i], k, &line); k++) {
			if (line.path.len == 0 || line.number == 0)
				continue;
			if (!vec_push(&lines->lines, line)) {
				status = error_nomem(err);
				break;
			}
		}
	}
	if (lines->lines.len)
		qsort(lines->lines.items, lines->lines.len, sizeof(*lines->lines.items), bpf_lines_by_address);
	return status;
}

void bpf_lines_deinit(struct bpf_lines *lines)
{
	bpf_functions_destroy(lines->functions);
	vec_free(&lines->lines);
	*lines = (struct bpf_lines){0};
}

const struct bpf_line *bpf_lines_find(const struct bpf_lines *lines, uint64_t function_start, uint64_t address)
{
	size_t low;
	LOWER_BOUND(low, lines->lines.len, middle, lines->lines.items[middle].address <= address);
	return low > 0 && lines->lines.items[low - 1].address >= function_start ? &lines->lines.items[low - 1] : NULL;
}
