/* SPDX-License-Identifier: Apache-2.0 */
#include "bpf/syscall_trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/vec.h"
#include "bpf/bpf_load.h"
#include "tally_config.h"

#if HAVE_BPF
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "bpf/syscall_trace.bpf.h"
#include "bpf/syscall_trace.skel.h"

#define SYSCALL_TRACE_THREADS_LEAST 4096
#define SUMS_MOST		    (1u << 17) /* Maximum number of rows, including those of errors. */
#define SUMS_OF_ALL		    (1u << 13) /* Maximum number of rows if sums are over all threads. */
#define THREADS_MOST		    ((size_t)1 << 20)

struct syscall_trace {
	struct syscall_trace_config config;
	struct syscall_trace_bpf *skeleton;
	int possible_cpus;
	struct syscall_sum *cells; /* Values of one key, by CPU. */
};

static enum tally_status syscall_trace_fail(
	const struct syscall_trace *trace, int errnum, const char *step, struct tally_error *err)
{
	return error_set_errno(err, errnum == EPERM || errnum == EACCES ? TALLY_DENIED : TALLY_IO, errnum, "%s: %s",
		trace->config.what, step);
}

/* ---- creation ---- */

static bool syscall_trace_has_helper(const struct btf *btf, const char *name)
{
	const struct btf_type *helpers = btf__type_by_id(btf, (uint32_t)MAX(btf__find_by_name(btf, "bpf_func_id"), 0));
	const struct btf_enum *values = helpers && btf_is_enum(helpers) ? btf_enum(helpers) : NULL;
	for (unsigned i = 0; values && i < btf_vlen(helpers); i++)
		if (strcmp(btf__name_by_offset(btf, values[i].name_off), name) == 0)
			return true;
	return false;
}

static void syscall_trace_choose_programs(struct syscall_trace *trace)
{
	struct btf *btf = btf__load_vmlinux_btf();
	bool can_find = btf && syscall_trace_has_helper(btf, "BPF_FUNC_find_vma");
	bpf_program__set_autoload(trace->skeleton->progs.syscall_exits, can_find);
	bpf_program__set_autoload(trace->skeleton->progs.syscall_exits_before_5_17, !can_find);
	btf__free(btf);
}

/* Since Linux 6.1, programs may allocate entries of hash maps on demand; before, all are allocated at the beginning. */
static bool syscall_trace_may_allocate(void)
{
	struct btf *btf = btf__load_vmlinux_btf();
	bool may = btf && btf__find_by_name_kind(btf, "bpf_mem_alloc", BTF_KIND_STRUCT) > 0;
	btf__free(btf);
	return may;
}

/*
 * Sets the size and kind of the map of sums. In sums by thread, only the thread itself changes its entry, so the map
 * needs no values per CPU; entries are allocated at the beginning, because a new process needs more at once than the
 * kernel provides to each CPU in time. Only sums by cgroup are allocated on demand, if the kernel can.
 */
static int syscall_trace_size_sums(const struct syscall_trace *trace, bool may_allocate)
{
	struct bpf_map *sums = trace->skeleton->maps.sums;
	enum syscall_sum_by by = trace->config.sums;
	uint32_t entries = by == SYSCALL_SUM_NONE ? 1 : by == SYSCALL_SUM_TOTAL ? SUMS_OF_ALL : SUMS_MOST;
	int failed = bpf_map__set_max_entries(sums, entries);
	if (!failed && by == SYSCALL_SUM_THREAD)
		failed = bpf_map__set_type(sums, BPF_MAP_TYPE_HASH);
	if (!failed && by == SYSCALL_SUM_CGROUP && may_allocate)
		failed = bpf_map__set_map_flags(sums, BPF_F_NO_PREALLOC);
	return failed;
}

