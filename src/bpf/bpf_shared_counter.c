/* SPDX-License-Identifier: Apache-2.0 */
#include "bpf/bpf_shared_counter.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "bpf/bpf_load.h"
#include "kernel/events/breakpoint_probe.h"
#include "tally_config.h"

#define BPF_SHARED_COUNTER_WHAT "stat --bpf-counters"

#if HAVE_BPF
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bpf/shared_counter.skel.h"

#define SHARED_ENTRIES 256 /* Maximum number of events that are counted at a time. */

struct bpf_shared_counter {
	const struct kernel_seam *kernel;
	const struct event_spec *spec;
	struct shared_counter_key key;
	int pinned, links[SHARED_LINKS], program, readings, tasks, cpus, active, owners, losses;
	int cpu_count; /* Number of possible CPUs. */
	uint32_t slot;
	bool has_slot, is_counting;
};

static enum tally_status bpf_shared_counter_fail(int result, const char *step, struct tally_error *err)
{
	int errnum = result < 0 && result > -4096 && result != -1 ? -result : errno;
	return error_set_errno(err, errnum == EPERM || errnum == EACCES ? TALLY_DENIED : TALLY_IO, errnum,
		BPF_SHARED_COUNTER_WHAT ": %s", step);
}

static void bpf_shared_counter_close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void bpf_shared_counter_let_go(struct bpf_shared_counter *c)
{
	int *const all[] = {&c->program, &c->readings, &c->tasks, &c->cpus, &c->active, &c->owners, &c->losses};
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		bpf_shared_counter_close_fd(all[i]);
	for (size_t i = 0; i < SHARED_LINKS; i++)
		bpf_shared_counter_close_fd(&c->links[i]);
}

/* ---- the pinned map ---- */

static enum tally_status bpf_shared_counter_open_pinned(
	struct bpf_shared_counter *c, const char *path, struct tally_error *err)
{
	struct bpf_map_info info = {0};
	uint32_t size = sizeof(info);
	c->pinned = bpf_obj_get(path);
	if (c->pinned < 0) {
		int made = bpf_map_create(BPF_MAP_TYPE_HASH, "tally_counters", sizeof(struct shared_counter_key),
			sizeof(struct shared_counter_entry), SHARED_ENTRIES, NULL);
		if (made < 0)
			return bpf_shared_counter_fail(made, "a map cannot be made", err);
		int failed = bpf_obj_pin(made, path);
		int errnum = errno;
		/* Another session may have pinned a map in the meantime. */
		c->pinned = failed ? bpf_obj_get(path) : made;
		if (failed)
			close(made);
		if (c->pinned < 0)
			return error_set_errno(err, TALLY_IO, errnum,
				BPF_SHARED_COUNTER_WHAT
				": its map cannot be pinned as '%s': mount a BPF file system there (mount -t bpf bpf "
				"/sys/fs/bpf), or name another place with --bpf-attr-map",
				path);
	}
	if (bpf_obj_get_info_by_fd(c->pinned, &info, &size) != 0 || info.type != BPF_MAP_TYPE_HASH ||
		info.key_size != sizeof(struct shared_counter_key) ||
		info.value_size != sizeof(struct shared_counter_entry))
		return error_set(err, TALLY_INVALID,
			BPF_SHARED_COUNTER_WHAT
			": '%s' is not a map of tally's: name another place with --bpf-attr-map",
			path);
	return TALLY_OK;
}

/* ---- the counting programs ---- */

