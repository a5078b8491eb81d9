/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind.c - measures how fast one core unwinds stacks by call-frame information, and how fast dwfl of libdw unwinds
 * the same stacks. For bench/run.py.
 *
 * usage: unwind [STACKS]. A profiling timer copies this program's own registers and up to 64 KiB of its stack while
 * it runs 25 frames deep through functions without frame pointers. Prints a word and a number per line: stacks,
 * frames per stack, stacks per second of CPU time by tally (caches warm and cold) and by libdw, stacks whose
 * addresses differ.
 */
#include <elfutils/libdwfl.h>
#include <inttypes.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/array.h"
#include "code/binaries/load_unwind.h"
#include "code/unwind/unwinder.h"

#define STACKS_MAX  4000
#define STACK_BYTES 65536
#define FRAMES_MAX  128
#define MODULES_MAX 32
#define REGISTERS   17 /* DWARF registers 0 to 16 of x86-64. */
#define TALLY_TURNS 500

struct sample {
	struct unwind_registers registers;
	size_t len;
	uint8_t *bytes;
	uint64_t ips[FRAMES_MAX];
	size_t count;
};

static struct sample *samples;
static volatile sig_atomic_t sample_count;
/* So few that they stay in the cache, like stacks that the kernel has just written. */
static size_t samples_wanted = 100;
static uint64_t stack_end;
extern void *__libc_stack_end;

/* The profiled code. */

typedef uint64_t (*level)(unsigned depth, uint64_t seed);
extern const level levels[16];

static uint64_t next_seed(uint64_t seed)
{
	return seed * UINT64_C(6364136223846793005) + 1;
}

__attribute__((noinline)) static uint64_t leaf(uint64_t seed)
{
	char text[32];
	for (unsigned i = 0; i < 200; i++)
		seed = next_seed(seed);
	snprintf(text, sizeof(text), "%" PRIu64, seed);
	return seed + strlen(text);
}

#define LEVEL(n)                                                                                            \
	__attribute__((noinline)) static uint64_t level_##n(unsigned depth, uint64_t seed)                  \
	{                                                                                                   \
		volatile uint64_t local[2 + (n)];                                                           \
		local[n] = seed;                                                                            \
		uint64_t result = depth == 0 ? leaf(seed) : levels[seed >> 60](depth - 1, next_seed(seed)); \
		return result * (2 * (n) + 1) + local[n] + depth;                                           \
	}
/* clang-format indents the lines after these calls differently each time. */
/* clang-format off */
LEVEL(0)
LEVEL(1)
LEVEL(2)
LEVEL(3)
LEVEL(4)
LEVEL(5)
LEVEL(6)
LEVEL(7)
LEVEL(8)
LEVEL(9)
LEVEL(10)
LEVEL(11)
LEVEL(12)
LEVEL(13)
LEVEL(14)
LEVEL(15)
/* clang-format on */

const level levels[16] = {level_0, level_1, level_2, level_3, level_4, level_5, level_6, level_7, level_8, level_9,
	level_10, level_11, level_12, level_13, level_14, level_15};

static void on_timer(int number, siginfo_t *info, void *context)
{
	static const int order[REGISTERS] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP,
		REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
	(void)number;
	(void)info;
	if ((size_t)sample_count == samples_wanted)
		return;
	const ucontext_t *at = context;
	struct sample *sample = &samples[sample_count];
	for (unsigned i = 0; i < REGISTERS; i++)
		sample->registers.values[i] = (uint64_t)at->uc_mcontext.gregs[order[i]];
	sample->registers.known = (1u << REGISTERS) - 1;
	sample->registers.pc = sample->registers.values[16];
	uint64_t sp = sample->registers.values[7];
	sample->len = stack_end - sp < STACK_BYTES ? (size_t)(stack_end - sp) : STACK_BYTES;
	memcpy(sample->bytes, (const void *)(uintptr_t)sp, sample->len); // NOLINT
	sample_count++;
}

