/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/lock/lock_live.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/limits.h"
#include "kernel/recording/cgroups.h"
#include "tasks/recording/record_options.h"
#include "tasks/sampling/live_rings.h"
#include "tasks/session/symbol_options.h"
#include "verbs/lock/lock_bpf.h"

#define EVENTS		     "lock:contention_begin,lock:contention_end"
#define EVENTS_BPF	     "dummy" /* The kernel adds up the waits, so no event of locks is opened. */
#define LOCK_LIVE_RING_BYTES (4u << 20) /* The same size as in lock record. */
/* Maximum interval between two reads of the rings; a full ring ends the wait earlier. */
#define LOCK_LIVE_WAIT_MS 1000
/* Number of ended threads that are kept, because their last records may arrive after their end. */
#define ENDED_KEPT 1024

struct lock_live {
	struct lock_job *job;
	struct event_list events;
	struct live_rings rings;
	struct live_state state;
	struct bpf_lock_contention *locks; /* NULL if waits are read from the rings. */
};

/* ---- records ---- */

/* Applies a symbol of the kernel that was registered or removed. */
static enum tally_status take_symbol(struct lock_live *live, const struct record *record,
	const struct record_fields *fields, struct tally_error *err)
{
	struct data_source *source = &live->job->source;
	enum tally_status status = machine_apply(
		source->pass.sideband.machine, record, fields, live_rings_time_of(&live->rings, record), err);
	resolver_forget_epochs(&source->pass.resolver);
	return status == TALLY_OK ? machine_finish(source->pass.sideband.machine, err) : status;
}

static enum tally_status add_cgroup(void *context, uint64_t id, struct tally_str path, struct tally_error *err)
{
	return cgroup_names_add(context, id, path, err);
}

