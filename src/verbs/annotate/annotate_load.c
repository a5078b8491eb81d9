/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/annotate/annotate_load.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "tasks/terminal/screen_load.h"

struct annotate_load_loading {
	const struct annotate_load *load;
	/* Its parts, the samples of the recording's beginning, are of type struct annotate_samples. */
	struct screen_load screen;
	struct perfdata_reader *reader; /* The reader of the whole recording, which the worker thread uses. */
	struct progress unseen; /* Progress of reading a part of the recording, which is not displayed. */
	struct annotate_samples *whole; /* Owned by the worker thread until it has finished. */

	/* The following members belong to the thread that draws the screen. */
	struct annotate_explore explore;
	struct grid grid;
	struct annotate_samples *current; /* NULL if no samples have been loaded. */
	struct annotate_samples *last; /* The previous part, which is retained while the screen may refer to it. */
	bool has_keys; /* Set once a key has been pressed; the displayed function then no longer changes by itself. */
	bool leaves;
};

static void destroy_part(void *part)
{
	if (part)
		annotate_samples_deinit(part);
	free(part);
}

/* ---- reading ---- */

static struct annotate_request annotate_load_wanted(
	const struct annotate_load_loading *l, size_t max_bytes, struct progress *progress)
{
	struct annotate_request wanted = l->load->request;
	wanted.progress = progress;
	wanted.input.is_quiet = true;
	wanted.input.max_bytes = max_bytes;
	return wanted;
}

static void annotate_load_read_part(void *data, size_t bytes)
{
	struct annotate_load_loading *l = data;
	struct annotate_request wanted = annotate_load_wanted(l, bytes, &l->unseen);
	struct annotate_samples *part = calloc(1, sizeof(*part));
	if (!part)
		return;
	/* When the recording was opened, it was searched for hardware traces completely; reading a part need not do so
	 * again. */
	wanted.input.traces = (struct trace_options){0};
	enum tally_status status = annotate_samples_read(l->load->cli, &wanted, part, NULL);
	if (status == TALLY_NOMEM || part->targets.len == 0)
		destroy_part(part);
	else
		screen_load_put(&l->screen, part);
}

static enum tally_status annotate_load_read_all(void *data, struct progress *progress, struct tally_error *err)
{
	struct annotate_load_loading *l = data;
	const struct annotate_request wanted = annotate_load_wanted(l, 0, progress);
	return annotate_samples_take(l->load->cli, &wanted, l->reader, NULL, l->whole, err);
}

/* ---- showing ---- */

static bool annotate_load_is_whole(const struct annotate_load_loading *l)
{
	return l->current == l->whole;
}

/* Makes the newest samples that have been loaded the current ones. Returns false if they already are. */
static bool take_newest(struct annotate_load_loading *l)
{
	struct annotate_samples *newest = NULL;
	if (annotate_load_is_whole(l))
		return false;
	if (!screen_load_is_done(&l->screen))
		newest = screen_load_take(&l->screen);
	else if (l->whole->event_count > 0 && l->screen.status != TALLY_NOMEM)
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
						 : screen_load_key(&l->screen, SCREEN_EVERY_MS);
	l->has_keys |= key != TUI_KEY_NONE && key != TUI_KEY_RESIZE;
	return key;
}

/* Until the user presses a key, the hottest function of the samples read so far is displayed. */
static enum tally_status annotate_load_renew(void *data, struct annotate_samples **samples, struct tally_error *err)
{
	struct annotate_load_loading *l = data;
	const struct annotate_target *target = NULL;
	if (!take_newest(l)) {
		bool has_failed = !annotate_load_is_whole(l) && screen_load_is_done(&l->screen);
		if (has_failed && err)
			*err = l->screen.error;
		return has_failed ? l->screen.status : TALLY_OK;
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
	if (annotate_load_is_whole(l))
		return;
	screen_load_tell(&l->screen, &progress);
	snprintf(room, size, "%.*s", (int)progress.len, progress.data);
	text_deinit(&progress);
}

/* Waits until some samples can be displayed, and then until the user quits. */
static enum tally_status annotate_load_watch(struct annotate_load_loading *l, struct tally_error *err)
{
	const struct annotate_samples *tried = NULL;
	enum tally_status status = TALLY_OK;
	while (status == TALLY_OK && !l->leaves && !l->screen.leaves) {
		bool is_done = screen_load_is_done(&l->screen);
		if (!take_newest(l) && l->current == tried) {
			if (is_done && err)
				*err = l->screen.error;
			if (is_done)
				return l->screen.status;
			status = screen_load_wait(&l->screen, err);
			continue;
		}
		tried = l->current;
		struct tally_error why = {0};
		const struct annotate_target *target;
		status = l->load->begin(l->load->data, l->current, &l->explore, &target, &why);
		if (status == TALLY_OK)
			status = annotate_explore(&l->explore, target, &l->leaves, &why);
		bool goes_on = status == TALLY_NOT_FOUND && (!annotate_load_is_whole(l) || tried != l->current);
		if (status != TALLY_OK && !goes_on && err)
			*err = why;
		if (!goes_on)
			return status;
		status = TALLY_OK;
	}
	return status;
}

static enum tally_status annotate_load_run(struct annotate_load_loading *l, struct tally_error *err)
{
	enum tally_status status = screen_load_start(&l->screen, err);
	if (status != TALLY_OK) {
		perfdata_reader_destroy(l->reader);
		return status;
	}
	l->explore.terminal = l->screen.terminal;
	status = annotate_load_watch(l, err);
	if (status == TALLY_OK && !screen_load_is_done(&l->screen))
		screen_load_leave(&l->screen, false);
	tui_terminal_close(l->screen.terminal);
	return screen_load_join(&l->screen, status, err);
}

/* Returns the size of the recorded data in bytes if the samples of its beginning can be shown by themselves, otherwise
 * 0. */
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
	const char *path = input->file.path;
	struct screen_load_job job = {.data = &l,
		.path = path && *path ? path : RECORDING_NAME,
		.read_part = annotate_load_read_part,
		.read_all = annotate_load_read_all,
		.destroy_part = destroy_part};
	*samples = (struct annotate_samples){0};
	enum tally_status status = screen_load_init(&l.screen, &job, err);
	if (status != TALLY_OK)
		return status;
	l.explore.grid = &l.grid;
	l.explore.key = annotate_load_next_key;
	l.explore.renew = annotate_load_renew;
	l.explore.tell = annotate_load_tell;
	l.explore.data = &l;
	status = trace_options_open(&input->file, &input->traces, &l.reader, err);
	if (status == TALLY_OK) {
		job.bytes = annotate_load_divisible_bytes(&l);
		status = annotate_load_run(&l, err);
	}
	destroy_part(l.last);
	if (!annotate_load_is_whole(&l))
		destroy_part(l.current);
	screen_load_deinit(&l.screen);
	grid_deinit(&l.grid);
	return status;
}
