/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/terminal/tui_print.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "view/tui/explorer_draw.h"

#define MAX_PRINTED	     10000 /* Maximum number N in NAME.N. */
#define TUI_PRINT_NAME_BYTES 100 /* Maximum length of the base; file systems allow names of 255 bytes. */

static int tui_print_create(const struct tui_printed *printed, char *name, size_t size)
{
	for (unsigned i = 0; i < MAX_PRINTED; i++) {
		if (i == 0 && !printed->is_numbered)
			snprintf(name, size, "%.*s", TUI_PRINT_NAME_BYTES, printed->base);
		else
			snprintf(name, size, "%.*s.%u", TUI_PRINT_NAME_BYTES, printed->base, i);
		for (char *slash = name; (slash = strchr(slash, '/')) != NULL;)
			*slash = '_';
		int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
		if (fd >= 0 || errno != EEXIST)
			return fd;
	}
	return -1;
}

void tui_print(const struct tui_printed *printed, char *message, size_t size)
{
	char name[TUI_PRINT_NAME_BYTES + 16];
	struct text out = {0};
	int fd = tui_print_create(printed, name, sizeof(name));
	if (fd < 0) {
		snprintf(message, size, "cannot make %s: %s", name, strerror(errno));
		return;
	}
	text_to_fd(&out, fd);
	printed->print(printed->data, &out);
	bool is_whole = !out.failed, is_written = text_flush(&out);
	int problem = out.write_errno;
	text_deinit(&out);
	if (close(fd) != 0 && is_written) {
		is_written = false;
		problem = errno;
	}
	if (!is_whole)
		snprintf(message, size, "out of memory: %s is incomplete", name);
	else if (!is_written)
		snprintf(message, size, "cannot write %s: %s", name, strerror(problem));
	else
		snprintf(message, size, "%s written", name);
}

static void tui_print_rows(void *data, struct text *out)
{
	out->failed = explorer_print(data, out, NULL) != TALLY_OK || out->failed;
}

void tui_print_table(struct explorer *e)
{
	struct tui_printed printed = {.base = "perf.hist", .is_numbered = true, .print = tui_print_rows, .data = e};
	tui_print(&printed, e->message, sizeof(e->message));
}
