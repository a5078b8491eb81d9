/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/recording/rung_losses.h"

#include <string.h>

#include "kernel/standin/standin.h"

const char rung_changes_always[] =
	"the program is traced meanwhile: programs that it starts do not get the rights of their files (set-user-ID, "
	"capabilities) unless root records, and debuggers, strace and leak checkers (LeakSanitizer) in it fail";

static void print_separator(struct text *out, size_t start)
{
	if (out->len > start)
		text_str(out, "; ");
}

void rung_losses_print(struct text *out, struct standin *standin)
{
	const struct standin_losses losses = standin_get_losses(standin);
	size_t start = out->len;
	if (losses.refused)
		text_printf(out,
			"%llu threads could not be sampled by --rung timer (they run 32-bit code, or their CPU time "
			"cannot be read): their CPU time is counted as lost samples",
			(unsigned long long)losses.refused);
	if (losses.watched) {
		print_separator(out, start);
		text_printf(out, "%llu threads had no timer (", (unsigned long long)losses.watched);
		if (losses.denied_call)
			text_printf(out, "%s: %s", losses.denied_call, strerror(losses.denied_errnum));
		else
			text_str(out, "a seccomp filter of their own");
		text_str(out, "), and were sampled at most 50 times a second, often behind their next system call");
	}
	if (losses.privileged) {
		print_separator(out, start);
		text_printf(out,
			"%llu programs ran without the rights of their files (set-user-ID, set-group-ID or "
			"capabilities), because they were traced; the first was ",
			(unsigned long long)losses.privileged);
		text_visible(out, str_from(losses.privileged_path));
	}
}
