/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * walk_interpret.bpf.h - adds interpreter frames to a stack that walk.bpf.h unwinds. They need a separate BPF program,
 * because the verifier would reject a program that does both as too complex. Programs include this header instead of
 * walk.bpf.h.
 */
#ifndef BPF_WALK_INTERPRET_BPF_H
#define BPF_WALK_INTERPRET_BPF_H

#include "bpf/walk.bpf.h"

#define WALK_INTERPRETED_A_CALL 16 /* Number of frames that one call of walk_interpret adds at most. */

/* Replaces the last frame by frames of the interpreter; false if the stack has ended. */
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
		barrier_var(count); /* Otherwise, the compiler derives a bound that the verifier cannot see. */
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

/* Returns which program must continue the walk: 0 for the one that calls walk_go_on, 1 for that of walk_interpret. */
static __always_inline __u32 walk_next(const struct walk *walk)
{
	return walk->is_interpreted ? 1 : 0;
}

#endif
