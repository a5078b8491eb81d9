/* SPDX-License-Identifier: Apache-2.0 */
/*
 * script_dlfilter.h - runs a filter in a shared object, which selects the samples that `tally script` prints
 * (perf-dlfilter(1)).
 *
 * The filter runs in this process, with all its privileges. It may print by stdio, so script_dlfilter_pass first writes
 * the earlier output of this program to stdout. Arguments are borrowed. Not thread-safe.
 *
 *	script_dlfilter_open(&dlfilter, &request, err);   script_dlfilter_start(&dlfilter, err);
 *	script_dlfilter_wants(&dlfilter, &probe, DLFILTER_EARLY, &wanted, err);
 *	script_dlfilter_stop(&dlfilter, &out, err);       script_dlfilter_close(&dlfilter);
 */
#ifndef VERBS_SCRIPT_SCRIPT_DLFILTER_H
#define VERBS_SCRIPT_SCRIPT_DLFILTER_H

#include "verbs/script/perf_dlfilter.h"
#include "verbs/script/script_code.h"
#include "verbs/script/script_filter.h"

struct script_dlfilter_request {
	const char *path; /* NULL if no filter was requested. */
	VEC(char *) arguments; /* Borrowed from the command line. */
};

enum dlfilter_stage { DLFILTER_EARLY, DLFILTER_LATE }; /* Before and after the other filters. */

struct script_dlfilter {
	const struct script_dlfilter_request *request;
	struct script_code *code;
	const struct script_filter *filter;
	void *handle; /* From dlopen; NULL if there is no filter. */
	/* The data pointer that the start function of the filter sets and that is passed to its other functions. */
	void *data;
	const struct script_probe *probe; /* The current sample; NULL outside of script_dlfilter_wants. */
	struct resolve_where where; /* The current sample's process and time. */
	struct perf_dlfilter_sample sample;
	struct perf_dlfilter_al places[2]; /* Results of resolve_ip and resolve_addr for the current sample. */
	uint8_t build_ids[3][20];
	VEC(uint64_t) words; /* The current sample's branches, then its call chain. */
	struct writer attr;
	bool failed; /* A callback ran out of memory. */
	int write_errno; /* errno of the first failed write; 0 if there was none. */
};

/* Loads the filter from the current folder, perf's folder of filters, or the dynamic linker's path. */
TALLY_MUST_CHECK enum tally_status script_dlfilter_open(
	struct script_dlfilter *dlfilter, const struct script_dlfilter_request *request, struct tally_error *err);
void script_dlfilter_close(struct script_dlfilter *dlfilter);
/* Calls the filter's start function. Returns INVALID if that fails. */
TALLY_MUST_CHECK enum tally_status script_dlfilter_start(struct script_dlfilter *dlfilter, struct tally_error *err);
/* Calls the filter's stop function and writes the rest of out. Returns IO if some output could not be written. */
TALLY_MUST_CHECK enum tally_status script_dlfilter_stop(
	struct script_dlfilter *dlfilter, struct text *out, struct tally_error *err);
/* Sets wanted to the filter's decision, or true if there is no filter. Returns INVALID if the filter ends the run. */
TALLY_MUST_CHECK enum tally_status script_dlfilter_wants(struct script_dlfilter *dlfilter,
	const struct script_probe *probe, enum dlfilter_stage stage, bool *wanted, struct tally_error *err);
/* Moves the text to the buffer of stdout, to which the filter also prints; has no effect if there is no filter. Returns
 * false if writing has failed. */
bool script_dlfilter_pass(struct script_dlfilter *dlfilter, struct text *out);
/* Like script_dlfilter_pass, but also flushes stdout. */
bool script_dlfilter_flush(struct script_dlfilter *dlfilter, struct text *out);
/* Lists the filters in the current folder and in perf's folder of filters. */
void script_dlfilter_list(struct text *out, bool with_long_descriptions);

#endif
