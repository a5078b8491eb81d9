/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/lock/lock_live.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/limits.h"
#include "kernel/recording/cgroups.h"
#include "kernel/system/spawn.h"
#include "tasks/recording/record_description.h"
#include "tasks/recording/record_options.h"
#include "tasks/recording/ring_merge.h"
#include "tasks/session/event_words.h"
#include "tasks/session/symbol_options.h"
#include "verbs/lock/lock_bpf.h"

#define EVENTS	    "lock:contention_begin,lock:contention_end"
#define EVENTS_BPF  "dummy" /* the waits themselves are summed in the kernel */
#define RING_BYTES  (4u << 20) /* as those of lock record */
#define WAIT_MS	    1000 /* a ring that fills faster wakes us */
#define ENDED_KEPT  1024 /* threads: their last records may come later than their end */
#define FRAMES_KEPT (1u << 20) /* with -L every lock that is waited for is one */

struct lock_live {
	struct lock_job *job;
	struct event_list events;
	struct diag diag;
	struct record_request request;
	struct record_opening opening;
	struct spawn child;
	bool has_child, child_is_started, child_is_over;
	struct file_map description;
	struct writer beginning; /* of a recording: description, and what ran already. The job's source reads it */
	struct live_state state;
	struct ring_merge merge;
	struct bpf_lock_contention *locks; /* NULL: waits come out of the rings */
	int signal_fd;
	sigset_t old_mask;
	bool has_mask, is_over;
};

/* ---- opening ---- */

static void lock_live_say_notes(struct lock_live *live)
{
	if (!live->job->settings->quiet)
		cli_print_diag(live->job->cli, &live->diag);
	diag_deinit(&live->diag);
	diag_init(&live->diag);
}

/* What -p and --tid name is watched on all CPUs, and -C tells its samples apart. */
static struct target_request lock_live_target_of(const struct lock_settings *s, bool has_command)
{
	bool has_threads = s->pids || s->tids;
	return (struct target_request){.pids = s->pids,
		.tids = s->tids,
		.cpus = has_threads ? NULL : s->cpus,
		.system_wide = s->all_cpus || (!has_threads && !s->cpus && !has_command),
		.has_command = has_command};
}

static struct record_attr_options lock_live_attrs(const struct lock_live *live, bool has_command)
{
	const struct lock_settings *s = live->job->settings;
	bool has_threads = s->pids || s->tids;
	return (struct record_attr_options){.is_system_wide = !has_threads && (s->all_cpus || s->cpus || !has_command),
		.has_command = has_command && !has_threads,
		.modes.no_inherit = s->tids != NULL,
		.chains = {.mode = CALLGRAPH_FP, .no_user = true},
		.rate = {.period = 1, .is_period_given = true},
		.fields = {.timestamp = true,
			.cpu = true,
			.raw = true,
			.build_id_mmap = true,
			.cgroups = lock_job_wants_cgroups(live->job)}};
}

static struct record_request request_of(struct lock_live *live, const struct lock_live_config *config)
{
	bool has_command = config->words[0] != NULL;
	return (struct record_request){.kernel = kernel_seam_linux(),
		.target = lock_live_target_of(live->job->settings, has_command),
		.plan = {.attrs = lock_live_attrs(live, has_command), .ring_bytes = RING_BYTES},
		.events = &live->events,
		.store = symbol_options_of(live->job->cli, &(struct symbol_options){0}, NULL),
		.map_timeout_ms = RECORD_MAP_TIMEOUT_MS,
		.command = config->words,
		.argv = config->argv,
		.diag = &live->diag};
}

static enum tally_status open_rings(struct lock_live *live, struct tally_error *err)
{
	struct record_opening *o = &live->opening;
	enum tally_status status = record_opening_find(o, err);
	if (status == TALLY_OK && live->request.command[0]) {
		status = spawn_create(live->request.command, &live->child, err);
		live->has_child = status == TALLY_OK;
		if (live->has_child && o->target.is_command)
			o->target.threads[0] = live->child.pid;
	}
	return status == TALLY_OK ? record_opening_open(o, err) : status;
}

static enum tally_status to_beginning(
	void *context, const struct tally_bytes *slices, size_t slice_count, struct tally_error *err)
{
	struct lock_live *live = context;
	for (size_t i = 0; i < slice_count; i++)
		writer_bytes(&live->beginning, slices[i].data, slices[i].len);
	return live->beginning.failed ? error_nomem(err) : TALLY_OK;
}

