/* SPDX-License-Identifier: Apache-2.0 */
#include "bpf/off_cpu.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/error.h"
#include "bpf/bpf_load.h"
#include "bpf/wait_calls.h"
#include "bpf/wait_parts.h"
#include "bpf/wait_stacks.h"
#include "bpf/walk_tables.h"
#include "kernel/system/kernel_files.h"
#include "tally_config.h"

#if HAVE_BPF
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "bpf/off_cpu.bpf.h"
#include "bpf/off_cpu.skel.h"

#define OFF_CPU_THREADS_LEAST 8192
#define BATCH		      256

struct off_cpu_batch { /* Sums that are read from a map in one batch. */
	struct off_cpu_key keys[BATCH];
	struct off_cpu_sum sums[BATCH];
};

struct off_cpu_threads { /* Threads that are read from the map in one batch. */
	uint32_t tids[BATCH];
	struct off_cpu_thread entries[BATCH];
};

struct off_cpu_lasting_wait {
	uint64_t begin_ns, given_ns; /* given_ns is the time up to which the wait was reported. */
};

struct off_cpu_lasting { /* Unfinished waits of which a part was reported. */
	struct map_u64 by_thread; /* Maps thread IDs to indices into waits. */
	VEC(struct off_cpu_lasting_wait) waits;
};

struct off_cpu {
	struct off_cpu_config config;
	struct off_cpu_bpf *skeleton;
	struct ring_buffer *ring;
	struct wait_stacks stacks;
	struct off_cpu_lasting lasting;
	struct walk_tables *tables; /* NULL if the tables of another object are used. */
	const struct off_cpu_sink *sink; /* Valid only during a drain. */
	struct tally_error *err;
	enum tally_status status;
	unsigned written_sums; /* Which map the program writes: 0 for sums_first, 1 for sums_second. */
	struct off_cpu_batch batch;
	uint64_t started_ns, stopped_ns, lost_stacks; /* stopped_ns is 0 while recording is on. */
	struct wait_calls_restart restarts[OFF_CPU_RESTARTS];
	size_t restart_count;
	struct waiting_threads *waiting; /* NULL if waiting threads cannot be listed, for the reason in no_waiting. */
	struct tally_error no_waiting;
	const struct waiting_threads_sink *waiting_sink; /* Valid only during a call of waiting_threads_find. */
	uint64_t partial_seen; /* Value of the program's partial_begun at the last call of off_cpu_find_partial. */
};

/* ---- converting the kernel's records to waits ---- */

static struct wait_parts off_cpu_parts_of(const struct off_cpu_key *key, uint32_t tgid, uint32_t waker_tgid)
{
	return (struct wait_parts){.stack = key->stack,
		.waker_stack = key->waker_stack,
		.pid = tgid,
		.tid = key->tid,
		.waker_pid = waker_tgid,
		.waker_tid = key->waker_tid,
		.syscall = key->syscall,
		.state = (enum wait_state)key->state,
		.flags = key->flags};
}

static enum tally_status off_cpu_tell(struct off_cpu *o, const struct wait_parts *parts)
{
	return wait_parts_tell(&o->stacks, parts, o->sink, &o->lost_stacks, o->err);
}

static enum tally_status off_cpu_tell_sum(
	struct off_cpu *o, const struct off_cpu_key *key, const struct off_cpu_sum *sum)
{
	struct wait_parts parts = off_cpu_parts_of(key, sum->tgid, sum->waker_tgid);
	parts.cpu = sum->cpu;
	parts.waker_comm = sum->waker_comm;
	parts.count = sum->count;
	parts.blocked_ns = sum->blocked_ns;
	parts.runnable_ns = sum->runnable_ns;
	parts.throttled_ns = MIN(sum->throttled_ns, sum->runnable_ns);
	parts.woken_ns = parts.end_ns = sum->last_ns;
	parts.flags |= sum->count > 1 ? WAIT_FLAG_SUM : 0;
	parts.is_summed = true;
	return off_cpu_tell(o, &parts);
}