static enum tally_status syscall_trace_size(struct syscall_trace *trace, struct tally_error *err)
{
	const struct syscall_trace_config *c = &trace->config;
	struct syscall_trace_bpf *s = trace->skeleton;
	bool may_allocate = syscall_trace_may_allocate();
	size_t most =
		may_allocate ? THREADS_MOST : MIN(c->thread_count * 2 + SYSCALL_TRACE_THREADS_LEAST, (size_t)16384);
	uint32_t threads = (uint32_t)most, copies = c->no_records ? 1 : threads;
	int failed = bpf_map__set_max_entries(s->maps.threads, threads);
	if (!failed)
		failed = bpf_map__set_max_entries(s->maps.copies, copies);
	if (!failed)
		failed = syscall_trace_size_sums(trace, may_allocate);
	if (!failed && may_allocate)
		failed = bpf_map__set_map_flags(s->maps.threads, BPF_F_NO_PREALLOC);
	if (!failed && may_allocate)
		failed = bpf_map__set_map_flags(s->maps.copies, BPF_F_NO_PREALLOC);
	return failed ? syscall_trace_fail(trace, -failed, "the sizes of its maps", err) : TALLY_OK;
}

static bool syscall_trace_copies(const struct syscall_plan *plan)
{
	for (size_t i = 0; i < SYSCALL_PLANS; i++)
		if (plan[i].flags & (SYSCALL_PLAN_COPIES | SYSCALL_PLAN_COPIES_OUT))
			return true;
	return false;
}

static void syscall_trace_configure(struct syscall_trace *trace)
{
	const struct syscall_trace_config *c = &trace->config;
	struct syscall_trace_bpf *s = trace->skeleton;
	s->rodata->wanted.all_threads = c->all_threads;
	s->rodata->wanted.records = !c->no_records;
	s->rodata->wanted.entries = c->with_entries;
	s->rodata->wanted.copies = !c->no_records && syscall_trace_copies(c->plan);
	s->rodata->wanted.lives = c->with_lives;
	s->rodata->wanted.only_failed = c->only_failed;
	s->rodata->wanted.error_counts = c->with_error_counts;
	s->rodata->wanted.of_user = c->of_user;
	s->rodata->wanted.has_cpus = c->cpu_count > 0;
	s->rodata->wanted.has_excluded = c->all_threads;
	s->rodata->wanted.user = c->user;
	s->rodata->wanted.cgroups = (uint32_t)c->cgroup_count;
	s->rodata->wanted.sums = c->sums;
	s->rodata->wanted.least_ns = c->least_ns;
	bpf_program__set_autoload(s->progs.syscall_signal_arrives, c->with_lives);
	bpf_program__set_autoload(s->progs.syscall_forks, !c->all_threads && !c->no_inherit);
}

static enum tally_status syscall_trace_fill(struct syscall_trace *trace, struct tally_error *err)
{
	const struct syscall_trace_config *c = &trace->config;
	struct syscall_trace_bpf *s = trace->skeleton;
	const uint8_t yes = 1;
	for (uint32_t i = 0; i < SYSCALL_PLANS; i++)
		if (bpf_map_update_elem(bpf_map__fd(s->maps.plans), &i, &c->plan[i], BPF_ANY) != 0)
			return syscall_trace_fail(trace, errno, "what to copy cannot be stored", err);
	for (size_t i = 0; i < c->cpu_count; i++)
		if (bpf_map_update_elem(bpf_map__fd(s->maps.cpus), &c->cpus[i], &yes, BPF_ANY) != 0)
			return syscall_trace_fail(trace, errno, "a CPU cannot be stored", err);
	for (uint32_t i = 0; i < c->cgroup_count; i++) {
		int fd = open(c->cgroups[i], O_RDONLY | O_CLOEXEC | O_DIRECTORY);
		int failed = fd < 0 || bpf_map_update_elem(bpf_map__fd(s->maps.cgroups), &i, &fd, BPF_ANY) != 0;
		int errnum = errno;
		if (fd >= 0)
			close(fd);
		if (failed && (errnum == EBADF || errnum == EINVAL))
			return error_set(err, TALLY_UNSUPPORTED,
				"%s: %s is not of cgroup version 2, and BPF programs know no other", c->what,
				c->cgroups[i]);
		if (failed)
			return error_set_errno(
				err, TALLY_IO, errnum, "%s: cannot use cgroup %s", c->what, c->cgroups[i]);
	}
	return TALLY_OK;
}

