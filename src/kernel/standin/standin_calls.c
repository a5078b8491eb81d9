/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/standin/standin_calls.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/interrupts.h"

#define VDSO_BYTES	16384 /* Maximum number of bytes of the vDSO that are searched. */
#define STOPS_MAX	16 /* Maximum number of stops until the one that is waited for. */
#define THREAD_PATH	64
#define AUX_ENTRIES_MAX 64
#define PAGE_BYTES	4096
#define WORD		sizeof(uint64_t)

/* ---- memory of a traced thread ---- */

/* /proc/TID/mem is accessible to the tracer even if a filter denies process_vm_readv. */
static bool move_by_file(pid_t tid, uint64_t address, void *bytes, size_t size, bool is_written)
{
	char path[THREAD_PATH];
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)tid);
	int fd = open(path, (is_written ? O_RDWR : O_RDONLY) | O_CLOEXEC);
	if (fd < 0)
		return false;
	ssize_t n = is_written ? pwrite(fd, bytes, size, (off_t)address) : pread(fd, bytes, size, (off_t)address);
	close(fd);
	return n == (ssize_t)size;
}

/* ptrace transfers single words, also of pages that the thread itself may only execute. */
static bool move_by_words(pid_t tid, uint64_t address, void *bytes, size_t size, bool is_written)
{
	for (size_t at = 0; at < size; at += WORD) {
		size_t part = MIN(WORD, size - at);
		void *place = (void *)(uintptr_t)(address + at);
		long word = 0;
		if (!is_written || part < WORD) {
			errno = 0;
			word = ptrace(PTRACE_PEEKDATA, tid, place, NULL);
			if (errno != 0)
				return false;
		}
		if (!is_written) {
			memcpy((uint8_t *)bytes + at, &word, part);
			continue;
		}
		memcpy(&word, (uint8_t *)bytes + at, part);
		if (ptrace(PTRACE_POKEDATA, tid, place, (void *)word) != 0)
			return false;
	}
	return true;
}

bool standin_move_memory(pid_t tid, uint64_t address, void *bytes, size_t size, bool is_written)
{
	struct iovec ours = {bytes, size}, theirs = {(void *)(uintptr_t)address, size};
	ssize_t n = is_written ? process_vm_writev(tid, &ours, 1, &theirs, 1, 0)
			       : process_vm_readv(tid, &ours, 1, &theirs, 1, 0);
	if (n >= 0 || errno == EFAULT)
		return n == (ssize_t)size;
	return move_by_file(tid, address, bytes, size, is_written) ||
	       move_by_words(tid, address, bytes, size, is_written);
}

/* ---- parts that depend on the architecture ---- */

/*
 * Code behind the call instruction that restores the signal mask and all registers and continues where the thread was
 * stopped. If the tracer is killed during a call, the thread thus restores itself. No instruction of it changes flags.
 * `registers` are those that a system call reads or changes.
 */
struct standin_call_place {
	uint8_t code[112];
	uint64_t mask, registers[9], ip;
};

#if defined(__x86_64__)
static const uint8_t call_instruction[] = {0x0f, 0x05}; /* syscall */

#define HAS_WAY_BACK true

static size_t emit_relative(struct standin_call_place *p, size_t at, const uint8_t *opcode, size_t len, size_t field)
{
	memcpy(p->code + at, opcode, len);
	int32_t distance = (int32_t)(field - (at + len + sizeof(int32_t)));
	memcpy(p->code + at + len, &distance, sizeof(distance));
	return at + len + sizeof(distance);
}

/* The kernel does the same if no handler runs: the interrupted system call is restarted. */
static void resolve_restart(struct user_regs_struct *r)
{
	enum { RESTART_SYS = 512, RESTART_NO_INTERRUPT = 513, RESTART_NO_HANDLER = 514, RESTART_BLOCK = 516 };
	long result = (long)r->rax;
	if ((long)r->orig_rax < 0)
		return;
	if (result == -RESTART_SYS || result == -RESTART_NO_INTERRUPT || result == -RESTART_NO_HANDLER)
		r->rax = r->orig_rax;
	else if (result == -RESTART_BLOCK)
		r->rax = SYS_restart_syscall;
	else
		return;
	r->rip -= sizeof(call_instruction);
}