/* Reports one wait, or a part of one: blocked until woken, then runnable. */
static enum tally_status off_cpu_tell_times(
	struct off_cpu *o, struct wait_parts *parts, uint64_t begin, uint64_t woken, uint64_t end)
{
	parts->count = 1;
	parts->blocked_ns = woken - begin;
	parts->runnable_ns = end - woken;
	parts->throttled_ns = MIN(parts->throttled_ns, parts->runnable_ns);
	parts->woken_ns = woken;
	parts->end_ns = end;
	return off_cpu_tell(o, parts);
}

/* Beginning of the part of a wait that was not reported while it lasted. */
static uint64_t off_cpu_rest_of(const struct off_cpu *o, uint32_t tid, uint64_t begin)
{
	uint64_t index;
	if (!map_u64_find(&o->lasting.by_thread, tid, &index) || o->lasting.waits.items[index].begin_ns != begin)
		return begin;
	return o->lasting.waits.items[index].given_ns;
}

struct python_frames *off_cpu_python(const struct off_cpu *o)
{
	return o->tables ? walk_tables_python(o->tables) : o->config.walks_python;
}

static int off_cpu_take_record(void *context, void *data, size_t size)
{
	struct off_cpu *o = context;
	const struct off_cpu_stack *stack = data;
	if (o->status != TALLY_OK || size < sizeof(*stack))
		return 0;
	if (stack->kind == OFF_CPU_PART && size >= sizeof(struct off_cpu_part)) {
		const struct off_cpu_part *part = data;
		struct wait_parts parts = off_cpu_parts_of(&part->key, part->tgid, part->waker_tgid);
		uint64_t begin = off_cpu_rest_of(o, part->key.tid, part->begin_ns), woken = MAX(part->woken_ns, begin);
		parts.cpu = part->cpu;
		parts.waker_comm = part->waker_comm;
		parts.throttled_ns = part->throttled_ns;
		o->status = off_cpu_tell_times(o, &parts, begin, woken, MAX(part->end_ns, woken));
	} else if (stack->kind == OFF_CPU_STACK &&
		   (size_t)(stack->kernel_count + stack->user_count) <= (size - sizeof(*stack)) / sizeof(uint64_t)) {
		size_t count = (size_t)stack->kernel_count + stack->user_count;
		uint64_t ips[2 * OFF_CPU_FRAMES + 2];
		count = MIN(count, ARRAY_LEN(ips));
		memcpy(ips, stack + 1, count * sizeof(*ips));
		(void)python_frames_name(off_cpu_python(o), ips, count);
		size_t kernel_count = MIN(stack->kernel_count, count);
		if (!wait_stacks_add(&o->stacks, stack->id, ips, kernel_count, count - kernel_count))
			o->status = error_nomem(o->err);
	}
	return 0;
}

/* ---- sums ---- */

/* Makes the program write the other map of sums. After the update no program uses the map in *full, so it can be
 * read. */
static enum tally_status off_cpu_turn_sums(struct off_cpu *o, int *full)
{
	int fds[2] = {bpf_map__fd(o->skeleton->maps.sums_first), bpf_map__fd(o->skeleton->maps.sums_second)};
	uint32_t zero = 0;
	*full = fds[o->written_sums];
	o->written_sums ^= 1;
	if (bpf_map_update_elem(bpf_map__fd(o->skeleton->maps.sums), &zero, &fds[o->written_sums], BPF_ANY) != 0)
		return error_set_errno(o->err, TALLY_IO, errno, "%s: sums of waits cannot be read", o->config.what);
	return TALLY_OK;
}

static enum tally_status off_cpu_empty_sums(struct off_cpu *o, int map)
{
	uint32_t position, *from = NULL, count;
	bool is_over = false;
	while (o->status == TALLY_OK && !is_over) {
		count = BATCH;
		int failed = bpf_map_lookup_and_delete_batch(
			map, from, &position, o->batch.keys, o->batch.sums, &count, NULL);
		if (failed && errno != ENOENT)
			return error_set_errno(
				o->err, TALLY_IO, errno, "%s: sums of waits cannot be read", o->config.what);
		is_over = failed != 0;
		from = &position;
		for (uint32_t i = 0; o->status == TALLY_OK && i < count; i++)
			o->status = off_cpu_tell_sum(o, &o->batch.keys[i], &o->batch.sums[i]);
	}
	return o->status;
}

