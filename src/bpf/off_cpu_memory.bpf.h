/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * off_cpu_memory.bpf.h - recognizes stacks that were read before, because reading one costs microseconds. Included by
 * off_cpu.bpf.c.
 *
 * A stack is recognized by all values that its unwinding depended on, so reading it again would have the same result:
 *
 * - The user's part is recognized by the registers and the stack words that the walk used (struct walk_notes), and by
 *   the state of the process's mappings. Each thread has its own user parts.
 * - The kernel's part is recognized by all its return addresses, at their distances from the BPF program's frame.
 *   Kernel functions have frames of a fixed size, so equal return addresses at equal distances are the same call chain.
 *   Only the frame that enters the kernel varies in size, if the kernel randomizes its stack offset; its return address
 *   is compared at the other end of the stack. bpf_get_stack does not report where the addresses are stored. So all
 *   words that equal one of them are recorded first, and those that differ when the same stack is read again are
 *   dropped: words that are return addresses never differ.
 *
 * Stacks that do not fit these tables are read each time.
 */
#ifndef BPF_OFF_CPU_MEMORY_BPF_H
#define BPF_OFF_CPU_MEMORY_BPF_H

#include "bpf/off_cpu_task.bpf.h"
#include "bpf/walk_step.bpf.h"

#define KERNEL_WORDS	    512 /* Maximum number of words of the kernel stack that are searched; a power of two. */
#define KERNEL_OFFSETS	    48 /* The number of recorded words of a part is below this limit. */
#define KERNEL_OFFSETS_ROOM 64 /* Capacity of off_cpu_kernel_part.offsets; a power of two. */
#define KERNEL_FIRST_WORDS  32 /* Number of words within which the frames of the BPF program end. */
#define KERNEL_SETS	    64 /* Number of sets; a power of two. */
#define KERNEL_WAYS	    4 /* Number of parts in a set; a power of two. */
/* Maximum number of frames of the BPF program and its callers, which may lie outside of the words. */
#define KERNEL_OWN_FRAMES 4
#define KERNEL_PAGE	  4096ULL
#define STACK_BYTES_MOST  0x10000
/*
 * Reads a loop bound from memory in each iteration: if it were in a register, the verifier would follow each possible
 * value.
 */
#define OFF_CPU_BOUND(value) (*(const volatile typeof(value) *)&(value))

struct off_cpu_kernel_part { /* A remembered kernel stack. */
	__u64 check; /* Hash of the words at offsets. */
	__u64 id; /* Hash of the call chain. */
	__u64 entry; /* Return address at the end of the stack. */
	__u32 tag; /* System call and role of the thread, by which the set is selected; 0 if this element is unused. */
	__u16 head, last; /* Number of words on the interrupt stack, and the last offset. */
	/* is_interrupt means that the part has only the frames of an interrupt, without the interrupted code. */
	__u8 count, is_interrupt;
	__u16 offsets[KERNEL_OFFSETS_ROOM]; /* Offsets of the recorded words, ascending, in units of words. */
};

struct off_cpu_kernel_set {
	struct off_cpu_kernel_part parts[KERNEL_WAYS];
	__u32 next; /* Index of the part that is replaced next, modulo KERNEL_WAYS. */
	__u32 words; /* Number of words that must be read to compare all parts. */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, KERNEL_SETS);
	__type(key, __u32);
	__type(value, struct off_cpu_kernel_set);
} kernel_parts SEC(".maps");

struct off_cpu_memory { /* Working memory of one CPU. */
	/* Words of the kernel stack. The second half is never used; it satisfies the verifier. */
	__u64 words[2 * KERNEL_WORDS];
	__u64 user_words[2 * OFF_CPU_WORDS]; /* Words of the user stack. The second half is never used, either. */
	__u64 irq_end; /* End of the interrupt stack; 0 if it is not known yet. */
	__u64 entry; /* Return address at the end of the thread's kernel stack. */
	__u64 low, high, bloom[2]; /* Range and Bloom filter of the addresses of a call chain. */
	/* End of the thread's kernel stack; volatile because the verifier allows no arithmetic with the pointer. */
	volatile __u64 end;
	volatile __u32 user_count;
	/* Number of words that were read, and how many of them are from the interrupt stack. */
	volatile __u32 count, head;
	/*
	 * State while a part is recorded. found: number of words recorded so far. old: number of offsets of the earlier
	 * recording that were passed. first, next: indices in the call chain of the first address and of the next one
	 * to be found. place: index of the part in its set.
	 */
	volatile __u32 found, next, first, place, old;
	volatile __u32 is_new; /* 1 if the stack was not recorded before, 0 otherwise. */
	bool is_whole; /* True if the words extend to the end of the thread's stack, so that entry is valid. */
};

