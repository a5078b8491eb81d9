/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/output_terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

bool colours_are_refused(void)
{
	const char *refusal = getenv("NO_COLOR");
	return refusal && *refusal;
}

bool terminal_has_controls(void)
{
	const char *terminal = getenv("TERM");
	return terminal && *terminal && strcmp(terminal, "dumb") != 0;
}

bool colours_are_wanted(void)
{
	return isatty(STDOUT_FILENO) == 1 && !colours_are_refused() && terminal_has_controls();
}

bool colours_by_mode(const char *mode, bool *wanted)
{
	if (!mode || strcmp(mode, "never") == 0)
		*wanted = false;
	else if (strcmp(mode, "always") == 0)
		*wanted = true;
	else if (strcmp(mode, "auto") == 0)
		*wanted = colours_are_wanted();
	else
		return false;
	return true;
}

unsigned terminal_columns(void)
{
	struct winsize size;
	return isatty(STDOUT_FILENO) == 1 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}
