/* SPDX-License-Identifier: Apache-2.0 */
#include <elf.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <unistd.h>

#include "abi/data_src.h"
#include "base/array.h"
#include "kernel/standin/standin_calls.h"
#include "kernel/standin/standin_ring.h"
#include "kernel/system/kernel_files.h"

#define FRAME_BYTES	   16 /* Size of the caller's frame pointer and the return address, which are adjacent. */
#define REGISTERS	   64
#define FIELD_CPU	   39 /* Number of the field "processor" in /proc/TID/stat. */
#define COMM_SAMPLES	   64 /* Number of samples between two checks of a thread's name, which may change. */
#define RECORD_BYTES_MAX   65528
#define SAMPLE_OTHER_BYTES 256 /* Upper bound of the header, the fixed fields and the array lengths. */

/* State of a stopped thread. */
struct stopped {
	uint64_t registers[REGISTERS]; /* Indexed by perf's register numbers. */
	uint64_t ip, sp, fp;
	size_t stack_bytes; /* Size of the stack dump, which starts at sp. */
	uint64_t chain[STANDIN_CHAIN_MAX + 1];
	uint32_t chain_len;
};

static bool read_registers(struct stopped *t, pid_t tid)
{
#if defined(__x86_64__)
	struct user_regs_struct r;
	struct iovec io = {&r, sizeof(r)};
	if (ptrace(PTRACE_GETREGSET, tid, (void *)(uintptr_t)NT_PRSTATUS, &io) != 0 || io.iov_len != sizeof(r))
		return false;
	/* In perf's order, PERF_REG_X86_AX and so on. */
	const uint64_t ordered[] = {r.rax, r.rbx, r.rcx, r.rdx, r.rsi, r.rdi, r.rbp, r.rsp, r.rip, r.eflags, r.cs, r.ss,
		r.ds, r.es, r.fs, r.gs, r.r8, r.r9, r.r10, r.r11, r.r12, r.r13, r.r14, r.r15};
	memcpy(t->registers, ordered, sizeof(ordered));
	t->ip = r.rip;
	t->sp = r.rsp;
	t->fp = r.rbp;
	return true;
#elif defined(__aarch64__)
	struct user_regs_struct r;
	struct iovec io = {&r, sizeof(r)};
	if (ptrace(PTRACE_GETREGSET, tid, (void *)(uintptr_t)NT_PRSTATUS, &io) != 0 || io.iov_len != sizeof(r))
		return false;
	/* PERF_REG_ARM64_X0 to LR, SP, PC: the kernel's order. */
	memcpy(t->registers, r.regs, sizeof(r.regs));
	t->registers[31] = r.sp;
	t->registers[32] = r.pc;
	t->ip = r.pc;
	t->sp = r.sp;
	t->fp = r.regs[29];
	return true;
#else
	(void)t;
	(void)tid;
	return false;
#endif
}

/* Copies up to size bytes; fewer if the mapping ends before. */
static size_t standin_samples_read_memory(pid_t tid, uint64_t address, uint8_t *into, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), done = 0;
	while (done < size) {
		struct iovec ours = {into + done, size - done},
			     theirs = {(void *)(uintptr_t)(address + done), size - done};
		ssize_t n = process_vm_readv(tid, &ours, 1, &theirs, 1, 0);
		size_t part = MIN(page - (size_t)((address + done) & (page - 1)), size - done);
		/* If the call is denied or the range is not mapped throughout, memory is read page by page. */
		if (n <= 0 && !standin_move_memory(tid, address + done, into + done, part, false))
			break;
		done += n > 0 ? (size_t)n : part;
	}
	return done;
}

/* Follows frame pointers as the kernel does: towards higher addresses only. */
static void read_chain(struct standin *s, struct stopped *t, pid_t tid)
{
	uint64_t frame[FRAME_BYTES / sizeof(uint64_t)];
	uint64_t at = t->fp, last = t->sp;
	t->chain[t->chain_len++] = PERF_CONTEXT_USER;
	t->chain[t->chain_len++] = t->ip;
	while (t->chain_len <= STANDIN_CHAIN_MAX && at >= last && at % sizeof(uint64_t) == 0) {
		uint64_t from = at + (uint64_t)(int64_t)s->arch->frame_fp_offset;
		if (standin_samples_read_memory(tid, from, (uint8_t *)frame, sizeof(frame)) != sizeof(frame) ||
			frame[1] == 0)
			break;
		t->chain[t->chain_len++] = frame[1];
		last = at + 1;
		at = frame[0];
	}
}