static void make_call_place(const struct standin_calls *c, struct standin_call_place *p)
{
	/* syscall; mov eax, SYS_rt_sigprocmask; mov edi, SIG_SETMASK; mov edx, 0; mov r10d, 8 */
	static const uint8_t start[] = {0x0f, 0x05, 0xb8, SYS_rt_sigprocmask, 0, 0, 0, 0xbf, SIG_SETMASK, 0, 0, 0, 0xba,
		0, 0, 0, 0, 0x41, 0xba, sizeof(uint64_t), 0, 0, 0};
	static const uint8_t loads[][3] = {{0x48, 0x8b, 0x05}, {0x48, 0x8b, 0x0d}, {0x48, 0x8b, 0x15},
		{0x48, 0x8b, 0x35}, {0x48, 0x8b, 0x3d}, {0x4c, 0x8b, 0x05}, {0x4c, 0x8b, 0x0d}, {0x4c, 0x8b, 0x15},
		{0x4c, 0x8b, 0x1d}};
	static const uint8_t load_address[] = {0x48, 0x8d, 0x35}, jump[] = {0xff, 0x25}; /* lea rsi; jmp */
	struct user_regs_struct r = c->saved;
	resolve_restart(&r);
	*p = (struct standin_call_place){.mask = c->mask,
		.registers = {r.rax, r.rcx, r.rdx, r.rsi, r.rdi, r.r8, r.r9, r.r10, r.r11},
		.ip = r.rip};
	size_t at = sizeof(start);
	memcpy(p->code, start, sizeof(start));
	at = emit_relative(p, at, load_address, sizeof(load_address), offsetof(struct standin_call_place, mask));
	memcpy(p->code + at, call_instruction, sizeof(call_instruction));
	at += sizeof(call_instruction);
	for (size_t i = 0; i < ARRAY_LEN(loads); i++)
		at = emit_relative(
			p, at, loads[i], sizeof(loads[i]), offsetof(struct standin_call_place, registers) + i * WORD);
	(void)emit_relative(p, at, jump, sizeof(jump), offsetof(struct standin_call_place, ip));
}

/* The restoring code follows the instruction: if the tracer is killed, the thread makes this call and then restores
 * itself. */
static void set_call(struct standin_calls *c, long number, const uint64_t *arguments)
{
	c->now = c->saved;
	c->now.rip = c->instruction;
	c->now.orig_rax = UINT64_MAX; /* -1 means that the thread is in no system call that could be restarted. */
	c->now.rax = (uint64_t)number;
	c->now.rdi = arguments[0];
	c->now.rsi = arguments[1];
	c->now.rdx = arguments[2];
	c->now.r10 = arguments[3];
	c->now.r8 = arguments[4];
	c->now.r9 = arguments[5];
}

static uint64_t *program_counter(struct standin_calls *c)
{
	return (uint64_t *)&c->saved.rip;
}

static bool has_returned(const struct standin_calls *c)
{
	return c->now.rip == c->instruction + sizeof(call_instruction);
}

static long call_result(const struct standin_calls *c)
{
	return (long)c->now.rax;
}
#elif defined(__aarch64__)
static const uint8_t call_instruction[] = {0x01, 0x00, 0x00, 0xd4}; /* svc #0 */

/* No instruction jumps to an arbitrary address without using a register, so the thread cannot restore itself. */
#define HAS_WAY_BACK false

static void make_call_place(const struct standin_calls *c, struct standin_call_place *p)
{
	p->mask = c->mask;
}

static void set_call(struct standin_calls *c, long number, const uint64_t *arguments)
{
	c->now = c->saved;
	c->now.pc = c->instruction;
	c->now.regs[8] = (uint64_t)number;
	for (int i = 0; i < STANDIN_CALL_ARGUMENTS; i++)
		c->now.regs[i] = arguments[i];
}

static uint64_t *program_counter(struct standin_calls *c)
{
	return (uint64_t *)&c->saved.pc;
}

static bool has_returned(const struct standin_calls *c)
{
	return c->now.pc == c->instruction + sizeof(call_instruction);
}

static long call_result(const struct standin_calls *c)
{
	return (long)c->now.regs[0];
}
#endif

#if defined(__x86_64__) || defined(__aarch64__)

static bool get_registers(const struct standin_calls *c, struct user_regs_struct *r)
{
	struct iovec io = {r, sizeof(*r)};
	return ptrace(PTRACE_GETREGSET, c->tid, (void *)(uintptr_t)NT_PRSTATUS, &io) == 0 && io.iov_len == sizeof(*r);
}

static bool set_registers(const struct standin_calls *c, const struct user_regs_struct *r)
{
	struct iovec io = {(void *)(uintptr_t)r, sizeof(*r)};
	return ptrace(PTRACE_SETREGSET, c->tid, (void *)(uintptr_t)NT_PRSTATUS, &io) == 0;
}

