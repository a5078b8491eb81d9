/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/lock/lock_bpf.h"

#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "bpf/bpf_lock_contention.h"
#include "verbs/lock/lock_places.h"

#define LOCK_BPF_ENTRIES 16384 /* Minimum number of entries of a map, because several may belong to one row. */

enum tally_status lock_bpf_open(
	const struct lock_job *job, bool of_command, struct bpf_lock_contention **locks, struct tally_error *err)
{
	const struct lock_settings *s = job->settings;
	const struct bpf_lock_config config = {
		.with_stack = job->layout == LOCK_BY_CALLER || s->callers,
		.with_lock = job->layout == LOCK_BY_ADDRESS || s->locks,
		.with_thread = s->by_thread && !s->by_owner,
		.with_owner = s->by_owner,
		.with_cgroup = lock_job_wants_cgroups(job),
		.frames = s->callers ? LOCK_MAX_STACK : (unsigned)s->max_stack,
		.entries = MAX(s->row_limit, LOCK_BPF_ENTRIES),
		.cpus = job->cpus,
		.of_processes = s->pids != NULL,
		.of_threads = s->tids || of_command,
		.follows_children = of_command,
	};
	return bpf_lock_contention_create(kernel_seam_linux(), &config, locks, err);
}

enum tally_status lock_bpf_watch(
	struct bpf_lock_contention *locks, const struct lock_job *job, pid_t child, struct tally_error *err)
{
	const struct lock_settings *s = job->settings;
	const char *list = s->pids ? s->pids : s->tids;
	struct tally_str rest = str_from(list ? list : ""), part;
	enum tally_status status = TALLY_OK;
	uint64_t id;
	while (status == TALLY_OK && str_next_item(&rest, &part))
		if (str_to_u64(part, 10, &id) && id <= INT32_MAX)
			status = bpf_lock_contention_watch(locks, (uint32_t)id, err);
	if (status == TALLY_OK && !list && child > 0)
		status = bpf_lock_contention_watch(locks, (uint32_t)child, err);
	return status;
}

void lock_bpf_start(struct bpf_lock_contention *locks)
{
	bpf_lock_contention_start(locks);
}

/* Adds a sum as if it were a sample of the recording that the source reads, with the stack as its call chain. */
static enum tally_status lock_bpf_take(void *context, const struct bpf_lock_sum *sum, struct tally_error *err)
{
	struct lock_job *job = context;
	uint64_t chain[LOCK_MAP_FRAMES + 1] = {CONTEXT_KERNEL};
	size_t event_count, depth = sum->stack ? sum->stack->count : 0;
	const struct perfdata_event *events = perfdata_reader_events(job->source.reader, &event_count);
	if (event_count == 0)
		return error_set(err, TALLY_CORRUPT, "the description of what is watched has no events");
	if (depth > 0)
		memcpy(chain + 1, sum->stack->frames, depth * sizeof(*chain));
	const struct data_sample sample = {
		.event = &events[0],
		.clock = UINT64_MAX - 1, /* Selects the kernel's mappings at the end. */
		.sample = {.ip = sum->kernel_address,
			.pid = sum->key.tid,
			.tid = sum->key.tid,
			.cgroup = sum->key.cgroup,
			.callchain = {(const uint8_t *)chain, (uint32_t)depth + 1}},
	};
	bool is_known = sum->key.tid != LOCK_MAP_UNKNOWN;
	struct lock_sum added = {.address = sum->key.lock,
		.row = {.acquired = sum->sum.count,
			.contended = sum->sum.count,
			.total_ns = sum->sum.total_ns,
			.max_ns = sum->sum.max_ns,
			.min_ns = sum->sum.min_ns,
			.flags = sum->key.flags},
		.comm = is_known ? (struct tally_str){sum->sum.comm, strnlen(sum->sum.comm, sizeof(sum->sum.comm))}
				 : STR("Unknown")};
	return lock_job_add(job, &sample, &added, err);
}

enum tally_status lock_bpf_finish(struct bpf_lock_contention *locks, struct lock_job *job, struct tally_error *err)
{
	struct bpf_lock_losses losses;
	bpf_lock_contention_stop(locks);
	enum tally_status status = bpf_lock_contention_read(locks, lock_bpf_take, job, &losses, err);
	job->waits.unended += losses.unended + losses.of_maps.replaced;
	job->waits.unbegun += losses.of_maps.unbegun;
	job->waits.others.acquired += losses.of_maps.without_sum;
	job->waits.others.total_ns += losses.of_maps.without_sum_ns;
	job->lost = (struct lock_losses){.missed = losses.missed,
		.without_wait = losses.of_maps.without_wait,
		.without_stack = losses.of_maps.without_stack,
		.without_task = losses.of_maps.without_task};
	return status;
}

void lock_bpf_close(struct bpf_lock_contention *locks)
{
	bpf_lock_contention_destroy(locks);
}
