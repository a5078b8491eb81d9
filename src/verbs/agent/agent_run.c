/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/agent/agent_run.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <malloc.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/interrupts.h"
#include "base/own_home.h"
#include "bpf/bpf_probe.h"
#include "cli/cli.h"
#include "fleet/http_client.h"
#include "kernel/system/host_info.h"
#include "tasks/fleet/destinations.h"
#include "tasks/fleet/fleet_replay.h"
#include "tasks/recording/record_auto.h"
#include "tasks/sampling/live_opening.h"
#include "tasks/session/symbol_options.h"
#include "verbs/agent/agent_budget.h"
#include "verbs/agent/agent_output.h"

#define AGENT_RUN_LOOK_MS 250 /* Maximum interval between checks of how full the profile is. */
#define DRAIN_MS	  1000
#define LONG_WAIT_MS	  500
/* CPU time that a BPF program uses for each of the two parts of a wait (blocked, then waiting for a CPU): half of the
 * microsecond that was measured on x86-64 (docs/wall-clock.md). Measuring it continuously requires CAP_SYS_ADMIN. */
#define WAIT_PART_NS 500
/* Interval at which sums of waits are read; they are also read at the end of each window. */
#define WAIT_SUMS_MS   5000
#define SYMBOLS_KEPT_S 600 /* Time after which symbols of files without samples are dropped. */
#define HOST_LABELS    4

struct agent_run {
	const struct agent_run_request *request;
	struct agent_settings *settings;
	struct live_opening opening;
	struct live_session *session;
	struct host_info host;
	struct arena arena; /* Owns the labels. */
	struct fleet_labels labels;
	struct agent_window window;
	struct agent_output_config where;
	char token[HTTP_TOKEN_BYTES + 1], queue[PATH_MAX];
	struct agent_output *output;
	struct agent_budget budget;
	int signal_fd;
	uint64_t end_ns; /* End of the last window, in nanoseconds since 1970. */
	/* Totals at the end of the previous window; wait_parts counts parts of waits as record_waits_parts does. */
	uint64_t cpu_ns, clock_ns, wait_parts;
	/* Since the start: samples that were read from the rings, and samples and waits that were lost. */
	uint64_t samples, lost;
	uint64_t lost_waits;
	uint64_t windows;
};

/* ---- setup ---- */

static enum tally_status agent_run_make_labels(struct agent_run *run, struct tally_error *err)
{
	const struct agent_settings *s = run->settings;
	const struct {
		struct tally_str name, value;
	} own[HOST_LABELS] = {{STR("host"), run->host.hostname}, {STR("kernel"), run->host.osrelease},
		{STR("arch"), run->host.arch}, {STR("cpu_model"), run->host.cpudesc}};
	struct fleet_label *items = arena_array(&run->arena, struct fleet_label, s->labels.len + HOST_LABELS);
	struct fleet_labels given;
	size_t count = s->labels.len;
	if (!items)
		return error_nomem(err);
	for (size_t i = 0; i < count; i++)
		items[i] = s->labels.items[i];
	enum tally_status status = fleet_labels_make(items, count, &given, err);
	if (status != TALLY_OK)
		return status;
	count = given.count;
	for (size_t i = 0; i < HOST_LABELS; i++) {
		if (own[i].value.len == 0 || fleet_labels_find(&given, own[i].name))
			continue; /* A label that the user has set takes precedence. */
		items[count] = (struct fleet_label){own[i].name, thread_labels_value(&run->arena, own[i].value)};
		if (!items[count++].value.data)
			return error_nomem(err);
	}
	return fleet_labels_make(items, count, &run->labels, err);
}

static enum tally_status agent_run_find_labels(struct agent_run *run, struct tally_error *err)
{
	enum tally_status status = host_info_read(run->request->kernel, &run->host, err);
	if (status == TALLY_OK)
		status = agent_run_make_labels(run, err);
	bool has_service = status == TALLY_OK && fleet_labels_find(&run->labels, STR("service"));
	return status == TALLY_OK ? agent_window_init(&run->window, &run->labels, has_service, err) : status;
}

/* Measuring waits requires BPF programs on all CPUs. For single processes, their cost would exceed their use. */
static bool choose_waits(struct agent_run *run, struct text *why)
{
	struct tally_error err = {0};
	const struct target_request *t = &run->settings->record.target;
	if (run->settings->no_waits)
		text_str(why, "waits are not measured (--no-wait)");
	else if (t->pids || t->tids || t->cpus || t->user)
		text_str(why, "waits are not measured (only of all CPUs)");
	else if (bpf_probe(run->request->kernel, "waits", &err) != TALLY_OK)
		text_printf(why, "waits are not measured: %s", err.text);
	else
		return true;
	return false;
}

