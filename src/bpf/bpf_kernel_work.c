/* SPDX-License-Identifier: Apache-2.0 */
#include "bpf/bpf_kernel_work.h"

#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "bpf/bpf_load.h"
#include "tally_config.h"

#define BPF_KERNEL_WORK_WHAT "kwork -b"

#if HAVE_BPF
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bpf/kernel_work.skel.h"

struct bpf_kernel_work {
	const struct kernel_seam *kernel;
	struct kernel_work_bpf *skeleton;
};

static void bpf_kernel_work_configure(struct kernel_work_bpf *s, const struct bpf_kernel_work_config *config)
{
	bool of_work = !config->of_tasks;
	s->rodata->work_wanted.has_cpus = config->cpus != NULL;
	s->rodata->work_wanted.adds_tasks = config->of_tasks;
	bpf_program__set_autoload(s->progs.irq_enters, config->of_irqs);
	bpf_program__set_autoload(s->progs.irq_exits, config->of_irqs);
	bpf_program__set_autoload(s->progs.softirq_is_raised, config->of_softirqs && of_work);
	bpf_program__set_autoload(s->progs.softirq_enters, config->of_softirqs);
	bpf_program__set_autoload(s->progs.softirq_exits, config->of_softirqs);
	bpf_program__set_autoload(s->progs.item_is_raised, config->of_items && of_work);
	bpf_program__set_autoload(s->progs.item_enters, config->of_items && of_work);
	bpf_program__set_autoload(s->progs.item_exits, config->of_items && of_work);
	bpf_program__set_autoload(s->progs.task_leaves, config->of_tasks);
}

static enum tally_status bpf_kernel_work_set_cpus(
	const struct bpf_kernel_work *work, const bool *cpus, struct tally_error *err)
{
	int fd = bpf_map__fd(work->skeleton->maps.listed_cpus);
	for (uint32_t cpu = 0; cpu < WORK_MAP_CPUS; cpu++) {
		const uint8_t yes = 1;
		if (cpus[cpu] && bpf_map_update_elem(fd, &cpu, &yes, BPF_ANY) != 0)
			return error_set_errno(err, TALLY_IO, errno, BPF_KERNEL_WORK_WHAT ": its map of CPUs");
	}
	return TALLY_OK;
}

enum tally_status bpf_kernel_work_create(const struct kernel_seam *kernel, const struct bpf_kernel_work_config *config,
	struct bpf_kernel_work **work, struct tally_error *err)
{
	enum tally_status status = bpf_open(kernel, BPF_KERNEL_WORK_WHAT, err);
	if (status == TALLY_OK && config->of_tasks)
		status = bpf_check_namespace(kernel, "kwork top -b", err);
	if (status != TALLY_OK)
		return status;
	struct bpf_kernel_work *made = calloc(1, sizeof(*made));
	if (!made)
		return error_nomem(err);
	made->kernel = kernel;
	made->skeleton = kernel_work_bpf__open();
	if (!made->skeleton) {
		status = bpf_explain(kernel, BPF_KERNEL_WORK_WHAT, errno, err);
	} else {
		bpf_kernel_work_configure(made->skeleton, config);
		status = bpf_load(kernel, BPF_KERNEL_WORK_WHAT, made->skeleton->skeleton, err);
	}
	if (status == TALLY_OK && config->cpus)
		status = bpf_kernel_work_set_cpus(made, config->cpus, err);
	if (status == TALLY_OK)
		status = bpf_attach(kernel, BPF_KERNEL_WORK_WHAT, made->skeleton->skeleton, err);
	if (status == TALLY_OK)
		*work = made;
	else
		bpf_kernel_work_destroy(made);
	return status;
}

void bpf_kernel_work_start(struct bpf_kernel_work *work)
{
	__atomic_store_n(&work->skeleton->bss->is_adding, true, __ATOMIC_RELEASE);
}

void bpf_kernel_work_stop(struct bpf_kernel_work *work)
{
	__atomic_store_n(&work->skeleton->bss->is_adding, false, __ATOMIC_RELEASE);
}

