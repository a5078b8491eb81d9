/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/doctor/event_trials.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "kernel/events/breakpoint_probe.h"

#define TRIAL_PAGES	 32
#define TRIAL_SLEEPS	 4
#define TRIAL_SLEEP_NS	 200000
#define TRIAL_CALLS	 8
#define TRIAL_TURNS	 100000 /* Number of iterations of a loop, each of which has 2 to 10 instructions. */
#define TRIAL_SPIN_NS	 2000000
#define TRIAL_TICKS_NS	 40000000 /* CPU time within which samples must arrive; one is due every TRIAL_RING_PERIOD_NS. */
#define TRIAL_MOST_LOOPS 10000 /* Bounds a wait for CPU time, as a filter may forbid reading that clock. */
#define TRIAL_CYCLES_NS	 20 /* Maximum plausible number of cycles per nanosecond (20 GHz). */

struct event_trial {
	const char *kind; /* Name of the machine check. */
	const char *event; /* NULL for the uprobe. */
	void (*cause)(void);
	const char *caused; /* Description of the events that occurred, with which the count is compared. */
	uint64_t least, most;
	bool is_rate; /* Set if least and most refer to one microsecond in which the event was counted. */
};

static void event_trial_loop(void)
{
	for (unsigned i = 0; i < TRIAL_TURNS; i++)
		__asm__ volatile("" ::: "memory");
}

static void event_trial_spin(void)
{
	uint64_t start = clock_ns_of(CLOCK_THREAD_CPUTIME_ID);
	for (unsigned i = 0; i < TRIAL_MOST_LOOPS && clock_ns_of(CLOCK_THREAD_CPUTIME_ID) - start < TRIAL_SPIN_NS; i++)
		event_trial_loop();
}

static void event_trial_touch_pages(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size = TRIAL_PAGES * page;
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return;
	madvise(memory, size, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < size; i += page)
		*(volatile char *)(memory + i) = 1;
	munmap(memory, size);
}

static void event_trial_sleep(void)
{
	const struct timespec pause = {0, TRIAL_SLEEP_NS};
	for (int i = 0; i < TRIAL_SLEEPS; i++)
		nanosleep(&pause, NULL);
}

__attribute__((noinline)) static void event_trial_called(void)
{
	__asm__ volatile("" ::: "memory");
}

static void event_trial_call(void)
{
	/* The call through a volatile pointer prevents inlining and cloning. */
	void (*volatile called)(void) = event_trial_called;
	for (int i = 0; i < TRIAL_CALLS; i++)
		called();
}

static const struct event_trial event_trials[] = {
	{"software", "page-faults:u", event_trial_touch_pages, "at least 32 pages were touched for the first time",
		TRIAL_PAGES, UINT64_MAX, false},
	{"software", "task-clock:u", event_trial_spin, "2 ms of CPU time were spent", TRIAL_SPIN_NS / 2, UINT64_MAX,
		false},
	{"software", "task-clock:u", event_trial_spin, "a microsecond has 1,000 ns", 900, 1100, true},
	{"kernel-mode", "context-switches", event_trial_sleep, "the thread slept 4 times", 1, UINT64_MAX, false},
	{"hardware", "instructions:u", event_trial_loop, "a loop of 100,000 turns ran", TRIAL_TURNS,
		50 * (uint64_t)TRIAL_TURNS, false},
	{"hardware", "cycles:u", event_trial_loop, "no CPU has a clock beyond 20 GHz, or one that stands", 1,
		1000 * TRIAL_CYCLES_NS, true},
	{"tracepoint", "sched:sched_switch", event_trial_sleep, "the thread slept 4 times", 1, UINT64_MAX, false},
	{"uprobe", NULL, event_trial_call, "the function was called 8 times", TRIAL_CALLS, TRIAL_CALLS, false},
};

