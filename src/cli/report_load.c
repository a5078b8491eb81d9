#include "cli/report_load.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "cli/progress_line.h"
#include "cli/report_tables.h"
#include "view/tui/explorer_draw.h"
#include "view/tui/explorer_lines.h"
#include "view/tui/explorer_table.h"

#define FIRST_BYTES ((size_t)1 << 20) /* of the recording, that are shown first */
#define PART_STEP   8 /* the next part is so many times as long, and the whole at least that */
#define FIRST_MS    40 /* what is read by then shows at once */
#define EVERY_MS    100 /* how often progress is drawn, and tables are taken */

struct part { /* the recording up to some byte, or all of it */
	struct replay_result result;
	struct profile_filter filter;
	struct explore_table table;
	bool has_table;
};

struct loading {
	const struct report_load *load;
	pthread_t thread;
	int ready_fd; /* readable when the worker has something */
	struct progress progress;

	pthread_mutex_t mutex; /* of these */
	struct part *newest; /* made and not taken yet; NULL: none */
	bool is_done;

	/* The worker's until it is done. */
	struct part whole;
	enum tally_status status;
	struct tally_error error;

	/* Of the thread that draws. */
	struct explore_begun *begun;
	struct grid grid;
	struct part *shown; /* NULL: nothing yet */
	struct progress_clock clock;
	bool leaves;
};

static void part_deinit(struct part *part)
{
	if (part->has_table)
		explore_table_deinit(&part->table);
	profile_filter_deinit(&part->filter);
	replay_result_deinit(&part->result);
	*part = (struct part){0};
}

static void part_destroy(struct part *part)
{
	if (part)
		part_deinit(part);
	free(part);
}

static enum tally_status make_table(const struct loading *l, struct part *part, size_t bytes, struct tally_error *err)
{
	const struct report_load *load = l->load;
	struct report_tables tables = {load->wanted.request, part->result.profile, &part->filter, load->cpus};
	struct explore_table made = {.options = report_tables_options(load->wanted.request)};
	uint32_t first = report_tables_find(&tables, 0);
	if (first == part->result.profile->event_count)
		return TALLY_OK;
	enum tally_status status =
		report_tables_make(&tables, first, report_tables_members(&tables, first), &made.table, err);
	if (status != TALLY_OK)
		return status;
	if (bytes)
		text_printf(&made.title, "[the first %zu MB] ", bytes >> 20);
	load->print_title(load->report, &made.table, &made.title);
	text_char(&made.title, 0);
	if (made.title.failed) {
		explore_table_deinit(&made);
		return error_nomem(err);
	}
	part->table = made;
	part->has_table = true;
	return TALLY_OK;
}

/* bytes: 0 is all of it. A recording that was cut, as each part is, has a table all the same. */
static enum tally_status make_part(
	struct loading *l, const struct report_replay *wanted, struct part *part, struct tally_error *err)
{
	const struct report_load *load = l->load;
	struct tally_error inner = {0};
	enum tally_status status = report_replay_run(wanted, load->store, &part->result, err);
	if (!part->result.profile)
		return status;
	enum tally_status made =
		profile_filter_init(&part->filter, part->result.profile, &wanted->request->filters, &inner);
	part->filter.cpu_passes = load->socket_cpus;
	part->filter.cpu_limit = load->socket_cpu_count;
	if (made == TALLY_OK)
		made = make_table(l, part, wanted->max_bytes, &inner);
	if (made == TALLY_OK)
		return status;
	part_deinit(part);
	if (err)
		*err = inner;
	return made;
}

static void tell(const struct loading *l)
{
	uint64_t one = 1;
	ssize_t written = write(l->ready_fd, &one, sizeof(one));
	(void)written; /* the counter is full: then it is readable */
}

/* A part that fails is left out: what is wrong is said of the whole. */
static void publish_part(struct loading *l, size_t bytes, bool with_names)
{
	struct report_replay wanted = l->load->wanted;
	struct part *part = calloc(1, sizeof(*part));
	wanted.max_bytes = bytes;
	wanted.without_names = !with_names;
	wanted.without_inlines = true;
	if (part)
		(void)make_part(l, &wanted, part, NULL);
	if (!part || !part->has_table) {
		part_destroy(part);
		return;
	}
	pthread_mutex_lock(&l->mutex);
	struct part *before = l->newest;
	l->newest = part;
	pthread_mutex_unlock(&l->mutex);
	part_destroy(before);
	tell(l);
}

