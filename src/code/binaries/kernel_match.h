/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_match.h - decides, without a build ID, whether a symbol list belongs to the recorded kernel, by comparing
 * where the kernel's text starts and ends. A pure function.
 *
 * Each boot may load the kernel at another address, always by whole pages, but the length of its text stays the same
 * and distinguishes builds of one release.
 */
#ifndef CODE_BINARIES_KERNEL_MATCH_H
#define CODE_BINARIES_KERNEL_MATCH_H

#include <stdint.h>

#include "code/symbols/kallsyms.h"

enum kernel_match {
	KERNEL_MATCH_UNKNOWN, /* The list hides its addresses, or the recording does not have the end of the kernel. */
	KERNEL_MATCH_SAME,
	KERNEL_MATCH_OTHER
};

/* start is the run-time address of _text or _stext; end is the run-time address at which the text or data ends
 * according to the recorded mapping. Both are 0 if not known. */
enum kernel_match kernel_match_list(const struct kallsyms *list, uint64_t start, uint64_t end);

#endif
