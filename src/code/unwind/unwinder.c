#include "code/unwind/unwinder.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/limits.h"
#include "object/dwarf/expression.h"

#define MODULE_SLOTS 16 /* a stack passes through a handful of files */
#define RULE_SLOTS   4096 /* a power of two; distinct return addresses of a program's hot stacks come to some thousands */

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
	struct unwind_registers registers; /* of the frame that is looked at */
	const struct unwind_module *module; /* of its pc */
	struct unwind_module found; /* where module is not in the unwinder's */
	unsigned sp; /* number of the stack pointer */
	uint64_t readable; /* words of the stack begin below this offset */
	bool is_native; /* words are the host's */
	bool is_exact; /* its pc is the next instruction to run: innermost, or interrupted by a signal */
	bool is_first;
	bool is_signal; /* it is what a signal handler returns to */
	bool is_chained; /* it was found by frame pointer */
	bool is_elsewhere; /* the signal was handled on a stack of its own: what was interrupted is not in the copy */
	size_t bridged;
};

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

static bool covers(const struct unwind_module *module, uint64_t pc)
{
	return pc >= module->low && pc < module->high;
}

static const struct unwind_module *ask_module(struct run *run, uint64_t pc)
{
	struct unwinder *u = run->unwinder;
	if (!run->modules->find(run->modules->context, pc, &run->found))
		return NULL;
	if (!covers(&run->found, pc))
		return &run->found;
	unsigned slot = u->module_next;
	u->module_next = (slot + 1) % MODULE_SLOTS;
	if (u->module_count < MODULE_SLOTS)
		u->module_count++;
	u->modules[slot] = run->found;
	u->module_last = slot;
	return &u->modules[slot];
}

/* NULL: no code is mapped there. Holds until the next call. */
static const struct unwind_module *find_module(struct run *run, uint64_t pc)
{
	struct unwinder *u = run->unwinder;
	if (u->module_count > 0 && covers(&u->modules[u->module_last], pc))
		return &u->modules[u->module_last];
	for (unsigned i = 0; i < u->module_count; i++) {
		if (covers(&u->modules[i], pc)) {
			u->module_last = i;
			return &u->modules[i];
		}
	}
	return ask_module(run, pc);
}

/* The address that stands for the frame's code: a return address may be the first of the next function. */
static uint64_t code_address(const struct run *run)
{
	return run->is_exact ? run->registers.pc : run->registers.pc - run->arch->call_back_bytes;
}

static const struct unwind_rule *find_rule(struct run *run)
{
	const struct unwind_table *table = run->module->table;
	if (!table)
		return NULL;
	uint64_t address = code_address(run) - run->module->bias;
	uint64_t hash = (address ^ (uint64_t)(uintptr_t)table >> 4) * UINT64_C(0x9e3779b97f4a7c15);
	struct rule_slot *slot = &run->unwinder->rules[hash >> 52];
	_Static_assert(RULE_SLOTS == 1 << (64 - 52), "the hash's highest bits choose the slot");
	if (slot->table != table || slot->address != address)
		*slot = (struct rule_slot){table, address, unwind_table_find(table, address)};
	return slot->rule;
}

static enum step read_stack(const struct run *run, uint64_t address, unsigned size, uint64_t *value)
{
	const struct unwind_stack *stack = run->stack;
	uint64_t offset = address - stack->address;
	if (address < stack->address || offset > LIMIT_STACK_BYTES)
		return run->is_elsewhere ? STEP_SHORT : STEP_BROKEN;
	if (stack->bytes.len < size || offset > stack->bytes.len - size)
		return STEP_SHORT;
	struct cursor c = cursor_make((struct tally_bytes){stack->bytes.data + offset, size}, stack->swap);
	switch (size) {
	case 1:
		*value = cursor_u8(&c);
		break;
	case 2:
		*value = cursor_u16(&c);
		break;
	case 4:
		*value = cursor_u32(&c);
		break;
	default:
		*value = cursor_u64(&c);
		break;
	}
	return STEP_ON;
}

