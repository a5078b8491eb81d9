/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample_filter.h - parses the text of a filter on samples (--filter for events that are not tracepoints): conditions on
 * fields of a sample, such as "period > 1000, ip < 0x8000 || uid == 0".
 *
 * A comma means "and", "||" means "or" and binds tighter. The text becomes a list of conditions with numbers only, which a
 * BPF program applies (bpf/bpf_sample_filter.h). Nothing here asks the kernel, but the path of a cgroup is looked up. The
 * result is a value. One thread.
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
	size_t count; /* 0: every sample passes */
};

/* Adds to the existing conditions, all of which must hold. On failure err->offset is the position in the text, and the
 * message says what is expected. */
TALLY_MUST_CHECK enum tally_status sample_filter_parse(
	const char *text, const struct kernel_seam *kernel, struct sample_filter_list *filter, struct tally_error *err);
/* Whether samples of the event carry every field that the filter asks for; else which option adds it. */
TALLY_MUST_CHECK enum tally_status sample_filter_check(const struct sample_filter_list *filter,
	const struct perf_attr *attr, const char *event, struct tally_error *err);
/* "period", as users write it. */
const char *sample_filter_term_name(enum sample_filter_term term);

#endif
