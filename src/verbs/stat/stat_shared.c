/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/stat/stat_shared.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "bpf/bpf_shared_counter.h"
#include "verbs/stat/stat_shared_cgroups.h"
#include "verbs/stat/stat_shared_programs.h"

struct stat_shared {
	struct counter_set *set;
	struct stat_shared_cgroups *cgroups; /* NULL if no event is limited to a cgroup. */
	struct stat_shared_programs *programs; /* NULL if events are counted regardless of BPF programs. */
	uint64_t losses;
	struct shared_counter_reading readings[SHARED_COUNTER_CPUS];
	size_t count;
	/* Indexed like the set's counters; NULL if the counter has its own event. */
	struct bpf_shared_counter *counters[];
};

/* Returns whether the counter counts whole CPUs, which have a count each. The threads of another counter have one
 * sum. */
static bool stat_shared_is_wide(const struct counter *counter)
{
	return counter->thread_count > 0 && counter->threads[0] == -1;
}

static enum tally_status stat_shared_watch(
	const struct counter *counter, struct bpf_shared_counter *shared, struct tally_error *err)
{
	enum tally_status status = TALLY_OK;
	if (!stat_shared_is_wide(counter)) {
		for (size_t i = 0; status == TALLY_OK && i < counter->thread_count; i++)
			status = bpf_shared_counter_watch_task(shared, (uint32_t)counter->threads[i], err);
		return status;
	}
	for (size_t i = 0; status == TALLY_OK && i < counter->cpu_count; i++)
		if (counter->cpus[i] >= 0 && counter->cpus[i] < SHARED_COUNTER_CPUS)
			status = bpf_shared_counter_watch_cpu(shared, (uint32_t)counter->cpus[i], err);
	return status;
}

/* Returns whether the machine supports the event. An unsupported event stays in the set, which reports it. */
static bool stat_shared_exists(const struct kernel_seam *kernel, const struct event_spec *spec)
{
	struct perf_attr attr = spec->attr;
	attr.sample_period_or_freq = 0;
	attr.flags = (attr.flags & ~ATTR_FLAG(ATTR_BIT_FREQ)) | ATTR_FLAG(ATTR_BIT_DISABLED);
	int fd = kernel->perf_event_open(kernel->context, &attr, -1, 0, -1, 0);
	if (fd < 0)
		return errno != ENOENT && errno != ENODEV && errno != EOPNOTSUPP && errno != EINVAL;
	kernel->close(kernel->context, fd);
	return true;
}

void stat_shared_choose(const struct kernel_seam *kernel, struct event_list *events, bool takes_all)
{
	for (size_t i = 0; i < events->len; i++) {
		struct event_spec *spec = &events->specs[i];
		bool is_wanted = (takes_all || spec->is_shared) && spec->tool == TOOL_NONE && !spec->is_uncore;
		spec->is_shared = is_wanted && stat_shared_exists(kernel, spec);
	}
}

static enum tally_status stat_shared_open_counters(
	struct stat_shared *shared, const struct stat_shared_place *place, struct tally_error *err)
{
	struct counter_set *set = shared->set;
	enum tally_status status = stat_shared_cgroups_open(set, &shared->cgroups, err);
	for (size_t i = 0; status == TALLY_OK && i < set->len; i++) {
		const struct counter *counter = &set->counters[i];
		if (!counter->spec->is_shared || counter->spec->cgroup_path)
			continue;
		status = bpf_shared_counter_open(set->kernel, place->path ? place->path : STAT_SHARED_PATH,
			counter->spec, &shared->counters[i], err);
		if (status == TALLY_OK)
			status = stat_shared_watch(counter, shared->counters[i], err);
	}
	return status;
}

