/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_match.h - decides, without a build ID, whether a symbol list belongs to the recorded kernel, by comparing
 * where the kernel's text starts and ends. A pure function.
 *
 * The kernel is moved by whole pages at each boot, but the length of its text does not change: it distinguishes builds
 * of one release.
 */
#ifndef CODE_BINARIES_KERNEL_MATCH_H
#define CODE_BINARIES_KERNEL_MATCH_H

#include <stdint.h>

#include "code/symbols/kallsyms.h"

enum kernel_match {
	KERNEL_MATCH_UNKNOWN, /* the list hides its addresses, or the recorder did not know where the kernel ends */
	KERNEL_MATCH_SAME,
	KERNEL_MATCH_OTHER
};

/* start: run-time address of _text or _stext; end: where the record says that its text or data ends; 0: not known. */
enum kernel_match kernel_match_list(const struct kallsyms *list, uint64_t start, uint64_t end);

#endif
