/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keep_frame.h - makes a function set up its frame pointer. Compilers omit it in leaf functions that need no stack,
 * whatever the options; then unwinding by frame pointers would skip the caller.
 */
#ifndef WORKLOADS_KEEP_FRAME_H
#define WORKLOADS_KEEP_FRAME_H

#define KEEP_FRAME() __asm__ volatile("" : : "r"(__builtin_frame_address(0)))

#endif
