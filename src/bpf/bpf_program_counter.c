/* SPDX-License-Identifier: Apache-2.0 */
#include "bpf/bpf_program_counter.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "bpf/bpf_load.h"
#include "tally_config.h"

#define BPF_PROGRAM_COUNTER_WHAT "stat --bpf-prog"

#if HAVE_BPF
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "bpf/program_counter.skel.h"

#define FUNCTION_BYTES	    128
#define ERRNO_NOT_SUPPORTED 524 /* ENOTSUPP, which the kernel does not define for user space. */

struct bpf_program_counter {
	const struct kernel_seam *kernel;
	struct program_counter_bpf **skeletons; /* One for each counted program. */
	size_t count;
	size_t event_count;
	int possible_cpus;
	/* `readings` has the sums, by event and CPU; `part` is a buffer for those of one program and event, by CPU. */
	struct program_counter_reading *readings, *part;
};

static enum tally_status bpf_program_counter_fail(int failed, uint32_t id, const char *step, struct tally_error *err)
{
	int errnum = failed < -1 ? -failed : errno;
	enum tally_status status = errnum == EPERM || errnum == EACCES ? TALLY_DENIED : TALLY_IO;
	return error_set_errno(err, status, errnum, BPF_PROGRAM_COUNTER_WHAT " %u: %s", id, step);
}

/* ---- the counted program ---- */

struct bpf_program_target {
	uint32_t id;
	int fd;
	char function[FUNCTION_BYTES]; /* Name of the program's entry function in its BTF. */
};

static enum tally_status bpf_program_counter_name(
	struct bpf_program_target *target, uint32_t btf_id, uint32_t type_id, struct tally_error *err)
{
	struct btf *types = btf__load_from_kernel_by_id(btf_id);
	if (!types)
		return bpf_program_counter_fail(-1, target->id, "its BTF cannot be read", err);
	const struct btf_type *type = btf__type_by_id(types, type_id);
	const char *name = type && btf_is_func(type) ? btf__name_by_offset(types, type->name_off) : NULL;
	bool is_named = name && name[0] && strlen(name) < sizeof(target->function);
	if (is_named)
		memcpy(target->function, name, strlen(name) + 1);
	btf__free(types);
	return is_named ? TALLY_OK
			: error_set(err, TALLY_INVALID,
				  BPF_PROGRAM_COUNTER_WHAT " %u: its BTF does not name its function", target->id);
}

static enum tally_status bpf_program_counter_look(struct bpf_program_target *target, struct tally_error *err)
{
	struct bpf_func_info function = {0};
	struct bpf_prog_info info = {
		.nr_func_info = 1, .func_info_rec_size = sizeof(function), .func_info = (uintptr_t)&function};
	uint32_t size = sizeof(info);
	target->fd = bpf_prog_get_fd_by_id(target->id);
	if (target->fd < 0 && errno == ENOENT)
		return error_set(err, TALLY_NOT_FOUND,
			BPF_PROGRAM_COUNTER_WHAT
			" %u: there is no BPF program with this ID ('bpftool prog' shows those that there are)",
			target->id);
	if (target->fd < 0)
		return bpf_program_counter_fail(-1, target->id, "the program cannot be opened", err);
	if (bpf_obj_get_info_by_fd(target->fd, &info, &size) != 0)
		return bpf_program_counter_fail(-1, target->id, "nothing can be learnt about the program", err);
	if (info.btf_id == 0 || info.nr_func_info == 0)
		return error_set(err, TALLY_UNSUPPORTED,
			BPF_PROGRAM_COUNTER_WHAT
			" %u: this program was loaded without BTF, which programs around it need",
			target->id);
	if (info.jited_prog_len == 0)
		return error_set(err, TALLY_UNSUPPORTED,
			BPF_PROGRAM_COUNTER_WHAT
			" %u: this program is interpreted, and the kernel runs programs only around compiled ones: set "
			"net.core.bpf_jit_enable to 1 before it is loaded",
			target->id);
	return bpf_program_counter_name(target, info.btf_id, function.type_id, err);
}

/* ---- the programs around it ---- */

/* Names the likely cause of a refusal: some kernels load BPF programs, but answer EPERM to all fentry and fexit
 * programs. */
