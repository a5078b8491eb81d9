/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jit_tail.h - follows a jitdump (jit-PID.dump) while its runtime writes it, and finds the code that is at an address
 * now and its unwinding information. It is for unwinding while recording: each record is read once, and only the
 * position of the code is stored. Names, lines and times are read by code/symbols/jitdump.h.
 *
 * New code replaces older code at the same addresses. The file is opened at the first read, with load_jit_open. Bad
 * input is handled as in jitdump.h; a file that became shorter is read again from its start. One thread at a time. The
 * objects in options must outlive the tail.
 *
 *	tail = jit_tail_create(&options, &key);   jit_tail_read(tail); ...
 *	if (jit_tail_find(tail, pc, time, &code)) ...
 */
#ifndef CODE_BINARIES_JIT_TAIL_H
#define CODE_BINARIES_JIT_TAIL_H

#include "code/binary_store.h"

struct jit_tail;
struct unwind_table;

#define JIT_TAIL_BASE \
	UINT64_C(0x1000) /* Address of a function in its table; 0 would mean that the linker dropped the function. */
struct jit_tail_code {
	uint64_t low, high; /* Run-time addresses of the function. */
	/* NULL if the dump has no unwinding information; lives as long as the tail. */
	const struct unwind_table *table;
};

/* Creates a tail for the jitdump with this key, whose path is copied. Returns NULL if memory runs out. */
struct jit_tail *jit_tail_create(const struct binary_store_options *options, const struct binary_key *key);
void jit_tail_destroy(struct jit_tail *tail);
/* Reads what has been written since the last call. If the file cannot be read, the tail stays empty. */
void jit_tail_read(struct jit_tail *tail);
/* Returns the number of bytes of the file that have not been read yet. */
uint64_t jit_tail_behind(const struct jit_tail *tail);
/* Returns the PID in the dump's header, in the PID namespace of the process; 0 if nothing could be read. */
uint32_t jit_tail_pid(const struct jit_tail *tail);
/* Finds the function that was at pc at a CLOCK_MONOTONIC time; UINT64_MAX means now. If the dump's times are of another
 * clock, time is ignored and the current function is found. */
bool jit_tail_find(struct jit_tail *tail, uint64_t pc, uint64_t time, struct jit_tail_code *code);
/* Returns the number of known functions. */
size_t jit_tail_count(const struct jit_tail *tail);

#endif
