/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verb.h - runs a verb of the program over a recording held in memory, for fuzz targets of whole verbs.
 *
 * Each input takes one of the target's command lines, chosen by the input's bytes, so that the same input always takes the
 * same one. Nothing of this machine is read: the home and the root that symbols are looked up in cannot exist. What the
 * verb prints is dropped; what a sanitizer reports goes to the standard error of the process.
 *
 *	static const char *const plain[] = {"report", "--stdio", NULL};
 *	static const char *const *const lines[] = {plain, NULL};
 *	int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { return verb_fuzz(lines, data, size); }
 */
#ifndef FUZZ_VERB_H
#define FUZZ_VERB_H

#include <stddef.h>
#include <stdint.h>

/* Runs one of the NULL-terminated lines, each NULL-terminated words that begin with the verb; "-i FILE" and the options
 * that keep this machine's files out are added. Always 0. */
int verb_fuzz(const char *const *const *lines, const uint8_t *data, size_t size);

#endif
