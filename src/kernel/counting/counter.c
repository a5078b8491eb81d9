/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/counting/counter.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "kernel/events/breakpoint_probe.h"
#include "kernel/events/event_filter.h"
#include "kernel/events/event_gates.h"
#include "kernel/events/privileges.h"
#include "kernel/system/cpu_topology.h"
#include "kernel/system/fd_limit.h"
#include "kernel/system/surroundings.h"

/* ioctl numbers of linux/perf_event.h. */
#define COUNTER_IOC_ENABLE _IO('$', 0)
#define IOC_DISABLE	   _IO('$', 1)
#define IOC_RESET	   _IO('$', 3)

#define COUNTER_FDS_OF_OURS 64 /* Number of descriptors to leave for the program's other files. */

struct counter_opening {
	struct counter_set *set;
	const struct counter_options *options;
	const struct target *target;
	struct tally_error *err;
	bool raised_limit;
	int *cgroup_fds; /* One per event, -1 if the event has no cgroup. */
};

static size_t fds_needed(const struct counter_set *set)
{
	size_t n = 0;
	for (size_t i = 0; i < set->len; i++)
		n += set->counters[i].cpu_count * set->counters[i].thread_count;
	return n + COUNTER_FDS_OF_OURS;
}

static size_t fds_open(const struct counter_set *set)
{
	size_t n = 0;
	for (size_t i = 0; i < set->len; i++)
		n += set->counters[i].open_count;
	return n;
}

static struct perf_attr attr_make(const struct counter_opening *o, const struct counter *counter, bool leads_group)
{
	struct perf_attr attr = counter->spec->attr;
	const struct event_spec *leader = &o->set->events->specs[counter->spec->leader];
	attr.sample_period_or_freq = 0;
	attr.flags &= ~ATTR_FLAG(ATTR_BIT_FREQ);
	attr.sample_type = SAMPLE_IDENTIFIER;
	attr.read_format = READ_FORMAT_TOTAL_TIME_ENABLED | READ_FORMAT_TOTAL_TIME_RUNNING;
	if (leader->member_count > 1)
		attr.read_format |= READ_FORMAT_ID | READ_FORMAT_GROUP;
	if (o->options->inherit && event_is_inheritable(o->set->events, (size_t)(counter - o->set->counters)))
		attr.flags |= ATTR_FLAG(ATTR_BIT_INHERIT);
	if (leads_group && o->options->starts_enabled && leader->member_count == 1)
		return attr;
	if (leads_group) { /* Members start and stop with their leader. */
		attr.flags |= ATTR_FLAG(ATTR_BIT_DISABLED);
		if (o->options->enable_on_exec)
			attr.flags |= ATTR_FLAG(ATTR_BIT_ENABLE_ON_EXEC);
	}
	return attr;
}

/* With is_alone, the event is opened outside its group. */
static int open_once(
	const struct counter_opening *o, const struct counter *counter, size_t cpu, size_t thread, bool is_alone)
{
	const struct counter_set *set = o->set;
	size_t index = (size_t)(counter - set->counters);
	bool leads = is_alone || counter->leader == index;
	const struct counter *leader = &set->counters[counter->leader];
	struct perf_attr attr = attr_make(o, counter, leads);
	int group_fd = leads ? -1 : counter_fd(leader, cpu, thread);
	pid_t pid = counter->threads[thread];
	unsigned long flags = 0;
	if (o->cgroup_fds[index] >= 0) {
		pid = o->cgroup_fds[index];
		flags = OPEN_PID_CGROUP;
	}
	if (!leads && group_fd < 0) {
		errno = ESRCH; /* The leader is not open because its thread had ended. */
		return -1;
	}
	return event_open(set->kernel, &attr, pid, counter->cpus[cpu], group_fd, flags);
}

/* Tracepoints of uprobes fire in user mode; their groups are those that perf probe and tracefs create. */
static bool happens_in_program(const struct event_spec *spec)
{
	static const char *const groups[] = {"uprobes", "probe_", "sdt_"};
	for (size_t i = 0; spec->tracepoint_system && i < ARRAY_LEN(groups); i++)
		if (strncmp(spec->tracepoint_system, groups[i], strlen(groups[i])) == 0)
			return true;
	return false;
}

