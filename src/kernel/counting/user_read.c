/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/counting/user_read.h"

#define ATTEMPTS_MAX 1000 /* The page changes when the thread is scheduled; a reader retries at most this often. */

#if defined(__x86_64__)
static uint64_t read_counter(uint32_t number)
{
	uint32_t low, high;
	__asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(number));
	return (uint64_t)high << 32 | low;
}

static uint64_t read_clock(void)
{
	uint32_t low, high;
	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
}
#elif defined(__aarch64__)
#define CYCLE_COUNTER 31

/* Each counter has its own register name; the register that selects one by number is not preserved over context
 * switches. */
#define CASE(N)                                                               \
	case N:                                                               \
		__asm__ volatile("mrs %0, pmevcntr" #N "_el0" : "=r"(value)); \
		break
static uint64_t read_counter(uint32_t number)
{
	uint64_t value = 0;
	__asm__ volatile("isb" ::: "memory");
	switch (number) {
		CASE(0);
		CASE(1);
		CASE(2);
		CASE(3);
		CASE(4);
		CASE(5);
		CASE(6);
		CASE(7);
		CASE(8);
		CASE(9);
		CASE(10);
		CASE(11);
		CASE(12);
		CASE(13);
		CASE(14);
		CASE(15);
		CASE(16);
		CASE(17);
		CASE(18);
		CASE(19);
		CASE(20);
		CASE(21);
		CASE(22);
		CASE(23);
		CASE(24);
		CASE(25);
		CASE(26);
		CASE(27);
		CASE(28);
		CASE(29);
		CASE(30);
	case CYCLE_COUNTER:
		__asm__ volatile("mrs %0, pmccntr_el0" : "=r"(value));
		break;
	default:
		break;
	}
	return value;
}
#undef CASE

static uint64_t read_clock(void)
{
	uint64_t value;
	__asm__ volatile("isb; mrs %0, cntvct_el0" : "=r"(value));
	return value;
}
#endif

const struct user_registers *user_registers(void)
{
#if defined(__x86_64__) || defined(__aarch64__)
	static const struct user_registers registers = {.counter = read_counter, .clock = read_clock};
	return &registers;
#else
	return NULL;
#endif
}

bool user_page_is_capable(const struct perf_event_mmap_page *page)
{
	/* Bit 0 once meant both rdpmc and time; the other bits are valid only if the page declares it deprecated. */
	return page->cap_bit0_is_deprecated && page->cap_user_rdpmc;
}

/* Nanoseconds since the page's times were written. */
static uint64_t elapsed_ns(const struct perf_event_mmap_page *page, uint64_t cycles)
{
	uint16_t shift = page->time_shift & 63;
	uint64_t mult = page->time_mult;
	if (page->cap_user_time_short) /* A short clock wraps: only the difference within its mask counts. */
		cycles = page->time_cycles + ((cycles - page->time_cycles) & page->time_mask);
	uint64_t quotient = cycles >> shift, rest = cycles & ((UINT64_C(1) << shift) - 1);
	return page->time_offset + quotient * mult + ((rest * mult) >> shift);
}

static bool sample_page(const struct perf_event_mmap_page *page, struct user_read *read, struct count *count)
{
	uint32_t index = page->index;
	uint16_t width = page->pmc_width;
	if (!user_page_is_capable(page) || index == 0 || width == 0 || width > 64 || !page->cap_user_time)
		return false;
	if (!read->has_cycles)
		read->cycles = read->registers->clock();
	uint64_t delta = elapsed_ns(page, read->cycles);
	uint64_t counter = read->registers->counter(index - 1) << (64 - width);
	*count = (struct count){
		.value = (uint64_t)page->offset + (uint64_t)((int64_t)counter >> (64 - width)),
		.enabled_ns = page->time_enabled + delta,
		.running_ns = page->time_running + delta,
	};
	return true;
}

bool user_page_read(const struct perf_event_mmap_page *page, struct user_read *read, struct count *count)
{
	for (int attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
		struct count sampled = {0};
		uint32_t lock = __atomic_load_n(&page->lock, __ATOMIC_RELAXED);
		/* The kernel writes the page on this CPU between two instructions, so a compiler barrier suffices. */
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		bool is_good = sample_page(page, read, &sampled);
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		if (__atomic_load_n(&page->lock, __ATOMIC_RELAXED) == lock) {
			read->has_cycles = is_good;
			if (is_good)
				*count = sampled;
			return is_good;
		}
		read->has_cycles = false; /* The clock value may now be older than the page's times. */
	}
	return false;
}
