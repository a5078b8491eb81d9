/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * syscall_copy.bpf.h - copies what a system call's arguments point to into a record, as the call's plan says.
 *
 * The number of bytes that are used is kept in memory, and masked: the verifier does not follow it there, and so does
 * not try all combinations. Memory that is not present cannot be read when the call begins (the kernel reads it after
 * that); it is read again at the end.
 */
#ifndef BPF_SYSCALL_COPY_BPF_H
#define BPF_SYSCALL_COPY_BPF_H

#include "abi/syscall_record.h"
#include "bpf/kernel_types.bpf.h"
#include "bpf/syscall_trace.bpf.h"

#define SYSCALL_STRINGS_MOST 32

struct syscall_iovec {
	__u64 base, bytes;
};

struct syscall_msghdr { /* of 64-bit programs */
	__u64 name;
	__u32 name_bytes, unused;
	__u64 vector, vectors, control, control_bytes;
	__u32 flags, unused_too;
};

struct syscall_source {
	__u64 from;
	__u32 want; /* bytes */
	__u8 arg, item, flags;
	bool is_string;
};

/* False: nothing could be read. */
static __noinline bool syscall_copy_part(struct syscall_copies *c, const struct syscall_source *source)
{
	__u32 at = c ? c->used : SYSCALL_CAPTURES, want = source->want;
	long got;
	if (!c || at > SYSCALL_CAPTURES - sizeof(struct syscall_part)) {
		if (c)
			c->record.flags |= SYSCALL_FLAG_TRUNCATED;
		return true;
	}
	at &= SYSCALL_CAPTURES - 1;
	struct syscall_part *part = (void *)(c->bytes + at);
	void *to = c->bytes + at + sizeof(*part);
	part->arg = source->arg;
	part->item = source->item;
	part->flags = source->flags;
	part->unused = 0;
	if (want > SYSCALL_PART)
		want = SYSCALL_PART;
	if (source->is_string) {
		got = bpf_probe_read_user_str(to, want, (void *)source->from);
		if (got == want)
			part->flags |= SYSCALL_PART_TRUNCATED;
	} else {
		got = want ? bpf_probe_read_user(to, want, (void *)source->from) : 0;
		if (!got)
			got = want;
	}
	if (got < 0 || got > SYSCALL_PART)
		return false;
	part->bytes = (__u32)got;
	c->used = at + (__u32)sizeof(*part) + (((__u32)got + 7) & ~7u);
	return true;
}

static __always_inline bool syscall_copy_iovecs(
	struct syscall_copies *c, struct syscall_source *source, __u64 vector, __u64 count, __u32 most, __u64 left)
{
	struct syscall_iovec iovec;
	source->from = vector;
	source->want = (__u32)(count < SYSCALL_VECTORS ? count : SYSCALL_VECTORS) * sizeof(iovec);
	if (count > SYSCALL_VECTORS)
		source->flags |= SYSCALL_PART_TRUNCATED;
	if (!syscall_copy_part(c, source))
		return false;
	for (__u32 i = 0; i < SYSCALL_VECTORS && i < count; i++) {
		if (bpf_probe_read_user(&iovec, sizeof(iovec), (void *)(vector + i * sizeof(iovec))))
			return false;
		__u64 bytes = iovec.bytes < left ? iovec.bytes : left;
		left -= bytes;
		source->flags &= ~SYSCALL_PART_TRUNCATED;
		if (bytes > most)
			source->flags |= SYSCALL_PART_TRUNCATED;
		source->from = iovec.base;
		source->want = (__u32)(bytes < most ? bytes : most);
		source->item = SYSCALL_ITEM_BUFFER + i;
		if (!syscall_copy_part(c, source))
			return false;
	}
	return true;
}

static __always_inline bool syscall_copy_strings(
	struct syscall_copies *c, struct syscall_source *source, __u64 array, __u32 most)
{
	for (__u32 i = 0; i <= SYSCALL_STRINGS_MOST; i++) {
		__u64 string = 0;
		if (bpf_probe_read_user(&string, sizeof(string), (void *)(array + i * sizeof(string))))
			return false;
		if (!string)
			return true;
		source->from = string;
		source->item = SYSCALL_ITEM_BUFFER + i;
		source->is_string = i < SYSCALL_STRINGS_MOST;
		source->want = source->is_string ? most : 0; /* the last one says that there are more */
		if (!syscall_copy_part(c, source))
			return false;
	}
	return true;
}

/* The plan's number of units; false: it cannot be read. */
static __always_inline bool syscall_copy_count(
	const struct syscall_record *r, const struct syscall_plan_arg *plan, __u64 *count)
{
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
	default:
		*count = 1;
		return true;
	}
}