/* ---- unfinished waits ---- */

static void off_cpu_free_lasting(struct off_cpu_lasting *lasting)
{
	map_u64_deinit(&lasting->by_thread);
	vec_free(&lasting->waits);
	*lasting = (struct off_cpu_lasting){0};
}

/* Stack of an unfinished wait. */
static uint64_t off_cpu_stack_now(const struct off_cpu_thread *t)
{
	return t->flags & OFF_CPU_BEGAN_BEFORE || t->partial == OFF_CPU_IS_READ_AGAIN ? t->before_stack : t->stack;
}

/*
 * Reports the elapsed part of a wait that is longer than the threshold; the rest comes through the ring when the wait
 * ends.
 */
static enum tally_status off_cpu_tell_lasting_one(
	struct off_cpu *o, uint32_t tid, const struct off_cpu_thread *t, uint64_t now, struct off_cpu_lasting *lasting)
{
	if (!t->off_ns || t->off_ns > now || now - t->off_ns < o->config.threshold_ns || t->state == OFF_CPU_RUNNABLE ||
		t->woken_ns >= t->off_ns || t->generation != o->skeleton->bss->control.generation ||
		!(o->config.all_threads || t->is_target))
		return TALLY_OK;
	const struct off_cpu_key key = {.stack = off_cpu_stack_now(t),
		.tid = tid,
		.syscall = t->syscall,
		.state = t->state,
		.flags = (uint8_t)(t->flags & ~(OFF_CPU_WAKER | OFF_CPU_INTERRUPT))};
	struct wait_parts parts = off_cpu_parts_of(&key, t->tgid, 0);
	uint64_t begin = off_cpu_rest_of(o, tid, t->off_ns);
	parts.waker_comm = "";
	parts.flags |= WAIT_FLAG_UNFINISHED;
	if (!map_u64_set(&lasting->by_thread, tid, lasting->waits.len) ||
		!vec_push(&lasting->waits, ((struct off_cpu_lasting_wait){t->off_ns, MAX(begin, now)})))
		return error_nomem(o->err);
	return begin < now ? off_cpu_tell_times(o, &parts, begin, now, now) : TALLY_OK;
}

enum tally_status off_cpu_give_lasting(struct off_cpu *o, const struct off_cpu_sink *sink, struct tally_error *err)
{
	uint64_t now = clock_ns();
	uint32_t position, *from = NULL, count;
	struct off_cpu_lasting lasting = {0};
	if (!o->skeleton->bss->control.is_running)
		return TALLY_OK;
	o->sink = sink;
	o->err = err;
	struct off_cpu_threads *threads = malloc(sizeof(*threads));
	enum tally_status status = threads ? TALLY_OK : error_nomem(err);
	/*
	 * Batches follow the hash table's buckets: iterating by key would restart if the thread of the last key ended.
	 */
	for (bool is_over = false; status == TALLY_OK && !is_over; from = &position) {
		count = ARRAY_LEN(threads->tids);
		is_over = bpf_map_lookup_batch(bpf_map__fd(o->skeleton->maps.threads), from, &position, threads->tids,
				  threads->entries, &count, NULL) != 0;
		if (is_over && errno != ENOENT)
			status = error_set_errno(err, TALLY_IO, errno, "%s: threads cannot be listed", o->config.what);
		for (uint32_t i = 0; status == TALLY_OK && i < count; i++)
			status = off_cpu_tell_lasting_one(o, threads->tids[i], &threads->entries[i], now, &lasting);
	}
	free(threads);
	off_cpu_free_lasting(&o->lasting);
	o->lasting = lasting;
	return status;
}

enum tally_status off_cpu_drain(
	struct off_cpu *o, bool takes_sums, const struct off_cpu_sink *sink, struct tally_error *err)
{
	int full = -1;
	o->sink = sink;
	o->err = err;
	o->status = takes_sums ? off_cpu_turn_sums(o, &full) : TALLY_OK;
	/* Stacks arrive through the ring, and must be stored before the sums that refer to them. */
	if (o->status == TALLY_OK)
		(void)ring_buffer__consume(o->ring);
	return o->status == TALLY_OK && full >= 0 ? off_cpu_empty_sums(o, full) : o->status;
}

