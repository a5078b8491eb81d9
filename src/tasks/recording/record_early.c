/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/recording/record_early.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "kernel/recording/record_attrs.h"
#include "kernel/recording/thread_waits.h"
#include "kernel/system/kernel_files.h"
#include "tasks/recording/wait_looks.h"

#define STACKS_MS      20 /* Maximum time for reading stacks in one call, in milliseconds. */
#define LAST_STACKS_MS 300 /* Maximum time for reading stacks in the last call, in milliseconds. */
/* Waits shorter than this (100 ms) are not reported as lost if their stacks are unknown. */
#define SHORT_NS 100000000

/* ---- Threads by /proc ---- */

static bool record_early_is_below(struct tally_str path, struct tally_str name)
{
	while (name.len && name.data[0] == '/')
		name = (struct tally_str){name.data + 1, name.len - 1};
	while (path.len && path.data[0] == '/')
		path = (struct tally_str){path.data + 1, path.len - 1};
	return name.len == 0 || (str_starts_with(path, name) && (path.len == name.len || path.data[name.len] == '/'));
}

/* Returns whether the thread is in one of the recorded cgroups. Only its path in the hierarchy of version 2 ("0::/a/b")
 * is compared. */
static bool record_early_is_in_cgroups(const struct record_early *e, pid_t tid)
{
	char *text;
	bool is_in = e->config.cgroup_count == 0;
	if (is_in || kernel_text(e->config.kernel, &text, NULL, "/proc/%d/cgroup", (int)tid) != TALLY_OK)
		return is_in;
	struct tally_str rest = str_from(text), line;
	while (!is_in && str_next(&rest, '\n', &line))
		for (size_t i = 0; str_starts_with(line, STR("0::")) && i < e->config.cgroup_count; i++)
			is_in |= record_early_is_below(
				(struct tally_str){line.data + 3, line.len - 3}, str_from(e->config.cgroup_names[i]));
	free(text);
	return is_in;
}

/* Adds a thread as /proc shows it, for sources whose BPF program does not visit threads itself. */
static enum tally_status record_early_look(struct record_early *e, pid_t tid, struct tally_error *err)
{
	struct thread_wait now = thread_waits_read(e->config.kernel, tid);
	if (!now.exists || now.is_kernel || now.pid == (uint32_t)getpid() || !record_early_is_in_cgroups(e, tid))
		return TALLY_OK;
	struct off_cpu_before before = {wait_looks_state(now.state), now.syscall, now.ip, now.switches};
	return record_wait_source_add_thread(
		e->config.source, (uint32_t)tid, now.pid, now.is_waiting ? &before : NULL, err);
}

static enum tally_status record_early_hold(struct record_early *e, pid_t tid, struct tally_error *err)
{
	struct thread_wait now = thread_waits_read(e->config.kernel, tid);
	return now.exists ? record_wait_source_add_thread(e->config.source, (uint32_t)tid, now.pid, NULL, err)
			  : TALLY_OK;
}

static enum tally_status record_early_name_thread(struct record_early *e, pid_t tid, struct tally_error *err)
{
	return record_early_is_in_cgroups(e, tid)
		       ? off_cpu_add_target(e->config.source->off_cpu, (uint32_t)tid, false, err)
		       : TALLY_OK;
}

typedef enum tally_status record_early_visit(struct record_early *e, pid_t tid, struct tally_error *err);

static enum tally_status record_early_visit_process(
	struct record_early *e, pid_t pid, record_early_visit *visit, struct tally_error *err)
{
	pid_t *threads;
	size_t count;
	if (process_threads(e->config.kernel, pid, &threads, &count, NULL) != TALLY_OK)
		return TALLY_OK; /* The process has ended. */
	enum tally_status status = TALLY_OK;
	for (size_t i = 0; status == TALLY_OK && i < count; i++)
		status = visit(e, threads[i], err);
	free(threads);
	return status;
}

