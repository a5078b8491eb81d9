/* SPDX-License-Identifier: Apache-2.0 */
/*
 * go_frames.h - says how to find the caller of each instruction of a Go program, by the function table that is there even
 * if the program is stripped (.gopclntab): how far the stack pointer is from where it was when the function was called,
 * and which functions are the first of a stack or change to another one. As of Go 1.2; x86, aarch64 and others.
 *
 * The table does not say where the caller's frame pointer is. On x86-64 and aarch64 the code of the functions' beginnings
 * says it, as Go's compiler and assembler write them.
 *
 * Nothing is kept; any thread may call it. Bad input: of a damaged function only the part before the damage is given, and
 * the work has a limit that depends on the size of the table. Documents: "Go 1.2 Runtime Symbol Information",
 * and the tables that compilers write.
 *
 *	go_frames_each(image, take, context);	// take: once for each part, by address
 */
#ifndef OBJECT_ELF_GO_FRAMES_H
#define OBJECT_ELF_GO_FRAMES_H

#include "object/elf/elf_image.h"
#include "object/elf/go_internal.h"

enum go_frame_kind {
	GO_FRAME_CALLED, /* its caller is found by the stack pointer */
	GO_FRAME_FIRST, /* the first function of a stack: nobody has called it */
	/* It changes to another stack, so that the stack pointer does not lead from what it has called to its caller. */
	GO_FRAME_SWITCHED,
	GO_FRAME_LEFT, /* It changes to another stack, and never returns: the stack of what it has called begins here. */
};

struct go_frame { /* of the instructions from low to high, link-time addresses */
	uint64_t low, high;
	enum go_frame_kind kind;
	uint32_t depth; /* bytes that the function has on the stack; without the return address that a call pushes */
	bool saves_fp; /* the caller's frame pointer is at the frame's end (x86-64), or below the stack pointer (aarch64) */
	bool sets_fp; /* the frame pointer points to it */
};

typedef bool go_frame_fn(void *context, const struct go_frame *frame); /* false: no more */

/* Gives nothing if the image has no such table. */
void go_frames_each(const struct elf_image *image, go_frame_fn *take, void *context);
/* Of a table without a file, whose code is not known. */
void go_frames_of_table(const struct go_program *program, go_frame_fn *take, void *context);

#endif