static enum tally_status syscall_trace_load(struct syscall_trace *trace, struct tally_error *err)
{
	const struct syscall_trace_config *c = &trace->config;
	trace->possible_cpus = libbpf_num_possible_cpus();
	if (trace->possible_cpus <= 0)
		return syscall_trace_fail(trace, -trace->possible_cpus, "the number of CPUs is not known", err);
	trace->cells = calloc((size_t)trace->possible_cpus, sizeof(*trace->cells));
	if (!trace->cells)
		return error_nomem(err);
	trace->skeleton = syscall_trace_bpf__open();
	if (!trace->skeleton)
		return bpf_explain(c->kernel, c->what, errno, err);
	enum tally_status status = syscall_trace_size(trace, err);
	if (status != TALLY_OK)
		return status;
	syscall_trace_configure(trace);
	syscall_trace_choose_programs(trace);
	status = bpf_load(c->kernel, c->what, trace->skeleton->skeleton, err);
	if (status == TALLY_OK)
		status = syscall_trace_fill(trace, err);
	if (status == TALLY_OK)
		status = bpf_attach(c->kernel, c->what, trace->skeleton->skeleton, err);
	return status;
}

enum tally_status syscall_trace_create(
	const struct syscall_trace_config *config, struct syscall_trace **trace, struct tally_error *err)
{
	enum tally_status status = bpf_open(config->kernel, config->what, err);
	if (status == TALLY_OK)
		status = bpf_check_namespace(config->kernel, config->what, err);
	if (status == TALLY_OK && config->cgroup_count > SYSCALL_TRACE_CGROUPS)
		status =
			error_set(err, TALLY_LIMIT, "%s takes at most %d cgroups", config->what, SYSCALL_TRACE_CGROUPS);
	if (status != TALLY_OK)
		return status;
	struct syscall_trace *made = calloc(1, sizeof(*made));
	if (!made)
		return error_nomem(err);
	made->config = *config;
	status = syscall_trace_load(made, err);
	if (status != TALLY_OK) {
		syscall_trace_destroy(made);
		return status;
	}
	made->config.plan = NULL; /* The caller owns these pointers, which may become invalid after this call. */
	made->config.cpus = NULL;
	made->config.cgroups = NULL;
	*trace = made;
	return TALLY_OK;
}

void syscall_trace_destroy(struct syscall_trace *trace)
{
	if (!trace)
		return;
	syscall_trace_bpf__destroy(trace->skeleton);
	free(trace->cells);
	free(trace);
}

/* ---- selecting what is traced ---- */

enum tally_status syscall_trace_set_output(struct syscall_trace *trace, int cpu, int fd, struct tally_error *err)
{
	if (bpf_map_update_elem(bpf_map__fd(trace->skeleton->maps.output), &cpu, &fd, BPF_ANY) != 0)
		return syscall_trace_fail(trace, errno, "BPF programs cannot write to the event", err);
	return TALLY_OK;
}

enum tally_status syscall_trace_add_thread(
	struct syscall_trace *trace, uint32_t pid, uint32_t tid, struct tally_error *err)
{
	const struct syscall_thread first = {.pid = pid, .waits = trace->config.from_exec};
	int fd = bpf_map__fd(trace->skeleton->maps.threads);
	if (bpf_map_update_elem(fd, &tid, &first, BPF_NOEXIST) != 0 && errno != EEXIST)
		return syscall_trace_fail(trace, errno, "a thread cannot be stored", err);
	return TALLY_OK;
}

enum tally_status syscall_trace_exclude_process(struct syscall_trace *trace, uint32_t pid, struct tally_error *err)
{
	const uint8_t yes = 1;
	if (bpf_map_update_elem(bpf_map__fd(trace->skeleton->maps.excluded), &pid, &yes, BPF_ANY) != 0)
		return syscall_trace_fail(trace, errno, "a process that is not wanted cannot be stored", err);
	return TALLY_OK;
}

