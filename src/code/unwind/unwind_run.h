/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_run.h - holds the state of unwinding one stack: registers, the stack words that it reads, and the mappings.
 * Private to the unwinder and its bridges.
 */
#ifndef CODE_UNWIND_UNWIND_RUN_H
#define CODE_UNWIND_UNWIND_RUN_H

#include "base/hash.h"
#include "code/unwind/unwind_input.h"

#define MODULE_SLOTS 16 /* a stack passes through a handful of files */
#define RULE_SLOTS   4096 /* a power of two; distinct return addresses of a program's hot stacks reach some thousands */

struct rule_slot {
	const struct unwind_table *table; /* NULL: empty */
	uint64_t address; /* link-time */
	const struct unwind_rule *rule; /* NULL: nothing says */
};

struct unwinder {
	const struct arch *arch;
	struct unwind_module modules[MODULE_SLOTS];
	unsigned module_count, module_next, module_last;
	struct rule_slot rules[RULE_SLOTS];
};

enum step { STEP_ON, STEP_ROOT, STEP_SHORT, STEP_NO_CFI, STEP_BROKEN, STEP_NO_REGISTERS };

struct run {
	struct unwinder *unwinder;
	const struct arch *arch;
	const struct unwind_stack *stack;
	const struct unwind_modules *modules;
	struct unwind_registers registers; /* of the current frame */
	const struct unwind_module *module; /* of its pc */
	struct unwind_module found; /* where module is not in the unwinder's */
	unsigned sp; /* number of the stack pointer */
	uint64_t readable; /* words of the stack begin below this offset */
	bool is_native; /* words are the host's */
	bool is_exact; /* its pc is the next instruction to run: innermost, or interrupted by a signal */
	bool is_first;
	bool is_outermost; /* its rule says so */
	bool is_signal; /* the frame to which a signal handler returns */
	bool is_chained; /* it was found by frame pointer */
	bool is_elsewhere; /* the signal was handled on a separate stack: the interrupted frames are not in the stack dump */
	size_t bridged;
};

/* Reads bytes of the stack dump. */
enum step unwind_run_read(const struct run *run, uint64_t address, unsigned size, uint64_t *value);
/* Look-ups for what is not in the unwinder's caches, which the inline functions below search first. */
const struct unwind_module *unwind_run_ask_module(struct run *run, uint64_t pc);

static inline bool module_covers(const struct unwind_module *module, uint64_t pc)
{
	return pc >= module->low && pc < module->high;
}

/* NULL: no code is mapped there. Holds until the next call. */
static inline const struct unwind_module *unwind_run_module(struct run *run, uint64_t pc)
{
	const struct unwinder *u = run->unwinder;
	const struct unwind_module *last = &u->modules[u->module_last];
	return u->module_count > 0 && module_covers(last, pc) ? last : unwind_run_ask_module(run, pc);
}

/* The rule of the code at a run-time address; NULL: there is none. */
static inline const struct unwind_rule *unwind_run_rule(
	struct run *run, const struct unwind_module *module, uint64_t address)
{
	const struct unwind_table *table = module->table;
	if (!table)
		return NULL;
	address -= module->bias;
	uint64_t hash = (address ^ (uint64_t)(uintptr_t)table >> 4) * HASH_FACTOR;
	struct rule_slot *slot = &run->unwinder->rules[hash >> 52];
	_Static_assert(RULE_SLOTS == 1 << (64 - 52), "the hash's highest bits choose the slot");
	if (slot->table != table || slot->address != address)
		*slot = (struct rule_slot){table, address, unwind_table_find(table, address)};
	return slot->rule;
}

/* The address that stands for the frame's code: a return address may be the first of the next function. */
static inline uint64_t code_address(const struct run *run)
{
	return run->is_exact ? run->registers.pc : run->registers.pc - run->arch->call_back_bytes;
}

static inline enum step read_word(const struct run *run, uint64_t address, uint64_t *value)
{
	uint64_t offset = address - run->stack->address;
	if (offset < run->readable && run->is_native) {
		memcpy(value, run->stack->bytes.data + offset, sizeof(*value));
		return STEP_ON;
	}
	return unwind_run_read(run, address, run->arch->pointer_bytes, value);
}

static inline bool is_known(const struct unwind_registers *registers, uint64_t number)
{
	return number < CFI_REGISTERS && (registers->known >> number & 1) != 0;
}

static inline void set_register(struct unwind_registers *registers, unsigned number, uint64_t value)
{
	registers->values[number] = value;
	registers->known |= UINT64_C(1) << number;
}

static inline uint64_t to_address(const struct run *run, uint64_t value)
{
	return run->arch->pointer_bytes == 4 ? (uint32_t)value : value;
}

/* Without a division, which would be a fifth of all time. */
static inline bool is_aligned(const struct run *run, uint64_t address)
{
	return (address & (run->arch->pointer_bytes - 1u)) == 0;
}

#endif
