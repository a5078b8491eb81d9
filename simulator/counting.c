/* SPDX-License-Identifier: Apache-2.0 */
#include "counting.h"

#include "options.h"

ULong sim_raw[SIM_EVENT_COUNT];
ULong sim_next[SIM_EVENT_COUNT];
ULong sim_repeat_extra;
ULong sim_repeating;
struct sim_toggle sim_toggle = {SIM_NEVER, 0};

struct counting_thread {
	ULong repeating;
	struct sim_toggle toggle;
	UInt windows;
};

static struct counting_thread *counting_threads;
static ULong counting_collected[SIM_EVENT_COUNT]; /* Counts collected up to the last end of collecting. */
static ULong counting_since[SIM_EVENT_COUNT]; /* Totals when collecting last began. */
static ULong counting_remaining[SIM_EVENT_COUNT]; /* Remainder of each period while nothing is collected. */
static UInt counting_windows;
static ThreadId counting_running = VG_INVALID_THREADID;
static Bool counting_is_on;

/* Computes all totals, including the events that translated code does not count itself. */
static void counting_totals(ULong totals[SIM_EVENT_COUNT])
{
	VG_(memcpy)(totals, sim_raw, sizeof sim_raw);
	totals[SIM_BRANCHES] = totals[SIM_CONDITIONAL_BRANCHES] + totals[SIM_INDIRECT_BRANCHES];
	totals[SIM_BRANCH_MISSES] = totals[SIM_CONDITIONAL_BRANCH_MISSES] + totals[SIM_INDIRECT_BRANCH_MISSES];
	totals[SIM_L1I_LOADS] = totals[SIM_ITLB_LOADS] = sim_raw[SIM_INSTRUCTIONS] + sim_repeat_extra;
	totals[SIM_DTLB_LOADS] = sim_raw[SIM_L1D_LOADS];
	totals[SIM_DTLB_STORES] = sim_raw[SIM_L1D_STORES];
}

static void counting_switch(Bool is_on)
{
	ULong totals[SIM_EVENT_COUNT];
	if (is_on == counting_is_on)
		return;
	counting_is_on = is_on;
	counting_totals(totals);
	for (UInt e = 0; e < SIM_EVENT_COUNT; e++) {
		if (is_on) {
			counting_since[e] = totals[e];
			if (counting_remaining[e] != SIM_NEVER)
				sim_next[e] = sim_raw[e] + counting_remaining[e];
		} else {
			counting_collected[e] += totals[e] - counting_since[e];
			counting_remaining[e] = sim_next[e] == SIM_NEVER ? SIM_NEVER : sim_next[e] - sim_raw[e];
			sim_next[e] = SIM_NEVER;
		}
	}
}

static void counting_decide(void)
{
	const struct counting_thread *thread = &counting_threads[counting_running];
	Bool in_window = sim_options.collects_at_start || counting_windows || thread->windows;
	counting_switch(in_window && (!sim_options.toggle_count || sim_toggle.sp != SIM_NEVER));
}

void sim_counting_begin(void)
{
	if (!counting_threads) {
		counting_threads = VG_(calloc)("tally.threads", VG_N_THREADS, sizeof *counting_threads);
		for (UInt i = 0; i < VG_N_THREADS; i++)
			sim_counting_forget(i);
	}
	VG_(memset)(sim_raw, 0, sizeof sim_raw);
	VG_(memset)(counting_collected, 0, sizeof counting_collected);
	VG_(memset)(counting_since, 0, sizeof counting_since);
	sim_repeat_extra = 0;
	for (UInt e = 0; e < SIM_EVENT_COUNT; e++)
		sim_next[e] = counting_remaining[e] = SIM_NEVER;
	for (UInt i = 0; i < sim_options.sampled_count; i++) {
		const struct sim_sampled *sampled = &sim_options.sampled[i];
		*(counting_is_on ? &sim_next[sampled->event] : &counting_remaining[sampled->event]) = sampled->period;
	}
}

void sim_counts_now(ULong counts[SIM_EVENT_COUNT])
{
	ULong totals[SIM_EVENT_COUNT];
	counting_totals(totals);
	for (UInt e = 0; e < SIM_EVENT_COUNT; e++)
		counts[e] = counting_collected[e] + (counting_is_on ? totals[e] - counting_since[e] : 0);
}

void sim_counting_zero(void)
{
	VG_(memset)(counting_collected, 0, sizeof counting_collected);
	counting_totals(counting_since);
}

void sim_counting_run(ThreadId tid)
{
	counting_running = tid;
	sim_repeating = counting_threads[tid].repeating;
	sim_toggle = counting_threads[tid].toggle;
	counting_decide();
}

void sim_counting_stop(ThreadId tid)
{
	counting_threads[tid].repeating = sim_repeating;
	counting_threads[tid].toggle = sim_toggle;
}

void sim_counting_forget(ThreadId tid)
{
	counting_threads[tid] = (struct counting_thread){.toggle = {SIM_NEVER, 0}};
}

void sim_counting_window(enum sim_scope scope, Bool begins)
{
	UInt *windows = scope == SIM_SCOPE_THREAD ? &counting_threads[counting_running].windows : &counting_windows;
	if (begins)
		++*windows;
	else if (*windows)
		--*windows;
	counting_decide();
}

void sim_counting_toggled(void)
{
	counting_decide();
}
