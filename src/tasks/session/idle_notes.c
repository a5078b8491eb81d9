/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/session/idle_notes.h"

#include <inttypes.h>

void idle_notes_add(struct diag *notes, const struct profile_filter *filter)
{
	struct profile_idle idle = profile_filter_idle(filter);
	if (!filter->stack_is_idle)
		return;
	if (idle.count == 0) {
		diag_add(notes, DIAG_NOTE,
			"--no-idle hides nothing: no thread waits in a function that is known to wait for work; "
			"--idle-functions names more");
		return;
	}
	diag_add(notes, DIAG_NOTE,
		"%" PRIu64
		" waits of %.3f s in all, %.1f%% of the time, are hidden: threads that only wait for work (--no-idle)",
		idle.count, (double)idle.period / 1e9,
		idle.total_period ? 100.0 * (double)idle.period / (double)idle.total_period : 0);
}