static bool capture(void)
{
	struct sigaction action = {.sa_sigaction = on_timer, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
	stack_t other = {.ss_sp = malloc(1 << 17), .ss_size = 1 << 17};
	struct itimerval every = {.it_interval = {.tv_usec = 1000}, .it_value = {.tv_usec = 1000}};
	struct itimerval never = {0};
	uint64_t seed = 1;
	samples = calloc(samples_wanted, sizeof(*samples));
	if (!samples || !other.ss_sp)
		return false;
	for (size_t i = 0; i < samples_wanted; i++)
		if (!(samples[i].bytes = malloc(STACK_BYTES)))
			return false;
	stack_end = (uint64_t)(uintptr_t)__libc_stack_end + 256;
	if (sigaltstack(&other, NULL) != 0 || sigaction(SIGPROF, &action, NULL) != 0 ||
		setitimer(ITIMER_PROF, &every, NULL) != 0)
		return false;
	while ((size_t)sample_count < samples_wanted)
		seed = level_0(26, next_seed(seed));
	return setitimer(ITIMER_PROF, &never, NULL) == 0 && seed != 0;
}

/* Unwinding with tally. */

struct loaded {
	uint64_t low, high, bias;
	struct unwind_table *table;
};

static struct loaded loaded[MODULES_MAX];
static size_t loaded_count;

static int add_module(struct dl_phdr_info *info, size_t size, void *context)
{
	struct elf_image *image;
	struct loaded module = {.bias = info->dlpi_addr, .low = UINT64_MAX};
	const char *path = *info->dlpi_name ? info->dlpi_name : "/proc/self/exe";
	(void)size;
	(void)context;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		uint64_t low = info->dlpi_addr + header->p_vaddr;
		if (header->p_type != PT_LOAD)
			continue;
		module.low = MIN(low, module.low);
		module.high = MAX(low + header->p_memsz, module.high);
	}
	if (loaded_count == MODULES_MAX || module.low > module.high || elf_image_open(path, &image, NULL) != TALLY_OK)
		return 0;
	module.table = load_unwind_image(image, NULL, false);
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

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static size_t unwind_all(struct unwinder *unwinder, bool forget)
{
	struct unwind_modules modules = {.find = find};
	size_t complete = 0;
	for (size_t i = 0; i < samples_wanted; i++) {
		struct sample *sample = &samples[i];
		struct unwind_stack stack = {
			.address = sample->registers.values[7], .bytes = {sample->bytes, sample->len}};
		if (forget)
			unwinder_forget_tables(unwinder);
		struct unwind_result result =
			unwinder_run(unwinder, &sample->registers, &stack, &modules, sample->ips, FRAMES_MAX);
		sample->count = result.count;
		complete += result.end == UNWIND_ROOT;
	}
	return complete;
}

/* Unwinding with libdw. */

static const struct sample *current;
static uint64_t dwfl_ips[FRAMES_MAX];
static size_t dwfl_count;

static pid_t next_thread(Dwfl *dwfl, void *context, void **thread_context)
{
	(void)dwfl;
	(void)context;
	if (*thread_context)
		return 0;
	*thread_context = &current;
	return getpid();
}

static bool read_memory(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *value, void *context)
{
	uint64_t sp = current->registers.values[7];
	(void)dwfl;
	(void)context;
	if (address < sp || address - sp > current->len - sizeof(*value))
		return false;
	memcpy(value, current->bytes + (address - sp), sizeof(*value));
	return true;
}

static bool set_registers(Dwfl_Thread *thread, void *context)
{
	Dwarf_Word values[REGISTERS];
	(void)context;
	for (unsigned i = 0; i < REGISTERS; i++)
		values[i] = current->registers.values[i];
	return dwfl_thread_state_registers(thread, 0, REGISTERS, values);
}

static int take_frame(Dwfl_Frame *frame, void *context)
{
	Dwarf_Addr pc;
	bool is_activation;
	(void)context;
	if (!dwfl_frame_pc(frame, &pc, &is_activation) || dwfl_count == FRAMES_MAX)
		return DWARF_CB_ABORT;
	dwfl_ips[dwfl_count++] = pc;
	return DWARF_CB_OK;
}

static size_t dwfl_all(Dwfl *dwfl)
{
	size_t different = 0;
	for (size_t i = 0; i < samples_wanted; i++) {
		current = &samples[i];
		dwfl_count = 0;
		(void)dwfl_getthread_frames(dwfl, getpid(), take_frame, NULL);
		different += dwfl_count != current->count ||
			     memcmp(dwfl_ips, current->ips, dwfl_count * sizeof(dwfl_ips[0])) != 0;
	}
	return different;
}

static Dwfl *open_dwfl(void)
{
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_linux_proc_find_elf, .find_debuginfo = dwfl_standard_find_debuginfo};
	static const Dwfl_Thread_Callbacks threads = {
		.next_thread = next_thread, .memory_read = read_memory, .set_initial_registers = set_registers};
	Dwfl *dwfl = dwfl_begin(&callbacks);
	if (!dwfl || dwfl_linux_proc_report(dwfl, getpid()) != 0 || dwfl_report_end(dwfl, NULL, NULL) != 0 ||
		!dwfl_attach_state(dwfl, NULL, getpid(), &threads, NULL))
		return NULL;
	return dwfl;
}

int main(int argc, char **argv)
{
	struct unwinder *unwinder;
	size_t frames = 0;
	if (argc > 1)
		samples_wanted = strtoul(argv[1], NULL, 10);
	if (samples_wanted == 0 || samples_wanted > STACKS_MAX || !capture() ||
		unwinder_create(&arch_x86_64, &unwinder, NULL) != TALLY_OK) {
		fprintf(stderr, "cannot take %zu stacks (1 to %d)\n", samples_wanted, STACKS_MAX);
		return 1;
	}
	dl_iterate_phdr(add_module, NULL);
	size_t complete = unwind_all(unwinder, false);
	double begin = now();
	for (unsigned i = 0; i < TALLY_TURNS; i++)
		complete = unwind_all(unwinder, false);
	double warm = (now() - begin) / TALLY_TURNS;
	begin = now();
	(void)unwind_all(unwinder, true);
	double cold = now() - begin;
	for (size_t i = 0; i < samples_wanted; i++)
		frames += samples[i].count;
	Dwfl *dwfl = open_dwfl();
	if (!dwfl) {
		fprintf(stderr, "libdw: %s\n", dwfl_errmsg(-1));
		return 1;
	}
	(void)dwfl_all(dwfl);
	begin = now();
	size_t different = dwfl_all(dwfl);
	double libdw = now() - begin;
	double count = (double)samples_wanted;
	printf("stacks %zu\ncomplete %zu\nframes %.1f\ntally %.0f\ncold %.0f\nlibdw %.0f\ndifferent %zu\n",
		samples_wanted, complete, (double)frames / count, count / warm, count / cold, count / libdw, different);
	return 0;
}
