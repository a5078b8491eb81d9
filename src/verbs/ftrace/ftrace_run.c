/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/ftrace/ftrace_run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/ftrace/graph_line.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/error.h"
#include "kernel/ftrace/ftrace_session.h"
#include "kernel/system/capabilities.h"
#include "tasks/recording/command_watch.h"

/* The pipe is read at this interval, because poll(2) reports it as readable only when half of the kernel's buffer is
 * full. */
#define FTRACE_RUN_LOOK_MS 100
#define READ_BYTES	   (64u << 10)
#define LINE_MAX_BYTES	   (1u << 20) /* A longer line is split. */

struct ftrace_runner {
	struct ftrace_job *job;
	const struct kernel_seam *kernel;
	struct ftrace_session *session;
	struct command_watch watch;
	struct text lines; /* Data that was read but not yet passed on. */
};

struct target_request ftrace_target_of(const struct ftrace_settings *settings, bool has_command)
{
	struct target_request request = settings->target;
	request.has_command = has_command;
	if (!has_command && !request.pids && !request.tids && !request.cpus)
		request.system_wide = true;
	return request;
}

/* ---- settings ---- */

static enum tally_status ftrace_run_add_all(struct ftrace_runner *r, const char *file, const struct ftrace_words *words,
	const char *why, struct tally_error *err)
{
	enum tally_status status = TALLY_OK;
	for (size_t i = 0; status == TALLY_OK && i < words->len; i++)
		status = ftrace_set(r->session, file, words->items[i], why, err);
	return status;
}

static enum tally_status ftrace_run_set_filters(struct ftrace_runner *r, struct tally_error *err)
{
	const struct ftrace_settings *s = r->job->settings;
	enum tally_status status = ftrace_run_add_all(r, "set_ftrace_filter", &s->functions, "-T", err);
	if (status == TALLY_OK)
		status = ftrace_run_add_all(r, "set_ftrace_notrace", &s->not_functions, "-N", err);
	if (status == TALLY_OK)
		status = ftrace_run_add_all(r, "set_graph_function", &s->graphs, "-G", err);
	return status == TALLY_OK ? ftrace_run_add_all(r, "set_graph_notrace", &s->not_graphs, "-g", err) : status;
}

struct ftrace_run_option {
	const char *file, *why;
	bool is_set, of_function, of_graph; /* The value, and the tracers that have the option. */
};

/* Sets the requested options, and those of the tracer that are not requested, because a new instance may start with
 * other values. That the kernel lacks an option is an error only if it is requested. */
static enum tally_status ftrace_run_set_options(struct ftrace_runner *r, struct tally_error *err)
{
	const struct ftrace_settings *s = r->job->settings;
	bool is_graph = strcmp(r->job->tracer, "function_graph") == 0,
	     is_function = strcmp(r->job->tracer, "function") == 0;
	const struct ftrace_run_option options[] = {
		{"options/function-fork", "--inherit", s->inherits, true, true},
		{"options/func_stack_trace", "--func-opts call-graph", s->function_options.call_graph, true, false},
		{"options/irq-info", "--func-opts irq-info", s->function_options.irq_info, true, false},
		{"options/sleep-time", "--graph-opts nosleep-time", !s->graph_options.nosleep_time, false, true},
		{"options/funcgraph-irqs", "--graph-opts noirqs", !s->graph_options.noirqs, false, true},
		{"options/funcgraph-proc", "--graph-opts verbose", s->graph_options.verbose, false, true},
		{"options/funcgraph-abstime", "--graph-opts verbose", s->graph_options.verbose, false, true},
		{"options/latency-format", "--graph-opts verbose", s->graph_options.verbose, true, true},
		{"options/funcgraph-tail", "--graph-opts tail", s->graph_options.tail || r->job->has_tail, false, true},
		{"options/funcgraph-args", "--graph-opts args", s->graph_options.args, false, true},
		{"options/funcgraph-retval", "--graph-opts retval",
			s->graph_options.retval || s->graph_options.retval_hex, false, true},
		{"options/funcgraph-retval-hex", "--graph-opts retval-hex", s->graph_options.retval_hex, false, true},
		{"options/funcgraph-retaddr", "--graph-opts retaddr", s->graph_options.retaddr, false, true},
	};
	enum tally_status status = TALLY_OK;
	for (size_t i = 0; status == TALLY_OK && i < ARRAY_LEN(options); i++) {
		const struct ftrace_run_option *o = &options[i];
		bool is_inverse =
			strcmp(o->file, "options/sleep-time") == 0 || strcmp(o->file, "options/funcgraph-irqs") == 0;
		bool is_asked = o->is_set != is_inverse;
		if (!is_asked && !(is_graph && o->of_graph) && !(is_function && o->of_function))
			continue;
		status = ftrace_set(r->session, o->file, o->is_set ? "1" : "0", o->why, err);
		if (status == TALLY_UNSUPPORTED && !is_asked)
			status = TALLY_OK;
	}
	return status;
}