static enum tally_status record_early_visit_all(
	struct record_early *e, record_early_visit *visit, struct tally_error *err)
{
	struct name_list names = {0};
	uint64_t pid;
	enum tally_status status = kernel_names(e->config.kernel, &names, err, "/proc");
	for (size_t i = 0; status == TALLY_OK && i < names.len; i++)
		if (str_to_u64(str_from(names.items[i]), 10, &pid) && pid <= INT32_MAX)
			status = record_early_visit_process(e, (pid_t)pid, visit, err);
	name_list_deinit(&names);
	return status;
}

static enum tally_status record_early_visit_target(
	struct record_early *e, record_early_visit *visit, struct tally_error *err)
{
	const struct target *t = e->config.target;
	enum tally_status status = TALLY_OK;
	if (t->is_system_wide)
		return record_early_visit_all(e, visit, err);
	for (size_t i = 0; status == TALLY_OK && i < t->thread_count; i++)
		status = visit(e, t->threads[i], err);
	/* Lists the processes again for threads that were created before the BPF program knew their creators. */
	for (size_t i = 0; status == TALLY_OK && e->config.is_process_list && i < t->thread_count; i++) {
		struct thread_wait now = thread_waits_read(e->config.kernel, t->threads[i]);
		if (now.exists && (pid_t)now.pid == t->threads[i])
			status = record_early_visit_process(e, t->threads[i], visit, err);
	}
	return status;
}

static enum tally_status record_early_name_targets(struct record_early *e, struct tally_error *err)
{
	const struct target *t = e->config.target;
	enum tally_status status = TALLY_OK;
	if (t->is_system_wide)
		return e->config.cgroup_count ? record_early_visit_all(e, record_early_name_thread, err) : TALLY_OK;
	for (size_t i = 0; status == TALLY_OK && i < t->thread_count; i++)
		status = off_cpu_add_target(
			e->config.source->off_cpu, (uint32_t)t->threads[i], e->config.is_process_list, err);
	return status;
}

/* ---- Threads by a BPF program ---- */

static enum tally_status record_early_take(void *context, const struct waiting_thread *thread, struct tally_error *err)
{
	struct record_early *e = context;
	return e->stacks ? early_waits_add(e->stacks, thread, err) : TALLY_OK;
}

static enum tally_status record_early_set_stack(
	void *context, uint64_t stack, const uint64_t *ips, size_t count, struct tally_error *err)
{
	struct record_early *e = context;
	return off_cpu_set_stack(e->config.source->off_cpu, stack, ips, count, err);
}

static enum tally_status record_early_lose(
	void *context, uint32_t tid, enum early_waits_loss loss, struct tally_error *err)
{
	struct record_early *e = context;
	uint64_t unused;
	if (map_u64_find(&e->partial, tid, &unused)) {
		e->partial_lost++;
		return TALLY_OK;
	}
	return map_u64_set(&e->lost, tid, loss) ? TALLY_OK : error_nomem(err);
}

static void record_early_close_stacks(struct record_early *e)
{
	early_waits_destroy(e->stacks);
	e->stacks = NULL;
}

static enum tally_status record_early_open_stacks(struct record_early *e, struct tally_error *err)
{
	const struct early_waits_config config = {.kernel = e->config.kernel,
		.arch = record_host_arch(),
		.store = e->config.store,
		.sink = {record_early_set_stack, record_early_lose, e}};
	record_early_close_stacks(e);
	return e->config.no_user_stacks ? TALLY_OK : early_waits_create(&config, &e->stacks, err);
}

/* Visits the waiting threads by BPF to get their registers. *is_refused: BPF cannot do this here, so /proc has to be
 * read. */
