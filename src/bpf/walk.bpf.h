/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * walk.bpf.h - walks the user stack of a thread in a BPF program, by tables made of call-frame information, and by
 * frame pointers if a table is missing. For any program that has a pointer to the thread: at a sample of an event or a
 * switch of tasks.
 *
 * A program includes it once, which gives its object the maps; in C, walk_tables.h fills them.
 *
 * Walk and stack are in a map, not on the program's stack, where the verifier would track each value through all
 * frames. Each call walks some frames, and tail calls walk the rest, so that the verifier checks the loop only once.
 *
 *	SEC("tp_btf/...") int first(...)
 *		if (walk_registers_of_task(&registers, task))     // as it entered the kernel
 *			walk_begin(&scratch->walk, &scratch->stack, task, &registers);
 *		bpf_tail_call(ctx, &calls, 0);                     // to next; calls: a PROG_ARRAY of it
 *	SEC("tp_btf/...") int next(...)
 *		if (walk_go_on(&scratch->walk, &scratch->stack))
 *			bpf_tail_call(ctx, &calls, walk_next(&scratch->walk));
 *		... scratch->stack is whole ...
 *	SEC("tp_btf/...") int interpreted(...)	// calls' second program: the same with walk_interpret (walk_interpret.bpf.h)
 */
#ifndef BPF_WALK_BPF_H
#define BPF_WALK_BPF_H

#include "bpf/python.bpf.h"
#include "bpf/walk_layout.h"
#include "bpf/walk_registers.bpf.h"
#include "bpf/walk_rules.bpf.h"
#include "bpf/walk_space.bpf.h"

#define WALK_KTHREAD	   0x200000 /* PF_KTHREAD */
#define WALK_FORKED	   0x40 /* PF_FORKNOEXEC */
#define WALK_STACK_BYTES   (8u << 20) /* that one frame may take */
#define WALK_FRAMES_A_CALL 8 /* so that 127 frames take fewer calls than the kernel's limit of 32 */
#define WALK_USER_MOST	   (1ULL << 56) /* user addresses are below */
#define WALK_WINDOW	   256 /* bytes of the stack that are read at once; a power of two */
#define WALK_SAVED	   64 /* bytes below the CFA, where a frame usually saves registers */

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, __u32);
	__type(value, struct walk_process);
} walk_processes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 65536);
	__type(key, __u32);
	__type(value, struct walk_mapping);
} walk_mappings SEC(".maps");

enum walk_bx { WALK_BX_IN_REGISTER, WALK_BX_LOST };

/* The state of one walk: the current frame, and the mapping of its code. */
struct walk {
	struct walk_registers at;
	__u32 mapping, mapping_count; /* of the process, where the kernel's mappings cannot be read */
	struct walk_mapping code;
	struct walk_space space;
	bool is_lost; /* no code is mapped at the current frame */
	__u64 bx_at; /* where rbx is saved, unless it is: */
	bool is_exact; /* pc is the next instruction to run, not one behind a call */
	bool is_innermost;
	__u64 window; /* where the words were read; 0: none were */
	__u64 words[WALK_WINDOW / sizeof(__u64)];
	bool is_interpreted; /* frames of an interpreter come next: walk_interpret */
	struct python_walk python;
};

/* False: no code is mapped there, as far as walk_tables.c knows. */
static __always_inline bool walk_find_listed(struct walk *walk, __u64 pc)
{
	if (walk->mapping_count == 0)
		return false;
	__u32 index = 0;
	for (__u32 step = WALK_MAPPINGS / 2; step > 0; step /= 2) {
		__u32 next = index + step;
		__u64 is_there = walk_if_less(next, walk->mapping_count);
		__u32 key = walk->mapping + (__u32)(next & is_there);
		const struct walk_mapping *mapping = bpf_map_lookup_elem(&walk_mappings, &key);
		if (!mapping)
			return false;
		index += (__u32)(step & is_there & ~walk_if_less(pc, mapping->start));
	}
	__u32 key = walk->mapping + index;
	const struct walk_mapping *mapping = bpf_map_lookup_elem(&walk_mappings, &key);
	if (!mapping)
		return false;
	walk->code = *mapping;
	return pc >= walk->code.start && pc < walk->code.end;
}

static __always_inline bool walk_read(__u64 address, __u64 *value)
{
	return address < WALK_USER_MOST && bpf_probe_read_user(value, sizeof(*value), (const void *)address) == 0;
}