/* The kernel reuses IDs, so check that the stored ones still refer to tally's programs and maps. */
static bool bpf_shared_counter_join(struct bpf_shared_counter *c, const struct shared_counter_entry *entry)
{
	struct bpf_link_info link = {0};
	struct bpf_prog_info program = {0};
	uint32_t link_size = sizeof(link), program_size = sizeof(program);
	bool is_whole = true;
	for (size_t i = 0; i < SHARED_LINKS; i++) {
		c->links[i] = bpf_link_get_fd_by_id(entry->links[i]);
		is_whole &= c->links[i] >= 0;
	}
	c->program = bpf_prog_get_fd_by_id(entry->program);
	c->readings = bpf_map_get_fd_by_id(entry->readings);
	c->tasks = bpf_map_get_fd_by_id(entry->tasks);
	c->cpus = bpf_map_get_fd_by_id(entry->cpus);
	c->active = bpf_map_get_fd_by_id(entry->active);
	c->owners = bpf_map_get_fd_by_id(entry->owners);
	c->losses = bpf_map_get_fd_by_id(entry->losses);
	is_whole &= c->program >= 0 && c->readings >= 0 && c->tasks >= 0 && c->cpus >= 0 && c->active >= 0 &&
		    c->owners >= 0 && c->losses >= 0;
	is_whole = is_whole && bpf_obj_get_info_by_fd(c->links[SHARED_LINK_SWITCH], &link, &link_size) == 0 &&
		   link.prog_id == entry->program && bpf_obj_get_info_by_fd(c->program, &program, &program_size) == 0 &&
		   strcmp(program.name, "on_switch") == 0;
	if (!is_whole)
		bpf_shared_counter_let_go(c);
	return is_whole;
}

static enum tally_status bpf_shared_counter_open_events(
	const struct bpf_shared_counter *c, int map, struct tally_error *err)
{
	struct perf_attr attr = c->spec->attr;
	size_t opened = 0;
	attr.sample_period_or_freq = 0;
	attr.flags &= ~(ATTR_FLAG(ATTR_BIT_FREQ) | ATTR_FLAG(ATTR_BIT_INHERIT) | ATTR_FLAG(ATTR_BIT_DISABLED) |
			ATTR_FLAG(ATTR_BIT_ENABLE_ON_EXEC));
	attr.read_format = 0;
	for (int cpu = 0; cpu < c->cpu_count; cpu++) {
		int fd = event_open(c->kernel, &attr, -1, cpu, -1, 0);
		if (fd < 0 && (errno == ENODEV || errno == EINVAL) && cpu > 0)
			continue; /* The CPU is offline. */
		if (fd < 0)
			return bpf_shared_counter_fail(-1, c->spec->name, err);
		int failed = bpf_map_update_elem(map, &cpu, &fd, BPF_ANY);
		c->kernel->close(c->kernel->context, fd);
		if (failed)
			return bpf_shared_counter_fail(failed, "the kernel shares no counter of this event", err);
		opened++;
	}
	return opened > 0
		       ? TALLY_OK
		       : error_set(err, TALLY_NOT_FOUND, BPF_SHARED_COUNTER_WHAT ": no CPU counts %s", c->spec->name);
}

static uint32_t bpf_shared_counter_map_id(int fd)
{
	struct bpf_map_info info = {0};
	uint32_t size = sizeof(info);
	return bpf_obj_get_info_by_fd(fd, &info, &size) == 0 ? info.id : 0;
}

/* Duplicates the descriptors, because the caller destroys the skeleton, which closes its own. */
static void bpf_shared_counter_take(struct bpf_shared_counter *c, const struct shared_counter_bpf *s)
{
	const struct bpf_link *links[SHARED_LINKS] = {s->links.on_switch, s->links.shared_forks, s->links.shared_exits};
	for (size_t i = 0; i < SHARED_LINKS; i++)
		c->links[i] = dup(bpf_link__fd(links[i]));
	c->program = dup(bpf_program__fd(s->progs.on_switch));
	c->readings = dup(bpf_map__fd(s->maps.readings));
	c->tasks = dup(bpf_map__fd(s->maps.tasks));
	c->cpus = dup(bpf_map__fd(s->maps.cpus));
	c->active = dup(bpf_map__fd(s->maps.active));
	c->owners = dup(bpf_map__fd(s->maps.owners));
	c->losses = dup(bpf_map__fd(s->maps.losses));
}