static bool bpf_kernel_work_read_sums(const struct bpf_kernel_work *work, const struct bpf_kernel_work_sink *sink)
{
	int sums = bpf_map__fd(work->skeleton->maps.work_sums), raises = bpf_map__fd(work->skeleton->maps.raises);
	struct work_map_key key, next, *at = NULL;
	struct work_map_sum sum;
	bool is_done = true;
	while (is_done && bpf_map_get_next_key(sums, at, &next) == 0) {
		key = next;
		at = &key;
		if (bpf_map_lookup_elem(sums, &key, &sum) == 0)
			is_done = sink->take_work(sink->context, &key, &sum);
	}
	at = NULL;
	while (is_done && bpf_map_get_next_key(raises, at, &next) == 0) {
		key = next;
		at = &key;
		is_done = sink->take_raise(sink->context, &key);
	}
	return is_done;
}

static bool bpf_kernel_work_read_tasks(const struct bpf_kernel_work *work, const struct bpf_kernel_work_sink *sink)
{
	int fd = bpf_map__fd(work->skeleton->maps.runtimes);
	struct work_map_task key, next, *at = NULL;
	struct work_map_runtime runtime;
	bool is_done = true;
	while (is_done && bpf_map_get_next_key(fd, at, &next) == 0) {
		key = next;
		at = &key;
		if (bpf_map_lookup_elem(fd, &key, &runtime) == 0)
			is_done = sink->take_task(sink->context, &key, &runtime);
	}
	return is_done;
}

static enum tally_status bpf_kernel_work_read_cpus(
	const struct bpf_kernel_work *work, const struct bpf_kernel_work_sink *sink, struct tally_error *err)
{
	uint32_t zero = 0;
	int cpus = libbpf_num_possible_cpus();
	if (cpus <= 0)
		return error_set_errno(err, TALLY_IO, -cpus, BPF_KERNEL_WORK_WHAT ": the CPUs cannot be counted");
	struct work_map_cpu *sums = calloc((size_t)cpus, sizeof(*sums));
	if (!sums)
		return error_nomem(err);
	enum tally_status status = TALLY_OK;
	if (bpf_map_lookup_elem(bpf_map__fd(work->skeleton->maps.work_cpus), &zero, sums) != 0)
		status = error_set_errno(err, TALLY_IO, errno, BPF_KERNEL_WORK_WHAT ": its map of CPUs");
	for (int cpu = 0; status == TALLY_OK && cpu < cpus; cpu++)
		if (sums[cpu].total_ns && !sink->take_cpu(sink->context, (uint32_t)cpu, &sums[cpu]))
			status = error_nomem(err);
	free(sums);
	return status;
}

enum tally_status bpf_kernel_work_read(const struct bpf_kernel_work *work, const struct bpf_kernel_work_sink *sink,
	struct work_map_losses *losses, struct tally_error *err)
{
	*losses = work->skeleton->bss->work_losses;
	if (!work->skeleton->rodata->work_wanted.adds_tasks)
		return bpf_kernel_work_read_sums(work, sink) ? TALLY_OK : error_nomem(err);
	enum tally_status status = bpf_kernel_work_read_cpus(work, sink, err);
	if (status == TALLY_OK && !bpf_kernel_work_read_tasks(work, sink))
		status = error_nomem(err);
	return status;
}

void bpf_kernel_work_destroy(struct bpf_kernel_work *work)
{
	if (!work)
		return;
	kernel_work_bpf__destroy(work->skeleton);
	free(work);
}
#else
/* In a build without BPF, bpf_open always fails, so the functions below never receive an object. */
enum tally_status bpf_kernel_work_create(const struct kernel_seam *kernel, const struct bpf_kernel_work_config *config,
	struct bpf_kernel_work **work, struct tally_error *err)
{
	return bpf_open(kernel, BPF_KERNEL_WORK_WHAT, err);
}

void bpf_kernel_work_start(struct bpf_kernel_work *work)
{
}

void bpf_kernel_work_stop(struct bpf_kernel_work *work)
{
}

enum tally_status bpf_kernel_work_read(const struct bpf_kernel_work *work, const struct bpf_kernel_work_sink *sink,
	struct work_map_losses *losses, struct tally_error *err)
{
	return bpf_refusal_expected(NULL, BPF_KERNEL_WORK_WHAT, err);
}

void bpf_kernel_work_destroy(struct bpf_kernel_work *work)
{
}
#endif
