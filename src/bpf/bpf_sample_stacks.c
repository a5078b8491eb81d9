/* SPDX-License-Identifier: Apache-2.0 */
#include "bpf/bpf_sample_stacks.h"

#include "abi/perf_constants.h"
#include "bpf/bpf_load.h"
#include "tally_config.h"

#define BPF_SAMPLE_STACKS_WHAT "--call-graph bpf"

struct perf_attr bpf_sample_stacks_attr(const struct perf_attr *sampled)
{
	/* The sample ID fields at the end of other records must be laid out as in the records of the other events. */
	const uint64_t trailer =
		SAMPLE_TID | SAMPLE_TIME | SAMPLE_ID | SAMPLE_STREAM_ID | SAMPLE_CPU | SAMPLE_IDENTIFIER;
	struct perf_attr attr = {.type = EVENT_SOFTWARE,
		.size = sampled->size,
		.config = SW_BPF_OUTPUT,
		.sample_period_or_freq = 1,
		.sample_type = (sampled->sample_type & trailer) | SAMPLE_RAW,
		.flags = ATTR_FLAG(ATTR_BIT_SAMPLE_ID_ALL) | ATTR_FLAG(ATTR_BIT_DISABLED) |
			 (sampled->flags & (ATTR_FLAG(ATTR_BIT_USE_CLOCKID) | ATTR_FLAG(ATTR_BIT_WATERMARK))),
		.wakeup = sampled->wakeup,
		.clockid = sampled->clockid};
	return attr;
}

#if HAVE_BPF
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/error.h"
#include "base/vec.h"
#include "bpf/sample_stacks.skel.h"

struct bpf_sample_stacks {
	const struct kernel_seam *kernel;
	struct sample_stacks_bpf *skeleton;
	struct walk_tables *tables;
	VEC(int) outputs; /* Descriptors of the events that carry stacks, one for each ring. */
	VEC(uint64_t) ids;
};

enum tally_status bpf_sample_stacks_create(
	const struct walk_tables_config *config, struct bpf_sample_stacks **out, struct tally_error *err)
{
	enum tally_status status = bpf_open(config->kernel, BPF_SAMPLE_STACKS_WHAT, err);
	if (status != TALLY_OK)
		return status;
	struct bpf_sample_stacks *stacks = calloc(1, sizeof(*stacks));
	if (!stacks)
		return error_nomem(err);
	stacks->kernel = config->kernel;
	stacks->skeleton = sample_stacks_bpf__open();
	status = stacks->skeleton ? bpf_load(config->kernel, BPF_SAMPLE_STACKS_WHAT, stacks->skeleton->skeleton, err)
				  : bpf_explain(config->kernel, BPF_SAMPLE_STACKS_WHAT, errno, err);
	if (status == TALLY_OK)
		status = walk_tables_create(stacks->skeleton->obj, config, &stacks->tables, err);
	if (status == TALLY_OK)
		*out = stacks;
	else
		bpf_sample_stacks_destroy(stacks);
	return status;
}

void bpf_sample_stacks_destroy(struct bpf_sample_stacks *stacks)
{
	if (!stacks)
		return;
	walk_tables_destroy(stacks->tables);
	for (size_t i = 0; i < stacks->outputs.len; i++)
		close(stacks->outputs.items[i]);
	vec_free(&stacks->outputs);
	vec_free(&stacks->ids);
	sample_stacks_bpf__destroy(stacks->skeleton);
	free(stacks);
}

static int bpf_sample_stacks_ioctl(
	const struct bpf_sample_stacks *stacks, int fd, unsigned long request, void *argument)
{
	return stacks->kernel->ioctl(stacks->kernel->context, fd, request, argument);
}

enum tally_status bpf_sample_stacks_attach(const struct bpf_sample_stacks *stacks, int fd, struct tally_error *err)
{
	return bpf_attach_event(stacks->kernel, BPF_SAMPLE_STACKS_WHAT,
		bpf_program__fd(stacks->skeleton->progs.sample_first), fd, "; use --call-graph dwarf", err);
}