/* Who runs already, from the records that say so. */
static enum tally_status learn_state(struct lock_live *live, size_t start, struct tally_error *err)
{
	struct tally_bytes bytes = writer_view(&live->beginning);
	enum tally_status status = TALLY_OK;
	struct record record;
	for (size_t at = start; status == TALLY_OK && at < bytes.len; at += record.bytes.len) {
		struct record_fields fields;
		status = record_at(bytes, false, at, &record, err);
		if (status == TALLY_OK && record.type == RECORD_COMM &&
			record_decode(&record, &fields, NULL) == TALLY_OK)
			status = live_state_apply(&live->state, &record, &fields, err);
	}
	return status;
}

static enum tally_status lock_live_describe(struct lock_live *live, struct tally_error *err)
{
	const struct record_sink sink = {to_beginning, live};
	enum tally_status status = record_description_read(&live->opening, &live->description, err);
	if (status == TALLY_OK)
		status = to_beginning(live, &live->description.bytes, 1, err);
	size_t start = live->beginning.len;
	if (status == TALLY_OK)
		status = record_opening_describe(
			&live->opening, &sink, (struct record_synth){.no_maps = true}, live->has_child, err);
	return status == TALLY_OK ? learn_state(live, start, err) : status;
}

static enum tally_status lock_live_open_source(struct lock_live *live, struct tally_error *err)
{
	const struct lock_settings *s = live->job->settings;
	const struct data_input input = {.symbols = s->symbols};
	struct perfdata_reader *reader;
	enum tally_status status = perfdata_reader_open_beginning(writer_view(&live->beginning), &reader, err);
	if (status == TALLY_OK)
		status = data_source_take(live->job->cli, &input, reader, NULL, &live->job->source, err);
	live->job->running = &live->state;
	return status == TALLY_OK ? lock_job_begin(live->job, err) : status;
}

static uint64_t lock_live_time_of(void *context, const struct record *record)
{
	const struct lock_live *live = context;
	return time_order_time_of(live->job->source.reader, record, false);
}

static enum tally_status lock_live_make_events(struct lock_live *live, struct tally_error *err)
{
	struct event_catalogue *catalogue;
	enum tally_status status = event_catalogue_create(live->request.kernel, &catalogue, err);
	if (status != TALLY_OK)
		return status;
	status = event_word_parse(live->job->cli, catalogue, live->locks ? EVENTS_BPF : EVENTS, &live->events, err);
	event_catalogue_destroy(catalogue);
	return status == TALLY_OK ? record_attrs_apply(&live->events, &live->request.plan.attrs, err) : status;
}

/* A BPF program where one can be had; else the events themselves, which only owners of locks cannot be read from. */
static enum tally_status lock_live_choose_way(struct lock_live *live, struct tally_error *err)
{
	const struct lock_settings *s = live->job->settings;
	struct target_request target = live->request.target;
	bool of_command = target.has_command && !target.system_wide && !target.pids && !target.tids && !target.cpus;
	struct tally_error refused = {0};
	enum tally_status status = lock_bpf_open(live->job, of_command, &live->locks, &refused);
	if (status == TALLY_OK)
		return status;
	if (status == TALLY_NOMEM || s->by_owner) {
		if (err)
			*err = refused;
		return status;
	}
	diag_add(&live->diag, DIAG_NOTE, "%s; each wait is read from the rings instead", refused.text);
	return TALLY_OK;
}

static enum tally_status lock_live_open_all(struct lock_live *live, struct tally_error *err)
{
	enum tally_status status = lock_live_choose_way(live, err);
	if (status == TALLY_OK)
		status = lock_live_make_events(live, err);
	if (status != TALLY_OK)
		return status;
	record_attrs_leave_out_mappings(&live->events);
	status = open_rings(live, err);
	if (status == TALLY_OK)
		status = lock_live_describe(live, err);
	if (status == TALLY_OK)
		status = lock_live_open_source(live, err);
	return status == TALLY_OK ? ring_merge_init(&live->merge, live->opening.recorder, lock_live_time_of, live, err)
				  : status;
}

static enum tally_status lock_live_take_signals(struct lock_live *live, struct tally_error *err)
{
	sigset_t mask;
	sigemptyset(&mask);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGCHLD);
	live->has_mask = sigprocmask(SIG_BLOCK, &mask, &live->old_mask) == 0;
	live->signal_fd = live->has_mask ? signalfd(-1, &mask, SFD_NONBLOCK | SFD_CLOEXEC) : -1;
	return live->signal_fd >= 0 ? TALLY_OK : error_set_errno(err, TALLY_IO, errno, "signals cannot be received");
}