static enum step read_word(const struct run *run, uint64_t address, uint64_t *value)
{
	uint64_t offset = address - run->stack->address;
	if (offset < run->readable && run->is_native) {
		memcpy(value, run->stack->bytes.data + offset, sizeof(*value));
		return STEP_ON;
	}
	return read_stack(run, address, run->arch->pointer_bytes, value);
}

static bool is_known(const struct unwind_registers *registers, uint64_t number)
{
	return number < CFI_REGISTERS && (registers->known >> number & 1) != 0;
}

static void set_register(struct unwind_registers *registers, unsigned number, uint64_t value)
{
	registers->values[number] = value;
	registers->known |= UINT64_C(1) << number;
}

struct evaluation { /* of an expression */
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
	enum step step = read_stack(e->run, address, size, value);
	if (step != STEP_ON)
		e->failure = step;
	return step == STEP_ON;
}

static enum step evaluate(const struct run *run, int64_t id, const uint64_t *cfa, uint64_t *value)
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

static uint64_t to_address(const struct run *run, uint64_t value)
{
	return run->arch->pointer_bytes == 4 ? (uint32_t)value : value;
}

static bool returns_by_stack(const struct unwind_rule *rule)
{
	return rule->return_index != UNWIND_NOT_SAVED && rule->saved[rule->return_index].kind == CFI_AT_OFFSET;
}

/* Without a division, which would be a fifth of all time. */
static bool is_aligned(const struct run *run, uint64_t address)
{
	return (address & (run->arch->pointer_bytes - 1u)) == 0;
}

static enum step find_cfa(const struct run *run, const struct unwind_rule *rule, uint64_t *cfa)
{
	if (__builtin_expect(rule->cfa_is_expression, false)) {
		enum step step = evaluate(run, rule->cfa, NULL, cfa);
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
	if (rule->is_signal || *cfa > sp)
		return STEP_ON;
	/* Only code that has nothing on the stack, not even where to return to, has no frame; stacks grow. */
	bool is_empty = *cfa == sp && run->is_exact && !returns_by_stack(rule);
	return is_empty ? STEP_ON : STEP_BROKEN;
}

/* The caller's value of a register; unknown is no failure here. */
static enum step restore(const struct run *run, const struct unwind_saved *saved, uint64_t cfa, uint64_t *value)
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
		step = evaluate(run, saved->value, &cfa, value);
		return step == STEP_ON ? read_word(run, *value, value) : step;
	case CFI_IS_EXPRESSION:
		return evaluate(run, saved->value, &cfa, value);
	case CFI_SAME:
		*value = registers->values[saved->number];
		return is_known(registers, saved->number) ? STEP_ON : STEP_NO_REGISTERS;
	default: /* CFI_UNDEFINED */
		return STEP_NO_REGISTERS;
	}
}

/* A register that was pushed and popped again: what the rule points to lies below the stack, and may not be there. */
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
			       : restore(run, saved, cfa, value);
	}
	/* A frame that has called has overwritten the register itself. */
	if (!run->is_exact || rule->return_register != run->arch->dwarf_link)
		return STEP_BROKEN;
	*value = run->registers.values[rule->return_register];
	return is_known(&run->registers, rule->return_register) ? STEP_ON : STEP_NO_REGISTERS;
}

/* Of a rule that reads memory only. */
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
	/* A rule may use what an earlier one would overwrite. */
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
		if (restore(run, saved, cfa, &value) == STEP_ON)
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