/* Whether the event may be restricted to user mode if the kernel refuses to count the other modes. */
static bool may_drop_kernel(const struct counter_opening *o, const struct counter *counter, size_t thread)
{
	const struct event_spec *spec = counter->spec;
	return o->options->may_drop_kernel && counter->open_count == 0 && !spec->has_exclude &&
	       !ATTR_HAS(&spec->attr, EXCLUDE_KERNEL) && counter->threads[thread] != -1;
}

/* True for events that occur in the kernel only: restricted to user mode, they would report a misleading 0. */
static bool is_hidden_in_kernel(const struct event_spec *spec)
{
	return event_happens_in_kernel(spec) && !happens_in_program(spec);
}

/* Opens one counter and retries with what may help: more descriptors, user mode only, guests included. Returns -1 and
 * sets errno. */
static int counter_open_giving_way(struct counter_opening *o, struct counter *counter, size_t cpu, size_t thread)
{
	struct counter_set *set = o->set;
	size_t index = (size_t)(counter - set->counters);
	for (;;) {
		int fd = open_once(o, counter, cpu, thread, false);
		if (fd >= 0)
			return fd;
		int errnum = errno;
		struct event_spec *spec = &set->events->specs[index];
		enum refusal refusal = refusal_of(set->kernel, spec, errnum);
		if (refusal == REFUSAL_FDS && !o->raised_limit && fd_limit_make_room(fds_needed(set) - fds_open(set))) {
			o->raised_limit = true;
			continue;
		}
		if (refusal == REFUSAL_PERMISSION && may_drop_kernel(o, counter, thread) &&
			!is_hidden_in_kernel(spec) &&
			event_spec_restrict_to_user(set->events, index, NULL) == TALLY_OK) {
			set->dropped_kernel = true;
			continue;
		}
		/* Guests are excluded by default; a PMU that cannot exclude them refuses the event. */
		if (errnum == EINVAL && counter->open_count == 0 && !spec->has_guest_host &&
			ATTR_HAS(&spec->attr, EXCLUDE_GUEST)) {
			spec->attr.flags &= ~ATTR_FLAG(ATTR_BIT_EXCLUDE_GUEST);
			continue;
		}
		errno = errnum;
		return -1;
	}
}

static void counter_close_fds(struct counter_set *set, struct counter *counter)
{
	for (size_t i = 0; counter->fds && i < counter->cpu_count * counter->thread_count; i++) {
		if (counter->fds[i] >= 0)
			set->kernel->close(set->kernel->context, counter->fds[i]);
		counter->fds[i] = -1;
	}
	counter->open_count = 0;
}

static bool opens_alone(const struct counter_opening *o, const struct counter *counter, size_t cpu, size_t thread)
{
	if (counter->leader == (size_t)(counter - o->set->counters))
		return false;
	int fd = open_once(o, counter, cpu, thread, true);
	if (fd >= 0)
		o->set->kernel->close(o->set->kernel->context, fd);
	return fd >= 0;
}

static enum tally_status counter_refuse(
	struct counter_opening *o, struct counter *counter, size_t cpu, size_t thread, int errnum)
{
	struct text reason = {0};
	if (errnum == EINVAL && opens_alone(o, counter, cpu, thread))
		text_str(&reason,
			"the PMU has no counter left for it beside the others of its group (event constraints): "
			"make the group smaller, or let it be split (:W)");
	else
		refusal_reason(
			o->set->kernel, counter->spec, counter->threads[thread], counter->cpus[cpu], errnum, &reason);
	text_char(&reason, '\0');
	counter_close_fds(o->set, counter);
	free(counter->reason);
	counter->reason = reason.failed ? NULL : reason.data;
	counter->refused_errnum = errnum;
	if (!counter->reason) {
		text_deinit(&reason);
		return error_nomem(o->err);
	}
	return TALLY_OK;
}

