/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * syscall_copy.bpf.h - copies the memory that a system call's arguments point to into a record, as the call's plan
 * specifies.
 *
 * The description of a copy is in a map value (struct syscall_copies) instead of variables, because the verifier does
 * not track values in memory, and so does not check all their combinations. Memory that is not present when the call
 * begins cannot be read by a BPF program; it is read again at the end of the call, after the kernel has read it.
 */
#ifndef BPF_SYSCALL_COPY_BPF_H
#define BPF_SYSCALL_COPY_BPF_H

#include "abi/syscall_record.h"
#include "bpf/kernel_types.bpf.h"
#include "bpf/syscall_files.bpf.h"
#include "bpf/syscall_trace.bpf.h"

#define SYSCALL_STRINGS_MOST 32 /* Maximum number of strings of an array. */
#define SYSCALL_NAME_MOST    128 /* Maximum number of bytes of a socket address. */

struct syscall_iovec {
	__u64 base, bytes;
};

struct syscall_msghdr { /* struct msghdr of 64-bit programs. */
	__u64 name;
	__u32 name_bytes, unused;
	__u64 vector, vectors, control, control_bytes;
	__u32 flags, unused_too;
};

/* Describes the next part: `want` bytes at `from`, of which at most `most` are copied. */
static __always_inline void syscall_copy_from(struct syscall_copies *c, __u64 from, __u64 want, __u32 most)
{
	c->from = from;
	c->is_cut = want > most;
	c->want = (__u32)(want < most ? want : most);
}

/* Copies the part that c describes; false if it cannot be read. */
static __noinline bool syscall_copy_part(struct syscall_copies *c)
{
	if (!c)
		return false;
	__u32 at = c->used, want = c->want, flags = c->flags;
	bool is_string = c->is_string;
	long got = 0;
	if (at > SYSCALL_CAPTURES - sizeof(struct syscall_part)) {
		c->record.flags |= SYSCALL_FLAG_TRUNCATED;
		return true;
	}
	at &= SYSCALL_CAPTURES - 1;
	if (want > SYSCALL_PART)
		want = SYSCALL_PART;
	if (c->is_cut)
		flags |= SYSCALL_PART_TRUNCATED;
	struct syscall_part *part = (void *)(c->bytes + at);
	void *to = c->bytes + at + sizeof(*part);
	if (is_string) {
		got = bpf_probe_read_user_str(to, want, (void *)c->from);
		if (got == want)
			flags |= SYSCALL_PART_TRUNCATED;
	} else if (want) {
		got = bpf_probe_read_user(to, want, (void *)c->from);
		if (!got)
			got = want;
	}
	if (got < 0 || got > SYSCALL_PART)
		return false;
	part->arg = c->arg;
	part->item = c->item;
	part->flags = (__u8)flags;
	part->unused = 0;
	part->bytes = (__u32)got;
	c->used = at + (__u32)sizeof(*part) + (((__u32)got + 7) & ~7u);
	return true;
}

/* Copies the iovecs at c->from and their buffers, at most `most` bytes of each and c->left bytes in total. */
static __always_inline bool syscall_copy_iovecs(struct syscall_copies *c, __u64 count, __u32 most)
{
	struct syscall_iovec iovec;
	__u64 vector = c->from;
	if (count > SYSCALL_VECTORS)
		c->vectors = SYSCALL_VECTORS;
	else
		c->vectors = (__u32)count;
	syscall_copy_from(c, vector, count * sizeof(iovec), SYSCALL_VECTORS * sizeof(iovec));
	if (!syscall_copy_part(c))
		return false;
	for (__u32 i = 0; i < SYSCALL_VECTORS; i++) {
		if (i >= c->vectors)
			break;
		if (bpf_probe_read_user(&iovec, sizeof(iovec), (void *)(vector + i * sizeof(iovec))))
			return false;
		if (iovec.bytes > c->left)
			iovec.bytes = c->left;
		c->left -= iovec.bytes;
		syscall_copy_from(c, iovec.base, iovec.bytes, most);
		c->item = SYSCALL_ITEM_BUFFER + i;
		if (!syscall_copy_part(c))
			return false;
	}
	return true;
}

/* Copies the strings of the NULL-terminated array at c->from, at most `most` bytes of each. */
static __always_inline bool syscall_copy_strings(struct syscall_copies *c, __u32 most)
{
	__u64 array = c->from;
	for (__u32 i = 0; i <= SYSCALL_STRINGS_MOST; i++) {
		__u64 string = 0;
		if (bpf_probe_read_user(&string, sizeof(string), (void *)(array + i * sizeof(string))))
			return false;
		if (!string)
			return true;
		c->item = SYSCALL_ITEM_BUFFER + i;
		c->is_string = i < SYSCALL_STRINGS_MOST;
		/* An empty part after the last one that is copied means that there are more strings. */
		syscall_copy_from(c, string, c->is_string ? most : 0, most);
		if (!syscall_copy_part(c))
			return false;
	}
	return true;
}