void syscall_trace_start(struct syscall_trace *trace)
{
	__atomic_store_n(&trace->skeleton->bss->is_on, true, __ATOMIC_RELEASE);
}

void syscall_trace_stop(struct syscall_trace *trace)
{
	__atomic_store_n(&trace->skeleton->bss->is_on, false, __ATOMIC_RELEASE);
}

/* ---- reading ---- */

struct syscall_trace_pending {
	uint64_t begin_ns;
	uint32_t tid, pid;
	struct syscall_thread thread;
};

static int syscall_trace_compare(const void *left, const void *right)
{
	const struct syscall_trace_pending *a = left, *b = right;
	return a->begin_ns < b->begin_ns ? -1 : a->begin_ns > b->begin_ns;
}

/*
 * Returns the record of a pending call, in copies: the map's value or, without one, a record made from the thread's
 * entry.
 */
static struct tally_bytes syscall_trace_record(
	const struct syscall_trace *trace, const struct syscall_trace_pending *pending, struct syscall_copies *copies)
{
	const struct syscall_thread *thread = &pending->thread;
	int fd = bpf_map__fd(trace->skeleton->maps.copies);
	if (thread->has_copies && bpf_map_lookup_elem(fd, &pending->tid, copies) == 0 &&
		copies->record.number == thread->number) {
		uint32_t used = MIN(copies->used, (uint32_t)(SYSCALL_CAPTURES + SYSCALL_PART));
		copies->record.kind = SYSCALL_RECORD_ENTRY;
		copies->record.captured = used;
		return (struct tally_bytes){(const uint8_t *)&copies->record, sizeof(copies->record) + used};
	}
	copies->record = (struct syscall_record){.version = SYSCALL_RECORD_VERSION,
		.kind = SYSCALL_RECORD_ENTRY,
		.flags = thread->is_compat ? SYSCALL_FLAG_COMPAT : 0,
		.number = thread->number};
	for (unsigned i = 0; i < SYSCALL_ARGS; i++)
		copies->record.args[i] = thread->args[i];
	return (struct tally_bytes){(const uint8_t *)&copies->record, sizeof(copies->record)};
}

enum tally_status syscall_trace_each_pending(struct syscall_trace *trace,
	enum tally_status (*take)(void *context, uint32_t pid, uint32_t tid, uint64_t begin_ns,
		struct tally_bytes record, struct tally_error *err),
	void *context, struct tally_error *err)
{
	VEC(struct syscall_trace_pending) calls = {0};
	struct syscall_copies *copies = malloc(sizeof(*copies));
	int fd = bpf_map__fd(trace->skeleton->maps.threads);
	enum tally_status status = copies ? TALLY_OK : error_nomem(err);
	uint32_t tid, *at = NULL, next;
	while (status == TALLY_OK && bpf_map_get_next_key(fd, at, &next) == 0) {
		struct syscall_trace_pending call = {.tid = next};
		tid = next;
		at = &tid;
		if (bpf_map_lookup_elem(fd, &tid, &call.thread) != 0 || call.thread.begin_ns == 0)
			continue;
		call.begin_ns = call.thread.begin_ns;
		call.pid = call.thread.pid;
		if (!vec_push(&calls, call))
			status = error_nomem(err);
	}
	if (calls.len)
		qsort(calls.items, calls.len, sizeof(*calls.items), syscall_trace_compare);
	for (size_t i = 0; status == TALLY_OK && i < calls.len; i++)
		status = take(context, calls.items[i].pid, calls.items[i].tid, calls.items[i].begin_ns,
			syscall_trace_record(trace, &calls.items[i], copies), err);
	vec_free(&calls);
	free(copies);
	return status;
}

