/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample_filter.h - parses the text of a filter on samples (--filter for events that are not tracepoints): conditions
 * on fields of a sample, such as "period > 1000, ip < 0x8000 || uid == 0".
 *
 * A comma means "and"; "||" means "or" and binds tighter. The result is a list of numeric conditions, which a BPF
 * program applies (bpf/bpf_sample_filter.h). The kernel is used only to find the ID of a cgroup by its path. The list
 * owns no memory. One thread.
 *
 *	if (sample_filter_parse(text, kernel, &filter, err) != TALLY_OK) ... err->offset is the column of the mistake
 *	if (sample_filter_check(&filter, &spec->attr, spec->name, err) != TALLY_OK) ... the event lacks a field
 */
#ifndef KERNEL_EVENTS_SAMPLE_FILTER_H
#define KERNEL_EVENTS_SAMPLE_FILTER_H

#include "abi/attr.h"
#include "abi/sample_filter_item.h"
#include "kernel/system/kernel_seam.h"

struct sample_filter_list {
	struct sample_filter_item items[SAMPLE_FILTER_ITEMS];
	size_t count; /* 0 if every sample passes. */
};

/* Appends the conditions of the text to those in filter; the new and the old ones must hold. On failure, err->offset is
 * the column in the text, and the message says what is expected. */
TALLY_MUST_CHECK enum tally_status sample_filter_parse(
	const char *text, const struct kernel_seam *kernel, struct sample_filter_list *filter, struct tally_error *err);
/* Fails if samples of the event lack a field that the filter uses; the message names the option that adds it. */
TALLY_MUST_CHECK enum tally_status sample_filter_check(const struct sample_filter_list *filter,
	const struct perf_attr *attr, const char *event, struct tally_error *err);
/* Returns the name of the term in filters, such as "period". */
const char *sample_filter_term_name(enum sample_filter_term term);

#endif