/* Computes the plan's number of units; false if it cannot be read. */
static __always_inline bool syscall_copy_count(
	const struct syscall_copies *c, const struct syscall_plan_arg *plan, __u64 *count)
{
	const struct syscall_record *r = &c->record;
	__u64 arg = r->args[plan->of < SYSCALL_ARGS ? plan->of : 0];
	__u32 at = 0;
	switch (plan->count) {
	case SYSCALL_COUNT_ARG:
		*count = arg;
		return true;
	case SYSCALL_COUNT_RESULT:
		*count = (__u64)r->result;
		return true;
	case SYSCALL_COUNT_BITS:
		*count = (arg + 63) / 64;
		return arg < 1 << 16;
	case SYSCALL_COUNT_AT:
		if (bpf_probe_read_user(&at, sizeof(at), (void *)arg))
			return false;
		*count = at;
		return true;
	case SYSCALL_COUNT_SELF:
		if (bpf_probe_read_user(&at, sizeof(at), (void *)(c->from + plan->of)))
			return false;
		*count = at ? at : plan->unit;
		return true;
	default:
		*count = 1;
		return true;
	}
}

static __noinline bool syscall_copy_bytes(struct syscall_copies *c, const struct syscall_plan_arg *plan)
{
	__u64 count;
	if (!c || !plan || !syscall_copy_count(c, plan, &count))
		return false;
	if (count > 1 << 24)
		count = 1 << 24;
	if (plan->count != SYSCALL_COUNT_SELF)
		count *= plan->unit;
	syscall_copy_from(c, c->from, count, plan->most);
	return syscall_copy_part(c);
}

/* Copies a msghdr. bytes is its size, or that of the mmsghdr that begins with it. */
static __always_inline bool syscall_copy_msghdr(struct syscall_copies *c, __u32 bytes, __u32 most)
{
	struct syscall_msghdr header;
	if (bpf_probe_read_user(&header, sizeof(header), (void *)c->from))
		return false;
	syscall_copy_from(c, c->from, bytes, SYSCALL_MMSGHDR);
	if (!syscall_copy_part(c))
		return false;
	if (header.name && header.name_bytes) {
		c->item = SYSCALL_ITEM_NAME;
		syscall_copy_from(c, header.name, header.name_bytes, SYSCALL_NAME_MOST);
		if (!syscall_copy_part(c))
			return false;
	}
	c->item = SYSCALL_ITEM_VECTOR;
	c->from = header.vector;
	return syscall_copy_iovecs(c, header.vectors, most);
}

/* Starts the copy of an argument; false if the pointer is NULL. */
static __always_inline bool syscall_copy_begin(struct syscall_copies *c, __u32 arg, __u32 flags)
{
	c->from = c->record.args[arg];
	c->arg = (__u8)arg;
	c->item = SYSCALL_ITEM_SELF;
	c->flags = (__u8)flags;
	c->is_string = false;
	return c->from != 0;
}

/*
 * Copies the memory of an argument that points to a string or bytes, or the path of a descriptor; false if the memory
 * cannot be read now.
 */
static __always_inline bool syscall_copy_simple(struct syscall_copies *c, const struct syscall_plan_arg *plan)
{
	if (plan->copy == SYSCALL_COPY_BYTES)
		return syscall_copy_bytes(c, plan);
	if (plan->copy == SYSCALL_COPY_FILE)
		return syscall_copy_fd(c);
	if (plan->copy != SYSCALL_COPY_STRING)
		return true;
	c->is_string = true;
	syscall_copy_from(c, c->from, plan->most, SYSCALL_PART);
	return syscall_copy_part(c);
}

/*
 * Copies the memory of an argument that points to pointers. A call has at most one of them, so the verifier checks
 * these loops only once.
 */
static __noinline bool syscall_copy_nested(struct syscall_copies *c, const struct syscall_plan_arg *plan)
{
	if (!c || !plan)
		return true;
	c->left = plan->count == SYSCALL_COUNT_RESULT ? (__u64)c->record.result : ~0ULL;
	if (plan->copy == SYSCALL_COPY_STRINGS)
		return syscall_copy_strings(c, plan->most);
	if (plan->copy == SYSCALL_COPY_IOVEC)
		return syscall_copy_iovecs(c, c->record.args[plan->of < SYSCALL_ARGS ? plan->of : 0], plan->most);
	return plan->copy != SYSCALL_COPY_MSGHDR || syscall_copy_msghdr(c, plan->unit, plan->most);
}

/*
 * Copies the arguments of an exec that could not be read at its beginning, from the memory of the new program. This
 * does not work for scripts, because the kernel has changed their argv.
 */
