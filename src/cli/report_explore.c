#include "cli/report_explore.h"
#include "base/error.h"
#include "cli/tui_terminal.h"
#include "view/tui/explorer_draw.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_PRINTED 10000 /* perf.hist.N: a folder with more of them is not one to print into */

struct view {
	struct explore_table from;
	struct explorer explorer;
	bool is_open;
};

struct session {
	const struct explore_source *source;
	struct tui_terminal *terminal;
	struct view *views; /* by index of the source */
	struct grid grid;
	uint32_t current;
};

static enum tally_status open_view(struct session *s, uint32_t index, struct tally_error *err)
{
	struct view *view = &s->views[index];
	if (view->is_open)
		return TALLY_OK;
	enum tally_status status = s->source->open(s->source->data, index, &view->from, err);
	if (status != TALLY_OK)
		return status;
	status = explorer_init(&view->explorer, &view->from.table, &view->from.options, view->from.title.data, err);
	if (status != TALLY_OK) {
		flat_table_deinit(&view->from.table);
		text_deinit(&view->from.title);
		return status;
	}
	view->is_open = true;
	return TALLY_OK;
}

static void close_view(struct view *view)
{
	if (!view->is_open)
		return;
	explorer_deinit(&view->explorer);
	flat_table_deinit(&view->from.table);
	text_deinit(&view->from.title);
}

static int create_print(char *name, size_t size)
{
	for (unsigned i = 0; i < MAX_PRINTED; i++) {
		snprintf(name, size, "perf.hist.%u", i);
		int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
		if (fd >= 0 || errno != EEXIST)
			return fd;
	}
	return -1;
}

/* What goes wrong is said on the screen: the report goes on. */
static void print_view(struct explorer *e)
{
	char name[32];
	struct text out = {0};
	int fd = create_print(name, sizeof(name));
	if (fd < 0) {
		explorer_say(e, "cannot make %s: %s", name, strerror(errno));
		return;
	}
	text_to_fd(&out, fd);
	enum tally_status status = explorer_print(e, &out, NULL);
	bool is_written = text_flush(&out);
	int problem = out.write_errno;
	text_deinit(&out);
	if (close(fd) != 0 && is_written) {
		is_written = false;
		problem = errno;
	}
	if (status != TALLY_OK)
		explorer_say(e, "out of memory: %s is not whole", name);
	else if (!is_written)
		explorer_say(e, "cannot write %s: %s", name, strerror(problem));
	else
		explorer_say(e, "%s written", name);
}

static enum tally_status switch_event(struct session *s, uint32_t step, struct tally_error *err)
{
	struct explorer *from = &s->views[s->current].explorer;
	if (s->source->count < 2) {
		explorer_say(from, "the recording has one event");
		return TALLY_OK;
	}
	s->current = (s->current + step) % s->source->count;
	return open_view(s, s->current, err);
}

static enum tally_status draw(struct session *s, struct tally_error *err)
{
	struct explorer *e = &s->views[s->current].explorer;
	char events[32] = "";
	unsigned rows, columns;
	tui_terminal_size(s->terminal, &rows, &columns);
	explorer_resize(e, rows, columns);
	if (s->source->count > 1)
		snprintf(events, sizeof(events), "%u/%u", s->current + 1, s->source->count);
	if (e->failed || !explorer_draw(e, events, &s->grid))
		return error_nomem(err);
	tui_terminal_show(s->terminal, &s->grid);
	return TALLY_OK;
}

static enum tally_status run(struct session *s, struct tally_error *err)
{
	enum tally_status status = TALLY_OK;
	while (status == TALLY_OK) {
		status = draw(s, err);
		if (status != TALLY_OK)
			break;
		struct explorer *e = &s->views[s->current].explorer;
		uint32_t key = tui_terminal_key(s->terminal);
		if (key == TUI_KEY_CTRL('l'))
			tui_terminal_redraw(s->terminal);
		switch (explorer_key(e, key)) {
		case EXPLORER_QUIT:
			return TALLY_OK;
		case EXPLORER_NEXT_EVENT:
			status = switch_event(s, 1, err);
			break;
		case EXPLORER_PREVIOUS_EVENT:
			status = switch_event(s, s->source->count - 1, err);
			break;
		case EXPLORER_PRINT:
			print_view(e);
			break;
		case EXPLORER_STAY:
			break;
		}
	}
	return status;
}

enum tally_status report_explore(const struct explore_source *source, struct tally_error *err)
{
	struct session s = {.source = source};
	s.views = calloc(source->count, sizeof(*s.views));
	if (!s.views)
		return error_nomem(err);
	enum tally_status status = open_view(&s, 0, err);
	if (status == TALLY_OK)
		status = tui_terminal_open(&s.terminal, err);
	if (status == TALLY_OK) {
		status = run(&s, err);
		tui_terminal_close(s.terminal);
	}
	for (uint32_t i = 0; i < source->count; i++)
		close_view(&s.views[i]);
	free(s.views);
	grid_deinit(&s.grid);
	return status;
}
