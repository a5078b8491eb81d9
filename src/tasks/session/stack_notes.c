/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/session/stack_notes.h"

#include <inttypes.h>

void stack_notes_text(struct text *t, const struct stack_ends *ends)
{
	uint64_t all = stack_ends_unwound(ends);
	const char *separator = " (";
	if (all == 0)
		return;
	text_fixed(t, 100.0 * (double)ends->ends[UNWIND_ROOT] / (double)all, 1);
	text_printf(t, "%% of %" PRIu64 " stack dumps are complete", all);
	for (unsigned i = 0; i < UNWIND_ENDS; i++) {
		if (i == UNWIND_ROOT || ends->ends[i] == 0)
			continue;
		text_printf(t, "%s%" PRIu64 " %s", separator, ends->ends[i], unwind_end_name((enum unwind_end)i));
		separator = ", ";
	}
	if (ends->bridged) {
		text_printf(t, "%s%" PRIu64 " with frames found by frame pointer", separator, ends->bridged);
		separator = ", ";
	}
	if (separator[0] == ',')
		text_char(t, ')');
}

void stack_notes_add(struct diag *notes, const struct stack_ends *ends, bool is_verbose)
{
	struct text t = {0};
	uint64_t recorded = ends->reached + ends->unknown;
	stack_notes_text(&t, ends);
	if (t.len > 0 && !t.failed)
		diag_add(notes, DIAG_NOTE, "%.*s", (int)t.len, t.data);
	text_deinit(&t);
	if (is_verbose && recorded)
		diag_add(notes, DIAG_NOTE,
			"%" PRIu64 " of %" PRIu64
			" recorded call chains reach a function that threads start in; whether the others are complete "
			"is not known",
			ends->reached, recorded);
}

void stack_notes_print(const struct cli *cli, const struct stack_ends *ends)
{
	struct diag notes;
	diag_init(&notes);
	if (ends->ends[UNWIND_ROOT] < stack_ends_unwound(ends))
		stack_notes_add(&notes, ends, false);
	cli_print_diag(cli, &notes);
	diag_deinit(&notes);
}