static enum tally_status ftrace_run_set_number(
	struct ftrace_runner *r, const char *file, uint64_t value, const char *why, struct tally_error *err)
{
	char text[24];
	snprintf(text, sizeof(text), "%" PRIu64, value);
	return value ? ftrace_set(r->session, file, text, why, err) : TALLY_OK;
}

/* Sets the mask of traced CPUs in the kernel's format: 32-bit words, the highest first. */
static enum tally_status ftrace_run_set_cpus(struct ftrace_runner *r, struct tally_error *err)
{
	const struct target *target = &r->watch.target;
	struct text mask = {0};
	int highest = 0;
	for (size_t i = 0; i < target->measured_count; i++)
		highest = MAX(highest, target->cpus[i]);
	for (int word = highest / 32; word >= 0; word--) {
		uint32_t bits = 0;
		for (size_t i = 0; i < target->measured_count; i++)
			if (target->cpus[i] / 32 == word)
				bits |= (uint32_t)1 << (target->cpus[i] % 32);
		text_hex(&mask, bits, word == highest / 32 ? 0 : 8);
		if (word)
			text_char(&mask, ',');
	}
	text_char(&mask, '\0');
	enum tally_status status =
		mask.failed ? error_nomem(err) : ftrace_set(r->session, "tracing_cpumask", mask.data, "-C", err);
	text_deinit(&mask);
	return status;
}

static enum tally_status ftrace_run_set_target(struct ftrace_runner *r, struct tally_error *err)
{
	const struct ftrace_settings *s = r->job->settings;
	enum tally_status status = s->target.cpus ? ftrace_run_set_cpus(r, err) : TALLY_OK;
	if (status != TALLY_OK || r->watch.target.is_system_wide)
		return status;
	if (pid_namespace_is_nested(r->kernel))
		return error_set(err, TALLY_UNSUPPORTED,
			"ftrace finds threads by their numbers in the machine's first PID namespace, and this process "
			"is in another one: run it outside of the container, or trace all processes (-a)");
	for (size_t i = 0; status == TALLY_OK && i < r->watch.target.thread_count; i++)
		status = ftrace_run_set_number(r, "set_ftrace_pid", (uint64_t)r->watch.target.threads[i],
			r->watch.target.is_command ? "tracing one command"
			: s->target.tids	   ? "--tid"
						   : "-p",
			err);
	return status;
}

static enum tally_status ftrace_run_set_up(struct ftrace_runner *r, struct tally_error *err)
{
	const struct ftrace_settings *s = r->job->settings;
	enum tally_status status = ftrace_run_set_target(r, err);
	if (status == TALLY_OK)
		status = ftrace_run_set_filters(r, err);
	if (status == TALLY_OK)
		status = ftrace_run_set_options(r, err);
	if (status == TALLY_OK)
		status = ftrace_run_set_number(
			r, "tracing_thresh", s->graph_options.thresh_us, "--graph-opts thresh", err);
	if (status == TALLY_OK)
		status = ftrace_run_set_number(r, "max_graph_depth", s->graph_options.depth, "--graph-opts depth", err);
	return status == TALLY_OK ? ftrace_run_set_number(r, "buffer_size_kb", s->buffer_kb, "-m", err) : status;
}

/* ---- reading ---- */

/* Passes on all complete lines. An incomplete line at the end is retained, unless is_last is set or it is longer than
 * LINE_MAX_BYTES. */
static bool ftrace_run_pass_lines(struct ftrace_runner *r, bool is_last)
{
	struct text *t = &r->lines;
	const char *end = t->len ? memrchr(t->data, '\n', t->len) : NULL;
	size_t len = end ? (size_t)(end - t->data) + 1 : 0;
	if (is_last || (len == 0 && t->len > LINE_MAX_BYTES))
		len = t->len;
	if (len == 0)
		return true;
	struct tally_str rest = {t->data, len}, line;
	while (str_next(&rest, '\n', &line))
		r->job->lost += graph_line_lost(line);
	bool goes_on = r->job->take(r->job->context, (struct tally_str){t->data, len});
	memmove(t->data, t->data + len, t->len - len);
	t->len -= len;
	return goes_on;
}

/* Reads once from the pipe. The caller checks for signals between reads, because a full buffer might otherwise never
 * become empty. */
