/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/recording/early_waits.h"

#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/array.h"
#include "kernel/recording/record_attrs.h"
#include "kernel/recording/thread_waits.h"
#include "unit_test.h"

#define STACK_ID 0x1234567890

/* A thread of this process that waits in a known chain of calls, and its registers there. */
struct waiter {
	pthread_t thread;
	sem_t is_ready, may_go;
	struct waiting_thread found;
	uint64_t callers[2]; /* Return addresses, innermost first. */
};

static void waiter_read(struct waiter *w, const ucontext_t *context)
{
	uint64_t *r = w->found.registers;
	w->found.tid = (uint32_t)syscall(SYS_gettid);
	w->found.pid = (uint32_t)getpid();
	w->found.stack = STACK_ID;
#if defined(__x86_64__)
	const greg_t *g = context->uc_mcontext.gregs;
	r[1] = (uint64_t)g[REG_RBX];
	r[6] = (uint64_t)g[REG_RBP];
	r[7] = (uint64_t)g[REG_RSP];
	r[8] = (uint64_t)g[REG_RIP];
	r[20] = (uint64_t)g[REG_R12];
	r[21] = (uint64_t)g[REG_R13];
	r[22] = (uint64_t)g[REG_R14];
	r[23] = (uint64_t)g[REG_R15];
	w->found.has_registers = true;
#elif defined(__aarch64__)
	for (size_t i = 0; i < 31; i++)
		r[i] = context->uc_mcontext.regs[i];
	r[31] = context->uc_mcontext.sp;
	r[32] = context->uc_mcontext.pc;
	w->found.has_registers = true;
#endif
}

__attribute__((noinline)) static int waiter_inner(struct waiter *w)
{
	ucontext_t context;
	w->callers[0] = (uint64_t)(uintptr_t)__builtin_return_address(0);
	getcontext(&context);
	waiter_read(w, &context);
	sem_post(&w->is_ready);
	while (sem_wait(&w->may_go) != 0)
		;
	return (int)w->found.tid;
}

__attribute__((noinline)) static int waiter_outer(struct waiter *w)
{
	w->callers[1] = (uint64_t)(uintptr_t)__builtin_return_address(0);
	return waiter_inner(w) + 1;
}

static void *waiter_run(void *argument)
{
	struct waiter *w = argument;
	return waiter_outer(w) ? w : NULL;
}

static void waiter_start(struct waiter *w)
{
	*w = (struct waiter){.found.stack = 0};
	sem_init(&w->is_ready, 0, 0);
	sem_init(&w->may_go, 0, 0);
	assert_int_equal(pthread_create(&w->thread, NULL, waiter_run, w), 0);
	while (sem_wait(&w->is_ready) != 0)
		;
	struct thread_wait now;
	do {
		usleep(1000);
		now = thread_waits_read(kernel_seam_linux(), (pid_t)w->found.tid);
	} while (now.state != 'S');
	w->found.switches = now.switches;
}

static void waiter_end(struct waiter *w)
{
	sem_post(&w->may_go);
	pthread_join(w->thread, NULL);
	sem_destroy(&w->is_ready);
	sem_destroy(&w->may_go);
}

struct early_stacks {
	size_t calls, count, losses[2];
	uint64_t stack, ips[127];
};

static enum tally_status take_early(
	void *context, uint64_t stack, const uint64_t *ips, size_t count, struct tally_error *err)
{
	struct early_stacks *got = context;
	assert_true(count <= ARRAY_LEN(got->ips));
	got->calls++;
	got->stack = stack;
	got->count = count;
	memcpy(got->ips, ips, count * sizeof(*ips));
	return TALLY_OK;
}

static enum tally_status lose_early(void *context, uint32_t tid, enum early_waits_loss loss, struct tally_error *err)
{
	struct early_stacks *got = context;
	got->losses[loss]++;
	return TALLY_OK;
}

/* Reads the early stacks of one thread. */
static struct early_stacks stacks_of(const struct waiting_thread *thread)
{
	struct early_stacks got = {.calls = 0};
	const struct early_waits_config config = {
		.kernel = kernel_seam_linux(), .arch = record_host_arch(), .sink = {take_early, lose_early, &got}};
	struct early_waits *early;
	assert_int_equal(early_waits_create(&config, &early, NULL), TALLY_OK);
	assert_false(early_waits_are_left(early));
	assert_int_equal(early_waits_add(early, thread, NULL), TALLY_OK);
	assert_int_equal(early_waits_are_left(early), thread->has_registers);
	assert_int_equal(early_waits_go_on(early, 20, NULL), TALLY_OK);
	assert_int_equal(early_waits_finish(early, 10000, NULL), TALLY_OK);
	assert_false(early_waits_are_left(early));
	early_waits_destroy(early);
	return got;
}

static void skip_without_registers(const struct waiter *w)
{
	if (!w->found.has_registers)
		skip();
}

static void unwinds_a_thread_that_waits(void **state)
{
	struct waiter w;
	waiter_start(&w);
	const struct early_stacks got = stacks_of(&w.found);
	waiter_end(&w);
	skip_without_registers(&w);
	if (got.losses[EARLY_WAITS_UNREADABLE]) /* A sandbox may forbid process_vm_readv. */
		skip();
	const struct arch *arch = record_host_arch();
	assert_int_equal(got.calls, 1);
	assert_int_equal(got.stack, STACK_ID);
	assert_true(got.count >= 4); /* waiter_run and the start of the thread are callers too. */
	assert_int_equal(got.ips[0], w.found.registers[arch->ip]);
	assert_int_equal(got.ips[1], w.callers[0] - 1);
	assert_int_equal(got.ips[2], w.callers[1] - 1);
	assert_int_equal(got.losses[EARLY_WAITS_UNREACHED], 0);
}

static void gives_no_stack_of_another_wait(void **state)
{
	struct waiter w;
	waiter_start(&w);
	struct waiting_thread other = w.found;
	other.switches++;
	struct early_stacks got = stacks_of(&other);
	assert_int_equal(got.calls, 0);
	assert_int_equal(got.losses[EARLY_WAITS_UNREACHED], w.found.has_registers);
	waiter_end(&w);
	/* The thread has ended. */
	got = stacks_of(&w.found);
	assert_int_equal(got.calls, 0);
	assert_int_equal(got.losses[EARLY_WAITS_UNREACHED], w.found.has_registers);
}

static void survives_any_registers(void **state)
{
	static const uint64_t values[] = {0, 8, UINT64_MAX, UINT64_MAX - 7, UINT64_C(1) << 47, UINT64_C(1) << 63};
	struct waiter w;
	waiter_start(&w);
	for (size_t i = 0; i < ARRAY_LEN(values); i++) {
		struct waiting_thread hostile = w.found;
		for (size_t r = 0; r < ARRAY_LEN(hostile.registers); r++)
			hostile.registers[r] = values[(i + r) % ARRAY_LEN(values)];
		(void)stacks_of(&hostile);
		hostile = w.found; /* The stack is right, but the PC is wrong. */
		hostile.registers[record_host_arch()->ip] = values[i];
		(void)stacks_of(&hostile);
	}
	struct waiting_thread none = w.found;
	none.has_registers = false;
	assert_int_equal(stacks_of(&none).calls, 0);
	waiter_end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unwinds_a_thread_that_waits),
		cmocka_unit_test(gives_no_stack_of_another_wait),
		cmocka_unit_test(survives_any_registers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
