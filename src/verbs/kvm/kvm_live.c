/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/kvm/kvm_live.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "tasks/recording/record_description.h"
#include "tasks/recording/record_plan.h"
#include "tasks/recording/ring_merge.h"
#include "tasks/session/event_words.h"

#define RING_BYTES (2u << 20) /* unless -m says so */
#define WAIT_MS	   100 /* a ring that fills faster wakes us */

struct kvm_live {
	const struct kvm_live_request *request;
	struct kvm_stat_job job;
	struct event_list events;
	struct diag diag;
	struct record_request recording;
	struct record_opening opening;
	struct file_map description;
	struct ring_merge merge;
	struct text out;
	int signal_fd;
	sigset_t old_mask;
	struct termios modes; /* of the terminal, as they were */
	bool has_terminal, has_mask, is_over, has_said_nothing;
	uint64_t tables; /* printed */
	uint64_t lost; /* events, up to the last table */
};

/* ---- opening ---- */

static void kvm_live_say_notes(struct kvm_live *live)
{
	cli_print_diag(live->request->cli, &live->diag);
	diag_deinit(&live->diag);
	diag_init(&live->diag);
}

/* Each kind needs exits and entries; others only cost time. */
static enum tally_status kvm_live_make_events(struct kvm_live *live, struct tally_error *err)
{
	static const char *const words[] = {"kvm:kvm_entry,kvm:kvm_exit", "kvm:kvm_entry,kvm:kvm_exit,kvm:kvm_mmio",
		"kvm:kvm_entry,kvm:kvm_exit,kvm:kvm_pio"};
	const struct cli *cli = live->request->cli;
	struct event_catalogue *catalogue;
	struct tally_error own = {0};
	enum tally_status status = event_catalogue_create(live->recording.kernel, &catalogue, err);
	if (status != TALLY_OK)
		return status;
	status = event_word_parse(cli, catalogue, words[live->job.settings->kind], &live->events, &own);
	event_catalogue_destroy(catalogue);
	if (status != TALLY_OK)
		return error_set(err, status, "kvm stat live reads the tracepoints %s, which cannot be used: %s%s",
			words[live->job.settings->kind], own.text,
			status == TALLY_NOT_FOUND
				? "\nLinux has them where its module kvm is loaded ('modprobe kvm_intel' or "
				  "'modprobe kvm_amd')"
				: "");
	status = record_attrs_apply(&live->events, &live->recording.plan.attrs, err);
	if (status == TALLY_OK)
		record_attrs_leave_out_mappings(&live->events);
	return status;
}

static void kvm_live_plan(struct kvm_live *live)
{
	static char *const no_command[] = {NULL};
	struct record_settings record = live->request->settings->record;
	record.target.pids = live->job.settings->pids;
	record_target_complete(&record.target, false);
	live->recording = (struct record_request){.kernel = kernel_seam_linux(),
		.is_live_view = true,
		.target = record.target,
		.plan = record_plan_make(&record),
		.events = &live->events,
		.store = symbol_options_of(live->request->cli, &(struct symbol_options){0}, NULL),
		.map_timeout_ms = RECORD_MAP_TIMEOUT_MS,
		.command = no_command,
		.argv = live->request->argv,
		.diag = &live->diag};
	struct record_attr_options *attrs = &live->recording.plan.attrs;
	attrs->rate = (struct record_rate){.period = 1, .is_period_given = true};
	attrs->fields.timestamp = attrs->fields.cpu = attrs->fields.raw = true;
	if (!live->recording.plan.is_ring_given)
		live->recording.plan.ring_bytes = RING_BYTES;
}

static uint64_t kvm_live_time_of(void *context, const struct record *record)
{
	const struct kvm_live *live = context;
	return time_order_time_of(live->job.source.reader, record, false);
}

static enum tally_status kvm_live_take_signals(struct kvm_live *live, struct tally_error *err)
{
	sigset_t mask;
	sigemptyset(&mask);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGQUIT); /* Ctrl-\: the terminal's modes are restored */
	live->has_mask = sigprocmask(SIG_BLOCK, &mask, &live->old_mask) == 0;
	live->signal_fd = live->has_mask ? signalfd(-1, &mask, SFD_NONBLOCK | SFD_CLOEXEC) : -1;
	return live->signal_fd >= 0 ? TALLY_OK : error_set_errno(err, TALLY_IO, errno, "signals cannot be received");
}

/* In the background, reading from the terminal or changing its modes would stop the program. */
static bool kvm_live_is_in_front(void)
{
	return isatty(STDIN_FILENO) && tcgetpgrp(STDIN_FILENO) == getpgrp();
}

/* Keys arrive without Enter, and are not waited for. */
static void kvm_live_take_keys(struct kvm_live *live)
{
	if (!kvm_live_is_in_front() || tcgetattr(STDIN_FILENO, &live->modes) != 0)
		return;
	struct termios modes = live->modes;
	modes.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	modes.c_cc[VMIN] = modes.c_cc[VTIME] = 0;
	live->has_terminal = tcsetattr(STDIN_FILENO, TCSANOW, &modes) == 0;
}

