/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * off_cpu_memory.bpf.h - recognizes stacks that were taken before, since taking one costs microseconds. Included by
 * off_cpu.bpf.c.
 *
 * A stack is recognized by all that its unwinding depended on, so the result is what taking it again would give:
 *
 * - The user's part by the registers and the words of the stack that the walk used (struct walk_notes), and by the state
 *   of the process's mappings. Each thread has its own parts.
 * - The kernel's part by all return addresses in it, at their distances from our own frame. Kernel functions have frames
 *   of a fixed size, so equal return addresses at equal distances are the same chain. Only the frame that enters the
 *   kernel varies, where the kernel places its stack at random: its return address is compared at the stack's other end.
 *   bpf_get_stack does not say where the addresses lie. So all words that equal one of them are noted first, and those
 *   that differ when the same stack is taken again are dropped: real ones never do.
 *
 * Whatever does not fit is taken each time.
 */
#ifndef BPF_OFF_CPU_MEMORY_BPF_H
#define BPF_OFF_CPU_MEMORY_BPF_H

#include "bpf/off_cpu_task.bpf.h"
#include "bpf/walk_step.bpf.h"

#define KERNEL_WORDS	    512 /* of its stack, which are searched; a power of two */
#define KERNEL_OFFSETS	    48
#define KERNEL_OFFSETS_ROOM 64 /* a power of two */
#define KERNEL_FIRST_WORDS  32 /* in which our own program's frames end */
#define KERNEL_SETS	    64 /* a power of two */
#define KERNEL_WAYS	    4 /* parts that have the same key; a power of two */
#define KERNEL_OWN_FRAMES   4 /* of our program and what called it, which may lie outside of the words */
#define KERNEL_PAGE	    4096ULL
#define STACK_BYTES_MOST    0x10000
/* Bounds of loops are read each time: of a value in a register, the verifier would follow each possibility. */
#define OFF_CPU_BOUND(value) (*(const volatile typeof(value) *)&(value))

struct off_cpu_kernel_part {
	__u64 check; /* hash of the words */
	__u64 id; /* hash of the addresses */
	__u64 entry; /* return address at the end of the stack */
	__u32 tag; /* of the set's keys; 0: unused */
	__u16 head, last; /* words on the stack of interrupts, and the last offset */
	__u8 count, is_interrupt; /* the stack is that of an interrupt, without what it interrupted */
	__u16 offsets[KERNEL_OFFSETS_ROOM]; /* in words, ascending */
};

struct off_cpu_kernel_set {
	struct off_cpu_kernel_part parts[KERNEL_WAYS];
	__u32 next;
	__u32 words; /* that its parts need */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, KERNEL_SETS);
	__type(key, __u32);
	__type(value, struct off_cpu_kernel_set);
} kernel_parts SEC(".maps");

struct off_cpu_memory { /* of one CPU */
	__u64 words[2 * KERNEL_WORDS]; /* of the kernel's stack; the second half for the verifier only */
	__u64 user_words[2 * OFF_CPU_WORDS]; /* the same of the user's */
	__u64 irq_end; /* of the stack of interrupts; 0: not known yet */
	__u64 entry; /* return address there */
	__u64 low, high, bloom[2]; /* of the addresses of a stack */
	volatile __u64
		end; /* of the thread's stack: volatile, since the verifier allows no arithmetic with the pointer */
	volatile __u32 user_count;
	volatile __u32 count, head; /* words that were read; of them on the stack of interrupts */
	volatile __u32 found, next, first, place, old;
	volatile __u32 is_new; /* 1 or 0 */
	bool is_whole; /* the words reach the end of the thread's stack, where the entry is */
};

static __always_inline __u64 off_cpu_pt_regs_at(struct task_struct *task)
{
	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_task_pt_regs))
		return (__u64)bpf_task_pt_regs((void *)task);
	return (__u64)BPF_CORE_READ(task, stack) + WALK_THREAD_SIZE - bpf_core_type_size(struct pt_regs___kernel);
}

/* ---- the kernel's part ---- */

/* Where the stack of interrupts ends: at a page that cannot be read. A CPU has one. */
static __always_inline bool off_cpu_is_irq_end(struct off_cpu_memory *m, __u64 end)
{
	__u64 word;
	if (m->irq_end == end)
		return true;
	if (bpf_probe_read_kernel(&word, sizeof(word), (const void *)end) == 0)
		return false;
	m->irq_end = end;
	return true;
}