static int agent_run_open(struct agent_run *run, struct text *choices)
{
	struct record_settings *r = &run->settings->record;
	struct text why = {0};
	r->wall = choose_waits(run, &why);
	r->wall_source = WAIT_SOURCE_BPF;
	/* Waits shorter than LONG_WAIT_MS are summed up in the kernel. Longer ones are recorded individually and count
	 * in each window that they overlap. */
	r->has_off_cpu_ms = true;
	r->off_cpu_ms = LONG_WAIT_MS;
	r->wait_sums_ms = WAIT_SUMS_MS;
	record_auto_settle(run->request->kernel, r, choices);
	text_str(choices, choices->len ? "; " : "");
	if (r->wall)
		text_str(choices, "waits are measured in the kernel");
	else
		text_bytes(choices, why.data, why.len);
	text_deinit(&why);
	run->opening = (struct live_opening){.cli = run->request->cli,
		.command = run->request->command,
		.kernel = run->request->kernel,
		.settings = r,
		.rate = run->settings->rate,
		.argv = run->request->argv,
		.purpose = "sampling"};
	int code = live_opening_open(&run->opening);
	if (code != 0 && r->wall) {
		struct live_opening again = {.cli = run->opening.cli,
			.command = run->opening.command,
			.kernel = run->opening.kernel,
			.settings = r,
			.rate = run->opening.rate,
			.argv = run->opening.argv,
			.purpose = run->opening.purpose};
		live_opening_close(&run->opening);
		r->wall = false;
		text_str(choices, ", which was refused: they are not");
		run->opening = again;
		code = live_opening_open(&run->opening);
	}
	run->session = run->opening.session;
	return code;
}

/* Chooses the folder of the queue: that of --queue, systemd's STATE_DIRECTORY, or the default for the user. */
static bool agent_run_find_queue(struct agent_run *run)
{
	const char *given = run->settings->queue, *service = getenv("STATE_DIRECTORY");
	char home[PATH_MAX];
	int len = -1;
	if (given)
		len = snprintf(run->queue, sizeof(run->queue), "%s", given);
	else if (service && service[0] == '/' && !strchr(service, ':'))
		len = snprintf(run->queue, sizeof(run->queue), "%s/queue", service);
	else if (geteuid() == 0)
		len = snprintf(run->queue, sizeof(run->queue), "/var/lib/tally-agent/queue");
	else if (own_home(home))
		len = snprintf(run->queue, sizeof(run->queue), "%s/.local/state/tally-agent/queue", home);
	return len > 0 && (size_t)len < sizeof(run->queue);
}

static enum tally_status agent_run_start(struct agent_run *run, struct tally_error *err)
{
	const struct agent_settings *s = run->settings;
	struct replay_options replay = fleet_replay_options();
	const struct binary_store_options store =
		symbol_options_of(run->request->cli, &(struct symbol_options){0}, NULL);
	const struct live_session_config config = {.replay = &replay,
		.store = &store,
		.rounds_kept = (unsigned)(SYMBOLS_KEPT_S / s->window_s) + 1,
		.drain_ms = DRAIN_MS};
	replay.with_inlines = !s->no_inline;
	replay.with_lines = !s->no_inline;
	agent_budget_init(&run->budget, &(struct agent_limits){.cpu = s->max_cpu,
						.bytes = s->max_bytes,
						.frequency = s->rate.freq,
						.with_waits = live_session_has_waits(run->session)});
	run->end_ns = clock_ns_of(CLOCK_REALTIME);
	run->clock_ns = clock_ns();
	run->cpu_ns = clock_cpu_ns();
	return live_session_start(run->session, &config, err);
}

/* ---- windows ---- */

/* Returns the resident memory without mapped files, which are in the page cache: the second minus the third number
 * of /proc/self/statm. */
