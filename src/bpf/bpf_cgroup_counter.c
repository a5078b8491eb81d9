/* SPDX-License-Identifier: Apache-2.0 */
#include "bpf/bpf_cgroup_counter.h"

#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "bpf/bpf_load.h"
#include "tally_config.h"

#define BPF_CGROUP_COUNTER_WHAT "stat --bpf-counters with cgroups"

#if HAVE_BPF
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bpf/cgroup_counter.skel.h"

struct bpf_cgroup_counter {
	const struct kernel_seam *kernel;
	struct cgroup_counter_bpf *skeleton;
	size_t event_count, cell_count; /* cell_count is the number of cgroups times event_count. */
	int possible_cpus;
	int *cpus;
	size_t cpu_count;
	struct cgroup_counter_reading *readings; /* Indexed by cell and CPU. */
};

static enum tally_status bpf_cgroup_counter_fail(int failed, const char *step, struct tally_error *err)
{
	int errnum = failed < -1 ? -failed : errno;
	return error_set_errno(err, errnum == EPERM || errnum == EACCES ? TALLY_DENIED : TALLY_IO, errnum,
		BPF_CGROUP_COUNTER_WHAT ": %s", step);
}

/* ---- opening ---- */

static enum tally_status bpf_cgroup_counter_check(
	const struct bpf_cgroup_request *request, int possible_cpus, struct tally_error *err)
{
	size_t cells, all;
	if (request->event_count > CGROUP_COUNTER_EVENTS)
		return error_set(err, TALLY_LIMIT,
			BPF_CGROUP_COUNTER_WHAT ": %zu events, where it counts %d at most for each cgroup",
			request->event_count, CGROUP_COUNTER_EVENTS);
	if (possible_cpus <= 0)
		return error_set(err, TALLY_IO, BPF_CGROUP_COUNTER_WHAT ": the number of CPUs is not known");
	if (__builtin_mul_overflow(request->event_count, request->cgroup_count, &cells) ||
		__builtin_mul_overflow(cells, (size_t)possible_cpus, &all) || all > INT32_MAX)
		return error_set(
			err, TALLY_LIMIT, BPF_CGROUP_COUNTER_WHAT ": %zu cgroups are too many", request->cgroup_count);
	return TALLY_OK;
}

static enum tally_status bpf_cgroup_counter_load(
	struct bpf_cgroup_counter *c, const struct bpf_cgroup_request *request, struct tally_error *err)
{
	struct cgroup_counter_bpf *s = cgroup_counter_bpf__open();
	if (!s)
		return bpf_explain(c->kernel, BPF_CGROUP_COUNTER_WHAT, errno, err);
	c->skeleton = s;
	s->rodata->event_count = (uint32_t)request->event_count;
	s->rodata->possible_cpus = (uint32_t)c->possible_cpus;
	bpf_program__set_autoattach(s->progs.cgroup_flush, false);
	int failed =
		bpf_map__set_max_entries(s->maps.events, (uint32_t)request->event_count * (uint32_t)c->possible_cpus);
	if (!failed)
		failed = bpf_map__set_max_entries(s->maps.cgroups, (uint32_t)request->cgroup_count);
	if (!failed)
		failed = bpf_map__set_max_entries(s->maps.readings, (uint32_t)c->cell_count);
	return failed ? bpf_cgroup_counter_fail(failed, "the sizes of its maps", err)
		      : bpf_load(c->kernel, BPF_CGROUP_COUNTER_WHAT, s->skeleton, err);
}

static enum tally_status bpf_cgroup_counter_put_cgroups(
	const struct bpf_cgroup_counter *c, const struct bpf_cgroup_request *request, struct tally_error *err)
{
	for (size_t i = 0; i < request->cgroup_count; i++) {
		uint32_t first = (uint32_t)(i * request->event_count);
		int failed = bpf_map_update_elem(
			bpf_map__fd(c->skeleton->maps.cgroups), &request->cgroups[i], &first, BPF_ANY);
		if (failed)
			return bpf_cgroup_counter_fail(failed, "a cgroup cannot be stored", err);
	}
	return TALLY_OK;
}

static enum tally_status bpf_cgroup_counter_make(
	struct bpf_cgroup_counter *c, const struct bpf_cgroup_request *request, struct tally_error *err)
{
	enum tally_status status = bpf_cgroup_counter_check(request, c->possible_cpus, err);
	if (status != TALLY_OK)
		return status;
	c->event_count = request->event_count;
	c->cell_count = request->event_count * request->cgroup_count;
	c->readings = calloc(c->cell_count * (size_t)c->possible_cpus + 1, sizeof(*c->readings));
	c->cpus = malloc(request->cpu_count * sizeof(*c->cpus) + 1);
	if (!c->readings || !c->cpus)
		return error_nomem(err);
	memcpy(c->cpus, request->cpus, request->cpu_count * sizeof(*c->cpus));
	c->cpu_count = request->cpu_count;
	status = bpf_cgroup_counter_load(c, request, err);
	if (status == TALLY_OK)
		status = bpf_cgroup_counter_put_cgroups(c, request, err);
	if (status == TALLY_OK)
		status = bpf_event_array_fill(c->kernel, BPF_CGROUP_COUNTER_WHAT,
			&(struct bpf_event_array){bpf_map__fd(c->skeleton->maps.events), c->possible_cpus,
				request->events, request->event_count},
			err);
	return status == TALLY_OK ? bpf_attach(c->kernel, BPF_CGROUP_COUNTER_WHAT, c->skeleton->skeleton, err) : status;
}

