/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keep_frame.h - makes a function set up its frame pointer. Compilers leave it out of functions that call nothing and
 * need no stack, whatever the options say; then the caller would be missing from a stack by frame pointer.
 */
#ifndef WORKLOADS_KEEP_FRAME_H
#define WORKLOADS_KEEP_FRAME_H

#define KEEP_FRAME() __asm__ volatile("" : : "r"(__builtin_frame_address(0)))

#endif
