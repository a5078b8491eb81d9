/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * walk.bpf.h - unwinds the user stack of the current thread in a BPF program, by tables made from call-frame
 * information, and by frame pointers if a table is missing. It is usable in any program that has a pointer to the
 * thread, such as one that runs at a sample or a context switch.
 *
 * A BPF object includes this header once, through walk_interpret.bpf.h. The header defines the maps of the walk in the
 * object; walk_tables.h fills them from user space.
 *
 * struct walk and struct walk_stack are in a map, not on the program's stack, where the verifier would track each value
 * through all frames. Each run of a program walks some frames, and tail calls walk the rest, so that the verifier
 * checks the loop only once.
 *
 *	SEC("tp_btf/...") int first(...)
 *		if (walk_registers_of_task(&registers, task))     // as it entered the kernel
 *			walk_begin(&scratch->walk, &scratch->stack, task, &registers);
 *		bpf_tail_call(ctx, &calls, 0);                     // calls: a PROG_ARRAY of next and interpreted
 *	SEC("tp_btf/...") int next(...)
 *		if (walk_go_on(&scratch->walk, &scratch->stack))
 *			bpf_tail_call(ctx, &calls, walk_next(&scratch->walk));
 *		... scratch->stack is complete ...
 *	SEC("tp_btf/...") int interpreted(...)	// like next, but calls walk_interpret instead of walk_go_on
 */
#ifndef BPF_WALK_BPF_H
#define BPF_WALK_BPF_H

#include "bpf/python.bpf.h"
#include "bpf/walk_layout.h"
#include "bpf/walk_registers.bpf.h"
#include "bpf/walk_rules.bpf.h"
#include "bpf/walk_space.bpf.h"
#include "bpf/walk_step.bpf.h"

#define WALK_KTHREAD	   0x200000 /* PF_KTHREAD of the kernel. */
#define WALK_FORKED	   0x40 /* PF_FORKNOEXEC of the kernel. */
#define WALK_FRAMES_A_CALL 8 /* With 8, 127 frames take fewer tail calls than the kernel's limit of 32. */

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

/* Finds the mapping of pc in walk_mappings; false if walk_tables.c knows no code there. */
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

/* Requests the mappings of the process from walk_tables.c, and again if the amount of its mapped code changes. */
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

/* Finds the process's mappings in walk_mappings, as far as they are known. */
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
		/* The child's addresses are those of its parent as long as the same amount of code is mapped. */
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

/* Starts a walk from the thread's user registers. */
static __always_inline void walk_begin(
	struct walk *walk, struct walk_stack *stack, struct task_struct *task, const struct walk_registers *registers)
{
	walk->at = *registers;
	walk->mapping = walk->mapping_count = 0;
	walk->code.start = walk->code.end = walk->window = 0;
	walk->is_exact = walk->is_innermost = true;
	walk->bx_at = WALK_BX_IN_REGISTER;
	walk->fp_at = WALK_FP_IN_REGISTER;
	if (WALK_TAKES_NOTES) {
		walk->notes.sp = registers->sp;
		walk->notes.hash = 0;
		walk->notes.count = 0;
		walk->notes.uses = 0;
		walk->notes.is_partial = false;
	}
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

/* Returns the address that identifies the code of the current frame; a caller's address lies within its call. */
static __always_inline __u64 walk_address(const struct walk *walk)
{
	return walk->is_exact ? walk->at.pc : walk->at.pc - 1;
}

/*
 * Sets walk->code to the mapping of the current frame's code, or walk->is_lost to true if there is none. Returns false
 * if the mapping must be looked up in the kernel's tree (walk_space_find).
 */
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

/*
 * Walks the next frames; false if the stack has ended. It reads the kernel's tree of mappings only for the first frame,
 * because that code uses much of the verifier's complexity limit.
 */
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
			/* The last return address is outside of all code, so it was none. */
			if (end == WALK_BROKEN && count > 0 && walk->is_lost)
				stack->count = count;
			return false;
		}
		walk->is_innermost = false;
		if (walk->code.interpreter)
			walk_note_more(walk);
		if (walk->code.interpreter && python_is_here(&walk->python, walk->code.interpreter, walk->code.bias,
						      address, sp, walk->at.sp)) {
			walk->is_interpreted = true;
			return true;
		}
	}
	return true;
}

#endif