/* One read costs as much as its neighbours': it gets the registers that a frame saved, and what small callers saved. */
static __always_inline void walk_read_window(struct walk *walk, __u64 cfa)
{
	__u64 from = cfa - WALK_SAVED;
	if (from - walk->window <= WALK_WINDOW - WALK_SAVED)
		return;
	walk->window = from;
	if (from >= WALK_USER_MOST || bpf_probe_read_user(walk->words, sizeof(walk->words), (const void *)from))
		walk->window = 0;
}

static __always_inline bool walk_read_saved(const struct walk *walk, __u64 address, __u64 *value)
{
	__u64 offset = address - walk->window;
	if (walk->window == 0 || offset > WALK_WINDOW - sizeof(__u64) || offset & 7)
		return walk_read(address, value);
	offset /= sizeof(__u64);
	barrier_var(offset); /* as in walk_row_at */
	*value = walk->words[offset & (WALK_WINDOW / sizeof(__u64) - 1)];
	return true;
}

/* Whether a call is before the return address. False if its page is not in memory. */
static __always_inline bool walk_is_behind_call(__u64 pc)
{
	__u64 before; /* the eight bytes */
	if (!walk_read(pc - sizeof(before), &before))
		return false;
#if defined(__TARGET_ARCH_x86)
	if ((__u8)(before >> 24) == 0xe8)
		return true;
	for (__u32 bytes = 2; bytes <= 7; bytes++) { /* ff /2, with its operand */
		__u64 call = before >> 8 * (8 - bytes);
		if ((call & 0x38ff) == 0x10ff)
			return true;
	}
	return false;
#else
	__u32 call = (__u32)(before >> 32);
	return (call & 0xfc000000) == 0x94000000 || (call & 0xfffffc1f) == 0xd63f0000; /* bl, blr */
#endif
}

/* Steps by frame pointer, if no table covers the code. The caller's may be something else, in code that has a table. */
static __always_inline enum walk_end walk_step_chained(struct walk *walk, struct walk_stack *stack)
{
	__u64 pair[2], fp = walk->at.fp;
	if (fp < walk->at.sp || fp - walk->at.sp > WALK_STACK_BYTES || fp & 7)
		return WALK_NO_TABLE;
	if (bpf_probe_read_user(pair, sizeof(pair), (const void *)fp))
		return WALK_SHORT;
	if (pair[1] == 0)
		return WALK_ROOT;
	if (pair[0] <= fp && pair[0] != 0 && !walk_is_behind_call(pair[1] & WALK_ADDRESS_MASK))
		return WALK_BROKEN;
	walk->at.sp = fp + sizeof(pair);
	walk->at.fp = pair[0];
	walk->at.pc = pair[1] & WALK_ADDRESS_MASK;
	walk->bx_at = WALK_BX_LOST;
	walk->is_exact = false;
	if (stack->bridged < 255)
		stack->bridged++;
	return WALK_ENDS;
}

static __always_inline enum walk_end walk_step_signal(struct walk *walk)
{
	__u64 sp = walk->at.sp;
	if (!walk_read(sp + WALK_SIGNAL_FP, &walk->at.fp) || !walk_read(sp + WALK_SIGNAL_PC, &walk->at.pc) ||
		!walk_read(sp + WALK_SIGNAL_SP, &walk->at.sp))
		return WALK_SHORT;
#ifdef WALK_SIGNAL_BX
	walk->bx_at = sp + WALK_SIGNAL_BX;
#endif
#ifdef WALK_SIGNAL_LINK
	if (!walk_read(sp + WALK_SIGNAL_LINK, &walk->at.link))
		return WALK_SHORT;
#endif
	walk->is_exact = true;
	return WALK_ENDS;
}

/* WALK_ENDS: known. */
static __always_inline enum walk_end walk_cfa(const struct walk *walk, const struct walk_rule *rule, __u64 *cfa)
{
	const struct walk_registers *at = &walk->at;
	__u64 offset = (__u64)(__s64)rule->cfa_offset;
	switch (rule->cfa) {
	case WALK_CFA_SP:
		*cfa = at->sp + offset;
		return WALK_ENDS;
	case WALK_CFA_FP:
	case WALK_CFA_SWITCH:
		*cfa = at->fp + offset;
		return WALK_ENDS;
	case WALK_CFA_AT_FP:
		return walk_read(at->fp + offset, cfa) ? WALK_ENDS : WALK_SHORT;
	case WALK_CFA_AT_SP:
		return walk_read(at->sp + offset, cfa) ? WALK_ENDS : WALK_SHORT;
	case WALK_CFA_R10:
		*cfa = at->r10 + offset;
		return walk->is_innermost ? WALK_ENDS : WALK_NO_REGISTERS;
	case WALK_CFA_BX:
		*cfa = at->bx;
		if (walk->bx_at == WALK_BX_LOST)
			return WALK_NO_REGISTERS;
		if (walk->bx_at != WALK_BX_IN_REGISTER && !walk_read(walk->bx_at, cfa))
			return WALK_SHORT;
		*cfa += offset;
		return WALK_ENDS;
	case WALK_CFA_PLT:
		*cfa = at->sp + 8 + ((at->pc & 15) >= (__u64)rule->cfa_offset ? 8 : 0);
		return WALK_ENDS;
	default:
		return WALK_NO_REGISTERS;
	}
}