static __always_inline void syscall_copy_strings_of_exec(struct syscall_copies *c, __u32 arg, __u32 most)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	__u64 at = BPF_CORE_READ(task, mm, arg_start);
	c->left = BPF_CORE_READ(task, mm, arg_end);
	c->arg = (__u8)arg;
	c->flags = SYSCALL_PART_LATE;
	c->is_string = true;
	c->from = at;
	for (__u32 i = 0; i < SYSCALL_STRINGS_MOST; i++) {
		__u32 used = c->used;
		__u64 from = c->from;
		if (from >= c->left)
			return;
		c->item = SYSCALL_ITEM_BUFFER + i;
		syscall_copy_from(c, from, most, most);
		if (used > SYSCALL_CAPTURES - sizeof(struct syscall_part) || !syscall_copy_part(c))
			return;
		struct syscall_part *part = (void *)(c->bytes + (used & (SYSCALL_CAPTURES - 1)));
		if (part->flags & SYSCALL_PART_TRUNCATED)
			return; /* The beginning of the next string is not known. */
		c->from = from + part->bytes;
	}
}

/* Copies what could not be read at the beginning of a successful exec: the file name and the arguments. */
static __always_inline void syscall_copy_exec(
	struct syscall_copies *c, const struct syscall_plan *plan, struct linux_binprm *binprm)
{
	__u32 used = c->used, nested = plan->nested;
	struct syscall_part *part = (void *)(c->bytes + (used & (SYSCALL_CAPTURES - 1)));
	const char *filename = BPF_CORE_READ(binprm, filename);
	bool is_script = filename != BPF_CORE_READ(binprm, interp);
	if (c->late & 1 && plan->args[0].copy == SYSCALL_COPY_STRING && used <= SYSCALL_CAPTURES - sizeof(*part)) {
		long got = bpf_probe_read_kernel_str(part + 1, SYSCALL_PART, filename);
		if (got > 0 && got <= SYSCALL_PART) {
			*part = (struct syscall_part){.flags = SYSCALL_PART_LATE, .bytes = (__u32)got};
			c->used = (used & (SYSCALL_CAPTURES - 1)) + (__u32)sizeof(*part) + (((__u32)got + 7) & ~7u);
		}
	}
	if (nested == 0 || is_script || !(c->late & 1u << ((nested - 1) & SYSCALL_PLAN_MASK)))
		return;
	nested = (nested - 1) & SYSCALL_PLAN_MASK;
	syscall_copy_strings_of_exec(c, nested, plan->args[nested].most);
}

/*
 * Returns true if the argument is to be copied at this time, with the flags of its part. At the end of a call,
 * arguments that could not be read at the beginning are copied, too.
 */
static __always_inline bool syscall_copy_flags(
	const struct syscall_copies *c, const struct syscall_plan_arg *plan, __u32 arg, __u32 when, __u32 *flags)
{
	bool is_late = when != SYSCALL_WHEN_ENTRY && plan->when & SYSCALL_WHEN_ENTRY && c->late & 1u << arg;
	*flags = plan->when & when & SYSCALL_WHEN_EXIT ? SYSCALL_PART_AT_EXIT : is_late ? SYSCALL_PART_LATE : 0;
	return plan->copy != SYSCALL_COPY_NOTHING && (plan->when & when || is_late);
}

/* Removes the part of an argument that could not be copied; at the beginning of a call, marks it for its end. */
static __always_inline void syscall_copy_done(
	struct syscall_copies *c, bool is_copied, __u32 used, __u32 arg, __u32 when)
{
	if (is_copied)
		return;
	c->used = used;
	if (when == SYSCALL_WHEN_ENTRY)
		c->late |= 1u << arg;
}

/*
 * Copies the arguments that the plan specifies for this time. when is SYSCALL_WHEN_ENTRY, SYSCALL_WHEN_EXIT, or 0 for
 * the end of a call that has failed. with_mapped allows syscall_copy_mapped.
 */
static __always_inline void syscall_copy_args(
	struct syscall_copies *c, const struct syscall_plan *plan, __u32 when, bool with_mapped)
{
	__u32 flags, used, nested = plan->nested;
	for (__u32 arg = 0; arg < SYSCALL_ARGS; arg++) {
		if (!syscall_copy_flags(c, &plan->args[arg], arg, when, &flags))
			continue;
		if (!syscall_copy_begin(c, arg, flags) && plan->args[arg].copy != SYSCALL_COPY_FILE)
			continue;
		used = c->used;
		bool is_copied = syscall_copy_simple(c, &plan->args[arg]);
		syscall_copy_done(c, is_copied, used, arg, when);
		if (with_mapped && !is_copied && plan->args[arg].copy == SYSCALL_COPY_STRING)
			syscall_copy_mapped(c);
	}
	if (nested == 0)
		return;
	/* The verifier of Linux 6.1 does not track a comparison here, so the index is masked. */
	nested = (nested - 1) & SYSCALL_PLAN_MASK;
	if (!syscall_copy_flags(c, &plan->args[nested], nested, when, &flags) || !syscall_copy_begin(c, nested, flags))
		return;
	used = c->used;
	syscall_copy_done(c, syscall_copy_nested(c, &plan->args[nested]), used, nested, when);
}

#endif