/* What is waited for comes from now on. */
static enum tally_status lock_live_start(struct lock_live *live, struct tally_error *err)
{
	enum tally_status status = lock_live_take_signals(live, err);
	if (status == TALLY_OK)
		status = recorder_enable(live->opening.recorder, err);
	if (status == TALLY_OK && live->locks)
		status = lock_bpf_watch(live->locks, live->job, live->has_child ? live->child.pid : 0, err);
	if (status == TALLY_OK && live->locks)
		lock_bpf_start(live->locks);
	if (status == TALLY_OK && live->has_child) {
		status = spawn_start(&live->child, err);
		live->child_is_started = status == TALLY_OK;
	}
	return status;
}

int lock_live_open(const struct lock_live_config *config, struct lock_live **out)
{
	const struct cli *cli = config->job->cli;
	struct lock_live *live = calloc(1, sizeof(*live));
	struct tally_error err = {0};
	*out = live;
	if (!live)
		return cli_failf(cli, "out of memory");
	live->job = config->job;
	live->signal_fd = -1;
	diag_init(&live->diag);
	live_state_init(&live->state);
	live->request = request_of(live, config);
	live->opening.request = &live->request;
	enum tally_status status = lock_live_open_all(live, &err);
	lock_live_say_notes(live);
	if (status == TALLY_OK)
		status = lock_live_start(live, &err);
	return status == TALLY_OK ? 0 : cli_fail(cli, &err);
}

void lock_live_close(struct lock_live *live)
{
	if (!live)
		return;
	if (live->has_child && !live->child_is_started)
		spawn_cancel(&live->child);
	ring_merge_deinit(&live->merge);
	lock_bpf_close(live->locks);
	record_opening_close(&live->opening);
	if (live->signal_fd >= 0)
		close(live->signal_fd);
	if (live->has_mask)
		sigprocmask(SIG_SETMASK, &live->old_mask, NULL);
	live_state_deinit(&live->state);
	writer_deinit(&live->beginning);
	file_map_close(&live->description);
	event_list_deinit(&live->events);
	diag_deinit(&live->diag);
	free(live);
}

/* ---- records ---- */

/* Which code of the kernel came or went. */
static enum tally_status take_symbol(struct lock_live *live, const struct record *record,
	const struct record_fields *fields, struct tally_error *err)
{
	struct data_source *source = &live->job->source;
	enum tally_status status =
		machine_apply(source->pass.sideband.machine, record, fields, lock_live_time_of(live, record), err);

	resolver_forget_epochs(&source->pass.resolver);
	return status == TALLY_OK ? machine_finish(source->pass.sideband.machine, err) : status;
}

static enum tally_status add_cgroup(void *context, uint64_t id, struct tally_str path, struct tally_error *err)
{
	return cgroup_names_add(context, id, path, err);
}

/* The removal of a cgroup is not reported, so if there are many cgroups, the list is read again. */
static enum tally_status take_cgroup(
	struct lock_live *live, const struct record_cgroup *cgroup, struct tally_error *err)
{
	struct cgroup_names *names = &live->job->cgroups;
	enum tally_status status = TALLY_OK;
	if (names->paths.len >= 2 * LIMIT_LIVE_CGROUPS) {
		cgroup_names_deinit(names);
		status = cgroups_each(live->request.kernel, add_cgroup, names, err);
	}
	return status == TALLY_OK ? cgroup_names_add(names, cgroup->id, cgroup->path, err) : status;
}

static enum tally_status lock_live_take_sideband(
	struct lock_live *live, const struct record *record, struct tally_error *err)
{
	struct record_fields fields;
	if (record_decode(record, &fields, NULL) != TALLY_OK) {
		live->job->source.pass.sideband.health.damaged.count++;
		return TALLY_OK;
	}
	if (record->type == RECORD_KSYMBOL)
		return take_symbol(live, record, &fields, err);
	if (record->type == RECORD_CGROUP)
		return take_cgroup(live, &fields.cgroup, err);
	if (record->type == RECORD_LOST)
		lock_waits_give_up(&live->job->waits);
	if (record->type == RECORD_EXIT)
		lock_waits_end_thread(&live->job->waits, (int32_t)fields.task.tid);
	if (record->type == RECORD_COMM || record->type == RECORD_FORK || record->type == RECORD_EXIT)
		return live_state_apply(&live->state, record, &fields, err);
	return sideband_count(&live->job->source.pass.sideband, live->job->source.reader, record, err);
}

