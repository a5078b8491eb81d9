/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/annotate/annotate_load.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "tasks/session/recording_input.h"
#include "tasks/terminal/screen_work.h"

struct annotate_load_loading {
	const struct annotate_load *load;
	struct screen_work work; /* its parts are struct annotate_samples */
	struct perfdata_reader *reader; /* of all; the worker's */
	struct progress unseen; /* of parts: nothing is drawn of it */
	size_t data_bytes; /* that can be read in parts */

	/* The worker's until it is done. */
	struct annotate_samples *whole;
	enum tally_status status;
	struct tally_error error;

	/* Of the thread that draws. */
	struct annotate_explore explore;
	struct grid grid;
	struct annotate_samples *current; /* NULL: nothing yet */
	struct annotate_samples *last; /* the part before, while something of it may still show */
	bool has_keys; /* something was pressed: what is looked at stays */
	bool leaves;
};

static void destroy_part(struct annotate_samples *part)
{
	if (part)
		annotate_samples_deinit(part);
	free(part);
}

/* ---- reading ---- */

static enum tally_status annotate_load_read_samples(const struct annotate_load_loading *l,
	struct perfdata_reader *reader, size_t max_bytes, struct progress *progress, struct annotate_samples *samples,
	struct tally_error *err)
{
	struct annotate_request wanted = l->load->request;
	wanted.progress = progress;
	wanted.input.is_quiet = true;
	wanted.input.max_bytes = max_bytes;
	return annotate_samples_take(l->load->cli, &wanted, reader, NULL, samples, err);
}

/* A part that fails is left out; the failure is reported for the whole recording. */
static void annotate_load_publish_part(struct annotate_load_loading *l, size_t bytes)
{
	const struct data_input *input = &l->load->request.input;
	struct perfdata_reader *reader;
	struct annotate_samples *part = calloc(1, sizeof(*part));
	if (!part || recording_open(&input->file, &reader, NULL) != TALLY_OK) {
		free(part);
		return;
	}
	enum tally_status status = annotate_load_read_samples(l, reader, bytes, &l->unseen, part, NULL);
	if (status == TALLY_NOMEM || part->targets.len == 0)
		destroy_part(part);
	else
		destroy_part(screen_work_put(&l->work, part));
}

static void annotate_load_read_all(void *context)
{
	struct annotate_load_loading *l = context;
	for (size_t bytes = SCREEN_FIRST_BYTES; bytes <= l->data_bytes / SCREEN_PART_STEP; bytes *= SCREEN_PART_STEP)
		annotate_load_publish_part(l, bytes);
	l->status = annotate_load_read_samples(l, l->reader, 0, &l->work.progress, l->whole, &l->error);
}

/* ---- showing ---- */

static bool annotate_load_is_whole(const struct annotate_load_loading *l)
{
	return l->current == l->whole;
}

/* False: what shows is the newest there is. */
static bool take_newest(struct annotate_load_loading *l)
{
	struct annotate_samples *newest = NULL;
	if (annotate_load_is_whole(l))
		return false;
	if (!screen_work_is_done(&l->work))
		newest = screen_work_take(&l->work);
	else if (l->whole->event_count > 0 && l->status != TALLY_NOMEM)
		newest = l->whole;
	if (!newest)
		return false;
	destroy_part(l->last);
	l->last = l->current;
	l->current = newest;
	return true;
}

static uint32_t annotate_load_next_key(void *data)
{
	struct annotate_load_loading *l = data;
	uint32_t key = annotate_load_is_whole(l) ? tui_terminal_key(l->explore.terminal)
						 : screen_work_key(&l->work, l->explore.terminal, SCREEN_EVERY_MS);
	l->has_keys |= key != TUI_KEY_NONE && key != TUI_KEY_RESIZE;
	return key;
}

/* Who pressed nothing yet sees what is hottest in all that is known by now. */
static enum tally_status annotate_load_renew(void *data, struct annotate_samples **samples, struct tally_error *err)
{
	struct annotate_load_loading *l = data;
	const struct annotate_target *target = NULL;
	if (!take_newest(l)) {
		bool has_failed = !annotate_load_is_whole(l) && screen_work_is_done(&l->work);
		if (has_failed && err)
			*err = l->error;
		return has_failed ? l->status : TALLY_OK;
	}
	*samples = l->current;
	if (l->has_keys || l->load->request.symbol)
		return TALLY_OK;
	struct annotate_explore anew = l->explore;
	enum tally_status status = l->load->begin(l->load->data, l->current, &anew, &target, err);
	l->explore.first_event = anew.first_event;
	l->explore.event_count = anew.event_count;
	l->explore.begins_anew = status == TALLY_OK && !target;
	return status;
}

