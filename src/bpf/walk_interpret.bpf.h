/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * walk_interpret.bpf.h - puts frames of an interpreter into a stack that walk.bpf.h walks, in programs of their own: the
 * verifier would not get through a program that does both. A program that walks includes it instead of walk.bpf.h.
 */
#ifndef BPF_WALK_INTERPRET_BPF_H
#define BPF_WALK_INTERPRET_BPF_H

#include "bpf/walk.bpf.h"

#define WALK_INTERPRETED_A_CALL 16

/* Puts frames of an interpreter in place of the last one; false: the stack has ended. */
static __always_inline bool walk_interpret(struct walk *walk, struct walk_stack *stack)
{
	struct python_walk *python = &walk->python;
	if (!python->is_begun)
		python_begin(python);
	python->is_begun = true;
	walk->is_interpreted = false;
	if (!python->frame) {
		if (!python_enter(python) || stack->count == 0)
			return true;
		stack->count--;
		stack->is_interpreted = 1;
	}
	for (int i = 0; i < WALK_INTERPRETED_A_CALL; i++) {
		__u64 frame = python_take_frame(python);
		__u32 count = stack->count;
		barrier_var(count); /* else the compiler knows more of it than the verifier */
		if (count >= WALK_FRAMES)
			return false;
		stack->ips[walk_frame_at(count)] = frame;
		stack->count = count + 1;
		if (!python->frame)
			return true;
	}
	walk->is_interpreted = true;
	return true;
}

/* Which program goes on with a stack that has not ended: the one that calls walk_go_on, or walk_interpret. */
static __always_inline __u32 walk_next(const struct walk *walk)
{
	return walk->is_interpreted ? 1 : 0;
}

#endif