/* ---- finishing ---- */

static enum tally_status off_cpu_tell_unfinished(
	struct off_cpu *o, uint32_t tid, const struct off_cpu_thread *t, uint64_t now)
{
	bool is_blocked = t->state != OFF_CPU_RUNNABLE, is_woken = is_blocked && t->woken_ns >= t->off_ns;
	uint64_t begin = off_cpu_rest_of(o, tid, t->off_ns);
	uint64_t woken = !is_blocked ? begin : is_woken ? MAX(t->woken_ns, begin) : now;
	struct off_cpu_key key = {.stack = off_cpu_stack_now(t),
		.waker_stack = is_woken ? t->waker_stack : 0,
		.tid = tid,
		.waker_tid = is_woken ? t->waker_tid : 0,
		.syscall = t->syscall,
		.state = t->state,
		.flags = is_woken ? t->flags : (uint8_t)(t->flags & ~(OFF_CPU_WAKER | OFF_CPU_INTERRUPT))};
	if (begin > now)
		return TALLY_OK;
	struct wait_parts parts = off_cpu_parts_of(&key, t->tgid, t->waker_tgid);
	parts.waker_comm = t->waker_comm;
	parts.flags |= WAIT_FLAG_UNFINISHED;
	/* If the thread is throttled, all of its runnable time counts, although the end may be a wait for a CPU. */
	parts.throttled_ns = t->is_throttled ? UINT64_MAX : 0;
	return off_cpu_tell_times(o, &parts, begin, MIN(woken, now), now);
}

static enum tally_status off_cpu_tell_thread(
	struct off_cpu *o, uint32_t tid, const struct off_cpu_thread *t, uint64_t now)
{
	enum tally_status status = TALLY_OK;
	for (size_t i = 0; status == TALLY_OK && i < ARRAY_LEN(t->slots); i++)
		if (t->slots[i].sum.is_used)
			status = off_cpu_tell_sum(o, &t->slots[i].key, &t->slots[i].sum);
	if (status == TALLY_OK && t->off_ns && t->generation == o->skeleton->bss->control.generation &&
		(o->config.all_threads || t->is_target))
		status = off_cpu_tell_unfinished(o, tid, t, now);
	return status;
}

enum tally_status off_cpu_finish(struct off_cpu *o, const struct off_cpu_sink *sink, struct tally_error *err)
{
	uint64_t now = o->stopped_ns ? o->stopped_ns : clock_ns();
	uint32_t tid, last, *from = NULL;
	struct off_cpu_thread thread;
	o->skeleton->bss->control.is_running = 0;
	off_cpu_bpf__detach(o->skeleton);
	enum tally_status status =
		off_cpu_drain(o, true, sink, err); /* No program runs any more after the maps were swapped. */
	int map = bpf_map__fd(o->skeleton->maps.threads);
	while (status == TALLY_OK && bpf_map_get_next_key(map, from, &tid) == 0) {
		if (bpf_map_lookup_elem(map, &tid, &thread) == 0)
			status = off_cpu_tell_thread(o, tid, &thread, now);
		last = tid;
		from = &last;
	}
	return status;
}

struct off_cpu_losses off_cpu_losses(const struct off_cpu *o)
{
	const struct off_cpu_counts *c = &o->skeleton->bss->counts;
	return (struct off_cpu_losses){.threads = c->lost_threads + (o->waiting ? waiting_threads_lost(o->waiting) : 0),
		.waits = c->lost_sums,
		.waits_ns = c->lost_sum_ns,
		.stacks = o->lost_stacks,
		.cut_stacks = c->cut_stacks,
		.mistaken_stacks = c->mistaken_stacks,
		.partial = c->partial,
		.partial_ns = c->partial_ns,
		.summed = c->summed};
}

/* ---- starting ---- */

