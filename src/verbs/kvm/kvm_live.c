/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/kvm/kvm_live.h"

#include <errno.h>
#include <inttypes.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "tasks/recording/record_plan.h"
#include "tasks/sampling/live_rings.h"

#define KVM_LIVE_RING_BYTES (2u << 20) /* Default of -m. */
/* Maximum interval between two reads of the rings; a ring that fills up ends the wait earlier. */
#define KVM_LIVE_WAIT_MS 100

struct kvm_live {
	const struct kvm_live_request *request;
	struct kvm_stat_job job;
	struct event_list events;
	struct live_rings rings;
	struct text out;
	struct termios modes; /* The terminal's modes at the start. */
	bool has_terminal, has_said_nothing;
	uint64_t tables; /* Number of tables that have been printed. */
	uint64_t lost; /* Number of lost events up to the last table. */
};

/* ---- opening ---- */

/* Opens exits and entries, which each kind needs, and the additional event of the kind, because any other event
 * would only cost time. */
static enum tally_status kvm_live_make_events(struct kvm_live *live, struct tally_error *err)
{
	static const char *const words[] = {"kvm:kvm_entry,kvm:kvm_exit", "kvm:kvm_entry,kvm:kvm_exit,kvm:kvm_mmio",
		"kvm:kvm_entry,kvm:kvm_exit,kvm:kvm_pio"};
	struct tally_error own = {0};
	enum tally_status status = live_rings_add_events(&live->rings, words[live->job.settings->kind], &own);
	if (status != TALLY_OK)
		return error_set(err, status, "kvm stat live reads the tracepoints %s, which cannot be used: %s%s",
			words[live->job.settings->kind], own.text,
			status == TALLY_NOT_FOUND ? "\nLinux has them (kvm_pio: on x86) where its module kvm is loaded "
						    "('modprobe kvm_intel' or "
						    "'modprobe kvm_amd')"
						  : "");
	status = record_attrs_apply(&live->events, &live->rings.request.plan.attrs, err);
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
	struct record_request *request = &live->rings.request;
	request->is_live_view = true;
	request->target = record.target;
	request->plan = record_plan_make(&record);
	request->events = &live->events;
	request->store = symbol_options_of(live->request->cli, &(struct symbol_options){0}, NULL);
	request->map_timeout_ms = RECORD_MAP_TIMEOUT_MS;
	request->command = no_command;
	request->argv = live->request->argv;
	struct record_attr_options *attrs = &request->plan.attrs;
	attrs->rate = (struct record_rate){.period = 1, .is_period_given = true};
	attrs->fields.timestamp = attrs->fields.cpu = attrs->fields.raw = true;
	if (!request->plan.is_ring_given)
		request->plan.ring_bytes = KVM_LIVE_RING_BYTES;
}

/* A background process that reads from the terminal or changes its modes is stopped by a signal. */
static bool kvm_live_is_in_front(void)
{
	return isatty(STDIN_FILENO) && tcgetpgrp(STDIN_FILENO) == getpgrp();
}

/* Makes the terminal pass on keys without Enter, and reads return at once. */
static void kvm_live_take_keys(struct kvm_live *live)
{
	if (!kvm_live_is_in_front() || tcgetattr(STDIN_FILENO, &live->modes) != 0)
		return;
	struct termios modes = live->modes;
	modes.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	modes.c_cc[VMIN] = modes.c_cc[VTIME] = 0;
	live->has_terminal = tcsetattr(STDIN_FILENO, TCSANOW, &modes) == 0;
}

static enum tally_status kvm_live_open(struct kvm_live *live, struct tally_error *err)
{
	enum tally_status status = kvm_live_make_events(live, err);
	if (status == TALLY_OK)
		status = live_rings_open(&live->rings, err);
	if (status == TALLY_OK)
		status = live_rings_open_source(&live->rings, &(struct data_input){.is_quiet = true}, err);
	if (status == TALLY_OK)
		kvm_live_take_keys(live);
	return status == TALLY_OK ? recorder_enable(live->rings.opening.recorder, err) : status;
}

static void kvm_live_close(struct kvm_live *live)
{
	if (live->has_terminal && kvm_live_is_in_front())
		(void)tcsetattr(STDIN_FILENO, TCSANOW, &live->modes);
	kvm_stat_close(&live->job);
	live_rings_close(&live->rings);
	event_list_deinit(&live->events);
	text_deinit(&live->out);
}

/* ---- records ---- */

