/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bpf_kernel_work.h - measures by BPF programs how long interrupts, softirqs and work items ran and waited, or how much
 * time of each CPU tasks, interrupts and softirqs used.
 *
 * The caller owns the object. Its programs and maps leave the kernel when it is destroyed or this process ends. Used by
 * one thread.
 *
 *	struct bpf_kernel_work_config config = {.of_irqs = true, .of_softirqs = true, .of_items = true};
 *	bpf_kernel_work_create(kernel, &config, &work, err);
 *	bpf_kernel_work_start(work); ... bpf_kernel_work_stop(work);
 *	bpf_kernel_work_read(work, &sink, &losses, err);
 *	bpf_kernel_work_destroy(work);
 */
#ifndef BPF_BPF_KERNEL_WORK_H
#define BPF_BPF_KERNEL_WORK_H

#include "abi/kernel_work_map.h"
#include "kernel/system/kernel_seam.h"

struct bpf_kernel_work;

struct bpf_kernel_work_config {
	bool of_irqs, of_softirqs, of_items; /* Kinds of work that are measured: interrupts, softirqs, work items. */
	/* Measures the time of each CPU that tasks, interrupts and softirqs use; of_items is then ignored. */
	bool of_tasks;
	const bool *cpus; /* One element for each CPU number, at least WORK_MAP_CPUS; NULL includes all CPUs. */
};

/*
 * Receives the results: take_work and take_raise, or with of_tasks take_cpu and take_task. A callback returns false if
 * it is out of memory.
 */
struct bpf_kernel_work_sink {
	void *context;
	bool (*take_work)(void *context, const struct work_map_key *key, const struct work_map_sum *sum);
	/* Receives work that was raised and has not begun yet. */
	bool (*take_raise)(void *context, const struct work_map_key *key);
	bool (*take_cpu)(void *context, uint32_t cpu, const struct work_map_cpu *sum);
	bool (*take_task)(void *context, const struct work_map_task *task, const struct work_map_runtime *runtime);
};

TALLY_MUST_CHECK enum tally_status bpf_kernel_work_create(const struct kernel_seam *kernel,
	const struct bpf_kernel_work_config *config, struct bpf_kernel_work **work, struct tally_error *err);
void bpf_kernel_work_start(struct bpf_kernel_work *work);
void bpf_kernel_work_stop(struct bpf_kernel_work *work);
/* Passes all results to the sink. Returns TALLY_NOMEM if a callback returns false. */
TALLY_MUST_CHECK enum tally_status bpf_kernel_work_read(const struct bpf_kernel_work *work,
	const struct bpf_kernel_work_sink *sink, struct work_map_losses *losses, struct tally_error *err);
void bpf_kernel_work_destroy(struct bpf_kernel_work *work);

#endif