static void syscall_trace_add_up(const struct syscall_trace *trace, struct syscall_trace_sum *sum)
{
	sum->min_ns = sum->key.error ? 0 : UINT64_MAX;
	for (int i = 0; i < trace->possible_cpus; i++) {
		const struct syscall_sum *cell = &trace->cells[i];
		if (!cell->count)
			continue;
		sum->count += cell->count;
		sum->errors += cell->errors;
		sum->untimed += cell->untimed;
		sum->total_ns += cell->total_ns;
		if (cell->count > cell->untimed)
			sum->min_ns = MIN(sum->min_ns, cell->min_ns);
		sum->max_ns = MAX(sum->max_ns, cell->max_ns);
		sum->squares += (wide_u128)cell->squares_high << 64 | cell->squares_low;
	}
}

enum tally_status syscall_trace_each_sum(struct syscall_trace *trace,
	enum tally_status (*take)(void *context, const struct syscall_trace_sum *sum, struct tally_error *err),
	void *context, struct tally_error *err)
{
	int fd = bpf_map__fd(trace->skeleton->maps.sums);
	struct syscall_sum_key key, *at = NULL;
	struct syscall_trace_sum sum = {0};
	enum tally_status status = TALLY_OK;
	while (status == TALLY_OK && bpf_map_get_next_key(fd, at, &sum.key) == 0) {
		key = sum.key;
		at = &key;
		if (bpf_map_lookup_elem(fd, &key, trace->cells) != 0)
			continue;
		syscall_trace_add_up(trace, &sum);
		if (sum.count)
			status = take(context, &sum, err);
		sum = (struct syscall_trace_sum){0};
	}
	return status;
}

/* Returns how often the kernel skipped the program because another one ran on the CPU; Linux counts this since 5.12. */
static uint64_t syscall_trace_missed(const struct bpf_program *program)
{
	struct bpf_prog_info info = {0};
	uint32_t size = sizeof(info);
	return bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size) == 0 ? info.recursion_misses : 0;
}

struct syscall_trace_losses syscall_trace_losses(const struct syscall_trace *trace)
{
	const struct syscall_trace_bpf *s = trace->skeleton;
	return (struct syscall_trace_losses){.records = s->bss->counts.records,
		.threads = s->bss->counts.threads,
		.sums = s->bss->counts.sums,
		.children = s->bss->counts.children,
		.missed = syscall_trace_missed(s->progs.syscall_enters) + syscall_trace_missed(s->progs.syscall_exits) +
			  syscall_trace_missed(s->progs.syscall_exits_before_5_17)};
}
#else
/* In a build without BPF, bpf_open always fails, so the functions below never receive an object. */
enum tally_status syscall_trace_create(
	const struct syscall_trace_config *config, struct syscall_trace **trace, struct tally_error *err)
{
	return bpf_open(config->kernel, config->what, err);
}

void syscall_trace_destroy(struct syscall_trace *trace)
{
}

enum tally_status syscall_trace_set_output(struct syscall_trace *trace, int cpu, int fd, struct tally_error *err)
{
	return bpf_refusal_expected(NULL, "trace", err);
}

enum tally_status syscall_trace_add_thread(
	struct syscall_trace *trace, uint32_t pid, uint32_t tid, struct tally_error *err)
{
	return bpf_refusal_expected(NULL, "trace", err);
}

enum tally_status syscall_trace_exclude_process(struct syscall_trace *trace, uint32_t pid, struct tally_error *err)
{
	return bpf_refusal_expected(NULL, "trace", err);
}

void syscall_trace_start(struct syscall_trace *trace)
{
}

void syscall_trace_stop(struct syscall_trace *trace)
{
}

enum tally_status syscall_trace_each_pending(struct syscall_trace *trace,
	enum tally_status (*take)(void *context, uint32_t pid, uint32_t tid, uint64_t begin_ns,
		struct tally_bytes record, struct tally_error *err),
	void *context, struct tally_error *err)
{
	return TALLY_OK;
}

enum tally_status syscall_trace_each_sum(struct syscall_trace *trace,
	enum tally_status (*take)(void *context, const struct syscall_trace_sum *sum, struct tally_error *err),
	void *context, struct tally_error *err)
{
	return TALLY_OK;
}

struct syscall_trace_losses syscall_trace_losses(const struct syscall_trace *trace)
{
	return (struct syscall_trace_losses){0};
}
#endif