static uint64_t own_bytes(void)
{
	char *text;
	size_t len;
	uint64_t pages[3] = {0};
	struct tally_str word;
	if (file_read("/proc/self/statm", 4096, &text, &len, NULL) != TALLY_OK)
		return 0;
	struct tally_str rest = {text, len};
	for (unsigned i = 0; i < 3 && str_next(&rest, ' ', &word); i++)
		if (!str_to_u64(word, 10, &pages[i]))
			pages[i] = 0;
	free(text);
	return pages[1] > pages[2] ? (pages[1] - pages[2]) * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

/* Waits until the window is due or the profile is full. Returns false if this is the last window: after a signal, at
 * the end of the target, or on an error, which is stored in *status. */
static bool agent_run_wait(struct agent_run *run, int64_t due_ms, struct tally_error *err, enum tally_status *status)
{
	struct pollfd signals = {.fd = run->signal_fd, .events = POLLIN};
	int64_t left;
	unsigned interrupts = 0;
	*status = TALLY_OK;
	while ((left = due_ms - clock_ms()) > 0 && !live_session_is_full(run->session)) {
		int n = poll(&signals, 1, (int)(MIN(left, AGENT_RUN_LOOK_MS)));
		if (n < 0 && !is_interrupted(&interrupts)) {
			*status = error_set_errno(err, TALLY_IO, errno, "cannot wait for the end of the window");
			return false;
		}
		if (n > 0 || live_session_is_over(run->session))
			return false;
	}
	return true;
}

/* Reads the records that have arrived since the previous window ended, and starts the next window. */
static enum tally_status agent_run_take(struct agent_run *run, bool is_last, struct profile **profile,
	struct agent_window_facts *facts, struct tally_error *err)
{
	uint64_t now_ns = clock_ns_of(CLOCK_REALTIME), clock = clock_ns(), cpu = clock_cpu_ns();
	enum tally_status status = live_session_take(run->session, is_last, profile, err);
	if (status != TALLY_OK)
		return status;
	const struct live_figures figures = live_session_figures(run->session);
	uint64_t lost_waits = live_session_lost_waits(run->session);
	*facts = (struct agent_window_facts){.begin_ns = run->end_ns,
		.end_ns = MAX(now_ns, run->end_ns + 1), /* The clock may have been set back. */
		.samples = figures.records.samples,
		.losses = agent_output_pending(run->output)};
	facts->losses.lost_samples += figures.records.lost + (lost_waits - run->lost_waits);
	facts->losses.own_cpu_ns = cpu - run->cpu_ns;
	facts->losses.own_bytes = own_bytes();
	facts->losses.frequency_hz = run->budget.pace.frequency;
	run->samples = figures.samples_read;
	run->lost += figures.records.lost + (lost_waits - run->lost_waits);
	run->lost_waits = lost_waits;
	run->end_ns = facts->end_ns;
	run->cpu_ns = cpu;
	run->windows++;
	uint64_t parts = live_session_wait_parts(run->session);
	const struct agent_usage usage = {clock - run->clock_ns,
		facts->losses.own_cpu_ns + (parts - run->wait_parts) * WAIT_PART_NS, facts->losses.own_bytes};
	run->clock_ns = clock;
	run->wait_parts = parts;
	if (!is_last && agent_budget_judge(&run->budget, &usage)) {
		if (run->budget.pace.frequency != facts->losses.frequency_hz)
			status = live_session_set_frequency(run->session, run->budget.pace.frequency, err);
		if (status == TALLY_OK)
			status = live_session_run_waits(run->session, run->budget.pace.with_waits, err);
		cli_sayf("%s: %.2f %% of a CPU and %" PRIu64 " MB were used: sampling at %" PRIu64 " Hz, %s waits\n",
			run->request->cli->program, 100.0 * (double)usage.cpu_ns / (double)MAX(usage.window_ns, 1),
			usage.bytes >> 20, run->budget.pace.frequency,
			run->budget.pace.with_waits ? "with" : "without");
	}
	if (run->budget.wants_symbols_dropped)
		live_profile_forget_symbols(live_session_profile(run->session));
	return status;
}

/* A window that cannot be stored does not end the agent; the next batch reports it as lost. */
static enum tally_status agent_run_finish_window(struct agent_run *run, bool is_last, struct tally_error *err)
{
	struct profile *profile = NULL;
	struct agent_window_facts facts;
	struct agent_batch batch = {0};
	struct tally_error why = {0};
	struct fleet_losses reported = agent_output_pending(run->output);
	enum tally_status status = agent_run_take(run, is_last, &profile, &facts, err);
	if (status != TALLY_OK) {
		profile_destroy(profile);
		return status;
	}
	status = agent_window_encode(&run->window, profile, &facts, &batch, &why);
	if (status != TALLY_OK)
		agent_output_drop(run->output, facts.samples, facts.losses.lost_samples, &reported);
	else
		status = agent_output_put(run->output, &batch, &reported, &why);
	if (status != TALLY_OK)
		cli_sayf("%s: warning: %s\n", run->request->cli->program, why.text);
	agent_batch_deinit(&batch);
#ifdef __GLIBC__
	/* Encoding a batch needs much memory for a short time, which would otherwise stay allocated. */
	(void)malloc_trim(0);
#endif
	return TALLY_OK;
}

static enum tally_status agent_run_windows(struct agent_run *run, struct tally_error *err)
{
	int64_t window_ms = (int64_t)run->settings->window_s * 1000, due_ms = clock_ms();
	enum tally_status status = TALLY_OK;
	bool goes_on = true;
	while (status == TALLY_OK && goes_on) {
		do /* Windows that have ended already are skipped. */
			due_ms += window_ms;
		while (due_ms < clock_ms());
		goes_on = agent_run_wait(run, due_ms, err, &status);
		if (status == TALLY_OK)
			status = agent_run_finish_window(run, !goes_on, err);
	}
	return status;
}

static void agent_run_say_totals(struct agent_run *run)
{
	struct agent_output_totals t;
	struct destination server;
	agent_output_close(run->output, &t);
	run->output = NULL;
	cli_sayf("[ %s agent: %" PRIu64 " windows, %" PRIu64 " samples taken, %" PRIu64 " kept, %" PRIu64
		 " dropped, %" PRIu64 " lost by the kernel ]\n",
		run->request->cli->program, run->windows, run->samples, t.kept_samples, t.dropped_samples, run->lost);
	if (destination_find(run->settings->to, &server))
		cli_sayf("[ %s agent: %" PRIu64 " batches with %" PRIu64 " samples sent, %" PRIu64 " with %" PRIu64
			 " wait in '%s' ]\n",
			run->request->cli->program, t.sent_batches, t.sent_samples, t.waiting_batches,
			t.waiting_samples, run->where.queue);
}

static int agent_run_opened(struct agent_run *run, struct tally_str choices)
{
	struct tally_error err = {0};
	char shown[URL_SHOWN_BYTES];
	const struct agent_settings *s = run->settings;
	enum tally_status status = agent_output_open(&run->where, &run->output, &err);
	if (status == TALLY_OK) {
		cli_sayf("%s: %" PRIu64 " samples per second and CPU in windows of %" PRIu64 " s go to %s; %.*s\n",
			run->request->cli->program, s->rate.freq, s->window_s, url_shown(s->to, shown),
			(int)choices.len, choices.data);
		status = agent_run_start(run, &err);
	}
	live_opening_say_notes(&run->opening);
	if (status == TALLY_OK)
		status = agent_run_windows(run, &err);
	live_opening_say_notes(&run->opening);
	if (run->output)
		agent_run_say_totals(run);
	return status == TALLY_OK ? 0 : cli_fail(run->request->cli, &err);
}

int agent_run(const struct agent_run_request *request)
{
	struct agent_settings *s = request->settings;
	struct agent_run run = {.request = request, .settings = s, .signal_fd = -1};
	struct tally_error err = {0};
	struct text choices = {0};
	int code = 0;
	arena_init(&run.arena);
	run.signal_fd = live_opening_take_signals();
	if (run.signal_fd < 0) /* Signals must be received before the first window, too. */
		return cli_failf(request->cli, "signals cannot be received: %s", strerror(errno));
	if (http_token_read(s->token_file, run.token, &err) != TALLY_OK ||
		agent_run_find_labels(&run, &err) != TALLY_OK)
		code = cli_fail(request->cli, &err);
	run.where = (struct agent_output_config){.program = request->cli->program,
		.to = s->to,
		.queue = run.queue,
		.queue_bytes = s->queue_bytes,
		.token = run.token,
		.ca_file = s->ca_file};
	if (code == 0 && !agent_run_find_queue(&run))
		code = cli_failf(request->cli, "there is no home directory for the queue: name a folder with --queue");
	if (code == 0)
		code = agent_run_open(&run, &choices);
	if (code == 0)
		code = agent_run_opened(&run, text_view(&choices));
	text_deinit(&choices);
	if (run.signal_fd >= 0)
		close(run.signal_fd);
	live_opening_close(&run.opening);
	agent_window_deinit(&run.window);
	host_info_deinit(&run.host);
	arena_deinit(&run.arena);
	return code;
}
