/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/diff/diff_gate.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* Arbitrary text is refused or is a gate that can be evaluated. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct diff_gate gate;
	struct tally_error err;
	struct diff_change change = {.is_tested = true, .change = 0.5, .noise = -1};
	if (!text)
		return 0;
	if (size > 0)
		memcpy(text, data, size);
	text[size] = 0;
	if (diff_gate_parse(text, 0.01, &gate, &err) == TALLY_OK) {
		if (gate.count == 0 || gate.count > DIFF_GATE_CLAUSES)
			abort();
		(void)diff_gate_row_fails(&gate, &change);
		(void)diff_gate_total_fails(&gate, &change);
	}
	free(text);
	return 0;
}
