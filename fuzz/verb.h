/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verb.h - runs a verb of the program over a recording held in memory, for fuzz targets of whole verbs.
 *
 * A hash of the input selects one of the command lines of the target, so that the same input always runs the same
 * one. No files of this machine are read: the home directory and the root for symbol files do not exist. The output
 * of the verb is discarded; reports of a sanitizer go to the standard error of the process.
 *
 *	static const char *const plain[] = {"report", "--stdio", NULL};
 *	static const char *const *const lines[] = {plain, NULL};
 *	int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { return verb_fuzz(lines, data, size); }
 */
#ifndef FUZZ_VERB_H
#define FUZZ_VERB_H

#include <stddef.h>
#include <stdint.h>

/* Runs one of the command lines. Each is a NULL-terminated list of words that begins with the verb, and lines is
 * NULL-terminated too; "-i FILE" and the options that exclude files of this machine are appended. Returns 0. */
int verb_fuzz(const char *const *const *lines, const uint8_t *data, size_t size);

#endif