static void annotate_load_tell(void *data, char *room, size_t size)
{
	struct annotate_load_loading *l = data;
	struct text progress = {0};
	unsigned rows, columns;
	if (annotate_load_is_whole(l))
		return;
	tui_terminal_size(l->explore.terminal, &rows, &columns);
	screen_work_tell(&l->work, columns, &progress);
	snprintf(room, size, "%.*s", (int)progress.len, progress.data);
	text_deinit(&progress);
}

static enum tally_status annotate_load_show_loaded(struct annotate_load_loading *l, struct tally_error *err)
{
	const struct annotate_target *target;
	enum tally_status status = l->load->begin(l->load->data, l->current, &l->explore, &target, err);
	return status == TALLY_OK ? annotate_explore(&l->explore, target, &l->leaves, err) : status;
}

static enum tally_status wait_for_more(struct annotate_load_loading *l, struct tally_error *err)
{
	const char *path = l->load->request.input.file.path;
	enum tally_status status =
		screen_work_draw(&l->work, l->explore.terminal, &l->grid, path && *path ? path : RECORDING_NAME, err);
	uint32_t key = TUI_KEY_NONE;
	if (status == TALLY_OK)
		key = screen_work_key(&l->work, l->explore.terminal, SCREEN_EVERY_MS);
	if (key == TUI_KEY_CTRL('l'))
		tui_terminal_redraw(l->explore.terminal);
	l->leaves = key == 'q' || key == TUI_KEY_CTRL('c') || key == TUI_KEY_CLOSED;
	return status;
}

/* Until something of it can be shown, and then until the user leaves. */
static enum tally_status annotate_load_watch(struct annotate_load_loading *l, struct tally_error *err)
{
	const struct annotate_samples *tried = NULL;
	enum tally_status status = TALLY_OK;
	while (status == TALLY_OK && !l->leaves) {
		bool is_done = screen_work_is_done(&l->work);
		if (!take_newest(l) && l->current == tried) {
			if (is_done && err)
				*err = l->error;
			if (is_done)
				return l->status;
			status = wait_for_more(l, err);
			continue;
		}
		tried = l->current;
		struct tally_error why = {0};
		status = annotate_load_show_loaded(l, &why);
		bool goes_on = status == TALLY_NOT_FOUND && (!annotate_load_is_whole(l) || tried != l->current);
		if (status != TALLY_OK && !goes_on && err)
			*err = why;
		if (!goes_on)
			return status;
		status = TALLY_OK;
	}
	return status;
}

/* What reads cannot be stopped: it ends with the process. */
static void annotate_load_leave(struct annotate_load_loading *l)
{
	tui_terminal_close(l->explore.terminal);
	_exit(EXIT_SUCCESS);
}

static enum tally_status annotate_load_run(struct annotate_load_loading *l, struct tally_error *err)
{
	enum tally_status status = tui_terminal_open(&l->explore.terminal, err);
	if (status != TALLY_OK) {
		perfdata_reader_destroy(l->reader);
		return status;
	}
	screen_work_start(&l->work);
	status = annotate_load_watch(l, err);
	if (status == TALLY_OK && !screen_work_is_done(&l->work))
		annotate_load_leave(l);
	tui_terminal_close(l->explore.terminal);
	screen_work_join(&l->work);
	if (status == TALLY_OK && l->status != TALLY_OK && err)
		*err = l->error;
	return status == TALLY_OK ? l->status : status;
}

/* The bytes of which the beginning can be read by itself; 0: it cannot. */
static size_t annotate_load_divisible_bytes(const struct annotate_load_loading *l)
{
	uint64_t offset;
	if (l->load->request.input.samples.times || perfdata_reader_is_pipe(l->reader))
		return 0;
	return perfdata_reader_data(l->reader, &offset).len;
}

enum tally_status annotate_load_show(
	const struct annotate_load *load, struct annotate_samples *samples, struct tally_error *err)
{
	struct annotate_load_loading l = {.load = load, .whole = samples, .explore = load->explore};
	const struct data_input *input = &load->request.input;
	*samples = (struct annotate_samples){0};
	enum tally_status status = screen_work_init(&l.work, annotate_load_read_all, &l, err);
	if (status != TALLY_OK)
		return status;
	l.explore.grid = &l.grid;
	l.explore.key = annotate_load_next_key;
	l.explore.renew = annotate_load_renew;
	l.explore.tell = annotate_load_tell;
	l.explore.data = &l;
	status = trace_options_open(&input->file, &input->traces, &l.reader, err);
	if (status == TALLY_OK) {
		l.data_bytes = annotate_load_divisible_bytes(&l);
		status = annotate_load_run(&l, err);
	}
	destroy_part(screen_work_take(&l.work));
	destroy_part(l.last);
	if (!annotate_load_is_whole(&l))
		destroy_part(l.current);
	screen_work_deinit(&l.work);
	grid_deinit(&l.grid);
	return status;
}