/* The bytes of which the beginning can be read by itself; 0: it cannot. */
static size_t divisible_bytes(const struct report_load *load)
{
	const struct report_request *r = load->wanted.request;
	uint64_t offset;
	if (r->times || r->switch_on || r->switch_off)
		return 0;
	return perfdata_reader_data(load->wanted.reader, &offset).len;
}

static void *work(void *context)
{
	struct loading *l = context;
	struct report_replay wanted = l->load->wanted;
	size_t total = divisible_bytes(l->load);
	for (size_t bytes = FIRST_BYTES; bytes <= total / PART_STEP; bytes *= PART_STEP) {
		if (bytes == FIRST_BYTES)
			publish_part(l, bytes, false);
		publish_part(l, bytes, true);
	}
	wanted.progress = &l->progress;
	l->status = make_part(l, &wanted, &l->whole, &l->error);
	pthread_mutex_lock(&l->mutex);
	l->is_done = true;
	pthread_mutex_unlock(&l->mutex);
	tell(l);
	return NULL;
}

/* Signals are the drawing thread's, but for those of the thread's own faults. */
static bool start_work(struct loading *l)
{
	static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGTRAP};
	sigset_t others, before;
	sigfillset(&others);
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		sigdelset(&others, own[i]);
	pthread_sigmask(SIG_SETMASK, &others, &before);
	bool is_started = pthread_create(&l->thread, NULL, work, l) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return is_started;
}

static void progress_text(struct loading *l, struct text *t, unsigned columns)
{
	struct progress_state state;
	progress_look(&l->clock, &l->progress, &state);
	if (state.what)
		progress_line_text(t, &state, columns);
	else
		text_str(t, "reading the recording");
}

static void draw_waiting(struct loading *l, const struct text *progress)
{
	if (l->grid.rows == 0)
		return;
	grid_clear(&l->grid);
	tui_put_title(&l->grid, str_from(l->load->path));
	tui_put_bottom(&l->grid, (struct tally_str){progress->data, progress->len}, STR(" q:quit"));
}

static bool draw_part(struct loading *l, const struct text *progress)
{
	struct explorer *e = &l->begun->explorer;
	bool says_progress = !e->message[0];
	if (says_progress)
		explorer_say(e, "%.*s", (int)progress->len, progress->data);
	bool is_drawn = !e->failed && explorer_draw(e, "", &l->grid);
	if (says_progress)
		e->message[0] = '\0';
	return is_drawn;
}

static enum tally_status draw(struct loading *l, struct tally_error *err)
{
	struct text progress = {0};
	unsigned rows, columns;
	bool is_drawn = true;
	tui_terminal_size(l->begun->terminal, &rows, &columns);
	progress_text(l, &progress, columns);
	if (l->shown) {
		explorer_resize(&l->begun->explorer, rows, columns);
		is_drawn = draw_part(l, &progress);
	} else if (grid_resize(&l->grid, rows, columns)) {
		draw_waiting(l, &progress);
	} else {
		is_drawn = false;
	}
	is_drawn = is_drawn && !progress.failed;
	text_deinit(&progress);
	if (!is_drawn)
		return error_nomem(err);
	tui_terminal_show(l->begun->terminal, &l->grid);
	return TALLY_OK;
}

static struct part *take_newest(struct loading *l)
{
	pthread_mutex_lock(&l->mutex);
	struct part *newest = l->newest;
	l->newest = NULL;
	pthread_mutex_unlock(&l->mutex);
	return newest;
}

static bool is_done(struct loading *l)
{
	uint64_t count;
	ssize_t cleared = read(l->ready_fd, &count, sizeof(count));
	(void)cleared; /* nothing to clear is well, too */
	pthread_mutex_lock(&l->mutex);
	bool is_done = l->is_done;
	pthread_mutex_unlock(&l->mutex);
	return is_done;
}