/* Reads the stack from base on, at most so many words of the thread's; false: it is not readable, or too long. */
static __always_inline bool off_cpu_read_words(
	struct off_cpu_memory *m, struct task_struct *task, __u64 base, __u32 most)
{
	m->end = off_cpu_pt_regs_at(task);
	__u64 stack = (__u64)OFF_CPU_READ(task, stack), end = m->end - sizeof(__u64);
	__u32 head = 0;
	m->count = m->head = 0;
	m->is_whole = false;
	if (base - stack >= STACK_BYTES_MOST) {
		__u64 irq_end = (base | (KERNEL_PAGE - 1)) + 1;
		head = (__u32)(irq_end - base) / sizeof(__u64);
		if (!off_cpu_is_irq_end(m, irq_end) || head == 0 || head >= KERNEL_WORDS)
			return false;
		barrier_var(head);
		if (bpf_probe_read_kernel(m->words, (head & (KERNEL_WORDS - 1)) * sizeof(__u64), (const void *)base))
			return false;
		m->count = m->head = head;
		base = m->words[(head - 1) & (KERNEL_WORDS - 1)]; /* where the thread's stack goes on */
	}
	__u64 count = (end - base) / sizeof(__u64);
	if (base - stack >= STACK_BYTES_MOST || base >= end || base & 7 || count + head >= KERNEL_WORDS)
		return head != 0;
	if (count > most)
		count = most;
	barrier_var(head);
	barrier_var(count);
	if (bpf_probe_read_kernel(m->words + (head & (KERNEL_WORDS - 1)), (count & (KERNEL_WORDS - 1)) * sizeof(__u64),
		    (const void *)base) ||
		bpf_probe_read_kernel(&m->entry, sizeof(m->entry), (const void *)end))
		return head != 0;
	m->count = head + (__u32)count;
	m->is_whole = true;
	return true;
}

static __always_inline __u64 off_cpu_word(const struct off_cpu_memory *m, __u32 offset)
{
	barrier_var(offset);
	return m->words[offset & (KERNEL_WORDS - 1)];
}

static __always_inline bool off_cpu_is_kernel_part(
	const struct off_cpu_memory *m, const struct off_cpu_kernel_part *part, __u32 tag)
{
	__u64 hash = 0;
	if (part->tag != tag || part->head != m->head || part->last >= m->count)
		return false;
	if (!part->is_interrupt && (!m->is_whole || part->entry != m->entry))
		return false;
	for (__u32 i = 0; i < KERNEL_OFFSETS && i < OFF_CPU_BOUND(part->count); i++)
		hash = walk_mix(hash, off_cpu_word(m, part->offsets[i]));
	return hash == part->check;
}

/* NULL: it must be taken. */
static __always_inline const struct off_cpu_kernel_part *off_cpu_find_kernel_part(
	const struct off_cpu_memory *m, const struct off_cpu_kernel_set *set, __u32 tag)
{
	for (__u32 i = 0; i < KERNEL_WAYS; i++)
		if (off_cpu_is_kernel_part(m, &set->parts[i], tag))
			return &set->parts[i];
	return NULL;
}

struct off_cpu_taken { /* the kernel's part of a stack */
	const __u64 *ips;
	const __u32 *count;
	__u64 id;
	__u32 tag;
	bool is_interrupt;
};

/* 1 or 0, without a branch, as walk_if_less. */
static __always_inline __u64 off_cpu_is_equal(__u64 a, __u64 b)
{
	__u64 difference = a ^ b;
	difference |= -difference;
	barrier_var(difference);
	return difference >> 63 ^ 1;
}

/* m->first: index of the first address that lies in the words, behind those of our own program. */
static __always_inline void off_cpu_find_first(struct off_cpu_memory *m, const struct off_cpu_taken *taken)
{
	m->first = 0;
	for (__u32 first = KERNEL_OWN_FRAMES; first > 0; first--) {
		__u64 address = taken->ips[first];
		for (__u32 i = 0; i < KERNEL_FIRST_WORDS; i++)
			m->first = m->first ^ ((m->first ^ first) & -(__u32)off_cpu_is_equal(m->words[i], address));
	}
}

static __always_inline void off_cpu_note_addresses(struct off_cpu_memory *m, const struct off_cpu_taken *taken)
{
	m->low = ~0ULL;
	m->high = m->bloom[0] = m->bloom[1] = 0;
	for (__u32 i = 1; i < OFF_CPU_FRAMES && i < OFF_CPU_BOUND(*taken->count); i++) {
		__u64 word = taken->ips[i], bit = word * 0x9e3779b97f4a7c15ULL;
		if (i < m->first)
			continue;
		if (word < m->low)
			m->low = word;
		if (word > m->high)
			m->high = word;
		m->bloom[0] |= 1ULL << (bit >> 58);
		m->bloom[1] |= 1ULL << (bit >> 52 & 63);
	}
}