/* Size of the largest stack dump that an event of the thread requests. */
static size_t wanted_stack(struct standin *s, const struct standin_thread *thread, bool *wants_chain)
{
	const struct standin_event *event;
	size_t most = 0, at = 0;
	while ((event = standin_event_of(s, thread, 0, &at))) {
		if (event->attr.sample_type & SAMPLE_STACK_USER)
			most = MAX(most, (size_t)event->attr.sample_stack_user);
		*wants_chain |= (event->attr.sample_type & SAMPLE_CALLCHAIN) != 0 &&
				!ATTR_HAS(&event->attr, EXCLUDE_CALLCHAIN_USER);
	}
	return MIN(most, (size_t)STANDIN_STACK_MAX);
}

static void put_sample(struct standin *s, struct standin_event *event, const struct standin_thread *thread,
	const struct stopped *t, uint64_t period)
{
	uint64_t values[REGISTERS];
	uint32_t count = 0;
	for (unsigned bit = 0; bit < REGISTERS; bit++)
		if (event->attr.sample_regs_user >> bit & 1)
			values[count++] = t->registers[bit];
	/* Like the kernel, this shortens the stack dump if the record would become too long. */
	uint64_t others = (uint64_t)(t->chain_len + count) * sizeof(uint64_t) + SAMPLE_OTHER_BYTES;
	uint64_t room = RECORD_BYTES_MAX - MIN(others, (uint64_t)RECORD_BYTES_MAX);
	uint64_t stack_size =
		MIN(MIN((uint64_t)event->attr.sample_stack_user, (uint64_t)t->stack_bytes), room) & ~UINT64_C(7);
	struct sample sample = {.present = event->attr.sample_type,
		.ip = t->ip,
		.time = standin_now(&event->attr),
		.id = standin_event_id(s, event),
		.stream_id = standin_event_id(s, event),
		.period = period,
		.data_src = DATA_SRC_NOT_AVAILABLE,
		.pid = (uint32_t)thread->pid,
		.tid = (uint32_t)thread->tid,
		.cpu = (uint32_t)(thread->cpu < 0 ? 0 : thread->cpu),
		.callchain = {(const uint8_t *)t->chain, t->chain_len},
		.regs_user = {.abi = 2,
			.mask = event->attr.sample_regs_user,
			.values = {(const uint8_t *)values, count}},
		.stack_user = {.bytes = {s->stack, (size_t)stack_size}, .dyn_size = stack_size, .size = stack_size}};
	if (!(event->attr.sample_type & SAMPLE_STACK_USER))
		sample.stack_user.size = sample.stack_user.bytes.len = 0;
	writer_clear(&s->record);
	if (sample_encode(&s->record, &event->layout, MISC_CPUMODE_USER, &sample))
		standin_ring_put(s, event, (struct tally_bytes){s->record.data, s->record.len});
}

/* Notes the CPU on which the thread runs or ran last. */
static void note_cpu(struct standin *s, struct standin_thread *thread)
{
	char *text = NULL;
	if (kernel_text(&s->seam, &text, NULL, "/proc/%d/task/%d/stat", (int)thread->pid, (int)thread->tid) != TALLY_OK)
		return;
	const char *at = strrchr(text, ')'); /* The name may contain any character. */
	for (unsigned field = 2; at && field < FIELD_CPU; field++)
		at = strchr(at + 1, ' ');
	if (at)
		thread->cpu = (int)strtol(at, NULL, 10);
	free(text);
}

bool standin_has_registers(pid_t tid)
{
	struct stopped t;
	return read_registers(&t, tid);
}

void standin_lose(struct standin *s, const struct standin_thread *thread, uint64_t samples)
{
	struct standin_event *event;
	size_t at = 0;
	s->losses.unsampled += samples;
	while (samples && (event = standin_event_of(s, thread, 0, &at)))
		event->lost_total += samples;
}

void standin_sample(struct standin *s, struct standin_thread *thread, uint64_t period)
{
	struct stopped t = {0};
	struct standin_event *event;
	bool wants_chain = false;
	size_t at = 0;
	note_cpu(s, thread);
	thread->looked_at_ns = standin_now(NULL);
	size_t stack = wanted_stack(s, thread, &wants_chain);
	if (!standin_event_of(s, thread, 0, &at) || !read_registers(&t, thread->tid))
		return;
	if (thread->samples % COMM_SAMPLES == 0 || (thread->samples & (thread->samples - 1)) == 0)
		/* Most programs rename themselves early, so samples 1, 2, 4 ... check the name, too. */
		standin_put_comm(s, thread, false);
	thread->samples++;
	standin_renew_mappings(s, thread);
	if (stack)
		t.stack_bytes = standin_samples_read_memory(thread->tid, t.sp, s->stack, stack) & ~(size_t)7;
	if (wants_chain)
		read_chain(s, &t, thread->tid);
	for (at = 0; (event = standin_event_of(s, thread, 0, &at));) {
		event->count_ns += period;
		put_sample(s, event, thread, &t, period);
	}
}
