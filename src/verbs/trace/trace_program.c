/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/trace/trace_program.h"

#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "bpf/syscall_trace.h"
#include "kernel/recording/cgroups.h"
#include "kernel/system/cpu_topology.h"
#include "syscalls/syscall_capture.h"
#include "verbs/trace/trace_calls.h"

struct trace_program {
	struct trace_job *job;
	struct syscall_trace *trace;
	struct syscall_plan *plan;
	bool has_records, has_sums, follows_all;
};

bool trace_program_has_records(const struct trace_program *p)
{
	return p && p->has_records;
}

bool trace_program_has_sums(const struct trace_program *p)
{
	return p && p->has_sums;
}

static enum tally_status trace_program_plan(struct trace_program *p, struct tally_error *err)
{
	const struct trace_choice *c = p->job->choice;
	struct syscall_capture_options options = {.wanted = c->wanted[c->native],
		.nothing = !p->has_records || p->job->settings->only_summary,
		.no_files = p->job->settings->form.no_arg_names,
		.string_bytes = (size_t)p->job->settings->string_bytes,
		.types = p->job->style.types};
	p->plan = calloc(SYSCALL_PLANS, sizeof(*p->plan));
	if (!p->plan)
		return error_nomem(err);
	syscall_capture_plan(c->native, &options, p->plan);
	p->plan[2 * SYSCALL_NUMBERS] = syscall_capture_others(&options);
	if (c->compat == SYSCALLS_COUNT)
		return TALLY_OK;
	options.wanted = c->wanted[c->compat];
	syscall_capture_plan(c->compat, &options, p->plan + SYSCALL_NUMBERS);
	p->plan[2 * SYSCALL_NUMBERS + 1] = syscall_capture_others(&options);
	return TALLY_OK;
}

static enum tally_status find_user(const char *name, uint32_t *user, struct tally_error *err)
{
	uint64_t number;
	const struct passwd *entry = getpwnam(name);
	if (entry)
		*user = entry->pw_uid;
	else if (str_to_u64(str_from(name), 10, &number) && number < UINT32_MAX)
		*user = (uint32_t)number;
	else
		return error_set(err, TALLY_NOT_FOUND, "there is no user '%s'", name);
	return TALLY_OK;
}

static enum tally_status trace_program_exclude(struct trace_program *p, struct tally_error *err)
{
	size_t position = 0;
	uint64_t pid, unused;
	enum tally_status status = TALLY_OK;
	while (status == TALLY_OK && map_u64_next(&p->job->excluded, &position, &pid, &unused))
		status = syscall_trace_exclude_process(p->trace, (uint32_t)pid, err);
	return status;
}

static enum tally_status trace_program_load(
	struct trace_program *p, const struct trace_program_config *config, struct tally_error *err)
{
	static const enum syscall_sum_by sums_by[] = {SYSCALL_SUM_THREAD, SYSCALL_SUM_TOTAL, SYSCALL_SUM_CGROUP};
	const struct trace_settings *s = p->job->settings;
	const struct target_request *t = config->target;
	bool needs_all = p->has_sums || trace_has_summary(s);
	const char *cgroup = p->job->choice->cgroup_path;
	struct syscall_trace_config c = {.kernel = config->kernel,
		.what = "trace",
		.plan = p->plan,
		.no_records = !p->has_records,
		.with_entries = config->has_others && p->has_records && !s->only_summary,
		.sums = p->has_sums ? sums_by[s->summary_mode] : SYSCALL_SUM_NONE,
		.with_error_counts = s->with_errors,
		.all_threads = p->follows_all,
		.no_inherit = s->record.modes.no_inherit || t->tids,
		.with_lives = p->has_records && !s->only_summary && !s->only_failed && s->least_ns == 0 &&
			      strcmp(p->job->cli->program, "perf") != 0,
		.only_failed = s->only_failed && !needs_all,
		.least_ns = needs_all ? 0 : s->least_ns,
		.of_user = t->user != NULL,
		.from_exec = config->of_command,
		.cgroups = cgroup ? &cgroup : NULL,
		.cgroup_count = cgroup != NULL};
	int *cpus = NULL;
	enum tally_status status = t->user ? find_user(t->user, &c.user, err) : TALLY_OK;
	if (status == TALLY_OK && t->cpus)
		status = cpu_list_parse(str_from(t->cpus), &cpus, &c.cpu_count, err);
	c.cpus = cpus;
	if (status == TALLY_OK)
		status = syscall_trace_create(&c, &p->trace, err);
	free(cpus);
	return status == TALLY_OK ? trace_program_exclude(p, err) : status;
}

bool trace_program_follows_all(const struct target_request *t)
{
	return (t->system_wide || t->cpus || t->user) && !t->pids && !t->tids;
}

enum tally_status trace_program_create(
	const struct trace_program_config *config, struct trace_program **out, struct tally_error *err)
{
	struct trace_program *p = calloc(1, sizeof(*p));
	if (!p)
		return error_nomem(err);
	p->job = config->job;
	p->follows_all = trace_program_follows_all(config->target);
	/* Sums are counted in the kernel, unless something else requires each call. */
	const struct trace_settings *s = p->job->settings;
	bool may_count = !s->switch_on && !s->switch_off && !(s->has_bpf_choice && !s->wants_bpf_sums);
	bool wants_to = s->only_summary || s->wants_bpf_sums || s->summary_mode == TRACE_BY_CGROUP;
	p->has_sums = trace_has_summary(s) && may_count && wants_to;
	p->has_records = !s->only_summary || !p->has_sums;
	p->job->sums_come = p->has_sums;
	enum tally_status status = trace_program_plan(p, err);
	if (status == TALLY_OK)
		status = trace_program_load(p, config, err);
	if (status == TALLY_OK) {
		*out = p;
		return TALLY_OK;
	}
	trace_program_destroy(p);
	return status;
}