/* Removes the members from the group of a leader that could not be opened; the first of them leads the rest. */
static void group_lead_anew(struct counter_set *set, size_t leader)
{
	size_t heir = SIZE_MAX;
	for (size_t i = leader + 1; i < set->len; i++) {
		if (set->counters[i].leader != leader)
			continue;
		if (heir == SIZE_MAX)
			heir = i;
		set->counters[i].leader = (uint32_t)heir;
	}
}

/* Notes that this user may not count the event, although the machine supports it; other events are still counted. */
static enum tally_status counter_withhold(
	struct counter_opening *o, struct counter *counter, size_t cpu, size_t thread, int errnum)
{
	size_t index = (size_t)(counter - o->set->counters);
	if (counter->leader == index)
		group_lead_anew(o->set, index);
	counter->leader = (uint32_t)index;
	enum tally_status status = counter_refuse(o, counter, cpu, thread, errnum);
	counter->refused_errnum = 0;
	return status;
}

static enum tally_status limit_error(struct counter_opening *o)
{
	struct rlimit limit = {0};
	getrlimit(RLIMIT_NOFILE, &limit);
	size_t needed = fds_needed(o->set);
	struct text remedy = {0};
	remedy_files(surroundings_find(o->set->kernel), needed, &remedy);
	enum tally_status status = error_set(o->err, TALLY_LIMIT,
		"too many open files: these events need %zu and the limit is %llu; try %.*s, or fewer events, CPUs or "
		"threads",
		needed, (unsigned long long)limit.rlim_cur, (int)remedy.len, remedy.data ? remedy.data : "");
	text_deinit(&remedy);
	return status;
}

/* Opens the counter on every CPU and thread. If only this event fails, the counter notes why; other errors are
 * returned. */
static enum tally_status counter_open(struct counter_opening *o, struct counter *counter)
{
	struct counter_set *set = o->set;
	size_t index = (size_t)(counter - set->counters);
	for (size_t cpu = 0; cpu < counter->cpu_count; cpu++) {
		for (size_t thread = 0; thread < counter->thread_count; thread++) {
			int fd = counter_open_giving_way(o, counter, cpu, thread);
			if (fd >= 0) {
				counter->fds[cpu * counter->thread_count + thread] = fd;
				counter->open_count++;
				/* A filter that cannot be set is an error, not an unsupported event. */
				enum tally_status status = event_filter_set(set->kernel, counter->spec, fd, o->err);
				if (status != TALLY_OK)
					return status;
				continue;
			}
			int errnum = errno;
			switch (refusal_of(set->kernel, counter->spec, errnum)) {
			case REFUSAL_GONE:
				continue;
			case REFUSAL_FDS:
				return limit_error(o);
			case REFUSAL_PERMISSION:
				if (may_drop_kernel(o, counter, thread) && is_hidden_in_kernel(counter->spec))
					return counter_withhold(o, counter, cpu, thread, errnum);
				/* fall through */
			case REFUSAL_MEMORY:
				return refusal_explain(set->kernel, counter->spec, counter->threads[thread],
					counter->cpus[cpu], errnum, o->err);
			case REFUSAL_NO_HARDWARE:
			case REFUSAL_BUSY:
			case REFUSAL_OLD_KERNEL:
			case REFUSAL_OTHER:
				break;
			}
			if (counter->leader != index && set->events->specs[counter->spec->leader].is_weak_group) {
				/* Members of a weak group (:W) may be counted outside it. */
				counter->leader = (uint32_t)index;
				counter_close_fds(set, counter);
				return counter_open(o, counter);
			}
			if (counter->leader == index)
				group_lead_anew(set, index);
			return counter_refuse(o, counter, cpu, thread, errnum);
		}
	}
	if (counter->open_count == 0)
		return counter_refuse(o, counter, 0, 0, ESRCH);
	return TALLY_OK;
}