static enum tally_status bpf_shared_counter_publish(const struct bpf_shared_counter *c, struct tally_error *err)
{
	struct shared_counter_entry entry = {.readings = bpf_shared_counter_map_id(c->readings),
		.tasks = bpf_shared_counter_map_id(c->tasks),
		.cpus = bpf_shared_counter_map_id(c->cpus),
		.active = bpf_shared_counter_map_id(c->active),
		.owners = bpf_shared_counter_map_id(c->owners),
		.losses = bpf_shared_counter_map_id(c->losses)};
	for (size_t i = 0; i < SHARED_LINKS; i++) {
		struct bpf_link_info info = {0};
		uint32_t size = sizeof(info);
		if (bpf_obj_get_info_by_fd(c->links[i], &info, &size) != 0)
			return bpf_shared_counter_fail(-1, "a link has no number", err);
		entry.links[i] = info.id;
		if (i == SHARED_LINK_SWITCH)
			entry.program = info.prog_id;
	}
	int failed = bpf_map_update_elem(c->pinned, &c->key, &entry, BPF_ANY);
	return failed ? bpf_shared_counter_fail(failed, "its pinned map is full", err) : TALLY_OK;
}

static enum tally_status bpf_shared_counter_lead(struct bpf_shared_counter *c, struct tally_error *err)
{
	struct shared_counter_bpf *s = shared_counter_bpf__open_and_load();
	if (!s)
		return bpf_explain(c->kernel, BPF_SHARED_COUNTER_WHAT, errno, err);
	enum tally_status status = bpf_shared_counter_open_events(c, bpf_map__fd(s->maps.events), err);
	if (status == TALLY_OK)
		status = bpf_attach(c->kernel, BPF_SHARED_COUNTER_WHAT, s->skeleton, err);
	if (status == TALLY_OK) {
		bpf_shared_counter_take(c, s);
		status = bpf_shared_counter_publish(c, err);
	}
	shared_counter_bpf__destroy(s);
	return status;
}

/* ---- slots ---- */

/* Removes the slot's bit from all masks, and zeroes its sums. */
static void bpf_shared_counter_clear_slot(const struct bpf_shared_counter *c, uint32_t slot)
{
	uint64_t bit = UINT64_C(1) << slot, mask;
	uint32_t key, next, *at = NULL;
	while (bpf_map_get_next_key(c->tasks, at, &next) == 0) {
		key = next;
		at = &key;
		if (bpf_map_lookup_elem(c->tasks, &key, &mask) == 0 && (mask & bit)) {
			mask &= ~bit;
			(void)bpf_map_update_elem(c->tasks, &key, &mask, BPF_EXIST);
		}
	}
	key = 0;
	if (bpf_map_lookup_elem(c->active, &key, &mask) == 0) {
		mask &= ~bit;
		(void)bpf_map_update_elem(c->active, &key, &mask, BPF_EXIST);
	}
	for (uint32_t cpu = 0; cpu < (uint32_t)c->cpu_count; cpu++)
		if (bpf_map_lookup_elem(c->cpus, &cpu, &mask) == 0 && (mask & bit)) {
			mask &= ~bit;
			(void)bpf_map_update_elem(c->cpus, &cpu, &mask, BPF_EXIST);
		}
	struct shared_counter_reading *none = calloc((size_t)c->cpu_count, sizeof(*none));
	if (none)
		(void)bpf_map_update_elem(c->readings, &slot, none, BPF_ANY);
	free(none);
}

static enum tally_status bpf_shared_counter_take_slot(struct bpf_shared_counter *c, struct tally_error *err)
{
	uint32_t own = (uint32_t)getpid();
	for (uint32_t slot = 0; slot < SHARED_COUNTER_SLOTS; slot++) {
		uint32_t owner = 0;
		if (bpf_map_lookup_elem(c->owners, &slot, &owner) != 0)
			continue;
		bool is_left = owner && owner != own && kill((pid_t)owner, 0) != 0 && errno == ESRCH;
		if (owner && !is_left)
			continue;
		bpf_shared_counter_clear_slot(c, slot);
		int failed = bpf_map_update_elem(c->owners, &slot, &own, BPF_ANY);
		if (failed)
			return bpf_shared_counter_fail(failed, "no slot", err);
		c->slot = slot;
		c->has_slot = true;
		return TALLY_OK;
	}
	return error_set(err, TALLY_LIMIT, BPF_SHARED_COUNTER_WHAT ": %d sessions count %s already",
		SHARED_COUNTER_SLOTS, c->spec->name);
}

