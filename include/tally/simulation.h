/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simulation.h - selects the part of a program that `tally stat --simulate` and `tally record --simulate` measure.
 *
 * Under the simulator with -D -1, events are collected only between tally_simulation_begin and tally_simulation_end;
 * such pairs may be nested. Without the simulator, these functions have no effect: they execute five instructions that
 * change no register. They are inline, so no library is needed.
 *
 *	load(file);
 *	tally_simulation_begin();
 *	work();
 *	tally_simulation_end();
 *
 * tally_region_begin and tally_region_end (region.h) do the same for the calling thread only.
 */
#ifndef TALLY_SIMULATION_H
#define TALLY_SIMULATION_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { /* Requests; the upper 16 bits identify the simulator among Valgrind's tools. */
	TALLY_SIMULATION_BEGIN = 0x54590000,
	TALLY_SIMULATION_END,
	TALLY_SIMULATION_ZERO,
};

enum { /* Scopes of TALLY_SIMULATION_BEGIN and TALLY_SIMULATION_END. */
	TALLY_SIMULATION_PROCESS, /* All threads of the process. */
	TALLY_SIMULATION_THREAD, /* Only the calling thread. */
};

/* Sends a request to the simulator by an instruction sequence that Valgrind recognises. Returns 0 if the program does
 * not run under the simulator.
 * Threads: any. */
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

/* Starts collecting events of all threads. Returns 1 under the simulator and 0 otherwise.
 * Threads: any. */
static inline int tally_simulation_begin(void)
{
	return tally_simulation_request(TALLY_SIMULATION_BEGIN, TALLY_SIMULATION_PROCESS);
}

/* Ends the collection that the last tally_simulation_begin started. Returns 1 under the simulator and 0 otherwise.
 * Threads: any. */
static inline int tally_simulation_end(void)
{
	return tally_simulation_request(TALLY_SIMULATION_END, TALLY_SIMULATION_PROCESS);
}

/* Sets all counts to 0, for example after the first phase of a program. Samples are not discarded. Returns 1 under the
 * simulator and 0 otherwise.
 * Threads: any. */
static inline int tally_simulation_zero(void)
{
	return tally_simulation_request(TALLY_SIMULATION_ZERO, TALLY_SIMULATION_PROCESS);
}

#ifdef __cplusplus
}
#endif

#endif
