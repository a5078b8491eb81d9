/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/standin/standin_calls.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"

#define VDSO_BYTES	16384 /* of it are searched */
#define STEPS_MAX	16 /* stops of other kinds that may come while a call is stepped */
#define AUX_VECTOR_PATH 64
#define AUX_ENTRIES_MAX 64
#define PAGE_BYTES	4096

bool standin_move_memory(pid_t tid, uint64_t address, void *bytes, size_t size, bool is_written)
{
	struct iovec ours = {bytes, size}, theirs = {(void *)(uintptr_t)address, size};
	ssize_t n = is_written ? process_vm_writev(tid, &ours, 1, &theirs, 1, 0)
			       : process_vm_readv(tid, &ours, 1, &theirs, 1, 0);
	return n == (ssize_t)size;
}

#if defined(__x86_64__)
static const uint8_t call_instruction[] = {0x0f, 0x05}; /* syscall */

static void set_call(struct standin_calls *c, long number, const uint64_t *arguments)
{
	c->now = c->saved;
	c->now.rip = c->instruction;
	c->now.orig_rax = UINT64_MAX; /* not in a system call that could be begun again */
	c->now.rax = (uint64_t)number;
	c->now.rdi = arguments[0];
	c->now.rsi = arguments[1];
	c->now.rdx = arguments[2];
	c->now.r10 = arguments[3];
	c->now.r8 = arguments[4];
	c->now.r9 = arguments[5];
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

static void set_call(struct standin_calls *c, long number, const uint64_t *arguments)
{
	c->now = c->saved;
	c->now.pc = c->instruction;
	c->now.regs[8] = (uint64_t)number;
	for (int i = 0; i < STANDIN_CALL_ARGUMENTS; i++)
		c->now.regs[i] = arguments[i];
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

/* The address of the vdso, which the kernel tells each program; 0: it has none. */
static uint64_t vdso_address(pid_t pid)
{
	char path[AUX_VECTOR_PATH];
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

/* The vdso is the same for all 64-bit programs: its instruction is looked for once. */
static uint64_t find_offset(pid_t tid, uint64_t vdso)
{
	uint8_t code[VDSO_BYTES];
	size_t len = 0;
	while (len < sizeof(code) && standin_move_memory(tid, vdso + len, code + len, PAGE_BYTES, false))
		len += PAGE_BYTES;
	for (size_t i = 0; i + sizeof(call_instruction) <= len; i += sizeof(call_instruction) == 2 ? 1 : 4)
		if (memcmp(code + i, call_instruction, sizeof(call_instruction)) == 0)
			return i;
	return 0;
}

static uint64_t find_instruction(struct standin *s, const struct standin_thread *thread)
{
	struct standin_process *process = standin_process_find(s, thread->pid);
	if (!process)
		return 0;
	if (process->call_address == 0) {
		uint64_t vdso = vdso_address(thread->pid);
		if (vdso && s->call_offset == 0)
			s->call_offset = find_offset(thread->tid, vdso);
		process->call_address = vdso && s->call_offset ? vdso + s->call_offset : 0;
	}
	return process->call_address;
}

/* False: it has ended, which is not for us to take. */
static bool step_once(struct standin_calls *c)
{
	siginfo_t info = {0};
	int failed;
	if (ptrace(PTRACE_SINGLESTEP, c->tid, NULL, NULL) != 0)
		return false;
	while ((failed = waitid(P_PID, (id_t)c->tid, &info, WSTOPPED | WEXITED | WNOWAIT | __WALL)) != 0 &&
		errno == EINTR)
		;
	if (failed || (info.si_code != CLD_TRAPPED && info.si_code != CLD_STOPPED) ||
		waitid(P_PID, (id_t)c->tid, &info, WSTOPPED | WNOHANG | __WALL) != 0 || info.si_pid == 0)
		return false;
	c->met_group_stop |= info.si_status >> 8 == PTRACE_EVENT_STOP && (info.si_status & 0xff) != SIGTRAP;
	return true;
}

bool standin_calls_begin(struct standin_calls *c, struct standin *s, const struct standin_thread *thread, bool is_exec)
{
	uint64_t blocked = ~signal_bit(SIGTRAP);
	*c = (struct standin_calls){.tid = thread->tid};
	c->has_mask = ptrace(PTRACE_GETSIGMASK, c->tid, (void *)sizeof(c->mask), &c->mask) == 0 && set_mask(c, blocked);
	/* The end of an exec still sets registers: its result. */
	if (!c->has_mask || (is_exec && !step_once(c)))
		return false;
	c->has_registers = get_registers(c, &c->saved);
	c->instruction = c->has_registers ? find_instruction(s, thread) : 0;
	return c->instruction != 0;
}

bool standin_call(struct standin_calls *c, long number, const uint64_t *arguments, long *result)
{
	static const uint64_t none[STANDIN_CALL_ARGUMENTS];
	set_call(c, number, arguments ? arguments : none);
	if (!set_registers(c, &c->now))
		return false;
	for (int step = 0; step < STEPS_MAX; step++) {
		if (!step_once(c) || !get_registers(c, &c->now))
			return false;
		if (has_returned(c)) {
			*result = call_result(c);
			return true;
		}
	}
	return false;
}

void standin_calls_end(struct standin_calls *c)
{
	if (c->has_registers)
		(void)set_registers(c, &c->saved);
	if (c->has_mask)
		(void)set_mask(c, c->mask);
	/* Its next stop tells that the program is stopped. */
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
