/* SPDX-License-Identifier: Apache-2.0 */
#include "code/disasm/capstone_memory.h"

#include <capstone/capstone.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/checked.h"
#include "base/error.h"

/* Size of the memory that is used if malloc fails; a handle and the tables of an architecture need some KB each. */
#define RESERVE_BYTES ((size_t)64 << 10)

static _Alignas(16) unsigned char reserve[RESERVE_BYTES];
static atomic_size_t reserve_taken;

bool capstone_memory_ran_out(void)
{
	return atomic_load_explicit(&reserve_taken, memory_order_relaxed) > 0;
}

static bool is_of_reserve(const void *block)
{
	uintptr_t at = (uintptr_t)block, begin = (uintptr_t)reserve;
	return at >= begin && at < begin + sizeof(reserve);
}

static void *take_reserve(size_t size)
{
	size_t bytes = (size + 15) & ~(size_t)15;
	(void)error_nomem(NULL);
	if (size > sizeof(reserve))
		return NULL;
	size_t at = atomic_fetch_add_explicit(&reserve_taken, bytes, memory_order_relaxed);
	return at <= sizeof(reserve) - bytes ? reserve + at : NULL;
}

static void *capstone_malloc(size_t size)
{
	void *block = malloc(size);
	return block ? block : take_reserve(size);
}

static void *capstone_calloc(size_t count, size_t size)
{
	void *block = calloc(count, size);
	size_t bytes;
	/* The reserve is zeroed, because no part of it is reused. */
	return block || !checked_mul(count, size, &bytes) ? block : take_reserve(bytes);
}

static void *capstone_realloc(void *block, size_t size)
{
	return is_of_reserve(block) ? NULL : realloc(block, size);
}

static void capstone_free(void *block)
{
	if (!is_of_reserve(block))
		free(block);
}

void capstone_memory_set(void)
{
	cs_opt_mem memory = {capstone_malloc, capstone_calloc, capstone_realloc, capstone_free, vsnprintf};
	cs_option(0, CS_OPT_MEM, (size_t)(uintptr_t)&memory);
}
