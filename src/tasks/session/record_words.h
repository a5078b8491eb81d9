/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_words.h - parses arguments of record's options: clocks, registers and sizes. Sources: clock_gettime(2);
 * asm/perf_regs.h; perf-record(1) for the spellings.
 */
#ifndef TASKS_SESSION_RECORD_WORDS_H
#define TASKS_SESSION_RECORD_WORDS_H

#include "base/bytes.h"

/* Finds a clock by its number or its name, such as "monotonic" or "CLOCK_MONOTONIC". Returns false if there is none. */
bool record_clock_find(const char *name, int32_t *clockid);
/* Parses a comma-separated list of this architecture's registers, in upper or lower case. If a word is invalid, returns
 * false and sets unknown to it. */
bool record_registers_parse(struct tally_str list, uint64_t *mask, struct tally_str *unknown);

/* Parses a size such as "10" or "10M". has_unit is set if the text has a unit (B, K, M or G). */
bool record_size_parse(const char *text, uint64_t *bytes, bool *has_unit);

#endif