/* Steps to the caller by a table. WALK_ENDS: the walk continues. */
static __always_inline enum walk_end walk_step_ruled(struct walk *walk, const struct walk_rule *rule)
{
	__u64 cfa, caller = walk->at.link, fp = walk->at.fp;
	enum walk_end end = walk_cfa(walk, rule, &cfa);
	if (end != WALK_ENDS)
		return end;
	/* A stack grows down; a leaf of aarch64 has no frame. */
	if (rule->cfa != WALK_CFA_SWITCH &&
		(cfa < walk->at.sp || (cfa == walk->at.sp && !(WALK_HAS_LINK && walk->is_innermost))))
		return WALK_BROKEN;
	walk_read_window(walk, cfa);
	if (rule->return_place == WALK_IS_AT_CFA) {
		if (!walk_read_saved(walk, cfa + (__u64)(__s64)rule->return_offset, &caller))
			return WALK_SHORT;
	} else if (!WALK_HAS_LINK || !walk->is_exact) {
		return WALK_NO_REGISTERS;
	}
	if (rule->fp_place == WALK_IS_AT_CFA || rule->fp_place == WALK_IS_AT_FP) {
		__u64 place = rule->fp_place == WALK_IS_AT_CFA ? cfa : walk->at.fp;
		if (!walk_read_saved(walk, place + (__u64)(__s64)rule->fp_offset, &fp))
			return WALK_SHORT;
	} else if (rule->fp_place == WALK_IS_LOST) {
		fp = 0;
	}
	if (caller == 0)
		return WALK_ROOT;
	if (rule->bx_place == WALK_IS_LOST)
		walk->bx_at = WALK_BX_LOST;
	else if (rule->bx_place != WALK_IS_SAME)
		walk->bx_at = (rule->bx_place == WALK_IS_AT_CFA ? cfa : walk->at.fp) + (__u64)(__s64)rule->bx_offset;
	walk->at.sp = cfa;
	walk->at.fp = fp;
	walk->at.pc = caller & WALK_ADDRESS_MASK;
	walk->is_exact = false;
	return WALK_ENDS;
}

static __always_inline enum walk_end walk_step(struct walk *walk, struct walk_stack *stack, __u64 address)
{
	if (walk->is_lost) {
		/* Of a process that nothing is known of yet, frame pointers say what they can. */
		if ((walk_space_is_readable() || walk->mapping_count > 0) && !walk->is_innermost)
			return WALK_BROKEN;
		return walk_step_chained(walk, stack);
	}
	const struct walk_rule *rule = walk_find_rule(&walk->code, address);
	if (!rule && walk->code.entry && address - walk->code.entry < WALK_STARTUP_BYTES)
		return WALK_ROOT; /* the dynamic linker's has no call-frame information */
	/* An innermost instruction may run before or behind the change of stacks. */
	if (!rule || (rule->cfa >= WALK_CFA_SWITCH_ROOT && walk->is_exact))
		return walk_step_chained(walk, stack);
	if (rule->cfa == WALK_CFA_ROOT || rule->cfa == WALK_CFA_SWITCH_ROOT)
		return WALK_ROOT;
	if (rule->cfa == WALK_CFA_SWITCH_CUT)
		return WALK_SHORT;
	if (rule->cfa == WALK_CFA_SIGNAL)
		return walk_step_signal(walk);
	return walk_step_ruled(walk, rule);
}

/* Requests the process from walk_tables.c, once for each of its states. */
static __always_inline void walk_ask(struct walk_miss *question)
{
	if (!walk_space_ask(question))
		return;
	struct walk_process *known = bpf_map_lookup_elem(&walk_processes, &question->pid);
	if (known && known->mm == question->mm) {
		known->asked_exec_vm = question->exec_vm;
		return;
	}
	struct walk_process asked = {.mm = question->mm, .asked_exec_vm = question->exec_vm};
	bpf_map_update_elem(&walk_processes, &question->pid, &asked, BPF_ANY);
}

