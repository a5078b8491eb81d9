/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_run.h - holds the state of unwinding one stack: registers, the stack words that it reads, and the mappings.
 * Private to the unwinder and its bridges.
 */
#ifndef CODE_UNWIND_UNWIND_RUN_H
#define CODE_UNWIND_UNWIND_RUN_H

#include "base/hash.h"
#include "code/unwind/unwind_input.h"

#define MODULE_SLOTS 16 /* A stack usually refers to a handful of files. */
/* A power of two; the hot stacks of a program have up to some thousand distinct return addresses. */
#define RULE_SLOTS 4096

struct rule_slot {
	const struct unwind_table *table; /* NULL if the slot is empty. */
	uint64_t address; /* Link-time address. */
	const struct unwind_rule *rule; /* NULL if the address has no rule. */
};

struct unwinder {
	const struct arch *arch;
	struct unwind_module modules[MODULE_SLOTS];
	unsigned module_count, module_next, module_last;
	struct rule_slot rules[RULE_SLOTS];
};

/* Result of the search for one caller. STEP_ON: it was found; the others end the unwinding, as in enum unwind_end. */
enum step { STEP_ON, STEP_ROOT, STEP_SHORT, STEP_NO_CFI, STEP_BROKEN, STEP_NO_REGISTERS };

struct run {
	struct unwinder *unwinder;
	const struct arch *arch;
	const struct unwind_stack *stack;
	const struct unwind_modules *modules;
	struct unwind_registers registers; /* Registers of the current frame. */
	const struct unwind_module *module; /* Module that contains the pc of the current frame; NULL if none. */
	struct unwind_module found; /* Storage for module if it is not in the unwinder's cache. */
	unsigned sp; /* DWARF number of the stack pointer. */
	uint64_t readable; /* A word can be read from the stack slice at offsets below this one. */
	bool is_native; /* Words have the byte order and size of the host. */
	/* The pc of the current frame is the next instruction to run: the frame is the innermost one, or was
	 * interrupted by a signal. */
	bool is_exact;
	bool is_first; /* The current frame is the innermost one. */
	bool is_outermost; /* The rule of the current frame says that it has no caller. */
	bool is_signal; /* The current frame is the one to which a signal handler returns. */
	bool is_chained; /* The current frame was found by frame pointer. */
	/* The remaining frames are on another stack (a signal stack, or because of a switch) and not in the slice. */
	bool is_elsewhere;
	size_t bridged; /* Number of frames found without call-frame information. */
};

/* Reads a value of 1, 2, 4 or 8 bytes from the stack slice. Returns STEP_SHORT if it is beyond the end of the slice, or
 * on another stack; STEP_BROKEN if it cannot be on the stack. */
enum step unwind_run_read(const struct run *run, uint64_t address, unsigned size, uint64_t *value);
/* Finds the module at pc in the unwinder's cache or, if it is not there, with run->modules; NULL if no code is mapped
 * there. */
const struct unwind_module *unwind_run_ask_module(struct run *run, uint64_t pc);

static inline bool module_covers(const struct unwind_module *module, uint64_t pc)
{
	return pc >= module->low && pc < module->high;
}

/* Finds the module at pc; NULL if no code is mapped there. The result is valid until the next call. */
static inline const struct unwind_module *unwind_run_module(struct run *run, uint64_t pc)
{
	const struct unwinder *u = run->unwinder;
	const struct unwind_module *last = &u->modules[u->module_last];
	return u->module_count > 0 && module_covers(last, pc) ? last : unwind_run_ask_module(run, pc);
}

/* Returns the rule for the code at a run-time address; NULL if there is none. */
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

/* Returns an address inside the frame's current instruction: a return address may be the first of the next function. */
static inline uint64_t code_address(const struct run *run)
{
	return run->is_exact ? run->registers.pc : run->registers.pc - run->arch->call_back_bytes;
}

/* Reads a word at an address from the stack slice; see unwind_run_read for the results. */
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

/* Truncates a value to the width of an address. */
static inline uint64_t to_address(const struct run *run, uint64_t value)
{
	return run->arch->pointer_bytes == 4 ? (uint32_t)value : value;
}

/* Returns whether an address is aligned to words. Avoids a division, which would take a fifth of all time. */
static inline bool is_aligned(const struct run *run, uint64_t address)
{
	return (address & (run->arch->pointer_bytes - 1u)) == 0;
}

#endif