/* Whether all addresses, in their order, are among the noted words. */
static __always_inline bool off_cpu_is_covered(const struct off_cpu_memory *m, const struct off_cpu_taken *taken)
{
	__u32 next = m->next, count = OFF_CPU_BOUND(*taken->count);
	if (next >= count)
		return true;
	/* What an interrupt begins with lies on the stack of what it interrupted, and has one caller only. */
	if (next + 1 < count || next >= OFF_CPU_FRAMES)
		return false;
	barrier_var(next);
	return taken->is_interrupt || m->entry == taken->ips[next & OFF_CPU_FRAMES];
}

/* Whether the word may be one of the addresses: 1 or 0. */
static __always_inline __u64 off_cpu_may_be_address(const struct off_cpu_memory *m, __u64 word)
{
	__u64 bit = word * 0x9e3779b97f4a7c15ULL;
	__u64 is_between = walk_if_less((word - m->low) >> 1, (m->high - m->low) / 2 + 1);
	return is_between & m->bloom[0] >> (bit >> 58) & m->bloom[1] >> (bit >> 52 & 63) & 1;
}

/* Notes the words that may be addresses; of a stack that was taken before, only those that are noted. There is no branch,
 * because the verifier would follow both ways at each word. */
static __always_inline void off_cpu_note_part(
	struct off_cpu_memory *m, struct off_cpu_kernel_part *part, const struct off_cpu_taken *taken)
{
	m->found = m->old = 0;
	m->next = m->first;
	part->check = 0;
	for (__u32 i = 0; i < KERNEL_WORDS && i < m->count; i++) {
		__u64 word = m->words[i];
		__u32 found = m->found, old = m->old, next = m->next;
		barrier_var(found);
		barrier_var(old);
		barrier_var(next);
		__u64 is_noted = off_cpu_is_equal(part->offsets[old & (KERNEL_OFFSETS_ROOM - 1)], i);
		__u64 is_one = off_cpu_may_be_address(m, word) & (is_noted | m->is_new);
		__u64 is_next = is_one & off_cpu_is_equal(word, taken->ips[next & OFF_CPU_FRAMES]);
		m->old = old + (__u32)is_noted;
		part->offsets[found & (KERNEL_OFFSETS_ROOM - 1)] = (__u16)i;
		m->found = found + (__u32)is_one;
		m->next = next + (__u32)is_next;
		part->check ^= (part->check ^ walk_mix(part->check, word)) & -is_one;
	}
}

/* Remembers a stack that was taken, whose words were read. */
static __always_inline void off_cpu_remember_kernel(
	struct off_cpu_memory *m, struct off_cpu_kernel_set *set, const struct off_cpu_taken *taken)
{
	m->place = KERNEL_WAYS;
	off_cpu_find_first(m, taken);
	if (m->first == 0 || (taken->is_interrupt ? m->head == 0 : !m->is_whole))
		return;
	off_cpu_note_addresses(m, taken);
	for (__u32 i = 0; i < KERNEL_WAYS; i++) {
		const struct off_cpu_kernel_part *old = &set->parts[i];
		if (old->tag == taken->tag && old->id == taken->id && old->head == m->head)
			m->place = i;
	}
	m->is_new = m->place == KERNEL_WAYS;
	if (m->is_new)
		m->place = set->next++;
	if (taken->is_interrupt)
		m->count = m->head;
	struct off_cpu_kernel_part *part = &set->parts[m->place & (KERNEL_WAYS - 1)];
	part->offsets[part->count & (KERNEL_OFFSETS_ROOM - 1)] = 0xffff; /* none is behind the last */
	off_cpu_note_part(m, part, taken);
	__u32 found = m->found;
	barrier_var(found);
	part->count = (__u8)found;
	part->last = part->offsets[(found - 1) & (KERNEL_OFFSETS_ROOM - 1)];
	part->id = taken->id;
	part->entry = m->entry;
	part->head = (__u16)m->head;
	part->is_interrupt = taken->is_interrupt;
	part->tag = found && found < KERNEL_OFFSETS && off_cpu_is_covered(m, taken) ? taken->tag : 0;
	set->words = 0;
	for (__u32 i = 0; i < KERNEL_WAYS; i++)
		if (set->parts[i].tag && set->words <= set->parts[i].last)
			set->words = set->parts[i].last + 1u;
}

#endif
