/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/recording/early_waits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>

#include "abi/encode.h"
#include "analysis/live/live_unwind.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/map_u64.h"
#include "base/vec.h"
#include "kernel/recording/synthesize.h"
#include "kernel/recording/thread_waits.h"
#include "kernel/system/memory_limit.h"

/* Size of a stack dump in bytes. A whole sample must stay below 64 KiB, because record sizes have 16 bits. */
#define EARLY_WAITS_STACK_BYTES 61440
#define THREADS_MOST		(1u << 18) /* Maximum number of threads in the queue. */
/* Maximum number of bytes of stack dumps that wait until the unwinder has opened a file. */
#define HELD_MOST	   (32u << 20)
#define EARLY_WAITS_FRAMES 127

struct early_waits_thread { /* The members of waiting_thread that are needed to unwind a user stack. */
	uint32_t tid, pid;
	uint64_t stack, switches;
	uint64_t registers[WAITING_REGISTERS_MOST];
};

struct early_waits {
	struct early_waits_config config;
	struct perf_attr attr;
	/* Layouts of samples with stack dumps (input), and of those with call chains instead (output). */
	struct record_layout layout, written;
	struct live_unwind *unwind;
	struct synthesis mappings;
	struct map_u64 processes; /* Set of the processes with known mappings. */
	VEC(struct early_waits_thread) threads;
	size_t done; /* Number of entries at the start of `threads`, the queue, that have been handled. */
	size_t held; /* Bytes of samples that were passed to the unwinder since it last had none pending. */
	struct writer sample, out;
	uint8_t memory[EARLY_WAITS_STACK_BYTES];
};

static enum tally_status early_waits_learn(
	void *context, const struct tally_bytes *slices, size_t slice_count, struct tally_error *err)
{
	struct early_waits *e = context;
	enum tally_status status = TALLY_OK;
	struct record record;
	for (size_t i = 0; status == TALLY_OK && i < slice_count; i++)
		for (size_t at = 0; status == TALLY_OK && at < slices[i].len; at += record.bytes.len) {
			status = record_at(slices[i], false, at, &record, err);
			if (status == TALLY_OK)
				status = live_unwind_feed(e->unwind, &record, &e->sample, err);
			writer_clear(&e->sample);
		}
	return status;
}

enum tally_status early_waits_create(
	const struct early_waits_config *config, struct early_waits **early, struct tally_error *err)
{
	const uint64_t id = 0;
	struct early_waits *e = calloc(1, sizeof(*e));
	const struct live_unwind_config unwind = {.arch = config->arch, .store = config->store};
	if (!e)
		return error_nomem(err);
	e->config = *config;
	e->attr = (struct perf_attr){.type = EVENT_SOFTWARE,
		.config = SW_DUMMY,
		.size = ATTR_SIZE_VER7,
		.sample_type = SAMPLE_TID | SAMPLE_TIME | SAMPLE_ADDR | SAMPLE_CALLCHAIN | SAMPLE_REGS_USER |
			       SAMPLE_STACK_USER, /* SAMPLE_ADDR carries the ID of the stack. */
		.flags = ATTR_FLAG(ATTR_BIT_SAMPLE_ID_ALL) | ATTR_FLAG(ATTR_BIT_USE_CLOCKID),
		.clockid = CLOCK_MONOTONIC,
		/* The BPF program reads these registers, which have perf's numbers. */
		.sample_regs_user = config->arch->general_registers & ((UINT64_C(1) << WAITING_REGISTERS_MOST) - 1),
		.sample_stack_user = EARLY_WAITS_STACK_BYTES};
	e->layout = record_layout_make(&e->attr, false);
	struct perf_attr written = e->attr;
	written.sample_type &= ~(uint64_t)(SAMPLE_REGS_USER | SAMPLE_STACK_USER);
	e->written = record_layout_make(&written, false);
	const struct record_sink sink = {early_waits_learn, e};
	synthesize_init(&e->mappings, config->kernel, &e->layout, &sink);
	enum tally_status status = live_unwind_create(&unwind, &e->unwind, err);
	if (status == TALLY_OK)
		status = live_unwind_add_event(e->unwind, &e->attr, &id, 1, err);
	const uint64_t left = memory_limit_left("");
	if (status == TALLY_OK && left != UINT64_MAX)
		live_unwind_limit(e->unwind, left / 2);
	if (status != TALLY_OK) {
		early_waits_destroy(e);
		return status;
	}
	*early = e;
	return TALLY_OK;
}

