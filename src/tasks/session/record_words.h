/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_words.h - parses arguments of record's options: clocks and registers. Constant tables. Source:
 * clock_gettime(2); asm/perf_regs.h; perf-record(1) for the spellings.
 */
#ifndef TASKS_SESSION_RECORD_WORDS_H
#define TASKS_SESSION_RECORD_WORDS_H

#include "base/bytes.h"

bool record_clock_find(const char *name, int32_t *clockid);
/* False: unknown is the invalid word. Of this machine's architecture: names with commas between, any case. */
bool record_registers_parse(struct tally_str list, uint64_t *mask, struct tally_str *unknown);

/* "10", "10M": bytes, and whether a unit was said (B, K, M or G). */
bool record_size_parse(const char *text, uint64_t *bytes, bool *has_unit);

#endif
