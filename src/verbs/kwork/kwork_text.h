/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kwork_text.h - prints `kwork report`, `latency`, `timehist` and `top`, as perf's tables or as JSON
 * (docs/schema/kwork.json). Each function reads the recording of the job and appends to out, which it flushes
 * meanwhile. If the job was filled by a live measurement (kwork_live.h), there is no recording to read. Not
 * thread-safe.
 *
 *	status = kwork_print_report(&job, &out, err);
 */
#ifndef VERBS_KWORK_KWORK_TEXT_H
#define VERBS_KWORK_KWORK_TEXT_H

#include "verbs/kwork/kwork_job.h"

#define KWORK_JSON_SCHEMA 1
#define KWORK_NAME_WIDTH  30
#define KWORK_NAME_BYTES  29 /* perf cuts longer names to this length. */
#define KWORK_MAX_KEYS	  4

/* Parses a sort list into indices of names; keys after the first KWORK_MAX_KEYS are ignored. Returns NULL, or a pointer
 * to the first word in list that is not a key. */
const char *kwork_read_keys(
	const char *list, const char *const *names, size_t count, size_t keys[KWORK_MAX_KEYS], size_t *key_count);
/* Each of these returns a pointer to the first word in list that is not a key of the --sort of its command, or NULL if
 * there is none. */
const char *kwork_report_unknown_key(const char *list);
const char *kwork_latency_unknown_key(const char *list);
const char *kwork_top_unknown_key(const char *list);

TALLY_MUST_CHECK enum tally_status kwork_print_report(struct kwork_job *job, struct text *out, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status kwork_print_latency(
	struct kwork_job *job, struct text *out, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status kwork_print_timehist(
	struct kwork_job *job, struct text *out, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status kwork_print_top(struct kwork_job *job, struct text *out, struct tally_error *err);

/* Both append a time, right-aligned: kwork_text_ms in milliseconds, rounded to three decimals, and kwork_text_seconds
 * in seconds, truncated to six. */
void kwork_text_ms(struct text *out, uint64_t ns, size_t width);
void kwork_text_seconds(struct text *out, uint64_t ns, size_t width);

#endif