void trace_program_destroy(struct trace_program *p)
{
	if (!p)
		return;
	syscall_trace_destroy(p->trace);
	free(p->plan);
	free(p);
}

/* Returns the process of a thread, or the thread's own ID if it has ended. */
static pid_t process_of(pid_t tid)
{
	char path[64], text[1024];
	int pid = 0;
	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	FILE *file = fopen(path, "re");
	size_t len = file ? fread(text, 1, sizeof(text) - 1, file) : 0;
	if (file)
		fclose(file);
	text[len] = 0;
	const char *line = strstr(text, "\nTgid:");
	return line && sscanf(line + sizeof("\nTgid:") - 1, "%d", &pid) == 1 ? pid : tid;
}

enum tally_status trace_program_watch(struct trace_program *p, const struct recorder *recorder, uint32_t event,
	const struct target *target, struct tally_error *err)
{
	size_t count;
	const struct recorder_source *sources = recorder_sources(recorder, &count);
	enum tally_status status = TALLY_OK;
	for (size_t i = 0; p->has_records && status == TALLY_OK && i < count; i++)
		if (sources[i].event == event && sources[i].fd >= 0)
			status = syscall_trace_set_output(p->trace, sources[i].cpu, sources[i].fd, err);
	for (size_t i = 0; !p->follows_all && status == TALLY_OK && i < target->thread_count; i++) {
		pid_t tid = target->threads[i], pid = process_of(tid);
		uint64_t unused;
		if (!map_u64_find(&p->job->excluded, (uint64_t)pid, &unused))
			status = syscall_trace_add_thread(p->trace, (uint32_t)pid, (uint32_t)tid, err);
	}
	return status;
}

void trace_program_start(struct trace_program *p)
{
	syscall_trace_start(p->trace);
}

/* ---- reading sums ---- */

static enum tally_status trace_program_take_cgroup(
	void *context, uint64_t id, struct tally_str path, struct tally_error *err)
{
	return cgroup_names_add(context, id, path, err);
}

static enum tally_status trace_program_take_sum(
	void *context, const struct syscall_trace_sum *from, struct tally_error *err)
{
	struct trace_program *p = context;
	struct trace_job *job = p->job;
	struct trace_sum_key key = {.owner = from->key.owner,
		.abi = from->key.is_compat ? job->choice->compat : job->choice->native,
		.number = from->key.number};
	if (key.abi == SYSCALLS_COUNT)
		return TALLY_OK;
	if (job->settings->summary_mode == TRACE_BY_THREAD) {
		int32_t tid = (int32_t)from->key.owner;
		struct trace_thread *thread = trace_threads_known(&job->threads, tid);
		if (!thread) /* The thread may have ended, or may have had no other record. */
			thread = trace_threads_get(&job->threads, tid, tid);
		if (!thread)
			return error_nomem(err);
		key.owner = (uint64_t)(uintptr_t)thread;
		if (from->key.error == 0 && !p->has_records)
			thread->events += 2 * from->count - from->untimed;
	}
	if (from->key.error != 0)
		return trace_sums_add_errors(&job->sums, &key, from->key.error, from->count) ? TALLY_OK
											     : error_nomem(err);
	struct trace_sum *sum = trace_sums_at(&job->sums, &key);
	if (!sum)
		return error_nomem(err);
	sum->calls = from->count;
	sum->errors = from->errors;
	sum->untimed = from->untimed;
	sum->total_ns = from->total_ns;
	sum->least_ns = from->min_ns;
	sum->most_ns = from->max_ns;
	sum->squares = from->squares;
	job->records += p->has_records ? 0 : 2 * from->count - from->untimed;
	return TALLY_OK;
}

static enum tally_status trace_program_take_pending(void *context, uint32_t pid, uint32_t tid, uint64_t begin_ns,
	struct tally_bytes record, struct tally_error *err)
{
	struct trace_program *p = context;
	return trace_calls_take_pending(p->job, pid, tid, begin_ns, record, err);
}

enum tally_status trace_program_finish(struct trace_program *p, struct tally_error *err)
{
	enum tally_status status = TALLY_OK;
	syscall_trace_stop(p->trace);
	if (p->has_sums && p->job->settings->summary_mode == TRACE_BY_CGROUP)
		status = cgroups_each(kernel_seam_linux(), trace_program_take_cgroup, &p->job->cgroups, err);
	if (status == TALLY_OK && p->has_sums)
		status = syscall_trace_each_sum(p->trace, trace_program_take_sum, p, err);
	if (status == TALLY_OK && p->has_records)
		status = syscall_trace_each_pending(p->trace, trace_program_take_pending, p, err);
	return status;
}

uint64_t trace_program_lost_records(const struct trace_program *p)
{
	return syscall_trace_losses(p->trace).records;
}

void trace_program_tell_losses(const struct trace_program *p)
{
	const struct syscall_trace_losses lost = syscall_trace_losses(p->trace);
	const struct {
		uint64_t count;
		const char *what;
	} losses[] = {
		{lost.threads,
			"calls are missing, or their texts: there were more threads at a time than there was room for"},
		{lost.sums, "calls are in no row: there are too many different ones"},
		{lost.children, "new threads were not followed: there was no room for them"},
		{lost.missed,
			"beginnings and ends of calls were missed: the BPF program was running already on their CPU"},
	};
	for (size_t i = 0; i < ARRAY_LEN(losses); i++)
		if (losses[i].count > 0)
			cli_failf(p->job->cli, "note: %" PRIu64 " %s", losses[i].count, losses[i].what);
}