static enum tally_status bpf_shared_counter_find(struct bpf_shared_counter *c, struct tally_error *err)
{
	struct shared_counter_entry entry;
	if (flock(c->pinned, LOCK_EX) != 0)
		return bpf_shared_counter_fail(-1, "its pinned map cannot be locked", err);
	enum tally_status status = TALLY_OK;
	if (bpf_map_lookup_elem(c->pinned, &c->key, &entry) != 0 || !bpf_shared_counter_join(c, &entry))
		status = bpf_shared_counter_lead(c, err);
	if (status == TALLY_OK)
		status = bpf_shared_counter_take_slot(c, err);
	(void)flock(c->pinned, LOCK_UN);
	return status;
}

enum tally_status bpf_shared_counter_open(const struct kernel_seam *kernel, const char *path,
	const struct event_spec *spec, struct bpf_shared_counter **counter, struct tally_error *err)
{
	enum tally_status status = bpf_open(kernel, BPF_SHARED_COUNTER_WHAT, err);
	if (status != TALLY_OK)
		return status;
	struct bpf_shared_counter *c = calloc(1, sizeof(*c));
	if (!c)
		return error_nomem(err);
	c->kernel = kernel;
	c->spec = spec;
	c->key = (struct shared_counter_key){
		spec->attr.type, spec->attr.config, spec->attr.config1, spec->attr.config2, spec->attr.flags};
	c->pinned = c->program = c->readings = c->tasks = c->cpus = c->active = c->owners = c->losses = -1;
	for (size_t i = 0; i < SHARED_LINKS; i++)
		c->links[i] = -1;
	c->cpu_count = libbpf_num_possible_cpus();
	if (c->cpu_count <= 0 || c->cpu_count > SHARED_COUNTER_CPUS)
		status = error_set(err, TALLY_LIMIT, BPF_SHARED_COUNTER_WHAT ": %d CPUs, where it knows %d at most",
			c->cpu_count, SHARED_COUNTER_CPUS);
	if (status == TALLY_OK)
		status = bpf_shared_counter_open_pinned(c, path, err);
	if (status == TALLY_OK)
		status = bpf_shared_counter_find(c, err);
	if (status == TALLY_OK)
		*counter = c;
	else
		bpf_shared_counter_close(c);
	return status;
}

/* ---- counting ---- */

/* Other sessions change other bits of the mask, so the map is locked. */
static enum tally_status bpf_shared_counter_set_bit(
	const struct bpf_shared_counter *c, int map, uint32_t key, bool is_on, struct tally_error *err)
{
	uint64_t mask = 0, bit = UINT64_C(1) << c->slot;
	if (flock(c->pinned, LOCK_EX) != 0)
		return bpf_shared_counter_fail(-1, "its pinned map cannot be locked", err);
	(void)bpf_map_lookup_elem(map, &key, &mask);
	mask = is_on ? mask | bit : mask & ~bit;
	int failed = bpf_map_update_elem(map, &key, &mask, BPF_ANY);
	(void)flock(c->pinned, LOCK_UN);
	return failed ? bpf_shared_counter_fail(failed, "it has no room for what is to be counted", err) : TALLY_OK;
}

enum tally_status bpf_shared_counter_watch_task(struct bpf_shared_counter *c, uint32_t tid, struct tally_error *err)
{
	enum tally_status status = bpf_check_namespace(c->kernel, BPF_SHARED_COUNTER_WHAT " of threads", err);
	return status == TALLY_OK ? bpf_shared_counter_set_bit(c, c->tasks, tid, true, err) : status;
}

enum tally_status bpf_shared_counter_watch_cpu(struct bpf_shared_counter *c, uint32_t cpu, struct tally_error *err)
{
	return bpf_shared_counter_set_bit(c, c->cpus, cpu, true, err);
}