static enum tally_status lock_live_take_record(
	struct lock_live *live, const struct record *record, struct tally_error *err)
{
	struct data_sample sample;
	if (record->type != RECORD_SAMPLE)
		return lock_live_take_sideband(live, record, err);
	return data_source_decode(&live->job->source, record, &sample) ? lock_job_take(live->job, &sample, err)
								       : TALLY_OK;
}

/* Frees ended processes and resolved addresses when there are many. */
static enum tally_status lock_live_relieve(struct lock_live *live, struct tally_error *err)
{
	struct data_source *source = &live->job->source;
	if (source->pass.resolver.frames.len > FRAMES_KEPT && !data_source_forget_frames(source))
		return error_nomem(err);
	return live->state.ended_threads < ENDED_KEPT ? TALLY_OK : live_state_settle(&live->state, err);
}

static enum tally_status lock_live_drain(struct lock_live *live, bool is_last, struct tally_error *err)
{
	uint64_t fill;
	struct record record;
	enum tally_status status = ring_merge_look(&live->merge, is_last, &fill, err);
	while (status == TALLY_OK && ring_merge_next(&live->merge, &record)) {
		status = lock_live_take_record(live, &record, err);
		if (status == TALLY_OK && !ring_merge_advance(&live->merge))
			status = error_nomem(err);
	}
	ring_merge_release(&live->merge);
	return status == TALLY_OK ? lock_live_relieve(live, err) : status;
}

/* ---- running ---- */

static enum tally_status lock_live_read_signals(struct lock_live *live, struct tally_error *err)
{
	struct signalfd_siginfo info;
	struct rusage usage;
	int exit_status;
	enum tally_status status = TALLY_OK;
	ssize_t n;
	while ((n = read(live->signal_fd, &info, sizeof(info))) == (ssize_t)sizeof(info))
		live->is_over |= info.ssi_signo != SIGCHLD;
	if (n < 0 && errno != EAGAIN && errno != EINTR)
		return error_set_errno(err, TALLY_IO, errno, "signals cannot be received");
	if (live->child_is_started && !live->child_is_over)
		status = spawn_try_wait(&live->child, &live->child_is_over, &exit_status, &usage, err);
	live->is_over |= live->child_is_over;
	return status;
}

static enum tally_status lock_live_watch(struct lock_live *live, struct tally_error *err)
{
	struct recorder *recorder = live->opening.recorder;
	enum tally_status status = TALLY_OK;
	while (status == TALLY_OK && !live->is_over) {
		bool is_ready = false;
		status = recorder_wait(recorder, live->signal_fd, WAIT_MS, &is_ready, err);
		if (status == TALLY_OK && is_ready)
			status = lock_live_read_signals(live, err);
		live->is_over |= recorder_target_is_over(recorder);
		if (status == TALLY_OK && !live->is_over)
			status = lock_live_drain(live, false, err);
	}
	return status;
}

/* LOST records come only when a ring has room again: what the kernel counted has all of it, where it counts. */
static void lock_live_count_lost(struct lock_live *live)
{
	struct input_health *health = &live->job->source.pass.sideband.health;
	uint64_t lost = 0;
	size_t count;
	const struct recorder_source *sources = recorder_sources(live->opening.recorder, &count);
	for (size_t i = 0; i < count; i++)
		lost += recorder_lost(live->opening.recorder, &sources[i]);
	health->lost_samples = MAX(lost, health->lost_events);
	health->lost_events = 0;
	health->damaged.count += live->merge.merge.damaged;
}

static void lock_live_end_child(struct lock_live *live)
{
	struct rusage usage;
	int status;
	if (!live->child_is_started || live->child_is_over)
		return;
	(void)kill(live->child.pid, SIGTERM);
	(void)!spawn_wait(&live->child, &status, &usage, NULL);
}

enum tally_status lock_live_run(struct lock_live *live, struct tally_error *err)
{
	enum tally_status status = lock_live_watch(live, err);
	recorder_disable(live->opening.recorder);
	if (status == TALLY_OK)
		status = lock_live_drain(live, true, err);
	if (status == TALLY_OK && live->locks)
		status = lock_bpf_finish(live->locks, live->job, err);
	lock_live_count_lost(live);
	lock_job_finish(live->job);
	lock_live_end_child(live);
	return status;
}