static enum tally_status bpf_program_counter_explain(
	const struct tally_error *refusal, uint32_t id, struct tally_error *err)
{
	if (refusal->errnum == EPERM)
		return error_set(err, TALLY_DENIED,
			BPF_PROGRAM_COUNTER_WHAT
			" %u: this kernel loads no BPF programs that run around another one (fentry, fexit), not even "
			"for root: Operation not permitted; record -a and report show where time in BPF programs goes",
			id);
	if (refusal->errnum == ERRNO_NOT_SUPPORTED)
		return error_set(err, TALLY_UNSUPPORTED,
			BPF_PROGRAM_COUNTER_WHAT
			" %u: this kernel cannot run BPF programs around another one (fentry, fexit): on aarch64, "
			"Linux 6.0 is the first that can",
			id);
	return error_set(err, refusal->status, "%s (around program %u)", refusal->text, id);
}

static enum tally_status bpf_program_counter_load(
	struct bpf_program_counter *c, const struct bpf_program_target *target, struct tally_error *err)
{
	static const char *const shared[] = {"events"};
	struct program_counter_bpf *s = program_counter_bpf__open();
	if (!s)
		return bpf_explain(c->kernel, BPF_PROGRAM_COUNTER_WHAT, errno, err);
	c->skeletons[c->count++] = s;
	s->rodata->event_count = (uint32_t)c->event_count;
	s->rodata->possible_cpus = (uint32_t)c->possible_cpus;
	/* A map needs at least one entry, even if there are no events. */
	uint32_t counters = MAX((uint32_t)c->event_count, 1u) * (uint32_t)c->possible_cpus;
	int failed = bpf_map__set_max_entries(s->maps.events, counters);
	if (!failed)
		failed = bpf_program__set_attach_target(s->progs.on_enter, target->fd, target->function);
	if (!failed)
		failed = bpf_program__set_attach_target(s->progs.on_leave, target->fd, target->function);
	if (failed)
		return bpf_program_counter_fail(failed, target->id, "programs around it cannot be prepared", err);
	enum tally_status status = TALLY_OK;
	if (c->count > 1)
		status = bpf_share_maps(s->obj, c->skeletons[0]->obj, shared, ARRAY_LEN(shared), err);
	if (status != TALLY_OK)
		return status;
	struct tally_error refusal = {0};
	status = bpf_load(c->kernel, BPF_PROGRAM_COUNTER_WHAT, s->skeleton, &refusal);
	return status == TALLY_OK ? status : bpf_program_counter_explain(&refusal, target->id, err);
}

static enum tally_status bpf_program_counter_add(struct bpf_program_counter *c, uint32_t id, struct tally_error *err)
{
	struct bpf_program_target target = {.id = id, .fd = -1};
	enum tally_status status = bpf_program_counter_look(&target, err);
	if (status == TALLY_OK)
		status = bpf_program_counter_load(c, &target, err);
	if (target.fd >= 0)
		close(target.fd);
	return status;
}

static enum tally_status bpf_program_counter_make(
	struct bpf_program_counter *c, const struct bpf_program_request *request, struct tally_error *err)
{
	if (request->event_count > PROGRAM_COUNTER_EVENTS)
		return error_set(err, TALLY_LIMIT, BPF_PROGRAM_COUNTER_WHAT ": %zu events, where it counts %d at most",
			request->event_count, PROGRAM_COUNTER_EVENTS);
	if (c->possible_cpus <= 0)
		return error_set(err, TALLY_IO, BPF_PROGRAM_COUNTER_WHAT ": the number of CPUs is not known");
	size_t cpus = (size_t)c->possible_cpus;
	c->event_count = request->event_count;
	c->skeletons = calloc(request->id_count, sizeof(*c->skeletons));
	c->readings = calloc(c->event_count * cpus + 1, sizeof(*c->readings));
	c->part = calloc(cpus, sizeof(*c->part));
	if (!c->skeletons || !c->readings || !c->part)
		return error_nomem(err);
	enum tally_status status = TALLY_OK;
	for (size_t i = 0; status == TALLY_OK && i < request->id_count; i++)
		status = bpf_program_counter_add(c, request->ids[i], err);
	if (status == TALLY_OK)
		status = bpf_event_array_fill(c->kernel, BPF_PROGRAM_COUNTER_WHAT,
			&(struct bpf_event_array){bpf_map__fd(c->skeletons[0]->maps.events), c->possible_cpus,
				request->events, request->event_count},
			err);
	for (size_t i = 0; status == TALLY_OK && i < c->count; i++) {
		struct tally_error refusal = {0};
		status = bpf_attach(c->kernel, BPF_PROGRAM_COUNTER_WHAT, c->skeletons[i]->skeleton, &refusal);
		if (status != TALLY_OK)
			status = bpf_program_counter_explain(&refusal, request->ids[i], err);
	}
	return status;
}