static void kvm_live_leave_keys(const struct kvm_live *live)
{
	if (live->has_terminal && kvm_live_is_in_front())
		(void)tcsetattr(STDIN_FILENO, TCSANOW, &live->modes);
}

static enum tally_status kvm_live_open(struct kvm_live *live, struct tally_error *err)
{
	const struct data_input input = {.is_quiet = true};
	struct perfdata_reader *reader;
	enum tally_status status = kvm_live_make_events(live, err);
	if (status == TALLY_OK)
		status = record_opening_find(&live->opening, err);
	if (status == TALLY_OK)
		status = record_opening_open(&live->opening, err);
	if (status == TALLY_OK)
		status = record_description_read(&live->opening, &live->description, err);
	if (status == TALLY_OK)
		status = perfdata_reader_open_beginning(live->description.bytes, &reader, err);
	if (status == TALLY_OK)
		status = data_source_take(live->request->cli, &input, reader, NULL, &live->job.source, err);
	if (status == TALLY_OK)
		status = ring_merge_init(&live->merge, live->opening.recorder, kvm_live_time_of, live, err);
	if (status == TALLY_OK)
		status = kvm_live_take_signals(live, err);
	if (status == TALLY_OK)
		kvm_live_take_keys(live);
	return status == TALLY_OK ? recorder_enable(live->opening.recorder, err) : status;
}

static void kvm_live_close(struct kvm_live *live)
{
	kvm_live_leave_keys(live);
	ring_merge_deinit(&live->merge);
	kvm_stat_close(&live->job);
	record_opening_close(&live->opening);
	if (live->signal_fd >= 0)
		close(live->signal_fd);
	if (live->has_mask)
		sigprocmask(SIG_SETMASK, &live->old_mask, NULL);
	file_map_close(&live->description);
	event_list_deinit(&live->events);
	text_deinit(&live->out);
	diag_deinit(&live->diag);
}

/* ---- records ---- */

static enum tally_status kvm_live_take(struct kvm_live *live, const struct record *record, struct tally_error *err)
{
	struct data_source *source = &live->job.source;
	struct data_sample sample;
	if (record->type == RECORD_SAMPLE)
		return !data_source_decode(source, record, &sample) || kvm_stat_take(&live->job, &sample)
			       ? TALLY_OK
			       : error_nomem(err);
	if (record->type != RECORD_LOST && record->type != RECORD_LOST_SAMPLES)
		return TALLY_OK;
	kvm_stat_give_up(&live->job);
	return sideband_count(&source->pass.sideband, source->reader, record, err);
}

static enum tally_status kvm_live_drain(struct kvm_live *live, bool is_last, struct tally_error *err)
{
	uint64_t fill;
	struct record record;
	enum tally_status status = ring_merge_look(&live->merge, is_last, &fill, err);
	while (status == TALLY_OK && ring_merge_next(&live->merge, &record)) {
		status = kvm_live_take(live, &record, err);
		if (status == TALLY_OK && !ring_merge_advance(&live->merge))
			status = error_nomem(err);
	}
	ring_merge_release(&live->merge);
	return status;
}

/* ---- showing ---- */

/* False: nobody reads on, which is no failure, or err says more. */
static bool kvm_live_write(struct kvm_live *live, enum tally_status *status, struct tally_error *err)
{
	if (live->out.failed) {
		*status = error_nomem(err);
	} else if (!text_flush(&live->out)) {
		live->is_over = true;
		if (live->out.write_errno != EPIPE)
			*status = error_set_errno(
				err, TALLY_IO, live->out.write_errno, "cannot write to standard output");
	}
	return *status == TALLY_OK && !live->is_over;
}

static void kvm_live_say_slow(struct kvm_live *live, enum tally_status *status, struct tally_error *err)
{
	struct text *slow = &live->job.slow;
	if (slow->failed)
		*status = error_nomem(err);
	if (slow->len == 0 || *status != TALLY_OK)
		return;
	text_bytes(&live->out, slow->data, slow->len);
	text_clear(slow);
	(void)kvm_live_write(live, status, err);
}

/* Once: why tables are empty. */
static void kvm_live_say_nothing(struct kvm_live *live)
{
	if (live->job.exits + live->job.entries > 0 || live->has_said_nothing)
		return;
	live->has_said_nothing = true;
	cli_failf(live->request->cli,
		"note: no kvm:kvm_exit and kvm:kvm_entry so far: no guest runs here%s, or this kernel's hypervisor "
		"does "
		"not report them",
		live->job.settings->pids ? " in these processes" : "");
}