/* Finds the known mappings of the process. */
static __always_inline void walk_find_process(struct walk *walk, struct walk_stack *stack, struct task_struct *task)
{
	struct mm_struct *mm = BPF_CORE_READ(task, mm);
	struct walk_miss question = {.kind = WALK_MISS_PROCESS,
		.mm = (__u64)mm,
		.exec_vm = BPF_CORE_READ(mm, exec_vm),
		.start_stack = BPF_CORE_READ(mm, start_stack),
		.pc = walk->at.pc,
		.pid = (__u32)BPF_CORE_READ(task, tgid)};
	struct walk_process *known = bpf_map_lookup_elem(&walk_processes, &question.pid);
	bool is_own = known && known->mm == question.mm;
	if (!is_own && (BPF_CORE_READ(task, flags) & WALK_FORKED)) {
		__u32 parent = (__u32)BPF_CORE_READ(task, real_parent, tgid);
		struct walk_process *forked = bpf_map_lookup_elem(&walk_processes, &parent);
		/* Addresses are the parent's as long as the same amount of code is mapped. */
		if (forked && forked->start_stack == question.start_stack && forked->exec_vm == question.exec_vm) {
			walk->mapping = forked->mapping;
			walk->mapping_count = forked->mapping_count;
			return;
		}
	}
	if (!is_own || known->asked_exec_vm != question.exec_vm)
		walk_ask(&question);
	if (is_own) {
		walk->mapping = known->mapping;
		walk->mapping_count = known->mapping_count;
	}
	stack->is_unknown = walk->mapping_count == 0;
}

/* Starts a walk: registers are those of the thread in user space. */
static __always_inline void walk_begin(
	struct walk *walk, struct walk_stack *stack, struct task_struct *task, const struct walk_registers *registers)
{
	walk->at = *registers;
	walk->mapping = walk->mapping_count = 0;
	walk->code.start = walk->code.end = walk->window = 0;
	walk->is_exact = walk->is_innermost = true;
	walk->bx_at = WALK_BX_IN_REGISTER;
	stack->count = 0;
	stack->end = WALK_LIMIT;
	stack->bridged = 0;
	stack->is_unknown = 0;
	stack->is_interpreted = 0;
	walk->is_interpreted = false;
	walk->python.is_begun = false;
	walk->python.frame = walk->python.cframe = 0;
	if (walk_space_is_readable())
		walk_space_begin(&walk->space, task);
	else
		walk_find_process(walk, stack, task);
}

/* Of the current frame: in the call, of a caller. */
static __always_inline __u64 walk_address(const struct walk *walk)
{
	return walk->is_exact ? walk->at.pc : walk->at.pc - 1;
}

/* The mapping of the current frame's code. False: it has to be looked up in the kernel's tree. */
static __always_inline bool walk_find_code(struct walk *walk, __u64 address)
{
	walk->is_lost = false;
	if (address >= walk->code.start && address < walk->code.end)
		return true;
	if (walk_space_is_readable())
		return walk_space_remembers(&walk->space, address, &walk->code);
	walk->is_lost = !walk_find_listed(walk, address);
	return true;
}

/* The next frames; false: the stack has ended. The tree is read only at the first one, since that takes much of what
 * the verifier can check. */
static __always_inline bool walk_go_on(struct walk *walk, struct walk_stack *stack)
{
	if (walk_space_is_readable() && !walk_find_code(walk, walk_address(walk))) {
		walk->is_lost = !walk_space_find(&walk->space, walk_address(walk), &walk->code);
		stack->is_unknown |= walk->space.is_unknown;
	}
	for (int i = 0; i < WALK_FRAMES_A_CALL; i++) {
		__u32 count = stack->count;
		__u64 pc = walk->at.pc, sp = walk->at.sp, address = walk_address(walk);
		if (count >= WALK_FRAMES)
			return false;
		if ((i > 0 || !walk_space_is_readable()) && !walk_find_code(walk, address))
			return true;
		stack->ips[walk_frame_at(count)] = walk->is_exact ? pc : pc - WALK_CALL_BYTES;
		stack->count = count + 1;
		enum walk_end end = walk_step(walk, stack, address);
		if (end != WALK_ENDS) {
			stack->end = end;
			/* A return address outside of all code was not a return address. */
			if (end == WALK_BROKEN && count > 0 && walk->is_lost)
				stack->count = count;
			return false;
		}
		walk->is_innermost = false;
		if (walk->code.interpreter && python_is_here(&walk->python, walk->code.interpreter, walk->code.bias,
						      address, sp, walk->at.sp)) {
			walk->is_interpreted = true;
			return true;
		}
	}
	return true;
}

#endif