/* Since Linux 5.18, sched_switch has the state of the thread that leaves; before, it is read from the task. */
static bool off_cpu_switch_has_state(void)
{
	struct btf *btf = btf__load_vmlinux_btf();
	bool has = false;
	int id = btf ? btf__find_by_name_kind(btf, "btf_trace_sched_switch", BTF_KIND_TYPEDEF) : -1;
	const struct btf_type *type = id > 0 ? btf__type_by_id(btf, (uint32_t)id) : NULL;
	if (type)
		type = btf__type_by_id(btf, type->type); /* The typedef names a pointer. */
	if (type)
		type = btf__type_by_id(
			/* The pointer leads to a function; its first parameter is not one of the tracepoint's. */
			btf, type->type);
	if (type && btf_is_func_proto(type))
		has = btf_vlen(type) >= 5;
	btf__free(btf);
	return has;
}

static void off_cpu_forgotten(void *context, uint64_t id)
{
	struct off_cpu *o = context;
	(void)bpf_map_delete_elem(bpf_map__fd(o->skeleton->maps.known), &id);
}

/* Tests set TALLY_WAIT_STACKS, to compare measurements with and without remembered stacks. */
static uint32_t off_cpu_memory_wanted(void)
{
	const char *wanted = getenv("TALLY_WAIT_STACKS");
	if (wanted && strcmp(wanted, "take") == 0)
		return OFF_CPU_FORGETS;
	return wanted && strcmp(wanted, "check") == 0 ? OFF_CPU_CHECKS : OFF_CPU_REMEMBERS;
}

static enum tally_status off_cpu_size(struct off_cpu *o, struct tally_error *err)
{
	const struct off_cpu_config *c = &o->config;
	struct off_cpu_bpf *s = o->skeleton;
	size_t threads = 2 * c->thread_count + OFF_CPU_THREADS_LEAST;
	/* These four programs are reached by tail calls only. */
	bpf_program__set_autoattach(s->progs.off_cpu_walk_switch, false);
	bpf_program__set_autoattach(s->progs.off_cpu_walk_waking, false);
	bpf_program__set_autoattach(s->progs.off_cpu_interpret_switch, false);
	bpf_program__set_autoattach(s->progs.off_cpu_interpret_waking, false);
	s->rodata->all_threads = c->all_threads;
	s->rodata->wants_preempted = c->wants_preempted;
	s->rodata->inherits = !c->no_inherit;
	s->rodata->wants_kernel = !c->no_kernel_stacks;
	s->rodata->wants_user = !c->no_user_stacks;
	s->rodata->has_cpus = c->cpu_count > 0;
	s->rodata->own_tgid = (uint32_t)getpid();
	s->rodata->cgroup_count = (uint32_t)c->cgroup_count;
	s->rodata->threshold_ns = c->threshold_ns;
	s->rodata->interrupts_begin = o->stacks.interrupts.begin;
	s->rodata->interrupts_bytes = o->stacks.interrupts.end - o->stacks.interrupts.begin;
	s->rodata->switch_has_state = off_cpu_switch_has_state();
	for (size_t i = 0; i < o->restart_count; i++)
		s->rodata->restarts[i] = (struct off_cpu_restart){
			.function = o->restarts[i].function, .syscall = o->restarts[i].syscall};
	s->rodata->memory_mode = off_cpu_memory_wanted();
	if (bpf_map__set_max_entries(s->maps.threads, (uint32_t)MIN(threads, (size_t)1 << 22)) != 0 ||
		bpf_map__set_max_entries(s->maps.cpus, (uint32_t)MAX(c->cpu_count, (size_t)1)) != 0)
		return bpf_explain(c->kernel, c->what, errno, err);
	return TALLY_OK;
}

static enum tally_status off_cpu_add_cgroups(struct off_cpu *o, struct tally_error *err)
{
	const struct off_cpu_config *c = &o->config;
	for (uint32_t i = 0; i < c->cgroup_count; i++) {
		int fd = open(c->cgroups[i], O_RDONLY | O_CLOEXEC | O_DIRECTORY);
		int failed =
			fd < 0 || bpf_map_update_elem(bpf_map__fd(o->skeleton->maps.cgroups), &i, &fd, BPF_ANY) != 0;
		int errnum = errno;
		if (fd >= 0)
			close(fd);
		if (failed && (errnum == EBADF || errnum == EINVAL))
			return error_set(err, TALLY_UNSUPPORTED,
				"%s: %s is not of cgroup version 2, and BPF programs know no other: use -p instead of "
				"-G",
				c->what, c->cgroups[i]);
		if (failed)
			return error_set_errno(
				err, TALLY_IO, errnum, "%s: cannot use cgroup %s", c->what, c->cgroups[i]);
	}
	return TALLY_OK;
}