static bool set_mask(const struct standin_calls *c, uint64_t mask)
{
	return ptrace(PTRACE_SETSIGMASK, c->tid, (void *)sizeof(mask), &mask) == 0;
}

/* ---- the call instruction ---- */

/* The address of the vDSO according to the auxiliary vector; 0 if there is none. */
static uint64_t vdso_address(pid_t pid)
{
	char path[THREAD_PATH];
	uint64_t entries[AUX_ENTRIES_MAX][2];
	snprintf(path, sizeof(path), "/proc/%d/auxv", (int)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	ssize_t len = read(fd, entries, sizeof(entries));
	close(fd);
	for (size_t i = 0; len > 0 && i < (size_t)len / sizeof(entries[0]); i++)
		if (entries[i][0] == AT_SYSINFO_EHDR)
			return entries[i][1];
	return 0;
}

/* Finds room for a struct standin_call_place in the last page of the vDSO, which ends with section headers, unused at
 * run time, and zeros; 0 if there is none. */
static uint64_t find_room(const uint8_t *code, size_t len)
{
	Elf64_Ehdr header;
	if (len < sizeof(header))
		return 0;
	memcpy(&header, code, sizeof(header));
	uint64_t table = (uint64_t)header.e_shnum * header.e_shentsize;
	if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_shoff < sizeof(header) || header.e_shoff > len ||
		table > VDSO_BYTES || header.e_shoff + table > len)
		return 0;
	uint64_t end = (header.e_shoff + table + PAGE_BYTES - 1) & ~(uint64_t)(PAGE_BYTES - 1);
	uint64_t room = (end - sizeof(struct standin_call_place)) & ~UINT64_C(15);
	return end <= len && room >= header.e_shoff ? room : 0;
}

/* The vDSO is the same for all 64-bit programs, so it is searched only once. */
static void search_vdso(struct standin *s, pid_t tid, uint64_t vdso)
{
	uint8_t code[VDSO_BYTES];
	size_t len = 0;
	while (len < sizeof(code) && standin_move_memory(tid, vdso + len, code + len, PAGE_BYTES, false))
		len += PAGE_BYTES;
	for (size_t i = 0; i + sizeof(call_instruction) <= len && s->call_offset == 0;
		i += sizeof(call_instruction) == 2 ? 1 : 4)
		if (memcmp(code + i, call_instruction, sizeof(call_instruction)) == 0)
			s->call_offset = i;
	s->room_offset = HAS_WAY_BACK ? find_room(code, len) : 0;
}

/* Writes the restoring code if there is room for it; otherwise an instruction of the vDSO itself serves. */
static uint64_t prepare_instruction(
	struct standin *s, const struct standin_thread *thread, const struct standin_calls *c)
{
	struct standin_process *process = standin_process_find(s, thread->pid);
	struct standin_call_place place;
	if (!process)
		return 0;
	if (process->vdso == 0)
		process->vdso = vdso_address(thread->pid);
	if (process->vdso && s->call_offset == 0)
		search_vdso(s, thread->tid, process->vdso);
	if (process->vdso == 0 || s->call_offset == 0)
		return 0;
	make_call_place(c, &place);
	uint64_t room = process->vdso + s->room_offset;
	if (s->room_offset && move_by_words(thread->tid, room, &place, sizeof(place), true))
		return room;
	return process->vdso + s->call_offset;
}

/* ---- restartable sequences ---- */

#define REQUEST_RSEQ 0x420f /* PTRACE_GET_RSEQ_CONFIGURATION, since Linux 5.13 */

/* A thread stopped in a restartable sequence continues at its abort handler, as after any preemption: the kernel could
 * not detect the sequence while the thread executes a call elsewhere. */
static void abort_sequence(struct standin_calls *c)
{
	struct {
		uint64_t pointer;
		uint32_t size, signature, flags, pad;
	} config = {0};
	struct {
		uint32_t version, flags;
		uint64_t start, length, abort;
	} sequence;
	uint64_t address = 0, *at = program_counter(c);
	if (ptrace(REQUEST_RSEQ, c->tid, (void *)sizeof(config), &config) <= 0 || config.pointer == 0 ||
		!standin_move_memory(c->tid, config.pointer + WORD, &address, sizeof(address), false) || address == 0 ||
		!standin_move_memory(c->tid, address, &sequence, sizeof(sequence), false))
		return;
	if (*at - sequence.start < sequence.length)
		*at = sequence.abort;
}