void early_waits_destroy(struct early_waits *e)
{
	if (!e)
		return;
	synthesize_deinit(&e->mappings);
	live_unwind_destroy(e->unwind);
	map_u64_deinit(&e->processes);
	vec_free(&e->threads);
	writer_deinit(&e->sample);
	writer_deinit(&e->out);
	free(e);
}

static enum tally_status early_waits_lose(
	struct early_waits *e, uint32_t tid, enum early_waits_loss loss, struct tally_error *err)
{
	return e->config.sink.lose(e->config.sink.context, tid, loss, err);
}

enum tally_status early_waits_add(struct early_waits *e, const struct waiting_thread *thread, struct tally_error *err)
{
	struct early_waits_thread added = {
		.tid = thread->tid, .pid = thread->pid, .stack = thread->stack, .switches = thread->switches};
	if (!thread->has_registers)
		return TALLY_OK;
	if (e->threads.len - e->done >= THREADS_MOST)
		return early_waits_lose(e, thread->tid, EARLY_WAITS_UNREACHED, err);
	memcpy(added.registers, thread->registers, sizeof(added.registers));
	return vec_push(&e->threads, added) ? TALLY_OK : error_nomem(err);
}

bool early_waits_are_left(const struct early_waits *e)
{
	return e->done < e->threads.len || live_unwind_is_holding(e->unwind);
}

/* ---- Reading one stack ---- */

static enum tally_status early_waits_learn_process(struct early_waits *e, uint32_t pid, struct tally_error *err)
{
	uint64_t unused;
	if (map_u64_find(&e->processes, pid, &unused))
		return TALLY_OK;
	if (!map_u64_set(&e->processes, pid, 1))
		return error_nomem(err);
	enum tally_status status = synthesize_mappings(&e->mappings, (pid_t)pid, err);
	return status == TALLY_OK ? synthesize_flush(&e->mappings, err) : status;
}

/* Copies the stack of a waiting thread from sp on into e->memory, and returns the number of bytes. The read ends early
 * at the end of the stack's mapping. *is_forbidden: this process must not read that memory. */
static size_t early_waits_read(
	struct early_waits *e, const struct early_waits_thread *thread, uint64_t sp, bool *is_forbidden)
{
	const struct iovec local = {e->memory, sizeof(e->memory)};
	const struct iovec remote = {(void *)(uintptr_t)sp, sizeof(e->memory)};
	ssize_t got = process_vm_readv((pid_t)thread->tid, &local, 1, &remote, 1, 0);
	*is_forbidden = got < 0 && (errno == EPERM || errno == ENOSYS);
	return got > 0 ? (size_t)got & ~(size_t)7 : 0;
}

static bool early_waits_encode(struct early_waits *e, const struct early_waits_thread *thread, size_t stack_bytes)
{
	uint64_t registers[WAITING_REGISTERS_MOST], mask = e->attr.sample_regs_user;
	uint32_t count = 0;
	for (uint64_t rest = mask; rest; rest &= rest - 1)
		registers[count++] = thread->registers[__builtin_ctzll(rest)];
	const struct sample made = {.present = e->attr.sample_type,
		.pid = thread->pid,
		.tid = thread->tid,
		.time = clock_ns(),
		.addr = thread->stack,
		.regs_user = {.abi = REGS_ABI_64, .mask = mask, .values = {(const uint8_t *)registers, count}},
		.stack_user = {.bytes = {e->memory, stack_bytes}, .dyn_size = stack_bytes, .size = stack_bytes}};
	writer_clear(&e->sample);
	return sample_encode(&e->sample, &e->layout, MISC_CPUMODE_USER, &made);
}

