/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jit_tail.h - follows a dump of generated code (jit-PID.dump) while its runtime writes it, and finds the code at an
 * address now and the information to unwind it. It is for unwinding while recording: each record is read once, and only
 * the position of code is kept. Not here: names, lines and times (code/symbols/jitdump.h).
 *
 * Later code replaces earlier code at the same addresses from its time on. The file is opened at the first read, by the
 * rules of load_jit.h. Bad input is handled as in jitdump.h; a file that became shorter is read again from its start.
 * One thread at a time. The objects in options must outlive it.
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
	UINT64_C(0x1000) /* address of the function in tables; 0 would mean a function that the linker dropped */
struct jit_tail_code {
	uint64_t low, high; /* run-time addresses of the function */
	const struct unwind_table *table; /* NULL: the dump does not say; lives as long as the tail */
};

/* The key's path is copied. NULL: no memory. */
struct jit_tail *jit_tail_create(const struct binary_store_options *options, const struct binary_key *key);
void jit_tail_destroy(struct jit_tail *tail);
/* Reads what was written since the last call. If the file cannot be read, the tail stays empty. */
void jit_tail_read(struct jit_tail *tail);
/* Bytes of the file that were not read yet. */
uint64_t jit_tail_behind(const struct jit_tail *tail);
/* The pid in the dump's header, in the process's own namespace; 0: nothing could be read. */
uint32_t jit_tail_pid(const struct jit_tail *tail);
/* The function at pc at a time of CLOCK_MONOTONIC; UINT64_MAX: now. For a dump with times of another clock: now. */
bool jit_tail_find(struct jit_tail *tail, uint64_t pc, uint64_t time, struct jit_tail_code *code);
/* Functions that are known. */
size_t jit_tail_count(const struct jit_tail *tail);

#endif