static enum tally_status off_cpu_start(struct off_cpu *o, struct tally_error *err)
{
	const struct off_cpu_config *c = &o->config;
	uint8_t yes = 1;
	enum tally_status status = bpf_load(c->kernel, c->what, o->skeleton->skeleton, err);
	if (status != TALLY_OK)
		return status;
	for (size_t i = 0; i < c->cpu_count; i++)
		if (bpf_map_update_elem(bpf_map__fd(o->skeleton->maps.cpus), &c->cpus[i], &yes, BPF_ANY) != 0)
			return bpf_explain(c->kernel, c->what, errno, err);
	status = off_cpu_add_cgroups(o, err);
	if (status != TALLY_OK)
		return status;
	if (!c->walks) {
		const struct walk_tables_config tables = {c->kernel, c->arch, c->store, c->python};
		status = walk_tables_create(o->skeleton->obj, &tables, &o->tables, err);
		if (status != TALLY_OK)
			return status;
	}
	o->ring = ring_buffer__new(bpf_map__fd(o->skeleton->maps.ring), off_cpu_take_record, o, NULL);
	if (!o->ring)
		return bpf_explain(c->kernel, c->what, errno, err);
	return bpf_attach(c->kernel, c->what, o->skeleton->skeleton, err);
}

/* If this fails, off_cpu_find_waiting reports why, and waits that began before the recording have at most one frame. */
static void off_cpu_open_waiting(struct off_cpu *o)
{
	const struct off_cpu_config *c = &o->config;
	const struct waiting_threads_config config = {.kernel = c->kernel,
		.what = c->what,
		.waits = o->skeleton->obj,
		.all_threads = c->all_threads && c->cgroup_count == 0,
		.wants_preempted = c->wants_preempted,
		.no_kernel_stacks = c->no_kernel_stacks,
		.has_cpus = c->cpu_count > 0,
		.thread_count = c->thread_count,
		.restarts = o->restarts,
		.restart_count = o->restart_count};
	if (waiting_threads_create(&config, &o->waiting, &o->no_waiting) != TALLY_OK)
		o->waiting = NULL;
}

static void off_cpu_read_kernel(struct off_cpu *o)
{
	char *kallsyms;
	if (kernel_text(o->config.kernel, &kallsyms, NULL, "/proc/kallsyms") != TALLY_OK)
		return;
	wait_stacks_read_kernel(&o->stacks, str_from(kallsyms));
	o->restart_count = wait_calls_read_restarts(str_from(kallsyms), o->restarts, ARRAY_LEN(o->restarts));
	free(kallsyms);
}

enum tally_status off_cpu_create(const struct off_cpu_config *config, struct off_cpu **waits, struct tally_error *err)
{
	enum tally_status status = bpf_open(config->kernel, config->what, err);
	if (status == TALLY_OK)
		status = bpf_check_namespace(config->kernel, config->what, err);
	if (status == TALLY_OK && config->cgroup_count > OFF_CPU_CGROUPS)
		status = error_set(
			err, TALLY_LIMIT, "%s measures waits of at most %d cgroups", config->what, OFF_CPU_CGROUPS);
	if (status != TALLY_OK)
		return status;
	struct off_cpu *o = calloc(1, sizeof(*o));
	if (!o)
		return error_nomem(err);
	o->config = *config;
	o->stacks.forgotten = off_cpu_forgotten;
	o->stacks.forgotten_context = o;
	off_cpu_read_kernel(o);
	o->skeleton = off_cpu_bpf__open();
	status = o->skeleton ? off_cpu_size(o, err) : bpf_explain(config->kernel, config->what, errno, err);
	if (status == TALLY_OK && config->walks)
		status = walk_tables_share(o->skeleton->obj, config->walks, err);
	if (status == TALLY_OK)
		status = off_cpu_start(o, err);
	if (status != TALLY_OK) {
		off_cpu_destroy(o);
		return status;
	}
	off_cpu_open_waiting(o);
	*waits = o;
	return TALLY_OK;
}