/* ---- calls ---- */

/* Waits for the next stop of the thread; false if it has ended, which is left for the engine to reap. */
static bool await_stop(struct standin_calls *c, int *stop)
{
	siginfo_t info = {0};
	int failed;
	unsigned interrupts = 0;
	while ((failed = waitid(P_PID, (id_t)c->tid, &info, WSTOPPED | WEXITED | WNOWAIT | __WALL)) != 0 &&
		is_interrupted(&interrupts))
		;
	if (failed || (info.si_code != CLD_TRAPPED && info.si_code != CLD_STOPPED) ||
		waitid(P_PID, (id_t)c->tid, &info, WSTOPPED | WNOHANG | __WALL) != 0 || info.si_pid == 0)
		return false;
	*stop = info.si_status;
	c->met_group_stop |= *stop >> 8 == PTRACE_EVENT_STOP && (*stop & 0xff) != SIGTRAP;
	return true;
}

/* Runs the thread to the entry or exit of a system call (is_to_call), or to a stop by PTRACE_INTERRUPT. Signals are
 * blocked, so any other signal stop is that of SIGSTOP, which is delivered. */
static bool run_to(struct standin_calls *c, bool is_to_call)
{
	int stop = 0, signal_number = 0;
	for (int n = 0; n < STOPS_MAX; n++) {
		void *number = (void *)(uintptr_t)signal_number;
		if (ptrace(is_to_call ? PTRACE_SYSCALL : PTRACE_CONT, c->tid, NULL, number) != 0 ||
			!await_stop(c, &stop))
			return false;
		if (is_to_call ? stop == (SIGTRAP | STANDIN_CALL_STOP) : stop >> 8 == PTRACE_EVENT_STOP)
			return true;
		signal_number = stop >> 8 == 0 && !(stop & STANDIN_CALL_STOP) ? stop : 0;
	}
	return false;
}

/* Runs the thread to its delivery of signals, where all registers may be set and system calls are restarted. */
static bool run_to_delivery(struct standin_calls *c)
{
	return ptrace(PTRACE_INTERRUPT, c->tid, NULL, NULL) == 0 && run_to(c, false);
}

bool standin_calls_begin(struct standin_calls *c, struct standin *s, const struct standin_thread *thread, bool is_exec)
{
	static const uint64_t none[STANDIN_CALL_ARGUMENTS];
	*c = (struct standin_calls){.tid = thread->tid};
	/* A returning exec still writes its result into the registers, so the thread first leaves it. */
	if ((is_exec && !run_to_delivery(c)) ||
		ptrace(PTRACE_GETSIGMASK, c->tid, (void *)sizeof(c->mask), &c->mask) != 0 ||
		!get_registers(c, &c->saved))
		return false;
	c->has_mask = true;
	abort_sequence(c);
	c->instruction = prepare_instruction(s, thread, c);
	if (c->instruction == 0)
		return false;
	/* Registers come first: a thread that restores itself also restores the mask. */
	set_call(c, SYS_getpid, none);
	c->is_away = set_registers(c, &c->now);
	return c->is_away && set_mask(c, UINT64_MAX);
}

bool standin_call(struct standin_calls *c, long number, const uint64_t *arguments, long *result)
{
	set_call(c, number, arguments);
	if (!set_registers(c, &c->now) || !run_to(c, true) || !run_to(c, true) || !get_registers(c, &c->now) ||
		!has_returned(c))
		return false;
	*result = call_result(c);
	return true;
}

void standin_calls_end(struct standin_calls *c)
{
	if (c->is_away && run_to_delivery(c)) {
		(void)set_mask(c, c->mask);
		(void)set_registers(c, &c->saved);
	}
	/* After this interrupt the thread reports the group stop again. */
	if (c->met_group_stop)
		(void)ptrace(PTRACE_INTERRUPT, c->tid, NULL, NULL);
}

#else

bool standin_calls_begin(struct standin_calls *c, struct standin *s, const struct standin_thread *thread, bool is_exec)
{
	(void)s;
	(void)thread;
	(void)is_exec;
	*c = (struct standin_calls){0};
	return false;
}

bool standin_call(struct standin_calls *c, long number, const uint64_t *arguments, long *result)
{
	(void)c;
	(void)number;
	(void)arguments;
	(void)result;
	return false;
}

void standin_calls_end(struct standin_calls *c)
{
	(void)c;
}

#endif
