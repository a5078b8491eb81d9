/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * off_cpu_user_memory.bpf.h - recognizes the user's part of stacks, as off_cpu_memory.bpf.h describes. Included by
 * off_cpu.bpf.c.
 */
#ifndef BPF_OFF_CPU_USER_MEMORY_BPF_H
#define BPF_OFF_CPU_USER_MEMORY_BPF_H

#include "bpf/off_cpu_memory.bpf.h"
#include "bpf/walk.bpf.h"

/*
 * Returns a value that changes with the mappings and at an exec; 0 if the mappings are being changed or this kernel has
 * no such counter.
 */
static __always_inline __u64 off_cpu_space_of(struct task_struct *task)
{
	struct mm_struct *mm = OFF_CPU_READ(task, mm);
	struct mm_struct___before_6_13 *old = (void *)mm;
	__u64 sequence;
	if (!mm)
		return 0;
	if (bpf_core_field_exists(mm->mm_lock_seq.sequence))
		sequence = OFF_CPU_READ(mm, mm_lock_seq.sequence);
	else if (bpf_core_field_exists(old->mm_lock_seq))
		sequence = (__u64)(__u32)OFF_CPU_READ(old, mm_lock_seq) << 1;
	else
		return 0;
	if (sequence & 1)
		return 0;
	return walk_mix(sequence, (__u64)(__u32)OFF_CPU_READ(task, self_exec_id) + 1) | 1;
}

static __always_inline __u64 off_cpu_used_registers(const struct walk_registers *registers, __u8 uses)
{
	__u64 hash = uses;
	if (uses & WALK_USES_FP)
		hash = walk_mix(hash, registers->fp);
	if (uses & WALK_USES_BX)
		hash = walk_mix(hash, registers->bx);
	if (uses & WALK_USES_R10)
		hash = walk_mix(hash, registers->r10);
	if (uses & WALK_USES_LINK)
		hash = walk_mix(hash, registers->link);
	return hash;
}

static __always_inline bool off_cpu_is_user_part(
	struct off_cpu_memory *m, const struct off_cpu_user_part *part, const struct walk_registers *registers)
{
	__u64 hash = 0;
	if (part->uses && part->registers != off_cpu_used_registers(registers, part->uses))
		return false;
	for (__u32 i = 0; i < OFF_CPU_OFFSETS && i < OFF_CPU_BOUND(part->count); i++) {
		__u32 offset = part->offsets[i];
		__u64 word;
		if (offset < OFF_CPU_BOUND(m->user_count)) {
			barrier_var(offset);
			word = m->user_words[offset & (OFF_CPU_WORDS - 1)];
		} else if (bpf_probe_read_user(&word, sizeof(word), (const void *)(part->sp + 8ULL * offset))) {
			return false;
		}
		hash = walk_mix(hash, word);
	}
	return hash == part->check;
}

static __always_inline __u32 off_cpu_user_tag(__u64 ip, __u64 sp)
{
	return (__u32)(walk_mix(ip, sp) >> 32) | 1;
}

/* Returns the index of the thread's part that matches the current stack; OFF_CPU_PARTS if the stack must be walked. */
static __always_inline __u32 off_cpu_find_user_part(struct off_cpu_memory *m, const struct off_cpu_thread *t,
	struct task_struct *task, const struct off_cpu_regs *regs, struct walk_registers *registers)
{
	__u32 tag = off_cpu_user_tag(regs->ip, regs->sp);
	__u64 space = 0;
	m->user_count = 0;
	for (__u32 i = 0; i < OFF_CPU_PARTS; i++) {
		const struct off_cpu_user_part *part = &t->user[i];
		if (t->tags[i] != tag || part->ip != regs->ip || part->sp != regs->sp)
			continue;
		if (space == 0)
			space = off_cpu_space_of(task);
		if (space == 0 || part->space != space)
			continue;
		if (part->uses && !walk_registers_of_task(registers, (void *)bpf_get_current_task()))
			continue;
		__u32 wanted = part->words;
		if (m->user_count < wanted) {
			barrier_var(wanted);
			bool is_read =
				bpf_probe_read_user(m->user_words, (wanted & (2 * OFF_CPU_WORDS - 1)) * sizeof(__u64),
					(const void *)regs->sp) == 0;
			m->user_count = is_read ? part->words : 0;
		}
		if (off_cpu_is_user_part(m, part, registers))
			return i;
	}
	return OFF_CPU_PARTS;
}

/*
 * Stores the result of a walk in the thread's entry, with the ID of the stack. space is the result of off_cpu_space_of
 * before the walk; nothing is stored if the mappings have changed since then.
 */
static __always_inline void off_cpu_remember_user(struct off_cpu_thread *t, struct task_struct *task,
	const struct walk *walk, const struct walk_registers *registers, __u64 space, __u64 id)
{
	const struct walk_notes *notes = &walk->notes;
	if (!space || space != off_cpu_space_of(task) || notes->is_partial || notes->count > OFF_CPU_OFFSETS)
		return;
	__u32 index = t->next_part;
	barrier_var(index);
	if (index >= OFF_CPU_PARTS)
		index = 0;
	t->next_part = (__u8)(index + 1);
	struct off_cpu_user_part *part = &t->user[index];
	t->tags[index] = off_cpu_user_tag(registers->pc, registers->sp);
	part->ip = registers->pc;
	part->sp = registers->sp;
	part->space = space;
	part->uses = notes->uses;
	part->registers = off_cpu_used_registers(registers, notes->uses);
	part->check = notes->hash;
	part->id = id;
	part->count = (__u8)notes->count;
	__builtin_memcpy(part->offsets, notes->offsets, sizeof(part->offsets));
	part->words = 0;
	for (__u32 i = 0; i < OFF_CPU_OFFSETS && i < OFF_CPU_BOUND(part->count); i++)
		if (part->offsets[i] < OFF_CPU_WORDS && part->offsets[i] >= part->words)
			part->words = (__u8)(part->offsets[i] + 1);
}

#endif