void off_cpu_destroy(struct off_cpu *o)
{
	if (!o)
		return;
	waiting_threads_destroy(o->waiting);
	walk_tables_destroy(o->tables);
	ring_buffer__free(o->ring);
	off_cpu_bpf__destroy(o->skeleton);
	wait_stacks_deinit(&o->stacks);
	off_cpu_free_lasting(&o->lasting);
	free(o);
}

enum tally_status off_cpu_read_tables(struct off_cpu *o, const pid_t *pids, size_t pid_count, struct tally_error *err)
{
	if (!o->tables)
		return TALLY_OK;
	walk_tables_preload(o->tables, getpid(), true); /* Most programs map the same libraries as this process. */
	for (size_t i = 0; i < pid_count; i++)
		walk_tables_preload(o->tables, pids[i], false);
	return walk_tables_start(o->tables, err);
}

void off_cpu_set_running(struct off_cpu *o, bool is_running)
{
	if (is_running == (o->skeleton->bss->control.is_running != 0))
		return;
	/* Waits that began before the recording stopped are unknown now: a new generation invalidates them. */
	if (is_running && o->started_ns)
		o->skeleton->bss->control.generation++;
	o->stopped_ns = is_running ? 0 : clock_ns();
	if (is_running)
		o->started_ns = clock_ns();
	o->skeleton->bss->control.is_running = is_running;
}

/* ---- waits that began before the recording ---- */

enum tally_status off_cpu_add_thread(
	struct off_cpu *o, uint32_t tid, uint32_t pid, const struct off_cpu_before *before, struct tally_error *err)
{
	struct off_cpu_thread thread = {.tgid = pid, .is_target = 1, .syscall = -1};
	if (before) {
		thread.off_ns = o->started_ns ? o->started_ns : clock_ns();
		thread.state = (uint8_t)before->state;
		thread.syscall = before->syscall;
		thread.flags = OFF_CPU_BEGAN_BEFORE;
		thread.generation = o->skeleton->bss->control.generation;
		thread.before_switches = before->switches;
		/* The program's IDs are hashes, which practically never equal this one. */
		thread.before_stack = before->ip ^ UINT64_C(0x5bd1e995) << 32;
		if (before->ip && !wait_stacks_keep(&o->stacks, thread.before_stack, &before->ip, 0, 1))
			return error_nomem(err);
		if (!before->ip)
			thread.before_stack = 0;
	}
	if (bpf_map_update_elem(bpf_map__fd(o->skeleton->maps.threads), &tid, &thread, BPF_NOEXIST) == 0 ||
		errno == EEXIST)
		return TALLY_OK;
	o->skeleton->bss->counts.lost_threads++;
	return TALLY_OK;
}

enum tally_status off_cpu_add_target(struct off_cpu *o, uint32_t id, bool is_process, struct tally_error *err)
{
	return o->waiting ? waiting_threads_add_target(o->waiting, id, is_process, err) : TALLY_OK;
}

static enum tally_status off_cpu_take_waiting(
	void *context, const struct waiting_thread *thread, struct tally_error *err)
{
	struct off_cpu *o = context;
	const struct arch *arch = o->config.arch;
	uint64_t ips[OFF_CPU_FRAMES + 1];
	size_t kernel = MIN(thread->kernel_count, (size_t)OFF_CPU_FRAMES);
	bool has_ip = thread->has_registers && arch && !o->config.no_user_stacks;
	memcpy(ips, thread->kernel, kernel * sizeof(*ips));
	if (has_ip)
		ips[kernel] = thread->registers[arch->ip];
	if (!wait_stacks_keep(&o->stacks, thread->stack, ips, kernel, has_ip))
		return error_nomem(err);
	return o->waiting_sink->take(o->waiting_sink->context, thread, err);
}