/* The kernel does not report the removal of a cgroup, so the list is read again if it has become long. */
static enum tally_status take_cgroup(
	struct lock_live *live, const struct record_cgroup *cgroup, struct tally_error *err)
{
	struct cgroup_names *names = &live->job->cgroups;
	enum tally_status status = TALLY_OK;
	if (names->paths.len >= 2 * LIMIT_LIVE_CGROUPS) {
		cgroup_names_deinit(names);
		status = cgroups_each(live->rings.request.kernel, add_cgroup, names, err);
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

static enum tally_status lock_live_take_record(void *context, const struct record *record, struct tally_error *err)
{
	struct lock_live *live = context;
	struct data_sample sample;
	if (record->type != RECORD_SAMPLE)
		return lock_live_take_sideband(live, record, err);
	return data_source_decode(&live->job->source, record, &sample) ? lock_job_take(live->job, &sample, err)
								       : TALLY_OK;
}

/* Handles the records in the rings, and frees ended threads if there are many. */
static enum tally_status lock_live_drain(struct lock_live *live, bool is_last, struct tally_error *err)
{
	enum tally_status status = live_rings_drain(&live->rings, is_last, err);
	return status == TALLY_OK && live->state.ended_threads >= ENDED_KEPT ? live_state_settle(&live->state, err)
									     : status;
}

/* ---- opening ---- */

/* Threads of -p and --tid are watched on all CPUs; -C then filters their samples. */
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

static void lock_live_plan(struct lock_live *live, const struct lock_live_config *config)
{
	bool has_command = config->words[0] != NULL;
	struct record_request *request = &live->rings.request;
	request->target = lock_live_target_of(live->job->settings, has_command);
	request->plan =
		(struct record_plan){.attrs = lock_live_attrs(live, has_command), .ring_bytes = LOCK_LIVE_RING_BYTES};
	request->events = &live->events;
	request->store = symbol_options_of(live->job->cli, &(struct symbol_options){0}, NULL);
	request->map_timeout_ms = RECORD_MAP_TIMEOUT_MS;
	request->command = config->words;
	request->argv = config->argv;
}

/* Stores the names of threads that run before the measurement starts. */
static enum tally_status lock_live_learn(
	void *context, const struct record *record, const struct record_fields *fields, struct tally_error *err)
{
	struct lock_live *live = context;
	return record->type == RECORD_COMM ? live_state_apply(&live->state, record, fields, err) : TALLY_OK;
}

/*
 * A BPF program adds up waits if it can be loaded; otherwise the events are read, which report everything but owners.
 */
static enum tally_status lock_live_choose_way(struct lock_live *live, struct tally_error *err)
{
	const struct lock_settings *s = live->job->settings;
	struct target_request target = live->rings.request.target;
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
	diag_add(&live->rings.diag, DIAG_NOTE, "%s; each wait is read from the rings instead", refused.text);
	return TALLY_OK;
}

static enum tally_status lock_live_open_all(struct lock_live *live, struct tally_error *err)
{
	const struct data_input input = {.symbols = live->job->settings->symbols};
	enum tally_status status = lock_live_choose_way(live, err);
	if (status == TALLY_OK)
		status = live_rings_add_events(&live->rings, live->locks ? EVENTS_BPF : EVENTS, err);
	if (status == TALLY_OK)
		status = record_attrs_apply(&live->events, &live->rings.request.plan.attrs, err);
	if (status != TALLY_OK)
		return status;
	record_attrs_leave_out_mappings(&live->events);
	status = live_rings_open(&live->rings, err);
	if (status != TALLY_OK)
		return status;
	status = live_rings_add_state(&live->rings, (struct record_synth){.no_maps = true}, err);
	if (status == TALLY_OK)
		status = live_rings_each_state(&live->rings, lock_live_learn, live, err);
	if (status == TALLY_OK)
		status = live_rings_open_source(&live->rings, &input, err);
	live->job->running = &live->state;
	return status == TALLY_OK ? lock_job_begin(live->job, err) : status;
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
	live_rings_init(&live->rings, &(struct live_rings_user){cli, &live->job->source, lock_live_take_record, live});
	live_state_init(&live->state);
	lock_live_plan(live, config);
	enum tally_status status = lock_live_open_all(live, &err);
	if (!live->job->settings->quiet)
		live_rings_say_notes(&live->rings);
	const struct command_watch *watch = &live->rings.watch;
	if (status == TALLY_OK)
		status = recorder_enable(live->rings.opening.recorder, &err);
	if (status == TALLY_OK && live->locks)
		status = lock_bpf_watch(live->locks, live->job, watch->has_child ? watch->child.pid : 0, &err);
	if (status == TALLY_OK && live->locks)
		lock_bpf_start(live->locks);
	if (status == TALLY_OK)
		status = command_watch_start(&live->rings.watch, &err);
	return status == TALLY_OK ? 0 : cli_fail(cli, &err);
}

void lock_live_close(struct lock_live *live)
{
	if (!live)
		return;
	lock_bpf_close(live->locks);
	live_rings_close(&live->rings);
	live_state_deinit(&live->state);
	event_list_deinit(&live->events);
	free(live);
}

/* ---- running ---- */

enum tally_status lock_live_run(struct lock_live *live, struct tally_error *err)
{
	const bool *is_over = &live->rings.watch.is_over;
	enum tally_status status = TALLY_OK;
	while (status == TALLY_OK && !*is_over) {
		status = live_rings_wait(&live->rings, LOCK_LIVE_WAIT_MS, err);
		if (status == TALLY_OK && !*is_over)
			status = lock_live_drain(live, false, err);
	}
	recorder_disable(live->rings.opening.recorder);
	if (status == TALLY_OK)
		status = lock_live_drain(live, true, err);
	if (status == TALLY_OK && live->locks)
		status = lock_bpf_finish(live->locks, live->job, err);
	live_rings_count_lost(&live->rings);
	lock_job_finish(live->job);
	command_watch_end(&live->rings.watch);
	return status;
}

int lock_live_exit_code(const struct lock_live *live)
{
	return command_watch_exit_code(&live->rings.watch);
}