static void kvm_live_show(struct kvm_live *live, enum tally_status *status, struct tally_error *err)
{
	static const char clear[] = "\033[H\033[2J"; /* the text itself lets no such sequence through */
	char stamp[16] = "";
	struct timespec now;
	struct tm local;
	uint64_t lost = live->job.source.pass.sideband.health.lost_events;
	clock_gettime(CLOCK_REALTIME, &now);
	if (localtime_r(&now.tv_sec, &local))
		(void)strftime(stamp, sizeof(stamp), "%T", &local);
	/* With --duration, lines stay on the screen. */
	if (isatty(STDOUT_FILENO) && live->job.settings->slow_us == 0)
		(void)!write(STDOUT_FILENO, clear, sizeof(clear) - 1);
	text_printf(&live->out, "%s.%06ld\n", stamp, now.tv_nsec / 1000);
	kvm_stat_print(&live->job, &live->out);
	if (lost > live->lost)
		text_printf(&live->out, "%" PRIu64 " events were lost; larger rings (-m) lose fewer.\n\n",
			lost - live->lost);
	live->lost = lost;
	live->tables++;
	kvm_stat_clear(&live->job);
	(void)kvm_live_write(live, status, err);
	kvm_live_say_nothing(live);
}

/* ---- running ---- */

static void kvm_live_read_signals(struct kvm_live *live)
{
	struct signalfd_siginfo info;
	while (read(live->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
		live->is_over = true;
}

static void kvm_live_read_keys(struct kvm_live *live)
{
	char key;
	while (live->has_terminal && kvm_live_is_in_front() && read(STDIN_FILENO, &key, 1) == 1)
		live->is_over |= key == 'q';
}

static enum tally_status kvm_live_watch(struct kvm_live *live, struct tally_error *err)
{
	struct recorder *recorder = live->opening.recorder;
	const int64_t display_ms = (int64_t)live->request->settings->display_s * 1000;
	int64_t due_ms = clock_ms() + display_ms, now_ms;
	enum tally_status status = TALLY_OK;
	while (status == TALLY_OK && !live->is_over) {
		bool is_ready = false;
		int64_t left_ms = MAX(due_ms - clock_ms(), 0);
		status = recorder_wait(recorder, live->signal_fd, (int)MIN(left_ms, WAIT_MS), &is_ready, err);
		if (status == TALLY_OK && is_ready)
			kvm_live_read_signals(live);
		kvm_live_read_keys(live);
		live->is_over |= recorder_target_is_over(recorder);
		if (status == TALLY_OK && !live->is_over)
			status = kvm_live_drain(live, false, err);
		kvm_live_say_slow(live, &status, err);
		now_ms = clock_ms();
		if (status != TALLY_OK || live->is_over || now_ms < due_ms)
			continue;
		kvm_live_show(live, &status, err);
		while (due_ms <= now_ms) /* intervals that were missed are part of this one */
			due_ms += display_ms;
	}
	return status;
}

/* The rest, of an interval that is not over. */
static enum tally_status kvm_live_finish(struct kvm_live *live, struct tally_error *err)
{
	struct input_health *health = &live->job.source.pass.sideband.health;
	uint64_t lost = 0;
	size_t count;
	recorder_disable(live->opening.recorder);
	enum tally_status status = kvm_live_drain(live, true, err);
	kvm_live_say_slow(live, &status, err);
	if (status == TALLY_OK && live->out.write_errno == 0 && (live->job.count > 0 || live->tables == 0))
		kvm_live_show(live, &status, err);
	/* A LOST record comes only when the ring has room again: where the kernel counts, it has all of it. */
	const struct recorder_source *sources = recorder_sources(live->opening.recorder, &count);
	for (size_t i = 0; i < count; i++)
		lost += recorder_lost(live->opening.recorder, &sources[i]);
	health->lost_samples = MAX(lost, health->lost_events);
	health->lost_events = 0;
	health->damaged.count += live->merge.merge.damaged;
	cli_print_health(live->request->cli, health);
	return status;
}

static void kvm_live_say_what_is_open(const struct kvm_live *live)
{
	size_t count;
	(void)recorder_sources(live->opening.recorder, &count);
	cli_failf(live->request->cli, "%zu counters of %zu events are open, with rings of %zu kB", count,
		live->events.len, (size_t)recorder_ring_bytes(live->opening.recorder) >> 10);
}

int kvm_live_run(const struct kvm_live_request *request)
{
	struct kvm_live live = {.request = request, .job.settings = &request->settings->stat, .signal_fd = -1};
	struct tally_error err = {0};
	diag_init(&live.diag);
	text_to_fd(&live.out, STDOUT_FILENO);
	kvm_live_plan(&live);
	live.opening.request = &live.recording;
	enum tally_status status = kvm_live_open(&live, &err);
	kvm_live_say_notes(&live);
	if (status == TALLY_OK && request->settings->record.verbose > 0)
		kvm_live_say_what_is_open(&live);
	if (status == TALLY_OK) {
		status = kvm_live_watch(&live, &err);
		if (status == TALLY_OK)
			status = kvm_live_finish(&live, &err);
	}
	int code = status == TALLY_OK ? 0 : cli_fail(request->cli, &err);
	kvm_live_close(&live);
	return code;
}
