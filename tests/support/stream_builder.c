/* SPDX-License-Identifier: Apache-2.0 */
#include "stream_builder.h"

#include <string.h>

static struct perf_attr attr_of(const struct stream_process *process)
{
	return (struct perf_attr){.sample_type = SIM_SAMPLE_TYPE,
		.flags = ATTR_FLAG(ATTR_BIT_SAMPLE_ID_ALL),
		.sample_regs_user = process->stack_bytes ? SIM_REGISTERS_X86_64 : 0,
		.sample_stack_user = process->stack_bytes};
}

void stream_builder_begin(struct stream_builder *b, const struct stream_process *process)
{
	struct sim_header header = {.magic = SIM_MAGIC,
		.version = SIM_VERSION,
		.size = (uint32_t)((sizeof(header) + sizeof(STREAM_MODEL) + 7) / 8 * 8),
		.machine = 62,
		.pid = process->pid,
		.ppid = process->ppid,
		.image = process->image,
		.kinds = SIM_KIND_INSTRUCTIONS | SIM_KIND_CACHES,
		.sampled_count = 2,
		.stack_bytes = process->stack_bytes,
		.registers = process->stack_bytes ? SIM_REGISTERS_X86_64 : 0,
		.sampled = {{SIM_INSTRUCTIONS, 0, 1000}, {SIM_LLC_LOAD_MISSES, 0, 10}}};
	const struct perf_attr attr = attr_of(process);
	*b = (struct stream_builder){.process = *process, .layout = record_layout_make(&attr, false)};
	writer_bytes(&b->out, &header, sizeof(header));
	writer_bytes(&b->out, STREAM_MODEL, sizeof(STREAM_MODEL));
	writer_align(&b->out, 8);
}

static void put(struct stream_builder *b, uint64_t time, const struct record_fields *fields, uint16_t misc)
{
	const struct sample_id id = {.pid = b->process.pid, .tid = b->process.pid, .time = time};
	(void)record_encode(&b->out, fields, misc, &b->layout, &id);
}

void stream_builder_comm(struct stream_builder *b, uint64_t time, const char *name, bool is_exec)
{
	const struct record_fields fields = {
		.type = RECORD_COMM, .comm = {.pid = b->process.pid, .tid = b->process.pid, .comm = str_from(name)}};
	put(b, time, &fields, is_exec ? MISC_COMM_EXEC : 0);
}

void stream_builder_map(struct stream_builder *b, uint64_t time, uint64_t start, uint64_t len, const char *file)
{
	const struct record_fields fields = {.type = RECORD_MMAP2,
		.mmap = {.pid = b->process.pid,
			.tid = b->process.pid,
			.start = start,
			.len = len,
			.prot = 5,
			.flags = 2,
			.filename = str_from(file)}};
	put(b, time, &fields, MISC_CPUMODE_USER);
}

void stream_builder_fork(struct stream_builder *b, uint64_t time, uint32_t pid, uint32_t tid)
{
	const struct record_fields fields = {.type = RECORD_FORK,
		.task = {.pid = pid, .ppid = b->process.pid, .tid = tid, .ptid = b->process.pid, .time = time}};
	put(b, time, &fields, 0);
}

void stream_builder_exit(struct stream_builder *b, uint64_t time)
{
	const struct record_fields fields = {.type = RECORD_EXIT,
		.task = {.pid = b->process.pid,
			.ppid = b->process.ppid,
			.tid = b->process.pid,
			.ptid = b->process.ppid,
			.time = time}};
	put(b, time, &fields, 0);
}

void stream_builder_sample(struct stream_builder *b, const struct stream_sample *s)
{
	uint64_t registers[18] = {0};
	registers[6] = s->bp;
	registers[7] = s->sp;
	registers[8] = s->begin;
	struct sample sample = {.id = s->event + 1,
		.ip = s->ip,
		.pid = b->process.pid,
		.tid = s->tid ? s->tid : b->process.pid,
		.time = s->time,
		.period = s->period  ? s->period
			  : s->event ? 10
				     : 1000};
	if (b->process.stack_bytes) {
		sample.regs_user.abi = REGS_ABI_64;
		sample.regs_user.mask = SIM_REGISTERS_X86_64;
		sample.regs_user.values.data = (const uint8_t *)registers;
		sample.regs_user.values.count = 18;
		sample.stack_user.bytes.data = (const uint8_t *)s->stack;
		sample.stack_user.bytes.len = sample.stack_user.dyn_size = sample.stack_user.size = s->words * 8;
	}
	(void)sample_encode(&b->out, &b->layout, MISC_CPUMODE_USER, &sample);
}

void stream_builder_counts(struct stream_builder *b, uint64_t time, uint64_t instructions)
{
	const struct sim_counts counts = {.type = SIM_RECORD_COUNTS,
		.misc = SIM_COUNTS_FINAL,
		.size = (uint16_t)(offsetof(struct sim_counts, counts) + sizeof(struct sim_count)),
		.time = time,
		.counts = {{SIM_INSTRUCTIONS, instructions}}};
	writer_bytes(&b->out, &counts, counts.size);
}

void stream_builder_lost(struct stream_builder *b, uint64_t time, uint64_t records, uint64_t samples)
{
	const struct sim_lost lost = {
		.type = SIM_RECORD_LOST, .size = sizeof(lost), .time = time, .records = records, .samples = samples};
	writer_bytes(&b->out, &lost, sizeof(lost));
}
