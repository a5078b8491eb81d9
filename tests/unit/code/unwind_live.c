/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the unwinder on this program's own registers and stack with that of libgcc: at every instruction of some
 * code (x86-64), at timer signals, and inside signal handlers.
 */
#include <execinfo.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/array.h"
#include "code/binaries/load_unwind.h"
#include "code/binaries/vdso_image.h"
#include "code/unwind/unwinder.h"
#include "unit_test.h"

#if (defined(__x86_64__) || defined(__aarch64__)) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

#define FRAMES_MAX   128
#define MODULES_MAX  32
#define STEPS_WANTED 20000
#define TICKS_WANTED 200

struct loaded {
	uint64_t low, high, bias;
	struct unwind_table *table;
};

static struct loaded loaded[MODULES_MAX];
static size_t loaded_count;
static struct unwinder *unwinder;
static uint64_t stack_top;
static bool has_libgcc;
static unsigned long steps, frames, differences, ends[UNWIND_ENDS];
static char difference[512];

static int add_module(struct dl_phdr_info *info, size_t size, void *context)
{
	(void)size;
	(void)context;
	struct loaded module = {.bias = info->dlpi_addr, .low = UINT64_MAX};
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		uint64_t low = info->dlpi_addr + header->p_vaddr;
		if (header->p_type != PT_LOAD)
			continue;
		module.low = MIN(low, module.low);
		module.high = MAX(low + header->p_memsz, module.high);
	}
	struct elf_image *image = NULL;
	const char *path = *info->dlpi_name ? info->dlpi_name : "/proc/self/exe";
	bool is_vdso = strstr(path, "vdso") != NULL;
	struct vdso_image own = {.owned = NULL};
	if (loaded_count == MODULES_MAX || module.low > module.high ||
		(is_vdso && !vdso_image_open(STR(VDSO_NAME), &own)) ||
		(is_vdso ? elf_image_open_bytes(own.bytes, &image, NULL) : elf_image_open(path, &image, NULL)) !=
			TALLY_OK)
		return 0;
	module.table = load_unwind_image(image, NULL, 0, is_vdso);
	elf_image_close(image);
	loaded[loaded_count++] = module;
	return 0;
}

static bool find(void *context, uint64_t pc, struct unwind_module *module)
{
	(void)context;
	for (size_t i = 0; i < loaded_count; i++) {
		if (pc < loaded[i].low || pc >= loaded[i].high)
			continue;
		*module = (struct unwind_module){
			.table = loaded[i].table, .low = loaded[i].low, .high = loaded[i].high, .bias = loaded[i].bias};
		return true;
	}
	return false;
}

#ifdef __x86_64__
#define OWN_ARCH arch_x86_64
#define PAC
static struct unwind_registers registers_of(const ucontext_t *context)
{
	static const int order[17] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8,
		REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
	struct unwind_registers registers = {.known = 0x1ffff};
	for (unsigned i = 0; i < 17; i++)
		registers.values[i] = (uint64_t)context->uc_mcontext.gregs[order[i]];
	registers.pc = registers.values[16];
	return registers;
}
#else
#define OWN_ARCH arch_aarch64
#define PAC	 __attribute__((target("branch-protection=pac-ret"))) /* With pac-ret, return addresses are signed. */
static struct unwind_registers registers_of(const ucontext_t *context)
{
	struct unwind_registers registers = {.known = 0xffffffff, .pc = context->uc_mcontext.pc};
	for (unsigned i = 0; i < 31; i++)
		registers.values[i] = context->uc_mcontext.regs[i];
	registers.values[31] = context->uc_mcontext.sp;
	return registers;
}
#endif

/* Returns the trace of libgcc from the interrupted code on, and its length. */
static size_t known_good(uint64_t pc, void **trace, size_t *from)
{
	int count = backtrace(trace, FRAMES_MAX);
	for (int i = 0; i < count; i++) {
		if ((uint64_t)(uintptr_t)trace[i] == pc) {
			*from = (size_t)i;
			return (size_t)(count - i);
		}
	}
	return 0;
}

static void compare(const ucontext_t *context)
{
	void *trace[FRAMES_MAX];
	uint64_t ips[FRAMES_MAX];
	size_t from = 0;
	struct unwind_registers registers = registers_of(context);
	struct unwind_stack stack = {.address = registers.values[OWN_ARCH.dwarf_sp]};
	stack.bytes.data = (const uint8_t *)stack.address;
	stack.bytes.len = stack_top - stack.address;
	struct unwind_modules modules = {.find = find};
	size_t count = known_good(registers.pc, trace, &from);
	struct unwind_result result = unwinder_run(unwinder, &registers, &stack, &modules, ips, FRAMES_MAX);
	/* libgcc cannot unwind the PLT of aarch64, which has no call-frame information. */
	if (count == 1 && &OWN_ARCH == &arch_aarch64)
		return;
	bool is_same = result.count == count && result.end == UNWIND_ROOT;
	for (size_t i = 0; i < count && is_same; i++)
		is_same = ips[i] == (uint64_t)(uintptr_t)trace[from + i];
	steps++;
	frames += result.count;
	ends[result.end]++;
	if (!is_same && differences++ == 0)
		snprintf(difference, sizeof(difference), "at %#llx: %zu frames (%s), libgcc has %zu",
			(unsigned long long)registers.pc, result.count, unwind_end_name(result.end), count);
}

extern void *__libc_stack_end; /* The loader stores the initial stack pointer here. */
static volatile sig_atomic_t is_over;