static enum tally_status kvm_live_take(void *context, const struct record *record, struct tally_error *err)
{
	struct kvm_live *live = context;
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

/* ---- showing ---- */

/* Returns false after an error, or if the reader of the output has closed it, which is not an error. */
static bool kvm_live_write(struct kvm_live *live, enum tally_status *status, struct tally_error *err)
{
	if (live->out.failed) {
		*status = error_nomem(err);
	} else if (!text_flush(&live->out)) {
		live->rings.watch.is_over = true;
		if (live->out.write_errno != EPIPE)
			*status = error_set_errno(
				err, TALLY_IO, live->out.write_errno, "cannot write to standard output");
	}
	return *status == TALLY_OK && !live->rings.watch.is_over;
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

/* Explains once why tables are empty. */
static void kvm_live_say_nothing(struct kvm_live *live)
{
	if (live->job.exits + live->job.entries > 0 || live->has_said_nothing)
		return;
	live->has_said_nothing = true;
	cli_failf(live->request->cli,
		"note: no kvm:kvm_exit and kvm:kvm_entry so far: no guest runs here%s, or this kernel's hypervisor "
		"does not report them",
		live->job.settings->pids ? " in these processes" : "");
}

static void kvm_live_show(struct kvm_live *live, enum tally_status *status, struct tally_error *err)
{
	/* Written directly, because struct text escapes control sequences. */
	static const char clear[] = "\033[H\033[2J";
	char stamp[16] = "";
	struct timespec now;
	struct tm local;
	uint64_t lost = live->job.source.pass.sideband.health.lost_events;
	clock_gettime(CLOCK_REALTIME, &now);
	if (localtime_r(&now.tv_sec, &local))
		(void)strftime(stamp, sizeof(stamp), "%T", &local);
	/* With --duration, the screen is not cleared, so that the lines about slow events remain. */
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

static enum tally_status kvm_live_watch(struct kvm_live *live, struct tally_error *err)
{
	const int64_t display_ms = (int64_t)live->request->settings->display_s * 1000;
	int64_t due_ms = clock_ms() + display_ms, now_ms;
	bool *is_over = &live->rings.watch.is_over;
	enum tally_status status = TALLY_OK;
	char key;
	while (status == TALLY_OK && !*is_over) {
		int64_t left_ms = MAX(due_ms - clock_ms(), 0);
		status = live_rings_wait(&live->rings, (int)MIN(left_ms, KVM_LIVE_WAIT_MS), err);
		while (live->has_terminal && kvm_live_is_in_front() && read(STDIN_FILENO, &key, 1) == 1)
			*is_over |= key == 'q';
		if (status == TALLY_OK && !*is_over)
			status = live_rings_drain(&live->rings, false, err);
		kvm_live_say_slow(live, &status, err);
		now_ms = clock_ms();
		if (status != TALLY_OK || *is_over || now_ms < due_ms)
			continue;
		kvm_live_show(live, &status, err);
		while (due_ms <= now_ms) /* Intervals that were missed are part of this one. */
			due_ms += display_ms;
	}
	return status;
}

/* Prints a last table with the events since the previous one, for an interval that is not complete. */
static enum tally_status kvm_live_finish(struct kvm_live *live, struct tally_error *err)
{
	recorder_disable(live->rings.opening.recorder);
	enum tally_status status = live_rings_drain(&live->rings, true, err);
	kvm_live_say_slow(live, &status, err);
	if (status == TALLY_OK && live->out.write_errno == 0 && (live->job.count > 0 || live->tables == 0))
		kvm_live_show(live, &status, err);
	live_rings_count_lost(&live->rings);
	cli_print_health(live->request->cli, &live->job.source.pass.sideband.health);
	return status;
}

int kvm_live_run(const struct kvm_live_request *request)
{
	struct kvm_live live = {.request = request, .job.settings = &request->settings->stat};
	struct tally_error err = {0};
	live_rings_init(&live.rings, &(struct live_rings_user){request->cli, &live.job.source, kvm_live_take, &live});
	text_to_fd(&live.out, STDOUT_FILENO);
	kvm_live_plan(&live);
	enum tally_status status = kvm_live_open(&live, &err);
	live_rings_say_notes(&live.rings);
	if (status == TALLY_OK && request->settings->record.verbose > 0) {
		size_t count;
		(void)recorder_sources(live.rings.opening.recorder, &count);
		cli_failf(request->cli, "%zu counters of %zu events are open, with rings of %zu kB", count,
			live.events.len, (size_t)recorder_ring_bytes(live.rings.opening.recorder) >> 10);
	}
	if (status == TALLY_OK) {
		status = kvm_live_watch(&live, &err);
		if (status == TALLY_OK)
			status = kvm_live_finish(&live, &err);
	}
	int code = status == TALLY_OK ? 0 : cli_fail(request->cli, &err);
	kvm_live_close(&live);
	return code;
}