static enum tally_status record_early_find(struct record_early *e, bool *is_refused, struct tally_error *err)
{
	const struct waiting_threads_sink sink = {record_early_take, e};
	struct tally_error refusal = {0};
	enum tally_status status = record_early_open_stacks(e, err);
	if (status != TALLY_OK)
		return status;
	status = record_early_name_targets(e, &refusal);
	if (status == TALLY_OK)
		status = off_cpu_find_waiting(e->config.source->off_cpu, &sink, &refusal);
	*is_refused = status != TALLY_OK && status != TALLY_NOMEM;
	if (*is_refused && !e->has_noted)
		diag_add(e->config.diag, DIAG_NOTE,
			"waits that began before the recording have only the innermost frame of their stacks: %s",
			refusal.text);
	e->has_noted |= *is_refused;
	return status == TALLY_NOMEM ? error_nomem(err) : TALLY_OK;
}

/* ---- The passes ---- */

void record_early_deinit(struct record_early *e)
{
	record_early_close_stacks(e);
	map_u64_deinit(&e->ns);
	map_u64_deinit(&e->lost);
	map_u64_deinit(&e->partial);
}

enum tally_status record_early_begin(struct record_early *e, bool is_held, struct tally_error *err)
{
	bool is_refused = true;
	enum tally_status status = TALLY_OK;
	if (is_held)
		return e->config.target->is_system_wide ? TALLY_OK
							: record_early_visit_target(e, record_early_hold, err);
	if (e->config.source->off_cpu)
		status = record_early_find(e, &is_refused, err);
	return status == TALLY_OK && is_refused ? record_early_visit_target(e, record_early_look, err) : status;
}

bool record_early_is_reading(const struct record_early *e)
{
	return e->stacks != NULL;
}

static enum tally_status record_early_take_partial(
	void *context, const struct waiting_thread *thread, struct tally_error *err)
{
	struct record_early *e = context;
	return map_u64_set(&e->partial, thread->tid, 1) ? record_early_take(context, thread, err) : error_nomem(err);
}

/* Finds threads with stacks that were cut because the unwind tables of a new program had not been read yet. */
static enum tally_status record_early_find_partial(struct record_early *e, struct tally_error *err)
{
	const struct waiting_threads_sink sink = {record_early_take_partial, e};
	enum tally_status status = TALLY_OK;
	struct off_cpu *waits = e->config.source->off_cpu;
	if (!waits || !off_cpu_has_partial(waits) || e->config.no_user_stacks)
		return TALLY_OK;
	if (!e->stacks)
		status = record_early_open_stacks(e, err);
	return status == TALLY_OK ? off_cpu_find_partial(waits, &sink, err) : status;
}

enum tally_status record_early_read_stacks(struct record_early *e, bool is_last, struct tally_error *err)
{
	enum tally_status found = record_early_find_partial(e, err);
	if (found != TALLY_OK || !e->stacks)
		return found;
	if (is_last) /* Reading the last stacks takes time that must not count as waits. */
		off_cpu_set_running(e->config.source->off_cpu, false);
	enum tally_status status = is_last ? early_waits_finish(e->stacks, LAST_STACKS_MS, err)
					   : early_waits_go_on(e->stacks, STACKS_MS, err);
	if (status == TALLY_OK && !early_waits_are_left(e->stacks))
		record_early_close_stacks(e);
	return status;
}

bool record_early_note(struct record_early *e, const struct off_cpu_wait *wait)
{
	uint64_t *ns = e->config.source->off_cpu ? map_u64_at(&e->ns, wait->tid, NULL) : &(uint64_t){0};
	if (ns)
		*ns += wait->period_ns;
	return ns != NULL;
}

void record_early_add_losses(const struct record_early *e, struct off_cpu_losses *losses)
{
	size_t position = 0;
	uint64_t tid, loss, ns;
	losses->partial += e->partial_lost;
	while (map_u64_next(&e->lost, &position, &tid, &loss)) {
		if (!map_u64_find(&e->ns, tid, &ns) || ns < SHORT_NS)
			continue;
		losses->unreached += loss == EARLY_WAITS_UNREACHED;
		losses->unreadable += loss == EARLY_WAITS_UNREADABLE;
	}
}