enum tally_status bpf_program_counter_open(const struct kernel_seam *kernel, const struct bpf_program_request *request,
	struct bpf_program_counter **counter, struct tally_error *err)
{
	enum tally_status status = bpf_open(kernel, BPF_PROGRAM_COUNTER_WHAT, err);
	if (status != TALLY_OK)
		return status;
	struct bpf_program_counter *c = calloc(1, sizeof(*c));
	if (!c)
		return error_nomem(err);
	c->kernel = kernel;
	c->possible_cpus = libbpf_num_possible_cpus();
	status = bpf_program_counter_make(c, request, err);
	if (status == TALLY_OK)
		*counter = c;
	else
		bpf_program_counter_close(c);
	return status;
}

/* ---- counting ---- */

void bpf_program_counter_count(struct bpf_program_counter *c, bool is_on)
{
	for (size_t i = 0; i < c->count; i++)
		__atomic_store_n(&c->skeletons[i]->bss->is_counting, is_on, __ATOMIC_RELEASE);
}

enum tally_status bpf_program_counter_read(struct bpf_program_counter *c, struct tally_error *err)
{
	size_t cpus = (size_t)c->possible_cpus;
	memset(c->readings, 0, c->event_count * cpus * sizeof(*c->readings));
	for (size_t i = 0; i < c->count; i++)
		for (uint32_t event = 0; event < c->event_count; event++) {
			int failed = bpf_map_lookup_elem(bpf_map__fd(c->skeletons[i]->maps.readings), &event, c->part);
			if (failed)
				return error_set_errno(
					err, TALLY_IO, errno, BPF_PROGRAM_COUNTER_WHAT ": the counts cannot be read");
			for (size_t cpu = 0; cpu < cpus; cpu++) {
				struct program_counter_reading *sum = &c->readings[event * cpus + cpu];
				sum->value += c->part[cpu].value;
				sum->enabled_ns += c->part[cpu].enabled_ns;
				sum->running_ns += c->part[cpu].running_ns;
			}
		}
	return TALLY_OK;
}

struct program_counter_reading bpf_program_counter_at(const struct bpf_program_counter *c, size_t event, int cpu)
{
	if (event >= c->event_count || cpu < 0 || cpu >= c->possible_cpus)
		return (struct program_counter_reading){0};
	return c->readings[event * (size_t)c->possible_cpus + (size_t)cpu];
}

uint64_t bpf_program_counter_losses(const struct bpf_program_counter *c)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < c->count; i++)
		sum += __atomic_load_n(&c->skeletons[i]->bss->lost, __ATOMIC_RELAXED);
	return sum;
}

void bpf_program_counter_close(struct bpf_program_counter *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->count; i++)
		program_counter_bpf__destroy(c->skeletons[i]);
	free(c->skeletons);
	free(c->readings);
	free(c->part);
	free(c);
}
#else
/* In a build without BPF, bpf_open always fails, so the functions below never receive a counter. */
enum tally_status bpf_program_counter_open(const struct kernel_seam *kernel, const struct bpf_program_request *request,
	struct bpf_program_counter **counter, struct tally_error *err)
{
	return bpf_open(kernel, BPF_PROGRAM_COUNTER_WHAT, err);
}

void bpf_program_counter_count(struct bpf_program_counter *c, bool is_on)
{
}

enum tally_status bpf_program_counter_read(struct bpf_program_counter *c, struct tally_error *err)
{
	return error_set(err, TALLY_UNSUPPORTED, "this build has no BPF programs");
}

struct program_counter_reading bpf_program_counter_at(const struct bpf_program_counter *c, size_t event, int cpu)
{
	return (struct program_counter_reading){0};
}

uint64_t bpf_program_counter_losses(const struct bpf_program_counter *c)
{
	return 0;
}

void bpf_program_counter_close(struct bpf_program_counter *c)
{
}
#endif
