/* SPDX-License-Identifier: Apache-2.0 */
/*
 * branch_words.h - maps the names of branch filters (-j) to bits of branch_sample_type.
 *
 * Pure. Source: linux/perf_event.h; perf-record(1) for the spellings.
 *
 *	uint64_t bits;
 *	struct tally_str unknown;
 *	if (!branch_words_parse(STR("any_call,u"), &bits, &unknown)) ...
 */
#ifndef ABI_BRANCH_WORDS_H
#define ABI_BRANCH_WORDS_H

#include "base/text.h"

/* Parses a comma-separated list. Returns false if a word is invalid, and sets *unknown to it. */
bool branch_words_parse(struct tally_str list, uint64_t *branch_sample_type, struct tally_str *unknown);
/* Appends the words for the bits that have one; the inverse of branch_words_parse. */
void branch_words_append(struct text *text, uint64_t branch_sample_type);

#endif