static __noinline bool syscall_copy_bytes(
	struct syscall_copies *c, struct syscall_source *source, const struct syscall_plan_arg *plan)
{
	__u64 count;
	if (!c || !syscall_copy_count(&c->record, plan, &count))
		return false;
	if (count > 1 << 24)
		count = 1 << 24;
	count *= plan->unit;
	if (count > plan->most)
		source->flags |= SYSCALL_PART_TRUNCATED;
	source->want = (__u32)(count < plan->most ? count : plan->most);
	return syscall_copy_part(c, source);
}

static __noinline bool syscall_copy_iovec(
	struct syscall_copies *c, struct syscall_source *source, const struct syscall_plan_arg *plan)
{
	if (!c)
		return false;
	__u64 left = plan->count == SYSCALL_COUNT_RESULT ? (__u64)c->record.result : ~0ULL;
	__u64 count = c->record.args[plan->of < SYSCALL_ARGS ? plan->of : 0];
	return syscall_copy_iovecs(c, source, source->from, count, plan->most, left);
}

static __noinline bool syscall_copy_msghdr(
	struct syscall_copies *c, struct syscall_source *source, const struct syscall_plan_arg *plan)
{
	struct syscall_msghdr header;
	if (!c || bpf_probe_read_user(&header, sizeof(header), (void *)source->from))
		return false;
	source->want = sizeof(header);
	if (!syscall_copy_part(c, source))
		return false;
	if (header.name && header.name_bytes) {
		source->item = SYSCALL_ITEM_NAME;
		source->from = header.name;
		source->want = header.name_bytes < 128 ? header.name_bytes : 128;
		if (!syscall_copy_part(c, source))
			return false;
	}
	if (header.control && header.control_bytes) {
		source->item = SYSCALL_ITEM_CONTROL;
		source->from = header.control;
		source->want = header.control_bytes < 256 ? (__u32)header.control_bytes : 256;
		if (!syscall_copy_part(c, source))
			return false;
	}
	source->item = SYSCALL_ITEM_VECTOR;
	return syscall_copy_iovecs(c, source, header.vector, header.vectors, plan->most,
		plan->count == SYSCALL_COUNT_RESULT ? (__u64)c->record.result : ~0ULL);
}

/* What one argument points to; false: its memory cannot be read now. */
static __noinline bool syscall_copy_arg(
	struct syscall_copies *c, const struct syscall_plan_arg *plan, __u32 arg, __u32 flags)
{
	struct syscall_source source = {.arg = (__u8)arg, .flags = (__u8)flags};
	if (!c || !plan || arg >= SYSCALL_ARGS)
		return true;
	source.from = c->record.args[arg];
	if (!source.from)
		return true;
	switch (plan->copy) {
	case SYSCALL_COPY_STRING:
		source.is_string = true;
		source.want = plan->most;
		return syscall_copy_part(c, &source);
	case SYSCALL_COPY_BYTES:
		return syscall_copy_bytes(c, &source, plan);
	case SYSCALL_COPY_IOVEC:
		return syscall_copy_iovec(c, &source, plan);
	case SYSCALL_COPY_MSGHDR:
		return syscall_copy_msghdr(c, &source, plan);
	case SYSCALL_COPY_STRINGS:
		return syscall_copy_strings(c, &source, source.from, plan->most);
	default:
		return true;
	}
}

/* when: SYSCALL_WHEN_ENTRY or SYSCALL_WHEN_EXIT. At the end also what could not be read at the beginning. */
static __always_inline void syscall_copy_args(struct syscall_copies *c, const struct syscall_plan *plan, __u32 when)
{
	for (__u32 arg = 0; arg < SYSCALL_ARGS; arg++) {
		const struct syscall_plan_arg *p = &plan->args[arg];
		bool is_late = when == SYSCALL_WHEN_EXIT && c->late & 1u << arg;
		__u32 used = c->used;
		if (p->copy == SYSCALL_COPY_NOTHING)
			continue;
		if (is_late) {
			if (!syscall_copy_arg(c, p, arg, SYSCALL_PART_LATE))
				c->used = used;
			used = c->used;
		}
		if (!(p->when & when))
			continue;
		if (!syscall_copy_arg(c, p, arg, when == SYSCALL_WHEN_EXIT ? SYSCALL_PART_AT_EXIT : 0)) {
			c->used = used;
			if (when == SYSCALL_WHEN_ENTRY)
				c->late |= 1u << arg;
		}
	}
}

#endif
