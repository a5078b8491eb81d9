/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simulation.h - says which part of a program `tally stat --simulate` and `tally record --simulate` are to collect.
 *
 * Under the simulator, with -D -1, events are collected only between a begin and its end. Anywhere else these functions
 * do nothing: they execute five instructions that change no register, and need no library. Pairs nest.
 *
 *	load(file);
 *	tally_simulation_begin();
 *	work();
 *	tally_simulation_end();
 *
 * tally_region_begin and tally_region_end (region.h) do so for the calling thread.
 */
#ifndef TALLY_SIMULATION_H
#define TALLY_SIMULATION_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
	TALLY_SIMULATION_BEGIN = 0x54590000,
	TALLY_SIMULATION_END,
	TALLY_SIMULATION_ZERO,
};

enum {
	TALLY_SIMULATION_PROCESS, /* all threads of the process */
	TALLY_SIMULATION_THREAD, /* the calling thread */
};

/* Sends a request to the simulator, by a sequence of instructions that Valgrind knows. Returns 0 if no simulator runs
 * the program. Threads: any. */
static inline int tally_simulation_request(uint64_t request, uint64_t scope)
{
#if defined(__linux__) && defined(__x86_64__) && defined(__LP64__)
	uint64_t block[6] = {request, scope, 0, 0, 0, 0};
	uint64_t result = 0;
	__asm__ volatile("rolq $3, %%rdi\n\t"
			 "rolq $13, %%rdi\n\t"
			 "rolq $61, %%rdi\n\t"
			 "rolq $51, %%rdi\n\t"
			 "xchgq %%rbx, %%rbx"
			 : "+d"(result)
			 : "a"(block)
			 : "cc", "memory");
	return (int)result;
#elif defined(__linux__) && defined(__aarch64__)
	uint64_t block[6] = {request, scope, 0, 0, 0, 0};
	register uint64_t result __asm__("x3") = 0;
	register uint64_t *pointer __asm__("x4") = block;
	__asm__ volatile("ror x12, x12, #3\n\t"
			 "ror x12, x12, #13\n\t"
			 "ror x12, x12, #51\n\t"
			 "ror x12, x12, #61\n\t"
			 "orr x10, x10, x10"
			 : "+r"(result)
			 : "r"(pointer)
			 : "cc", "memory");
	return (int)result;
#else
	(void)request;
	(void)scope;
	return 0;
#endif
}

/* Begins to collect, on all threads. Returns 1 under the simulator and 0 otherwise. Threads: any. */
static inline int tally_simulation_begin(void)
{
	return tally_simulation_request(TALLY_SIMULATION_BEGIN, TALLY_SIMULATION_PROCESS);
}

/* Ends what the last tally_simulation_begin began. Threads: any. */
static inline int tally_simulation_end(void)
{
	return tally_simulation_request(TALLY_SIMULATION_END, TALLY_SIMULATION_PROCESS);
}

/* Sets what was counted so far to 0, for example after a program's first phase. Samples stay. Threads: any. */
static inline int tally_simulation_zero(void)
{
	return tally_simulation_request(TALLY_SIMULATION_ZERO, TALLY_SIMULATION_PROCESS);
}

#ifdef __cplusplus
}
#endif

#endif