static enum step step_by_rule(struct run *run, const struct unwind_rule *rule)
{
	uint64_t cfa;
	uint64_t pc;
	/* The first function's frame need not make sense. */
	if (rule->is_root)
		return STEP_ROOT;
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

/* A call to where no code is: its return address is where a call leaves it. */
static enum step step_from_nowhere(struct run *run)
{
	struct unwind_registers *registers = &run->registers;
	const struct arch *arch = run->arch;
	uint64_t pc;
	enum step step = STEP_ON;
	if (arch->dwarf_link == ARCH_NO_DWARF) {
		step = read_word(run, registers->values[arch->dwarf_sp], &pc);
		registers->values[arch->dwarf_sp] += arch->pointer_bytes;
	} else if (is_known(registers, arch->dwarf_link)) {
		pc = registers->values[arch->dwarf_link];
	} else {
		step = STEP_BROKEN;
	}
	if (step != STEP_ON)
		return STEP_BROKEN;
	registers->pc = pc & arch->return_mask;
	run->is_exact = false;
	run->bridged++;
	return STEP_ON;
}

/* Code that nothing is said of: if its frame pointer leads to a return address, that is its caller. */
static enum step step_by_frame_pointer(struct run *run)
{
	const struct arch *arch = run->arch;
	struct unwind_registers *registers = &run->registers;
	uint64_t fp = registers->values[arch->dwarf_fp];
	uint64_t next_fp;
	uint64_t pc;
	if (!is_known(registers, arch->dwarf_fp))
		return STEP_NO_CFI;
	/* The first function's frame pointer is 0 by convention; so it may be by chance in code that has none. */
	if (fp == 0 && !run->is_first && (run->is_chained || run->module->table))
		return STEP_ROOT;
	uint64_t sp = registers->values[arch->dwarf_sp];
	if (!is_aligned(run, fp) || fp + (uint64_t)arch->frame_bytes <= sp ||
		read_word(run, fp + (uint64_t)arch->frame_fp_offset, &next_fp) != STEP_ON ||
		read_word(run, fp + (uint64_t)arch->frame_return_offset, &pc) != STEP_ON)
		return STEP_NO_CFI;
	pc &= arch->return_mask;
	if (pc == 0)
		return STEP_ROOT;
	if ((next_fp != 0 && next_fp <= fp) || !find_module(run, pc - arch->call_back_bytes))
		return STEP_NO_CFI;
	registers->known = 0;
	set_register(registers, arch->dwarf_fp, next_fp);
	set_register(registers, arch->dwarf_sp, to_address(run, fp + (uint64_t)arch->frame_bytes));
	registers->pc = pc;
	run->is_exact = false;
	run->is_chained = true;
	run->bridged++;
	return STEP_ON;
}

static enum step step_on(struct run *run)
{
	uint64_t pc = run->registers.pc;
	uint64_t sp = run->registers.values[run->sp];
	run->is_signal = false;
	if (!run->module)
		return step_from_nowhere(run);
	const struct unwind_rule *rule = find_rule(run);
	run->is_signal = rule && rule->is_signal;
	enum step step = rule ? step_by_rule(run, rule) : step_by_frame_pointer(run);
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
	run->is_elsewhere = false;
	run->bridged = 0;
}

struct unwind_result unwinder_run(struct unwinder *unwinder, const struct unwind_registers *registers,
	const struct unwind_stack *stack, const struct unwind_modules *modules, uint64_t *ips, size_t max)
{
	struct unwind_result result = {.end = UNWIND_LIMIT};
	struct run run; /* large: what is set is named below */
	run_init(&run, unwinder, registers, stack, modules);
	unsigned sp = run.sp;
	if (!is_known(registers, sp)) {
		result.end = UNWIND_NO_REGISTERS;
		return result;
	}
	while (result.count < max) {
		run.module = find_module(&run, code_address(&run));
		if (!run.module && !run.is_first) {
			result.end = UNWIND_BROKEN;
			break;
		}
		ips[result.count++] = run.registers.pc;
		result.last_sp = run.registers.values[sp];
		enum step step = step_on(&run);
		if (run.is_signal && result.signal_count < UNWIND_SIGNALS)
			result.signals[result.signal_count++] = (uint32_t)result.count - 1;
		if (step != STEP_ON) {
			result.end = end_of(step);
			break;
		}
		run.is_first = false;
	}
	result.bridged = run.bridged;
	return result;
}

const char *unwind_end_name(enum unwind_end end)
{
	static const char *const names[UNWIND_ENDS] = {
		[UNWIND_ROOT] = "complete",
		[UNWIND_STACK_SHORT] = "stack copy too short",
		[UNWIND_NO_CFI] = "no call-frame information",
		[UNWIND_BROKEN] = "broken",
		[UNWIND_LIMIT] = "frame limit",
		[UNWIND_NO_REGISTERS] = "registers missing",
	};
	return names[end];
}