static int by_value(const void *a, const void *b)
{
	int left = *(const int *)a;
	int right = *(const int *)b;
	return left < right ? -1 : left > right;
}

PAC __attribute__((noinline)) static unsigned deep(unsigned depth, unsigned seed)
{
	int values[24];
	char text[64];
	for (unsigned i = 0; i < 24; i++)
		values[i] = (int)(seed = seed * 1103515245u + 12345u);
	if (depth > 0)
		return deep(depth - 1, seed) + (unsigned)values[seed % 24];
	qsort(values, 24, sizeof(values[0]), by_value);
	snprintf(text, sizeof(text), "%d %s %g", values[0], "text", values[1] / 3.0);
	return (unsigned)strlen(text) + (unsigned)strtol(text, NULL, 10);
}

static void handle(int number, void (*handler)(int, siginfo_t *, void *))
{
	struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_RESTART};
	assert_int_equal(sigaction(number, &action, NULL), 0);
}

static int begin(void **state)
{
	(void)state;
	void *warm[4];
	stack_top = (uint64_t)(uintptr_t)__libc_stack_end + 8;
	has_libgcc = backtrace(warm, 4) > 0; /* The first call loads libgcc. */
	dl_iterate_phdr(add_module, NULL);
	return unwinder_create(&OWN_ARCH, &unwinder, NULL) == TALLY_OK ? 0 : 1;
}

static int finish(void **state)
{
	(void)state;
	unwinder_destroy(unwinder);
	for (size_t i = 0; i < loaded_count; i++)
		unwind_table_destroy(loaded[i].table);
	return 0;
}

static void reset(void)
{
	if (!has_libgcc)
		skip_because("libgcc_s is missing");
	steps = frames = differences = 0;
	memset(ends, 0, sizeof(ends));
}

static void check(unsigned long wanted)
{
	print_message("%lu stacks of %lu frames, %lu differences\n", steps, frames, differences);
	for (unsigned i = 0; i < UNWIND_ENDS; i++)
		if (ends[i])
			print_message("  %s: %lu\n", unwind_end_name((enum unwind_end)i), ends[i]);
	if (differences)
		fail_msg("%lu of %lu stacks differ; the first %s", differences, steps, difference);
	assert_true(steps >= wanted);
}

#ifdef __x86_64__
static void on_trap(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	ucontext_t *at = context;
	if (is_over || steps == STEPS_WANTED)
		at->uc_mcontext.gregs[REG_EFL] &= ~0x100LL;
	else
		compare(at);
}

static void set_trap_flag(void)
{
	__asm__ volatile("pushfq\n\torq $0x100, (%%rsp)\n\tpopfq" ::: "memory", "cc");
}

static void every_instruction(void **state)
{
	(void)state;
	reset();
	handle(SIGTRAP, on_trap);
	set_trap_flag();
	unsigned sum = deep(10, (unsigned)steps);
	is_over = 1;
	__asm__ volatile("nop");
	assert_true(sum != 1);
	check(1000);
}
#else
static void every_instruction(void **state)
{
	(void)state;
	skip_because("single steps are made on x86-64");
}
#endif

static void on_tick(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	if (steps < TICKS_WANTED)
		compare(context);
}

static void whenever_a_timer_strikes(void **state)
{
	(void)state;
	struct itimerval every = {.it_interval = {.tv_usec = 1000}, .it_value = {.tv_usec = 1000}};
	struct itimerval never = {0};
	unsigned sum = 0;
	reset();
	handle(SIGPROF, on_tick);
	assert_int_equal(setitimer(ITIMER_PROF, &every, NULL), 0);
	while (steps < TICKS_WANTED)
		sum += deep(sum % 12, sum);
	assert_int_equal(setitimer(ITIMER_PROF, &never, NULL), 0);
	check(TICKS_WANTED);
}

static void on_inner(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	compare(context);
}

static void on_outer(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	(void)context;
	raise(SIGUSR2);
}

/* The traces include the handler of SIGUSR1 and the code that it interrupted. */
static void inside_a_handler(void **state)
{
	(void)state;
	reset();
	handle(SIGUSR1, on_outer);
	handle(SIGUSR2, on_inner);
	raise(SIGUSR1);
	check(1);
}

static void *in_thread(void *place)
{
	uint64_t here = (uint64_t)(uintptr_t)&place;
	pthread_attr_t attributes;
	void *stack;
	size_t size;
	if (pthread_getattr_np(pthread_self(), &attributes) == 0 &&
		pthread_attr_getstack(&attributes, &stack, &size) == 0) {
		stack_top = (uint64_t)(uintptr_t)stack + size;
		if (stack_top > here)
			raise(SIGUSR2);
		pthread_attr_destroy(&attributes);
	}
	return NULL;
}

/* A thread begins in clone, not in _start. */
static void in_another_thread(void **state)
{
	(void)state;
	pthread_t thread;
	uint64_t before = stack_top;
	reset();
	handle(SIGUSR2, on_inner);
	assert_int_equal(pthread_create(&thread, NULL, in_thread, NULL), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	stack_top = before;
	check(1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_instruction),
		cmocka_unit_test(whenever_a_timer_strikes),
		cmocka_unit_test(inside_a_handler),
		cmocka_unit_test(in_another_thread),
	};
	return cmocka_run_group_tests(tests, begin, finish);
}

#else

static void beside_libgcc(void **state)
{
	(void)state;
	skip_because("own registers are read on x86-64 and aarch64, without sanitizers");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(beside_libgcc)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