int event_trial_open(const struct kernel_seam *kernel, struct event_spec *spec, pid_t pid, int cpu)
{
	int fd = event_open(kernel, &spec->attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0 && errno == EINVAL && ATTR_HAS(&spec->attr, EXCLUDE_GUEST)) {
		/* Some PMUs cannot exclude guests; record and stat retry without that, too. */
		spec->attr.flags &= ~ATTR_FLAG(ATTR_BIT_EXCLUDE_GUEST);
		fd = event_open(kernel, &spec->attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	}
	return fd;
}

/* Counts an event of this thread while cause runs. Returns false if the event cannot be opened or was not counted all
 * the time. */
static bool event_trial_count(
	const struct kernel_seam *kernel, struct event_spec *spec, void (*cause)(void), uint64_t *count, uint64_t *ns)
{
	uint64_t words[3] = {0}; /* Value, time enabled and time running. */
	spec->attr.read_format = READ_FORMAT_TOTAL_TIME_ENABLED | READ_FORMAT_TOTAL_TIME_RUNNING;
	spec->attr.sample_period_or_freq = 0;
	spec->attr.flags = (spec->attr.flags | ATTR_FLAG(ATTR_BIT_DISABLED)) & ~ATTR_FLAG(ATTR_BIT_FREQ);
	int fd = event_trial_open(kernel, spec, 0, -1);
	if (fd < 0)
		return false;
	bool is_counted = kernel->ioctl(kernel->context, fd, PERF_EVENT_IOC_ENABLE, NULL) >= 0;
	cause();
	is_counted &= kernel->ioctl(kernel->context, fd, PERF_EVENT_IOC_DISABLE, NULL) >= 0;
	is_counted &= kernel->read(kernel->context, fd, words, sizeof(words)) == (ssize_t)sizeof(words);
	kernel->close(kernel->context, fd);
	*count = words[0];
	*ns = words[2];
	return is_counted && words[2] > 0 && words[2] == words[1];
}

static bool event_trial_passes(const struct kernel_seam *kernel, struct event_catalogue *catalogue,
	const struct event_trial *trial, const char *event, struct text *reason)
{
	struct event_list list = {0};
	struct tally_error err;
	uint64_t count = 0, ns = 0;
	bool passes = true;
	/* On a machine with different kinds of cores, a name stands for one event per kind; it is not tried, because
	 * the thread runs on only one of them. */
	if (event_parse(catalogue, event, &list, &err) == TALLY_OK && list.len == 1 &&
		event_trial_count(kernel, &list.specs[0], trial->cause, &count, &ns)) {
		uint64_t measured = trial->is_rate ? (uint64_t)((double)count * 1000 / (double)ns) : count;
		passes = measured >= trial->least && measured <= trial->most;
		if (!passes)
			text_printf(reason, "it opens, but does not count what happens: %s%s counted %llu while %s",
				trial->event ? event : "the uprobe", trial->is_rate ? " in a microsecond" : "",
				(unsigned long long)measured, trial->caused);
	}
	event_list_deinit(&list);
	return passes;
}

bool event_trials_pass(
	const struct kernel_seam *kernel, struct event_catalogue *catalogue, const char *kind, struct text *reason)
{
	bool passes = true;
	for (size_t i = 0; i < ARRAY_LEN(event_trials) && passes; i++) {
		struct text event = {0};
		if (strcmp(event_trials[i].kind, kind) != 0)
			continue;
		if (event_trials[i].event)
			text_str(&event, event_trials[i].event);
		else
			event_trial_name_uprobe(&event);
		text_char(&event, '\0');
		if (!event.failed && event.data[0])
			passes = event_trial_passes(kernel, catalogue, &event_trials[i], event.data, reason);
		text_deinit(&event);
	}
	return passes;
}

bool event_trial_ring_fills(const struct kernel_seam *kernel, int fd, const void *ring)
{
	const struct perf_event_mmap_page *page = ring;
	uint64_t start = clock_ns_of(CLOCK_THREAD_CPUTIME_ID), head = 0;
	if (kernel->ioctl(kernel->context, fd, PERF_EVENT_IOC_ENABLE, NULL) < 0)
		return false;
	for (unsigned i = 0;
		i < TRIAL_MOST_LOOPS && head == 0 && clock_ns_of(CLOCK_THREAD_CPUTIME_ID) - start < TRIAL_TICKS_NS;
		i++) {
		event_trial_loop();
		head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	}
	kernel->ioctl(kernel->context, fd, PERF_EVENT_IOC_DISABLE, NULL);
	return head > 0;
}

/* Callback of dl_iterate_phdr, for the first image only, which is the program: converts the address of
 * event_trial_called to an offset in the file by the segment that contains it. */
static int event_trial_find_offset(struct dl_phdr_info *image, size_t size, void *offset)
{
	uintptr_t address = (uintptr_t)event_trial_called;
	(void)size;
	for (unsigned i = 0; i < image->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &image->dlpi_phdr[i];
		uintptr_t start = image->dlpi_addr + segment->p_vaddr;
		if (segment->p_type == PT_LOAD && address >= start && address - start < segment->p_memsz)
			*(uint64_t *)offset = address - start + segment->p_offset;
	}
	return 1;
}

void event_trial_name_uprobe(struct text *event)
{
	uint64_t offset = 0;
	dl_iterate_phdr(event_trial_find_offset, &offset);
	text_printf(event, "uprobe/path='/proc/self/exe',offset=%#llx/", (unsigned long long)offset);
}