enum tally_status stat_shared_open(struct counter_set *set, const struct stat_shared_place *place,
	struct stat_shared **shared, struct tally_error *err)
{
	bool is_wanted = place->programs != NULL;
	for (size_t i = 0; i < set->len; i++)
		is_wanted |= set->counters[i].spec->is_shared;
	*shared = NULL;
	if (!is_wanted)
		return TALLY_OK;
	struct stat_shared *made = calloc(1, sizeof(*made) + set->len * sizeof(made->counters[0]));
	if (!made)
		return error_nomem(err);
	made->set = set;
	made->count = set->len;
	enum tally_status status = place->programs
					   ? stat_shared_programs_open(set, place->programs, &made->programs, err)
					   : stat_shared_open_counters(made, place, err);
	if (status == TALLY_OK)
		*shared = made;
	else
		stat_shared_close(made);
	return status;
}

enum tally_status stat_shared_enable(struct stat_shared *shared, struct tally_error *err)
{
	enum tally_status status = TALLY_OK;
	if (shared)
		stat_shared_programs_count(shared->programs, true);
	for (size_t i = 0; shared && status == TALLY_OK && i < shared->count; i++)
		if (shared->counters[i])
			status = bpf_shared_counter_begin(shared->counters[i], err);
	return shared && status == TALLY_OK ? stat_shared_cgroups_enable(shared->cgroups, err) : status;
}

enum tally_status stat_shared_disable(struct stat_shared *shared, struct tally_error *err)
{
	enum tally_status status = TALLY_OK;
	if (shared)
		stat_shared_programs_count(shared->programs, false);
	for (size_t i = 0; shared && status == TALLY_OK && i < shared->count; i++)
		if (shared->counters[i])
			status = bpf_shared_counter_end(shared->counters[i], err);
	return shared && status == TALLY_OK ? stat_shared_cgroups_disable(shared->cgroups, err) : status;
}

static void stat_shared_put(struct counter *counter, const struct shared_counter_reading *readings)
{
	bool is_wide = stat_shared_is_wide(counter);
	struct count sum = {0};
	for (size_t i = 0; is_wide && i < counter->cpu_count; i++) {
		int cpu = counter->cpus[i];
		if (cpu < 0 || cpu >= SHARED_COUNTER_CPUS)
			continue;
		counter->counts[i * counter->thread_count] =
			(struct count){readings[cpu].value, readings[cpu].enabled_ns, readings[cpu].running_ns};
	}
	for (size_t cpu = 0; !is_wide && cpu < SHARED_COUNTER_CPUS; cpu++) {
		sum.value += readings[cpu].value;
		sum.enabled_ns += readings[cpu].enabled_ns;
		sum.running_ns += readings[cpu].running_ns;
	}
	if (!is_wide && counter->cpu_count > 0 && counter->thread_count > 0)
		counter->counts[0] = sum;
}

enum tally_status stat_shared_read(struct stat_shared *shared, struct tally_error *err)
{
	enum tally_status status = shared ? stat_shared_programs_read(shared->programs, err) : TALLY_OK;
	for (size_t i = 0; shared && status == TALLY_OK && i < shared->count; i++) {
		struct shared_counter_losses losses;
		if (!shared->counters[i])
			continue;
		status = bpf_shared_counter_read(shared->counters[i], shared->readings, &losses, err);
		if (status != TALLY_OK)
			return status;
		shared->losses = MAX(shared->losses, losses.without_task + losses.unread);
		stat_shared_put(&shared->set->counters[i], shared->readings);
	}
	return shared && status == TALLY_OK ? stat_shared_cgroups_read(shared->cgroups, err) : status;
}

uint64_t stat_shared_losses(const struct stat_shared *shared)
{
	return shared ? shared->losses + stat_shared_cgroups_losses(shared->cgroups) +
				stat_shared_programs_losses(shared->programs)
		      : 0;
}

void stat_shared_close(struct stat_shared *shared)
{
	for (size_t i = 0; shared && i < shared->count; i++)
		bpf_shared_counter_close(shared->counters[i]);
	if (shared) {
		stat_shared_cgroups_close(shared->cgroups);
		stat_shared_programs_close(shared->programs);
	}
	free(shared);
}
