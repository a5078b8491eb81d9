/* SPDX-License-Identifier: Apache-2.0 */
#include "bpf/bpf_lock_contention.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "bpf/bpf_load.h"
#include "tally_config.h"

#define BPF_LOCK_CONTENTION_WHAT "lock contention -b"

#if HAVE_BPF
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bpf/lock_contention.skel.h"

struct bpf_lock_contention {
	const struct kernel_seam *kernel;
	struct lock_contention_bpf *skeleton;
};

static enum tally_status bpf_lock_contention_call(
	const struct bpf_lock_contention *locks, int result, const char *map, struct tally_error *err)
{
	if (result == 0)
		return TALLY_OK;
	if (result == -E2BIG)
		return error_set(err, TALLY_LIMIT, "%s: its map of %s has no room for more: raise --map-nr-entries",
			BPF_LOCK_CONTENTION_WHAT, map);
	return error_set_errno(err, TALLY_IO, -result, "%s: its map of %s", BPF_LOCK_CONTENTION_WHAT, map);
}

static void bpf_lock_contention_configure(struct lock_contention_bpf *skeleton, const struct bpf_lock_config *config)
{
	uint32_t entries = (uint32_t)MIN(config->entries, (size_t)1 << 24);
	skeleton->rodata->wanted.with_stack = config->with_stack;
	skeleton->rodata->wanted.with_lock = config->with_lock;
	skeleton->rodata->wanted.with_thread = config->with_thread;
	skeleton->rodata->wanted.with_owner = config->with_owner;
	skeleton->rodata->wanted.with_cgroup = config->with_cgroup;
	skeleton->rodata->wanted.has_cpus = config->cpus != NULL;
	skeleton->rodata->wanted.has_processes = config->of_processes;
	skeleton->rodata->wanted.has_threads = config->of_threads;
	skeleton->rodata->wanted.frames = MIN(config->frames, LOCK_MAP_FRAMES);
	bpf_map__set_max_entries(skeleton->maps.waits, entries);
	bpf_map__set_max_entries(skeleton->maps.sums, entries);
	/* If stacks are not part of the key, only one is read, to find an address of the kernel's code. */
	bpf_map__set_max_entries(skeleton->maps.stacks, config->with_stack ? entries : 64);
	bpf_map__set_max_entries(skeleton->maps.tasks, config->of_processes || config->of_threads ? entries : 1);
	bpf_program__set_autoload(skeleton->progs.task_forks, config->follows_children);
	bpf_program__set_autoload(skeleton->progs.task_exits, config->follows_children);
}

static enum tally_status bpf_lock_contention_set_cpus(
	const struct bpf_lock_contention *locks, const bool *cpus, struct tally_error *err)
{
	int fd = bpf_map__fd(locks->skeleton->maps.cpus);
	enum tally_status status = TALLY_OK;
	for (uint32_t cpu = 0; status == TALLY_OK && cpu < LOCK_MAP_CPUS; cpu++) {
		const uint8_t yes = 1;
		if (cpus[cpu])
			status = bpf_lock_contention_call(
				locks, bpf_map_update_elem(fd, &cpu, &yes, BPF_ANY), "CPUs", err);
	}
	return status;
}

enum tally_status bpf_lock_contention_create(const struct kernel_seam *kernel, const struct bpf_lock_config *config,
	struct bpf_lock_contention **locks, struct tally_error *err)
{
	bool has_numbers = config->of_processes || config->of_threads || config->with_thread || config->with_owner;
	enum tally_status status = bpf_open(kernel, BPF_LOCK_CONTENTION_WHAT, err);
	if (status == TALLY_OK && has_numbers)
		status = bpf_check_namespace(kernel, BPF_LOCK_CONTENTION_WHAT " of threads", err);
	if (status != TALLY_OK)
		return status;
	struct bpf_lock_contention *made = calloc(1, sizeof(*made));
	if (!made)
		return error_nomem(err);
	made->kernel = kernel;
	made->skeleton = lock_contention_bpf__open();
	if (!made->skeleton) {
		status = bpf_explain(kernel, BPF_LOCK_CONTENTION_WHAT, errno, err);
	} else {
		bpf_lock_contention_configure(made->skeleton, config);
		status = bpf_load(kernel, BPF_LOCK_CONTENTION_WHAT, made->skeleton->skeleton, err);
	}
	if (status == TALLY_OK && config->cpus)
		status = bpf_lock_contention_set_cpus(made, config->cpus, err);
	if (status == TALLY_OK)
		status = bpf_attach(kernel, BPF_LOCK_CONTENTION_WHAT, made->skeleton->skeleton, err);
	if (status == TALLY_OK)
		*locks = made;
	else
		bpf_lock_contention_destroy(made);
	return status;
}