/* The counter is opened on those CPUs of the target that its PMU serves. */
static enum tally_status counter_place(struct counter_opening *o, struct counter *counter)
{
	struct counter_set *set = o->set;
	const struct event_spec *spec = counter->spec;
	counter->cpus = set->cpus;
	counter->cpu_count = set->cpu_count;
	counter->threads = set->threads;
	counter->thread_count = set->thread_count;
	if (spec->cpus && set->cpu_count > 0 && set->cpus[0] >= 0) {
		int *own, *both;
		size_t own_count, n = 0;
		enum tally_status status = cpu_list_parse(str_from(spec->cpus), &own, &own_count, o->err);
		if (status != TALLY_OK)
			return status;
		both = own;
		for (size_t i = 0; i < own_count; i++)
			if (cpu_list_has(set->cpus, set->cpu_count, own[i]))
				both[n++] = own[i];
		counter->own_cpus = both;
		counter->cpus = both;
		counter->cpu_count = n;
	}
	size_t cells;
	if (__builtin_mul_overflow(counter->cpu_count, counter->thread_count, &cells))
		return error_nomem(o->err);
	counter->fds = malloc((cells ? cells : 1) * sizeof(*counter->fds));
	for (size_t i = 0; counter->fds && i < cells; i++)
		counter->fds[i] = -1;
	counter->counts = calloc(cells ? cells : 1, sizeof(*counter->counts));
	if (!counter->fds || !counter->counts)
		return error_nomem(o->err);
	return TALLY_OK;
}

/* The kernel does not know tool events, and shared counters belong to the caller: neither may be in a kernel group. */
static void tools_leave_groups(struct counter_set *set)
{
	for (size_t i = 0; i < set->len; i++) {
		if (set->counters[i].spec->tool == TOOL_NONE && !set->counters[i].spec->is_shared)
			continue;
		if (set->counters[i].leader == i)
			group_lead_anew(set, i);
		set->counters[i].leader = (uint32_t)i;
	}
}

static enum tally_status set_prepare(struct counter_opening *o)
{
	struct counter_set *set = o->set;
	const struct target *target = o->target;
	set->cpus = malloc(target->cpu_count * sizeof(int) + 1);
	set->threads = malloc(target->thread_count * sizeof(pid_t) + 1);
	set->counters = calloc(set->events->len ? set->events->len : 1, sizeof(*set->counters));
	o->cgroup_fds = malloc(set->events->len * sizeof(int) + 1);
	if (!set->cpus || !set->threads || !set->counters || !o->cgroup_fds)
		return error_nomem(o->err);
	memcpy(set->cpus, target->cpus, target->cpu_count * sizeof(int));
	memcpy(set->threads, target->threads, target->thread_count * sizeof(pid_t));
	set->cpu_count = target->cpu_count;
	set->thread_count = target->thread_count;
	for (size_t i = 0; i < set->events->len; i++) {
		struct counter *counter = &set->counters[i];
		counter->spec = &set->events->specs[i];
		counter->leader = counter->spec->leader;
		o->cgroup_fds[i] = -1;
		set->len++;
		enum tally_status status = counter_place(o, counter);
		if (status != TALLY_OK)
			return status;
	}
	tools_leave_groups(set);
	return TALLY_OK;
}

static enum tally_status cgroup_open(struct counter_opening *o, size_t index)
{
	const char *path = o->set->events->specs[index].cgroup_path;
	if (!path)
		return TALLY_OK;
	for (size_t i = 0; i < index; i++) { /* Events of one cgroup share its descriptor. */
		const char *other = o->set->events->specs[i].cgroup_path;
		if (o->cgroup_fds[i] >= 0 && other && strcmp(other, path) == 0) {
			o->cgroup_fds[index] = o->cgroup_fds[i];
			return TALLY_OK;
		}
	}
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_DIRECTORY);
	if (fd < 0)
		return error_set_errno(
			o->err, errno == ENOENT ? TALLY_NOT_FOUND : TALLY_IO, errno, "cannot open cgroup %s", path);
	o->cgroup_fds[index] = fd;
	return TALLY_OK;
}