/* Adds the counts since the last switch on each CPU to the thread that runs there now. */
static void bpf_shared_counter_flush(const struct bpf_shared_counter *c)
{
	for (int cpu = 0; cpu < c->cpu_count; cpu++) {
		LIBBPF_OPTS(bpf_test_run_opts, options, .flags = BPF_F_TEST_RUN_ON_CPU, .cpu = (uint32_t)cpu);
		(void)bpf_prog_test_run_opts(c->program, &options); /* A run fails if the CPU is offline. */
	}
}

enum tally_status bpf_shared_counter_begin(struct bpf_shared_counter *c, struct tally_error *err)
{
	if (c->is_counting)
		return TALLY_OK;
	bpf_shared_counter_flush(c);
	enum tally_status status = bpf_shared_counter_set_bit(c, c->active, 0, true, err);
	c->is_counting = status == TALLY_OK;
	return status;
}

enum tally_status bpf_shared_counter_end(struct bpf_shared_counter *c, struct tally_error *err)
{
	if (!c->is_counting)
		return TALLY_OK;
	bpf_shared_counter_flush(c);
	c->is_counting = false;
	return bpf_shared_counter_set_bit(c, c->active, 0, false, err);
}

enum tally_status bpf_shared_counter_read(struct bpf_shared_counter *c, struct shared_counter_reading *readings,
	struct shared_counter_losses *losses, struct tally_error *err)
{
	const uint32_t zero = 0;
	if (c->is_counting)
		bpf_shared_counter_flush(c);
	int failed = bpf_map_lookup_elem(c->readings, &c->slot, readings);
	if (failed == 0)
		failed = bpf_map_lookup_elem(c->losses, &zero, losses);
	return failed ? bpf_shared_counter_fail(failed, "its counts cannot be read", err) : TALLY_OK;
}

void bpf_shared_counter_close(struct bpf_shared_counter *c)
{
	const uint32_t nobody = 0;
	if (!c)
		return;
	if (c->has_slot && flock(c->pinned, LOCK_EX) == 0) {
		bpf_shared_counter_clear_slot(c, c->slot);
		(void)bpf_map_update_elem(c->owners, &c->slot, &nobody, BPF_ANY);
		(void)flock(c->pinned, LOCK_UN);
	}
	bpf_shared_counter_let_go(c);
	bpf_shared_counter_close_fd(&c->pinned);
	free(c);
}
#else
/* In a build without BPF, bpf_open always fails, so the functions below never receive a counter. */
enum tally_status bpf_shared_counter_open(const struct kernel_seam *kernel, const char *path,
	const struct event_spec *spec, struct bpf_shared_counter **counter, struct tally_error *err)
{
	return bpf_open(kernel, BPF_SHARED_COUNTER_WHAT, err);
}

enum tally_status bpf_shared_counter_watch_task(struct bpf_shared_counter *c, uint32_t tid, struct tally_error *err)
{
	return error_set(err, TALLY_UNSUPPORTED, "this build has no BPF programs");
}

enum tally_status bpf_shared_counter_watch_cpu(struct bpf_shared_counter *c, uint32_t cpu, struct tally_error *err)
{
	return error_set(err, TALLY_UNSUPPORTED, "this build has no BPF programs");
}

enum tally_status bpf_shared_counter_begin(struct bpf_shared_counter *c, struct tally_error *err)
{
	return error_set(err, TALLY_UNSUPPORTED, "this build has no BPF programs");
}

enum tally_status bpf_shared_counter_end(struct bpf_shared_counter *c, struct tally_error *err)
{
	return TALLY_OK;
}

enum tally_status bpf_shared_counter_read(struct bpf_shared_counter *c, struct shared_counter_reading *readings,
	struct shared_counter_losses *losses, struct tally_error *err)
{
	return error_set(err, TALLY_UNSUPPORTED, "this build has no BPF programs");
}

void bpf_shared_counter_close(struct bpf_shared_counter *c)
{
}
#endif