enum tally_status bpf_lock_contention_watch(struct bpf_lock_contention *locks, uint32_t id, struct tally_error *err)
{
	const uint8_t yes = 1;
	int fd = bpf_map__fd(locks->skeleton->maps.tasks);
	return bpf_lock_contention_call(locks, bpf_map_update_elem(fd, &id, &yes, BPF_ANY), "threads", err);
}

void bpf_lock_contention_start(struct bpf_lock_contention *locks)
{
	__atomic_store_n(&locks->skeleton->bss->is_on, true, __ATOMIC_RELEASE);
}

void bpf_lock_contention_stop(struct bpf_lock_contention *locks)
{
	__atomic_store_n(&locks->skeleton->bss->is_on, false, __ATOMIC_RELEASE);
	lock_contention_bpf__detach(locks->skeleton);
}

/* Returns how often the kernel skipped the program because another one ran on the CPU; Linux counts this since 5.12. */
static uint64_t bpf_lock_contention_missed(const struct bpf_program *program)
{
	struct bpf_prog_info info = {0};
	uint32_t size = sizeof(info);
	return bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size) == 0 ? info.recursion_misses : 0;
}

static uint64_t bpf_lock_contention_count(const struct bpf_map *map)
{
	uint64_t count = 0;
	uint8_t key[64], next[64];
	int fd = bpf_map__fd(map);
	void *at = NULL;
	while (bpf_map_get_next_key(fd, at, next) == 0) {
		count++;
		memcpy(key, next, sizeof(key));
		at = key;
	}
	return count;
}

enum tally_status bpf_lock_contention_read(const struct bpf_lock_contention *locks,
	enum tally_status (*take)(void *context, const struct bpf_lock_sum *sum, struct tally_error *err),
	void *context, struct bpf_lock_losses *losses, struct tally_error *err)
{
	const struct lock_contention_bpf *skeleton = locks->skeleton;
	int sums = bpf_map__fd(skeleton->maps.sums), stacks = bpf_map__fd(skeleton->maps.stacks);
	struct bpf_lock_sum sum = {.kernel_address = skeleton->bss->kernel_address};
	struct lock_map_stack stack;
	struct lock_map_key key, *at = NULL;
	enum tally_status status = TALLY_OK;
	*losses = (struct bpf_lock_losses){.of_maps = skeleton->bss->losses,
		.unended = bpf_lock_contention_count(skeleton->maps.waits),
		.missed = bpf_lock_contention_missed(skeleton->progs.wait_begins) +
			  bpf_lock_contention_missed(skeleton->progs.wait_ends)};
	while (status == TALLY_OK && bpf_map_get_next_key(sums, at, &sum.key) == 0) {
		key = sum.key;
		at = &key;
		if (bpf_map_lookup_elem(sums, &key, &sum.sum) != 0)
			continue;
		uint64_t id = key.stack;
		bool has_stack = id && bpf_map_lookup_elem(stacks, &id, &stack) == 0;
		stack.count = has_stack ? MIN(stack.count, (uint32_t)LOCK_MAP_FRAMES) : 0;
		sum.stack = has_stack ? &stack : NULL;
		status = take(context, &sum, err);
	}
	return status;
}

void bpf_lock_contention_destroy(struct bpf_lock_contention *locks)
{
	if (!locks)
		return;
	lock_contention_bpf__destroy(locks->skeleton);
	free(locks);
}
#else
/* In a build without BPF, bpf_open always fails, so the functions below never receive an object. */
enum tally_status bpf_lock_contention_create(const struct kernel_seam *kernel, const struct bpf_lock_config *config,
	struct bpf_lock_contention **locks, struct tally_error *err)
{
	return bpf_open(kernel, BPF_LOCK_CONTENTION_WHAT, err);
}

enum tally_status bpf_lock_contention_watch(struct bpf_lock_contention *locks, uint32_t id, struct tally_error *err)
{
	return bpf_refusal_expected(NULL, BPF_LOCK_CONTENTION_WHAT, err);
}

void bpf_lock_contention_start(struct bpf_lock_contention *locks)
{
}

void bpf_lock_contention_stop(struct bpf_lock_contention *locks)
{
}

enum tally_status bpf_lock_contention_read(const struct bpf_lock_contention *locks,
	enum tally_status (*take)(void *context, const struct bpf_lock_sum *sum, struct tally_error *err),
	void *context, struct bpf_lock_losses *losses, struct tally_error *err)
{
	*losses = (struct bpf_lock_losses){0};
	return TALLY_OK;
}

void bpf_lock_contention_destroy(struct bpf_lock_contention *locks)
{
}
#endif
