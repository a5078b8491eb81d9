/* SPDX-License-Identifier: Apache-2.0 */
/*
 * go_frames.h - describes the stack frames of a Go program by its function table (.gopclntab), which exists even if the
 * program is stripped: how far the stack pointer is from its value when the function was called, and which functions
 * are the first ones of a stack or switch to another one. Go 1.2 and later; x86, aarch64 and others.
 *
 * The table does not contain the position of the caller's frame pointer. On x86-64 and aarch64, it is derived from the
 * code at the start of the functions, as Go's compiler and assembler write it.
 *
 * The module has no state; any thread may call it. Bad input: only the part of a damaged function before the damage is
 * reported, and the work is limited in proportion to the size of the table. Sources: "Go 1.2 Runtime Symbol
 * Information", and the tables that compilers write.
 *
 *	go_frames_each(image, take, context);	// calls take for each frame, by address
 */
#ifndef OBJECT_ELF_GO_FRAMES_H
#define OBJECT_ELF_GO_FRAMES_H

#include "object/elf/elf_image.h"
#include "object/elf/go_internal.h"

enum go_frame_kind {
	GO_FRAME_CALLED, /* Its caller is found by the stack pointer. */
	GO_FRAME_FIRST, /* The first function of a stack; it has no caller. */
	/* It switches to another stack, so that the stack pointer in the functions that it calls does not lead to its
	 * caller. */
	GO_FRAME_SWITCHED,
	/* It switches to another stack and never returns: the stack of the functions that it calls begins here. */
	GO_FRAME_LEFT,
};

/* The frame of the instructions from low to high (link-time addresses). */
struct go_frame {
	uint64_t low, high;
	enum go_frame_kind kind;
	/* Number of bytes that the function has on the stack, without the return address that a call pushes. */
	uint32_t depth;
	/* The caller's frame pointer is at the end of the frame (x86-64), or below the stack pointer (aarch64). */
	bool saves_fp;
	bool sets_fp; /* The frame pointer points to the saved frame pointer. */
};

typedef bool go_frame_fn(void *context, const struct go_frame *frame); /* Returns false to stop. */

/* Passes each frame of the image's function table to take, by address; none if the image has no such table. */
void go_frames_each(const struct elf_image *image, go_frame_fn *take, void *context);
/* Does the same for a table without a file, so that its code is not known. */
void go_frames_of_table(const struct go_program *program, go_frame_fn *take, void *context);

#endif