static enum tally_status show_part(struct loading *l, struct part *part, struct tally_error *err)
{
	struct explorer *e = &l->begun->explorer;
	struct explore_table *t = &part->table;
	struct explorer_memory memory;
	enum tally_status status;
	if (!l->shown) {
		status = explorer_init(e, &t->table, &t->options, t->title.data, err);
	} else {
		explorer_remember(e, &memory);
		status = explorer_renew(e, &memory, &t->table, t->title.data, err);
		explorer_memory_deinit(&memory);
		if (status != TALLY_OK)
			explorer_deinit(e);
	}
	part_destroy(l->shown);
	l->shown = part;
	l->begun->has_explorer = status == TALLY_OK;
	return status;
}

static void take_key(struct loading *l, uint32_t key)
{
	struct explorer *e = &l->begun->explorer;
	if (key == TUI_KEY_CTRL('l'))
		tui_terminal_redraw(l->begun->terminal);
	if (!l->shown) {
		l->leaves = key == 'q' || key == TUI_KEY_CTRL('c') || key == TUI_KEY_CLOSED;
		return;
	}
	enum explorer_action action = explorer_key(e, key);
	l->leaves = action == EXPLORER_QUIT;
	if (action != EXPLORER_QUIT && action != EXPLORER_STAY)
		explorer_say(e, "this needs all of the recording, which is still being read");
	e->order_member = e->table->options.sort_member; /* no order was taken */
}

/* Until all is read, or the user leaves. A table that comes waits until the next is due, so that nothing flickers. */
static enum tally_status watch(struct loading *l, struct tally_error *err)
{
	enum tally_status status = TALLY_OK;
	int64_t due_ms = clock_ms() + FIRST_MS;
	while (status == TALLY_OK) {
		int64_t left_ms = due_ms - clock_ms();
		uint32_t key = tui_terminal_key_within(l->begun->terminal, left_ms > 0 ? (int)left_ms : 0, l->ready_fd);
		take_key(l, key);
		if (l->leaves || is_done(l))
			break;
		if (key == TUI_KEY_NONE && clock_ms() < due_ms)
			continue;
		struct part *newest = take_newest(l);
		if (newest)
			status = show_part(l, newest, err);
		if (status == TALLY_OK)
			status = draw(l, err);
		due_ms = clock_ms() + EVERY_MS;
	}
	return status;
}

/* What reads cannot be stopped: it ends with the process. */
static void leave(struct loading *l)
{
	tui_terminal_close(l->begun->terminal);
	l->begun->terminal = NULL;
	l->begun->leaves = true;
	if (l->load->wanted.request->requirements.count == 0)
		_exit(EXIT_SUCCESS);
}

/* What was looked at is looked at in the whole. */
static void hand_over(struct loading *l, struct report_loaded *loaded)
{
	if (l->begun->has_explorer)
		explorer_remember(&l->begun->explorer, &l->begun->memory);
	part_destroy(l->shown);
	l->shown = NULL;
	loaded->result = l->whole.result;
	loaded->filter = l->whole.filter;
	l->begun->first = l->whole.table;
	l->begun->has_first = l->whole.has_table;
}

static enum tally_status run(struct loading *l, struct report_loaded *loaded, struct tally_error *err)
{
	enum tally_status status = tui_terminal_open(&l->begun->terminal, err);
	if (status != TALLY_OK)
		return status;
	if (!start_work(l)) {
		(void)work(l);
		hand_over(l, loaded);
		return l->status;
	}
	status = watch(l, err);
	if (l->leaves)
		leave(l);
	pthread_join(l->thread, NULL);
	hand_over(l, loaded);
	if (status == TALLY_OK && l->status != TALLY_OK && err)
		*err = l->error;
	return status == TALLY_OK ? l->status : status;
}

enum tally_status report_load(const struct report_load *load, struct report_loaded *loaded, struct tally_error *err)
{
	struct loading l = {.load = load, .begun = &loaded->begun};
	*loaded = (struct report_loaded){0};
	l.ready_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (l.ready_fd < 0)
		return error_set_errno(err, TALLY_IO, errno, "eventfd");
	pthread_mutex_init(&l.mutex, NULL);
	enum tally_status status = run(&l, loaded, err);
	part_destroy(l.newest);
	part_destroy(l.shown);
	pthread_mutex_destroy(&l.mutex);
	(void)close(l.ready_fd);
	grid_deinit(&l.grid);
	return status;
}