static __always_inline __u64 off_cpu_pt_regs_at(struct task_struct *task)
{
	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_task_pt_regs))
		return (__u64)bpf_task_pt_regs((void *)task);
	return (__u64)BPF_CORE_READ(task, stack) + WALK_THREAD_SIZE - bpf_core_type_size(struct pt_regs___kernel);
}

/* ---- the kernel's part ---- */

/* Returns true if end is the end of this CPU's interrupt stack, which is followed by a page that cannot be read. */
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

/*
 * Reads the stack from base on, at most `most` words of the thread's part. Returns false if it is not readable or too
 * long.
 */
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
		/* The last word of the interrupt stack points to the thread's stack. */
		base = m->words[(head - 1) & (KERNEL_WORDS - 1)];
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

/* Returns the remembered part that the words equal; NULL if the stack is not recognized. */
static __always_inline const struct off_cpu_kernel_part *off_cpu_find_kernel_part(
	const struct off_cpu_memory *m, const struct off_cpu_kernel_set *set, __u32 tag)
{
	for (__u32 i = 0; i < KERNEL_WAYS; i++)
		if (off_cpu_is_kernel_part(m, &set->parts[i], tag))
			return &set->parts[i];
	return NULL;
}

struct off_cpu_taken { /* Kernel part of a stack that bpf_get_stack has read, to be remembered. */
	const __u64 *ips;
	const __u32 *count;
	__u64 id; /* id, tag and is_interrupt are members of the remembered part. */
	__u32 tag;
	bool is_interrupt;
};

/* Returns 1 if a equals b, otherwise 0. It has no branch, because the verifier follows both ways of each branch. */
static __always_inline __u64 off_cpu_is_equal(__u64 a, __u64 b)
{
	__u64 difference = a ^ b;
	difference |= -difference;
	barrier_var(difference);
	return difference >> 63 ^ 1;
}

/*
 * Sets m->first to the index in taken->ips of the first address that is found among the first words; 0 if there is
 * none. The addresses before it are those of the BPF program itself.
 */
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

/* Returns true if the recorded words include all addresses in their order. */
static __always_inline bool off_cpu_is_covered(const struct off_cpu_memory *m, const struct off_cpu_taken *taken)
{
	__u32 next = m->next, count = OFF_CPU_BOUND(*taken->count);
	if (next >= count)
		return true;
	/*
	 * The outermost frame of an interrupt is on the stack of the interrupted code, and has only one possible
	 * caller.
	 */
	if (next + 1 < count || next >= OFF_CPU_FRAMES)
		return false;
	barrier_var(next);
	return taken->is_interrupt || m->entry == taken->ips[next & OFF_CPU_FRAMES];
}

/* Returns 1 if the word may be one of the addresses that off_cpu_note_addresses has noted, otherwise 0. */
static __always_inline __u64 off_cpu_may_be_address(const struct off_cpu_memory *m, __u64 word)
{
	__u64 bit = word * 0x9e3779b97f4a7c15ULL;
	__u64 is_between = walk_if_less((word - m->low) >> 1, (m->high - m->low) / 2 + 1);
	return is_between & m->bloom[0] >> (bit >> 58) & m->bloom[1] >> (bit >> 52 & 63) & 1;
}

/*
 * Records the words that may be addresses. For a stack that was recorded before, it retains only words that were
 * recorded. It has no branch, because the verifier would follow both ways at each word.
 */
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

/* Records a stack that was read, after off_cpu_read_words. */
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
	/* Terminates the offsets with a value that equals no index. */
	part->offsets[part->count & (KERNEL_OFFSETS_ROOM - 1)] = 0xffff;
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