static enum tally_status bpf_sample_stacks_redirect(
	struct bpf_sample_stacks *stacks, int fd, int cpu, int ring_fd, struct tally_error *err)
{
	uint32_t key = (uint32_t)cpu;
	uint64_t id;
	if (bpf_sample_stacks_ioctl(stacks, fd, PERF_EVENT_IOC_SET_OUTPUT, (void *)(uintptr_t)ring_fd) != 0 ||
		bpf_sample_stacks_ioctl(stacks, fd, PERF_EVENT_IOC_ID, &id) != 0 ||
		bpf_map_update_elem(bpf_map__fd(stacks->skeleton->maps.sample_outputs), &key, &fd, BPF_ANY) != 0 ||
		bpf_sample_stacks_ioctl(stacks, fd, PERF_EVENT_IOC_ENABLE, NULL) != 0)
		return error_set_errno(err, TALLY_IO, errno,
			BPF_SAMPLE_STACKS_WHAT ": stacks cannot be put into the ring of CPU %d", cpu);
	return vec_push(&stacks->ids, id) ? TALLY_OK : error_nomem(err);
}

enum tally_status bpf_sample_stacks_add_ring(
	struct bpf_sample_stacks *stacks, const struct perf_attr *attr, int cpu, int ring_fd, struct tally_error *err)
{
	const struct kernel_seam *kernel = stacks->kernel;
	int fd = kernel->perf_event_open(kernel->context, attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return error_set_errno(err, errno == EPERM || errno == EACCES ? TALLY_DENIED : TALLY_IO, errno,
			BPF_SAMPLE_STACKS_WHAT ": cannot open the event that carries stacks on CPU %d", cpu);
	if (!vec_push(&stacks->outputs, fd)) {
		close(fd);
		return error_nomem(err);
	}
	return bpf_sample_stacks_redirect(stacks, fd, cpu, ring_fd, err);
}

const uint64_t *bpf_sample_stacks_ids(const struct bpf_sample_stacks *stacks, size_t *count)
{
	*count = stacks->ids.len;
	return stacks->ids.items;
}

enum tally_status bpf_sample_stacks_start(
	struct bpf_sample_stacks *stacks, const pid_t *pids, size_t pid_count, struct tally_error *err)
{
	/* Loads the tables of the libraries of this process first, because nearly every program maps the same ones. */
	walk_tables_preload(stacks->tables, getpid(), true);
	for (size_t i = 0; i < pid_count; i++)
		walk_tables_preload(stacks->tables, pids[i], false);
	return walk_tables_start(stacks->tables, err);
}

struct bpf_object *bpf_sample_stacks_object(const struct bpf_sample_stacks *stacks)
{
	return stacks ? stacks->skeleton->obj : NULL;
}

struct python_frames *bpf_sample_stacks_python(const struct bpf_sample_stacks *stacks)
{
	return walk_tables_python(stacks->tables);
}

struct bpf_sample_stacks_totals bpf_sample_stacks_totals(const struct bpf_sample_stacks *stacks)
{
	return (struct bpf_sample_stacks_totals){.tables = walk_tables_totals(stacks->tables),
		.lost = __atomic_load_n(&stacks->skeleton->bss->lost, __ATOMIC_RELAXED)};
}
#else
/* In a build without BPF, bpf_open always fails, so the functions below never receive an object. */
enum tally_status bpf_sample_stacks_create(
	const struct walk_tables_config *config, struct bpf_sample_stacks **out, struct tally_error *err)
{
	return bpf_open(config->kernel, BPF_SAMPLE_STACKS_WHAT, err);
}

void bpf_sample_stacks_destroy(struct bpf_sample_stacks *stacks)
{
}

enum tally_status bpf_sample_stacks_attach(const struct bpf_sample_stacks *stacks, int fd, struct tally_error *err)
{
	return TALLY_UNSUPPORTED;
}

enum tally_status bpf_sample_stacks_add_ring(
	struct bpf_sample_stacks *stacks, const struct perf_attr *attr, int cpu, int ring_fd, struct tally_error *err)
{
	return TALLY_UNSUPPORTED;
}

const uint64_t *bpf_sample_stacks_ids(const struct bpf_sample_stacks *stacks, size_t *count)
{
	*count = 0;
	return NULL;
}

enum tally_status bpf_sample_stacks_start(
	struct bpf_sample_stacks *stacks, const pid_t *pids, size_t pid_count, struct tally_error *err)
{
	return TALLY_UNSUPPORTED;
}

struct bpf_object *bpf_sample_stacks_object(const struct bpf_sample_stacks *stacks)
{
	return NULL;
}

struct python_frames *bpf_sample_stacks_python(const struct bpf_sample_stacks *stacks)
{
	return NULL;
}

struct bpf_sample_stacks_totals bpf_sample_stacks_totals(const struct bpf_sample_stacks *stacks)
{
	return (struct bpf_sample_stacks_totals){.lost = 0};
}
#endif