static enum tally_status ftrace_run_read(struct ftrace_runner *r, bool *has_more, struct tally_error *err)
{
	char *room = text_room(&r->lines, READ_BYTES);
	*has_more = false;
	if (!room)
		return error_nomem(err);
	ssize_t n = read(ftrace_pipe(r->session), room, READ_BYTES);
	if (n < 0 && errno != EAGAIN && errno != EINTR)
		return error_set_errno(err, TALLY_IO, errno, "cannot read the trace");
	if (n <= 0)
		return TALLY_OK;
	r->lines.len += (size_t)n;
	*has_more = true;
	if (!ftrace_run_pass_lines(r, false))
		r->watch.is_over = true;
	return TALLY_OK;
}

/* ---- running ---- */

static enum tally_status ftrace_run_start(struct ftrace_runner *r, struct tally_error *err)
{
	bool is_late = r->job->settings->delay_ms > 0;
	enum tally_status status = is_late ? TALLY_OK : ftrace_start(r->session, err);
	if (status == TALLY_OK)
		status = command_watch_start(&r->watch, err);
	if (status == TALLY_OK && is_late) {
		uint64_t now_ns = clock_ns();
		uint64_t delay_ms = MIN(r->job->settings->delay_ms, (UINT64_MAX - now_ns) / 1000000);
		uint64_t end_ns = now_ns + delay_ms * 1000000;
		while (status == TALLY_OK && !r->watch.is_over && (now_ns = clock_ns()) < end_ns)
			status = command_watch_wait(
				&r->watch, (int)MIN((end_ns - now_ns) / 1000000 + 1, (uint64_t)1000), err);
	}
	return status == TALLY_OK && is_late && !r->watch.is_over ? ftrace_start(r->session, err) : status;
}

static enum tally_status ftrace_run_watch(struct ftrace_runner *r, struct tally_error *err)
{
	enum tally_status status = TALLY_OK;
	bool has_more = false;
	while (status == TALLY_OK && !r->watch.is_over) {
		status = command_watch_wait(&r->watch, has_more ? 0 : FTRACE_RUN_LOOK_MS, err);
		if (status == TALLY_OK && !r->watch.is_over)
			status = ftrace_run_read(r, &has_more, err);
	}
	return status;
}

static enum tally_status ftrace_run_drain(struct ftrace_runner *r, struct tally_error *err)
{
	enum tally_status status = TALLY_OK;
	bool has_more = true;
	/* After a signal, the rest of the trace is still printed. */
	r->watch.is_over = false;
	while (status == TALLY_OK && has_more && !r->watch.is_over)
		status = ftrace_run_read(r, &has_more, err);
	if (status == TALLY_OK && !r->watch.is_over)
		(void)ftrace_run_pass_lines(r, true);
	return status;
}

static enum tally_status ftrace_run_pass_heading(struct ftrace_runner *r, struct tally_error *err)
{
	char *heading;
	enum tally_status status = ftrace_heading(r->session, &heading, err);
	if (status != TALLY_OK)
		return status;
	(void)r->job->take(r->job->context, str_from(heading));
	free(heading);
	return TALLY_OK;
}

static enum tally_status ftrace_run_open(struct ftrace_runner *r, struct diag *diag, struct tally_error *err)
{
	struct ftrace_job *job = r->job;
	const struct target_request request = ftrace_target_of(job->settings, job->argv[0] != NULL);
	enum tally_status status = command_watch_open(&r->watch, r->kernel, &request, job->argv, err);
	if (status == TALLY_OK)
		status = ftrace_open(r->kernel, job->tracer, diag, &r->session, err);
	if (status == TALLY_OK)
		status = ftrace_run_set_up(r, err);
	if (status == TALLY_OK)
		status = ftrace_prepare(r->session, err);
	return status == TALLY_OK && job->has_heading ? ftrace_run_pass_heading(r, err) : status;
}

enum tally_status ftrace_run(struct ftrace_job *job, struct tally_error *err)
{
	struct ftrace_runner r = {.job = job, .kernel = kernel_seam_linux(), .watch.signal_fd = -1};
	struct diag diag;
	diag_init(&diag);
	enum tally_status status = ftrace_run_open(&r, &diag, err);
	cli_print_diag(job->cli, &diag);
	diag_deinit(&diag);
	if (status == TALLY_OK && job->settings->verbose)
		cli_failf(job->cli, "%s tracer is used", job->tracer);
	if (status == TALLY_OK)
		status = ftrace_run_start(&r, err);
	if (status == TALLY_OK)
		status = ftrace_run_watch(&r, err);
	if (r.session)
		ftrace_stop(r.session);
	if (status == TALLY_OK)
		status = ftrace_run_drain(&r, err);
	job->exit_code = command_watch_exit_code(&r.watch);
	ftrace_close(r.session);
	command_watch_close(&r.watch);
	text_deinit(&r.lines);
	return status;
}
