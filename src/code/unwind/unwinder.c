/* SPDX-License-Identifier: Apache-2.0 */
#include "code/unwind/unwinder.h"

#include <stdlib.h>

#include "base/error.h"
#include "code/unwind/unwind_bridge.h"
#include "code/unwind/unwind_run.h"
#include "object/dwarf/expression.h"

#define LEAF_PROOF_FRAMES 12 /* This many callers in sequence are not found by chance. */

enum tally_status unwinder_create(const struct arch *arch, struct unwinder **out, struct tally_error *err)
{
	struct unwinder *unwinder = calloc(1, sizeof(*unwinder));
	if (!unwinder)
		return error_nomem(err);
	unwinder->arch = arch;
	*out = unwinder;
	return TALLY_OK;
}

void unwinder_destroy(struct unwinder *unwinder)
{
	free(unwinder);
}

void unwinder_forget(struct unwinder *unwinder)
{
	unwinder->module_count = unwinder->module_next = unwinder->module_last = 0;
}

void unwinder_forget_tables(struct unwinder *unwinder)
{
	unwinder_forget(unwinder);
	memset(unwinder->rules, 0, sizeof(unwinder->rules));
}

struct evaluation {
	const struct run *run;
	enum step failure;
};

static bool expression_register(void *context, uint64_t number, uint64_t *value)
{
	struct evaluation *e = context;
	const struct unwind_registers *registers = &e->run->registers;
	if (number == e->run->arch->dwarf_ip) {
		*value = registers->pc;
		return true;
	}
	if (!is_known(registers, number)) {
		e->failure = STEP_NO_REGISTERS;
		return false;
	}
	*value = registers->values[number];
	return true;
}

static bool expression_memory(void *context, uint64_t address, unsigned size, uint64_t *value)
{
	struct evaluation *e = context;
	enum step step = unwind_run_read(e->run, address, size, value);
	if (step != STEP_ON)
		e->failure = step;
	return step == STEP_ON;
}

static enum step unwinder_evaluate(const struct run *run, int64_t id, const uint64_t *cfa, uint64_t *value)
{
	struct evaluation evaluation = {.run = run, .failure = STEP_BROKEN};
	struct dwarf_machine machine = {
		.read_register = expression_register,
		.read_memory = expression_memory,
		.context = &evaluation,
		.cfa = cfa ? *cfa : 0,
		.has_cfa = cfa != NULL,
		.swap = unwind_table_is_swapped(run->module->table),
		.address_size = run->arch->pointer_bytes,
	};
	struct tally_bytes expression = unwind_table_expression(run->module->table, id);
	return dwarf_expression_run(expression, &machine, cfa, value) ? STEP_ON : evaluation.failure;
}

static bool returns_by_stack(const struct unwind_rule *rule)
{
	return rule->return_index != UNWIND_NOT_SAVED && rule->saved[rule->return_index].kind == CFI_AT_OFFSET;
}

static enum step find_cfa(const struct run *run, const struct unwind_rule *rule, uint64_t *cfa)
{
	if (__builtin_expect(rule->cfa_is_expression, false)) {
		enum step step = unwinder_evaluate(run, rule->cfa, NULL, cfa);
		if (step != STEP_ON)
			return step;
	} else {
		if (!is_known(&run->registers, rule->cfa_register))
			return STEP_NO_REGISTERS;
		*cfa = to_address(run, run->registers.values[rule->cfa_register] + (uint64_t)rule->cfa);
	}
	uint64_t sp = run->registers.values[run->sp];
	if (!is_aligned(run, *cfa))
		return STEP_BROKEN;
	if (rule->is_signal || rule->is_switch || *cfa > sp)
		return STEP_ON;
	/* The stack grows downwards. Only a frame without any stack, not even for a return address, has its CFA at the
	 * stack pointer. */
	bool is_empty = *cfa == sp && run->is_exact && !returns_by_stack(rule);
	return is_empty ? STEP_ON : STEP_BROKEN;
}

/* Computes the caller's value of a register. If it is unknown, that is not an error of unwinding. */
static enum step unwinder_restore(
	const struct run *run, const struct unwind_saved *saved, uint64_t cfa, uint64_t *value)
{
	const struct unwind_registers *registers = &run->registers;
	enum step step;
	switch (saved->kind) {
	case CFI_AT_OFFSET:
		return read_word(run, to_address(run, cfa + (uint64_t)saved->value), value);
	case CFI_IS_OFFSET:
		*value = to_address(run, cfa + (uint64_t)saved->value);
		return STEP_ON;
	case CFI_REGISTER:
		if (!is_known(registers, (uint64_t)saved->value))
			return STEP_NO_REGISTERS;
		*value = registers->values[saved->value];
		return STEP_ON;
	case CFI_AT_EXPRESSION:
		step = unwinder_evaluate(run, saved->value, &cfa, value);
		return step == STEP_ON ? read_word(run, *value, value) : step;
	case CFI_IS_EXPRESSION:
		return unwinder_evaluate(run, saved->value, &cfa, value);
	case CFI_SAME:
		*value = registers->values[saved->number];
		return is_known(registers, saved->number) ? STEP_ON : STEP_NO_REGISTERS;
	default: /* CFI_UNDEFINED */
		return STEP_NO_REGISTERS;
	}
}