enum tally_status bpf_cgroup_counter_open(const struct kernel_seam *kernel, const struct bpf_cgroup_request *request,
	struct bpf_cgroup_counter **counter, struct tally_error *err)
{
	enum tally_status status = bpf_open(kernel, BPF_CGROUP_COUNTER_WHAT, err);
	if (status != TALLY_OK)
		return status;
	struct bpf_cgroup_counter *c = calloc(1, sizeof(*c));
	if (!c)
		return error_nomem(err);
	c->kernel = kernel;
	c->possible_cpus = libbpf_num_possible_cpus();
	status = bpf_cgroup_counter_make(c, request, err);
	if (status == TALLY_OK)
		*counter = c;
	else
		bpf_cgroup_counter_close(c);
	return status;
}

/* ---- counting ---- */

static enum tally_status bpf_cgroup_counter_flush(const struct bpf_cgroup_counter *c, struct tally_error *err)
{
	for (size_t i = 0; i < c->cpu_count; i++) {
		LIBBPF_OPTS(bpf_test_run_opts, options, .flags = BPF_F_TEST_RUN_ON_CPU, .cpu = (uint32_t)c->cpus[i]);
		int failed = bpf_prog_test_run_opts(bpf_program__fd(c->skeleton->progs.cgroup_flush), &options);
		if (failed && failed != -ENXIO) /* A CPU that has gone offline counts nothing any more. */
			return bpf_cgroup_counter_fail(failed, "a CPU's counts cannot be added up", err);
	}
	return TALLY_OK;
}

enum tally_status bpf_cgroup_counter_begin(struct bpf_cgroup_counter *c, struct tally_error *err)
{
	enum tally_status status = c->skeleton->bss->is_counting ? TALLY_OK : bpf_cgroup_counter_flush(c, err);
	__atomic_store_n(&c->skeleton->bss->is_counting, true, __ATOMIC_RELEASE);
	return status;
}

enum tally_status bpf_cgroup_counter_end(struct bpf_cgroup_counter *c, struct tally_error *err)
{
	enum tally_status status = c->skeleton->bss->is_counting ? bpf_cgroup_counter_flush(c, err) : TALLY_OK;
	__atomic_store_n(&c->skeleton->bss->is_counting, false, __ATOMIC_RELEASE);
	return status;
}

enum tally_status bpf_cgroup_counter_read(struct bpf_cgroup_counter *c, struct tally_error *err)
{
	enum tally_status status = c->skeleton->bss->is_counting ? bpf_cgroup_counter_flush(c, err) : TALLY_OK;
	for (uint32_t cell = 0; status == TALLY_OK && cell < c->cell_count; cell++) {
		int failed = bpf_map_lookup_elem(
			bpf_map__fd(c->skeleton->maps.readings), &cell, &c->readings[cell * (size_t)c->possible_cpus]);
		if (failed)
			status = bpf_cgroup_counter_fail(failed, "its counts cannot be read", err);
	}
	return status;
}

struct cgroup_counter_reading bpf_cgroup_counter_at(
	const struct bpf_cgroup_counter *c, size_t cgroup, size_t event, int cpu)
{
	size_t cell = cgroup * c->event_count + event;
	if (event >= c->event_count || cell >= c->cell_count || cpu < 0 || cpu >= c->possible_cpus)
		return (struct cgroup_counter_reading){0};
	return c->readings[cell * (size_t)c->possible_cpus + (size_t)cpu];
}

uint64_t bpf_cgroup_counter_losses(const struct bpf_cgroup_counter *c)
{
	return __atomic_load_n(&c->skeleton->bss->unread, __ATOMIC_RELAXED) +
	       __atomic_load_n(&c->skeleton->bss->cut, __ATOMIC_RELAXED);
}

void bpf_cgroup_counter_close(struct bpf_cgroup_counter *c)
{
	if (!c)
		return;
	cgroup_counter_bpf__destroy(c->skeleton);
	free(c->readings);
	free(c->cpus);
	free(c);
}
#else
/* In a build without BPF, bpf_open always fails, so the functions below never receive a counter. */
enum tally_status bpf_cgroup_counter_open(const struct kernel_seam *kernel, const struct bpf_cgroup_request *request,
	struct bpf_cgroup_counter **counter, struct tally_error *err)
{
	return bpf_open(kernel, BPF_CGROUP_COUNTER_WHAT, err);
}

enum tally_status bpf_cgroup_counter_begin(struct bpf_cgroup_counter *c, struct tally_error *err)
{
	return error_set(err, TALLY_UNSUPPORTED, "this build has no BPF programs");
}

enum tally_status bpf_cgroup_counter_end(struct bpf_cgroup_counter *c, struct tally_error *err)
{
	return error_set(err, TALLY_UNSUPPORTED, "this build has no BPF programs");
}

enum tally_status bpf_cgroup_counter_read(struct bpf_cgroup_counter *c, struct tally_error *err)
{
	return error_set(err, TALLY_UNSUPPORTED, "this build has no BPF programs");
}

struct cgroup_counter_reading bpf_cgroup_counter_at(
	const struct bpf_cgroup_counter *c, size_t cgroup, size_t event, int cpu)
{
	return (struct cgroup_counter_reading){0};
}

uint64_t bpf_cgroup_counter_losses(const struct bpf_cgroup_counter *c)
{
	return 0;
}

void bpf_cgroup_counter_close(struct bpf_cgroup_counter *c)
{
}
#endif
