/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/cpu_usage.h"

void cpu_usage_init(struct cpu_usage *usage)
{
	*usage = (struct cpu_usage){.task_ids.words = 1, .part_ids.words = 1};
}

void cpu_usage_deinit(struct cpu_usage *usage)
{
	vec_free(&usage->cpus);
	id_table_deinit(&usage->task_ids);
	id_table_deinit(&usage->part_ids);
	vec_free(&usage->tasks);
	vec_free(&usage->parts);
}

struct cpu_use *cpu_usage_cpu(struct cpu_usage *usage, uint32_t cpu)
{
	if (!vec_reserve(&usage->cpus, (size_t)cpu + 1))
		return NULL;
	while (usage->cpus.len <= cpu)
		usage->cpus.items[usage->cpus.len++] = (struct cpu_use){0};
	return &usage->cpus.items[cpu];
}

bool cpu_usage_add_task(struct cpu_usage *usage, uint32_t cpu, int32_t tid, uint64_t runtime_ns)
{
	bool is_new;
	const uint64_t key = (uint32_t)tid;
	if (!vec_reserve(&usage->tasks, usage->tasks.len + 1) || !vec_reserve(&usage->parts, usage->parts.len + 1))
		return false;
	uint32_t task = id_table_add(&usage->task_ids, &key, &is_new);
	if (task == ID_TABLE_NONE)
		return false;
	if (is_new)
		usage->tasks.items[usage->tasks.len++] = (struct task_use){.tid = tid, .name = UINT32_MAX};
	const uint64_t part_key = (uint64_t)task << 32 | cpu;
	uint32_t part = id_table_add(&usage->part_ids, &part_key, &is_new);
	if (part == ID_TABLE_NONE)
		return false;
	if (is_new)
		usage->parts.items[usage->parts.len++] = (struct task_on_cpu){.task = task, .cpu = cpu};
	usage->parts.items[part].runtime_ns += runtime_ns;
	usage->tasks.items[task].runtime_ns += runtime_ns;
	usage->tasks.items[task].cpu = cpu;
	return true;
}

bool cpu_usage_switch(struct cpu_usage *usage, uint32_t cpu, int32_t tid, uint64_t time_ns)
{
	struct cpu_use *use = cpu_usage_cpu(usage, cpu);
	if (!use)
		return false;
	uint64_t since_ns = use->switched_ns, taken_ns = use->taken_ns;
	use->switched_ns = time_ns;
	use->taken_ns = 0;
	if (since_ns == 0 || time_ns < since_ns)
		return true;
	uint64_t ns = time_ns - since_ns, own_ns = ns > taken_ns ? ns - taken_ns : 0;
	use->total_ns += ns;
	if (tid == 0)
		use->idle_ns += own_ns;
	return cpu_usage_add_task(usage, cpu, tid, own_ns);
}

/* The time of an interrupt within a softirq is subtracted from the softirq. */
static void cpu_usage_end(struct cpu_use *use, bool is_softirq, uint64_t time_ns)
{
	uint64_t *from_ns = is_softirq ? &use->softirq_from_ns : &use->interrupt_from_ns;
	if (*from_ns == 0 || time_ns < *from_ns)
		return;
	uint64_t ns = time_ns - *from_ns;
	if (is_softirq) {
		ns = ns > use->within_ns ? ns - use->within_ns : 0;
		use->softirq_ns += ns;
	} else {
		use->interrupt_ns += ns;
		use->within_ns += ns;
	}
	use->taken_ns += ns;
	*from_ns = 0;
}

bool cpu_usage_interrupt(struct cpu_usage *usage, uint32_t cpu, bool is_softirq, bool begins, uint64_t time_ns)
{
	struct cpu_use *use = cpu_usage_cpu(usage, cpu);
	if (!use)
		return false;
	if (!begins) {
		cpu_usage_end(use, is_softirq, time_ns);
	} else if (is_softirq) {
		use->softirq_from_ns = time_ns;
		use->within_ns = 0;
	} else {
		use->interrupt_from_ns = time_ns;
	}
	return true;
}

void cpu_usage_lost(struct cpu_usage *usage, uint32_t cpu)
{
	for (size_t i = 0; i < usage->cpus.len; i++) {
		struct cpu_use *use = &usage->cpus.items[i];
		if (cpu == UINT32_MAX || cpu == i)
			use->switched_ns = use->taken_ns = use->interrupt_from_ns = use->softirq_from_ns = 0;
	}
}

void cpu_usage_finish(struct cpu_usage *usage)
{
	for (size_t i = 0; i < usage->parts.len; i++) {
		const struct task_on_cpu *part = &usage->parts.items[i];
		uint64_t total_ns = usage->cpus.items[part->cpu].total_ns;
		if (total_ns)
			usage->tasks.items[part->task].share += (double)part->runtime_ns / (double)total_ns;
	}
}