/* Returns whether a register was already popped: its rule refers to memory below the stack pointer, which a dump
 * lacks. */
static bool is_popped(const struct run *run, const struct unwind_saved *saved, uint64_t cfa)
{
	uint64_t address = cfa + (uint64_t)saved->value;
	return saved->kind == CFI_AT_OFFSET && address < run->stack->address &&
	       address < run->registers.values[run->sp];
}

static enum step return_address(const struct run *run, const struct unwind_rule *rule, uint64_t cfa, uint64_t *value)
{
	if (rule->return_index != UNWIND_NOT_SAVED) {
		const struct unwind_saved *saved = &rule->saved[rule->return_index];
		return saved->kind == CFI_AT_OFFSET
			       ? read_word(run, to_address(run, cfa + (uint64_t)saved->value), value)
			       : unwinder_restore(run, saved, cfa, value);
	}
	/* After a call, the link register no longer holds the frame's own return address. */
	if (!run->is_exact || rule->return_register != run->arch->dwarf_link)
		return STEP_BROKEN;
	*value = run->registers.values[rule->return_register];
	return is_known(&run->registers, rule->return_register) ? STEP_ON : STEP_NO_REGISTERS;
}

/* Applies a rule that only reads memory. */
static void restore_plain(struct run *run, const struct unwind_rule *rule, uint64_t cfa)
{
	struct unwind_registers *registers = &run->registers;
	uint64_t old_sp = registers->values[run->sp];
	set_register(registers, run->sp, cfa);
	for (unsigned i = 0; i < rule->saved_count; i++) {
		const struct unwind_saved *saved = &rule->saved[i];
		uint64_t address = to_address(run, cfa + (uint64_t)saved->value);
		uint64_t value;
		if (read_word(run, address, &value) == STEP_ON)
			set_register(registers, saved->number, value);
		else if (address >= run->stack->address || address >= old_sp)
			registers->known &= ~(UINT64_C(1) << saved->number);
	}
}

static void restore_registers(struct run *run, const struct unwind_rule *rule, uint64_t cfa)
{
	/* Rules refer to the callee's registers, so no register may be overwritten before all rules are applied. */
	struct unwind_registers next = run->registers;
	struct unwind_registers *to = &next;
	unsigned sp = run->sp;
	for (unsigned i = 0; i < rule->saved_count; i++) {
		const struct unwind_saved *saved = &rule->saved[i];
		uint64_t value;
		if (i == rule->return_index && saved->number != run->arch->dwarf_link)
			continue;
		if (is_popped(run, saved, cfa))
			continue;
		if (unwinder_restore(run, saved, cfa, &value) == STEP_ON)
			set_register(to, saved->number, value);
		else
			to->known &= ~(UINT64_C(1) << saved->number);
		if (saved->number == sp)
			sp = CFI_REGISTERS;
	}
	if (sp != CFI_REGISTERS)
		set_register(to, sp, cfa);
	run->registers = next;
}

/* Handles code without a caller, and code that changes to another stack. Returns STEP_ON if the rule leads to the
 * caller. */
static enum step step_at_end(struct run *run, const struct unwind_rule *rule)
{
	bool has_way = rule->return_index != UNWIND_NOT_SAVED && !rule->is_root;
	/* It is not known on which stack this instruction runs. */
	if (rule->is_switch && !has_way && run->is_exact)
		return STEP_NO_CFI;
	run->is_outermost = rule->is_root;
	run->is_elsewhere |= rule->is_switch;
	return rule->is_root ? STEP_ROOT : has_way ? STEP_ON : STEP_SHORT;
}

static enum step step_by_rule(struct run *run, const struct unwind_rule *rule)
{
	uint64_t cfa;
	uint64_t pc;
	/* The frame of the first function need not be valid. */
	if (__builtin_expect(rule->is_root || rule->is_switch, false)) {
		enum step end = step_at_end(run, rule);
		if (end != STEP_ON)
			return end;
	}
	enum step step = find_cfa(run, rule, &cfa);
	if (step == STEP_ON)
		step = return_address(run, rule, cfa, &pc);
	if (step != STEP_ON)
		return step;
	pc &= run->arch->return_mask;
	if (pc == 0)
		return STEP_ROOT;
	if (rule->is_plain)
		restore_plain(run, rule, cfa);
	else
		restore_registers(run, rule, cfa);
	run->registers.pc = pc;
	run->is_exact = rule->is_signal;
	uint64_t sp = run->registers.values[run->sp] - run->stack->address;
	run->is_elsewhere |= rule->is_signal && sp > run->stack->bytes.len;
	run->is_chained = false;
	return STEP_ON;
}