static enum tally_status early_waits_unwind(
	struct early_waits *e, const struct early_waits_thread *thread, struct tally_error *err)
{
	struct record record;
	enum tally_status status = early_waits_learn_process(e, thread->pid, err);
	if (status != TALLY_OK)
		return status;
	bool is_forbidden;
	size_t bytes = early_waits_read(e, thread, thread->registers[e->config.arch->sp], &is_forbidden);
	if (thread_waits_switches(e->config.kernel, (pid_t)thread->tid) != thread->switches)
		return early_waits_lose(e, thread->tid, EARLY_WAITS_UNREACHED, err);
	if (bytes == 0)
		return is_forbidden ? early_waits_lose(e, thread->tid, EARLY_WAITS_UNREADABLE, err) : TALLY_OK;
	if (!early_waits_encode(e, thread, bytes))
		return error_nomem(err);
	status = record_at(writer_view(&e->sample), false, 0, &record, err);
	e->held += e->sample.len;
	return status == TALLY_OK ? live_unwind_feed(e->unwind, &record, &e->out, err) : status;
}

/* ---- Returning call chains ---- */

static enum tally_status early_waits_give_sample(
	struct early_waits *e, const struct record *record, struct tally_error *err)
{
	struct sample s;
	uint64_t ips[EARLY_WAITS_FRAMES];
	size_t count = 0;
	bool is_user = false;
	if (sample_decode(&e->written, record, &s, NULL) != TALLY_OK)
		return TALLY_OK;
	for (uint32_t i = 0; i < s.callchain.count && count < ARRAY_LEN(ips); i++) {
		uint64_t ip = sample_u64_at(s.callchain.data, i, false);
		if (is_user)
			ips[count++] = ip;
		is_user |= ip == CONTEXT_USER;
	}
	return count ? e->config.sink.take(e->config.sink.context, s.addr, ips, count, err) : TALLY_OK;
}

static enum tally_status early_waits_give(struct early_waits *e, struct tally_error *err)
{
	struct tally_bytes bytes = writer_view(&e->out);
	struct record record;
	enum tally_status status = e->out.failed ? error_nomem(err) : TALLY_OK;
	for (size_t at = 0; status == TALLY_OK && at < bytes.len; at += record.bytes.len) {
		status = record_at(bytes, false, at, &record, err);
		if (status == TALLY_OK && record.type == RECORD_SAMPLE)
			status = early_waits_give_sample(e, &record, err);
	}
	writer_clear(&e->out);
	if (!live_unwind_is_holding(e->unwind))
		e->held = 0;
	return status;
}

/* ---- The queue ---- */

enum tally_status early_waits_go_on(struct early_waits *e, int64_t budget_ms, struct tally_error *err)
{
	int64_t until_ms = clock_ms() + budget_ms;
	enum tally_status status = TALLY_OK;
	if (live_unwind_is_holding(e->unwind))
		status = live_unwind_end_round(e->unwind, &e->out, err);
	if (status == TALLY_OK)
		status = early_waits_give(e, err);
	/* The number of pending bytes limits this loop, not pending files: a thread may wake up soon, and then its
	 * stack is lost. */
	while (status == TALLY_OK && e->done < e->threads.len && e->held < HELD_MOST) {
		status = early_waits_unwind(e, &e->threads.items[e->done++], err);
		if (status == TALLY_OK)
			status = early_waits_give(e, err);
		if (clock_ms() >= until_ms)
			break;
	}
	if (e->done == e->threads.len)
		e->threads.len = e->done = 0;
	return status;
}

enum tally_status early_waits_finish(struct early_waits *e, int64_t budget_ms, struct tally_error *err)
{
	int64_t until_ms = clock_ms() + budget_ms;
	enum tally_status status;
	do {
		/* This call waits for files that are still being opened. */
		status = live_unwind_finish(e->unwind, &e->out, err);
		if (status == TALLY_OK)
			status = early_waits_go_on(e, until_ms - clock_ms(), err);
	} while (status == TALLY_OK && e->done < e->threads.len && clock_ms() < until_ms);
	if (status == TALLY_OK)
		status = live_unwind_finish(e->unwind, &e->out, err);
	for (; status == TALLY_OK && e->done < e->threads.len; e->done++)
		status = early_waits_lose(e, e->threads.items[e->done].tid, EARLY_WAITS_UNREACHED, err);
	return status == TALLY_OK ? early_waits_give(e, err) : status;
}