enum tally_status off_cpu_find_waiting(
	struct off_cpu *o, const struct waiting_threads_sink *sink, struct tally_error *err)
{
	const struct waiting_threads_pass pass = {o->started_ns, o->skeleton->bss->control.generation, false};
	const struct waiting_threads_sink ours = {off_cpu_take_waiting, o};
	if (!o->waiting) {
		if (err)
			*err = o->no_waiting;
		return o->no_waiting.status;
	}
	o->waiting_sink = sink;
	return waiting_threads_find(o->waiting, &pass, &ours, err);
}

bool off_cpu_has_partial(const struct off_cpu *o)
{
	return o->waiting && o->skeleton->bss->counts.partial_begun != o->partial_seen;
}

enum tally_status off_cpu_find_partial(
	struct off_cpu *o, const struct waiting_threads_sink *sink, struct tally_error *err)
{
	const struct waiting_threads_pass pass = {clock_ns(), o->skeleton->bss->control.generation, true};
	const struct waiting_threads_sink ours = {off_cpu_take_waiting, o};
	if (!off_cpu_has_partial(o))
		return TALLY_OK;
	o->partial_seen = o->skeleton->bss->counts.partial_begun;
	o->waiting_sink = sink;
	return waiting_threads_find(o->waiting, &pass, &ours, err);
}

enum tally_status off_cpu_set_stack(
	struct off_cpu *o, uint64_t stack, const uint64_t *ips, size_t count, struct tally_error *err)
{
	return wait_stacks_keep_user(&o->stacks, stack, ips, count) ? TALLY_OK : error_nomem(err);
}
#else
/* In a build without BPF, off_cpu_create always fails, so the functions below never receive an object. */
enum tally_status off_cpu_create(const struct off_cpu_config *config, struct off_cpu **waits, struct tally_error *err)
{
	return bpf_refusal_expected(config->kernel, config->what, err);
}

void off_cpu_destroy(struct off_cpu *waits)
{
}

enum tally_status off_cpu_read_tables(
	struct off_cpu *waits, const pid_t *pids, size_t pid_count, struct tally_error *err)
{
	return TALLY_UNSUPPORTED;
}

void off_cpu_set_running(struct off_cpu *waits, bool is_running)
{
}

enum tally_status off_cpu_add_thread(
	struct off_cpu *waits, uint32_t tid, uint32_t pid, const struct off_cpu_before *before, struct tally_error *err)
{
	return TALLY_UNSUPPORTED;
}

enum tally_status off_cpu_add_target(struct off_cpu *waits, uint32_t id, bool is_process, struct tally_error *err)
{
	return TALLY_UNSUPPORTED;
}

enum tally_status off_cpu_find_waiting(
	struct off_cpu *waits, const struct waiting_threads_sink *sink, struct tally_error *err)
{
	return TALLY_UNSUPPORTED;
}

enum tally_status off_cpu_find_partial(
	struct off_cpu *waits, const struct waiting_threads_sink *sink, struct tally_error *err)
{
	return TALLY_UNSUPPORTED;
}

bool off_cpu_has_partial(const struct off_cpu *waits)
{
	return false;
}

enum tally_status off_cpu_set_stack(
	struct off_cpu *waits, uint64_t stack, const uint64_t *ips, size_t count, struct tally_error *err)
{
	return TALLY_UNSUPPORTED;
}

enum tally_status off_cpu_drain(
	struct off_cpu *waits, bool takes_sums, const struct off_cpu_sink *sink, struct tally_error *err)
{
	return TALLY_UNSUPPORTED;
}

enum tally_status off_cpu_give_lasting(struct off_cpu *waits, const struct off_cpu_sink *sink, struct tally_error *err)
{
	return TALLY_UNSUPPORTED;
}

enum tally_status off_cpu_finish(struct off_cpu *waits, const struct off_cpu_sink *sink, struct tally_error *err)
{
	return TALLY_UNSUPPORTED;
}

struct off_cpu_losses off_cpu_losses(const struct off_cpu *waits)
{
	return (struct off_cpu_losses){0};
}

struct python_frames *off_cpu_python(const struct off_cpu *waits)
{
	return NULL;
}
#endif