static enum step step_on(struct run *run)
{
	uint64_t pc = run->registers.pc;
	uint64_t sp = run->registers.values[run->sp];
	run->is_signal = false;
	if (!run->module)
		return unwind_bridge_from_nowhere(run);
	const struct unwind_rule *rule = unwind_run_rule(run, run->module, code_address(run));
	run->is_signal = rule && rule->is_signal;
	if (!rule && run->is_first)
		return STEP_NO_CFI; /* walk_from_unknown then guesses: a leaf function, or one with a frame pointer. */
	enum step step = rule ? step_by_rule(run, rule) : unwind_bridge_frame_pointer(run);
	bool is_stuck = run->registers.pc == pc && run->registers.values[run->sp] == sp;
	return step == STEP_ON && (is_stuck || !is_known(&run->registers, run->sp)) ? STEP_BROKEN : step;
}

static enum unwind_end end_of(enum step step)
{
	switch (step) {
	case STEP_ROOT:
		return UNWIND_ROOT;
	case STEP_SHORT:
		return UNWIND_STACK_SHORT;
	case STEP_NO_CFI:
		return UNWIND_NO_CFI;
	case STEP_NO_REGISTERS:
		return UNWIND_NO_REGISTERS;
	case STEP_ON:
	case STEP_BROKEN:
		break;
	}
	return UNWIND_BROKEN;
}

static void run_init(struct run *run, struct unwinder *unwinder, const struct unwind_registers *registers,
	const struct unwind_stack *stack, const struct unwind_modules *modules)
{
	unsigned word = unwinder->arch->pointer_bytes;
	run->unwinder = unwinder;
	run->arch = unwinder->arch;
	run->stack = stack;
	run->modules = modules;
	run->sp = unwinder->arch->dwarf_sp;
	for (unsigned i = 0; i < CFI_REGISTERS; i++)
		run->registers.values[i] = registers->values[i];
	run->registers.known = registers->known;
	run->registers.pc = registers->pc;
	run->module = NULL;
	run->readable = stack->bytes.len >= word ? stack->bytes.len - word + 1 : 0;
	run->is_native = word == sizeof(uint64_t) && !stack->swap;
	run->is_exact = true;
	run->is_first = true;
	run->is_chained = false;
	run->is_outermost = false;
	run->is_elsewhere = false;
	run->bridged = 0;
}

static struct unwind_result unwinder_walk(struct run *run, uint64_t *ips, size_t count, size_t max)
{
	struct unwind_result result = {.count = count, .end = UNWIND_LIMIT};
	while (result.count < max) {
		run->module = unwind_run_module(run, code_address(run));
		if (!run->module && !run->is_first) {
			result.end = UNWIND_BROKEN;
			break;
		}
		ips[result.count++] = run->registers.pc;
		result.last_sp = run->registers.values[run->sp];
		enum step step = step_on(run);
		if (run->is_signal && result.signal_count < UNWIND_SIGNALS)
			result.signals[result.signal_count++] = (uint32_t)result.count - 1;
		if (step != STEP_ON) {
			result.end = end_of(step);
			break;
		}
		run->is_first = false;
	}
	result.bridged = run->bridged;
	result.is_outermost = run->is_outermost;
	result.last_fp = run->registers.values[run->arch->dwarf_fp];
	result.has_last_fp = is_known(&run->registers, run->arch->dwarf_fp);
	return result;
}

/* Unwinds from innermost code without call-frame information: it is assumed to be a leaf function if all of the stack,
 * or much of it, can then be unwound; otherwise, to have a frame pointer. */
static struct unwind_result walk_from_unknown(
	struct run *run, const struct unwind_result *first, uint64_t *ips, size_t max)
{
	struct run before = *run;
	struct unwind_result result = *first;
	if (unwind_bridge_leaf(run) == STEP_ON) {
		run->is_first = false;
		result = unwinder_walk(run, ips, first->count, max);
		if (result.bridged == 1 && (result.end == UNWIND_ROOT || result.count >= LEAF_PROOF_FRAMES))
			return result;
	}
	*run = before;
	result = *first;
	enum step step = unwind_bridge_frame_pointer(run);
	result.end = end_of(step);
	run->is_first = false;
	return step == STEP_ON ? unwinder_walk(run, ips, first->count, max) : result;
}

struct unwind_result unwinder_run(struct unwinder *unwinder, const struct unwind_registers *registers,
	const struct unwind_stack *stack, const struct unwind_modules *modules, uint64_t *ips, size_t max)
{
	struct run run; /* This is large, so run_init sets only the members that must have a value. */
	run_init(&run, unwinder, registers, stack, modules);
	if (!is_known(registers, run.sp))
		return (struct unwind_result){.end = UNWIND_NO_REGISTERS};
	struct unwind_result result = unwinder_walk(&run, ips, 0, max);
	return result.end == UNWIND_NO_CFI && run.is_first ? walk_from_unknown(&run, &result, ips, max) : result;
}

const char *unwind_end_name(enum unwind_end end)
{
	static const char *const names[UNWIND_ENDS] = {
		[UNWIND_ROOT] = "complete",
		[UNWIND_STACK_SHORT] = "stack dump too short",
		[UNWIND_NO_CFI] = "no call-frame information",
		[UNWIND_BROKEN] = "broken",
		[UNWIND_LIMIT] = "frame limit",
		[UNWIND_NO_REGISTERS] = "registers missing",
	};
	return names[end];
}