static void cgroups_close(struct counter_opening *o)
{
	for (size_t i = 0; o->cgroup_fds && i < o->set->len; i++) {
		bool is_shared = false;
		for (size_t k = i; k > 0 && !is_shared; k--)
			is_shared = o->cgroup_fds[k - 1] == o->cgroup_fds[i];
		if (o->cgroup_fds[i] >= 0 && !is_shared)
			close(o->cgroup_fds[i]);
	}
	free(o->cgroup_fds);
}

static enum tally_status counter_refuse_cpus(struct counter *counter, struct tally_error *err)
{
	struct text reason = {0};
	text_printf(&reason, "PMU %s counts on CPUs %s only", counter->spec->pmu, counter->spec->cpus);
	text_char(&reason, '\0');
	if (reason.failed) {
		text_deinit(&reason);
		return error_nomem(err);
	}
	counter->reason = reason.data;
	counter->refused_errnum = ENODEV;
	return TALLY_OK;
}

static enum tally_status set_open_all(struct counter_opening *o)
{
	struct counter_set *set = o->set;
	for (size_t i = 0; i < set->len; i++) {
		struct counter *counter = &set->counters[i];
		if (counter->spec->tool != TOOL_NONE || counter->spec->is_shared)
			continue;
		enum tally_status status = cgroup_open(o, i);
		if (status == TALLY_OK && counter->cpu_count == 0)
			status = counter_refuse_cpus(counter, o->err);
		else if (status == TALLY_OK)
			status = counter_open(o, counter);
		if (status != TALLY_OK)
			return status;
	}
	return TALLY_OK;
}

enum tally_status counter_set_open(const struct kernel_seam *kernel, struct event_list *events,
	const struct target *target, const struct counter_options *options, struct counter_set **set,
	struct tally_error *err)
{
	struct counter_set *made = calloc(1, sizeof(*made));
	if (!made)
		return error_nomem(err);
	made->kernel = kernel;
	made->events = events;
	struct counter_opening opening = {.set = made, .options = options, .target = target, .err = err};
	enum tally_status status = set_prepare(&opening);
	if (status == TALLY_OK && options->must_fit && !options->opens_nothing && !fd_limit_make_room(fds_needed(made)))
		status = limit_error(&opening);
	if (status == TALLY_OK && !options->opens_nothing)
		status = set_open_all(&opening);
	cgroups_close(&opening);
	if (status != TALLY_OK) {
		counter_set_close(made);
		return status;
	}
	*set = made;
	return TALLY_OK;
}

void counter_set_close(struct counter_set *set)
{
	if (!set)
		return;
	for (size_t i = 0; i < set->len; i++) {
		struct counter *counter = &set->counters[i];
		counter_close_fds(set, counter);
		free(counter->fds);
		free(counter->counts);
		free(counter->reason);
		free(counter->own_cpus);
	}
	free(set->counters);
	free(set->cpus);
	free(set->threads);
	free(set);
}

/* Members count only while their leader is enabled, so only a reset needs every descriptor. */
static void leaders_ioctl(struct counter_set *set, unsigned long request, bool members_too)
{
	for (size_t i = 0; i < set->len; i++) {
		const struct counter *counter = &set->counters[i];
		if (counter->leader != i && !members_too)
			continue;
		for (size_t k = 0; k < counter->cpu_count * counter->thread_count; k++)
			if (counter->fds[k] >= 0)
				set->kernel->ioctl(set->kernel->context, counter->fds[k], request, NULL);
	}
}

void counter_set_enable(struct counter_set *set)
{
	leaders_ioctl(set, COUNTER_IOC_ENABLE, false);
}

void counter_set_disable(struct counter_set *set)
{
	leaders_ioctl(set, IOC_DISABLE, false);
}

void counter_set_reset(struct counter_set *set)
{
	leaders_ioctl(set, IOC_RESET, true);
}

void counter_set_drop_counts(struct counter_set *set)
{
	for (size_t i = 0; i < set->len; i++) {
		struct counter *counter = &set->counters[i];
		for (size_t k = 0; counter->counts && k < counter->cpu_count * counter->thread_count; k++)
			counter->counts[k] = (struct count){0};
	}
}
