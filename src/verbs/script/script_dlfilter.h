/* SPDX-License-Identifier: Apache-2.0 */
/*
 * script_dlfilter.h - runs a shared object that decides which samples `tally script` prints (perf-dlfilter(1)).
 *
 * The object runs in this process, with all its privileges. It prints by stdio, so script_dlfilter_pass moves our
 * earlier output there too, in order. It borrows its arguments. One thread.
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
	const char *path; /* NULL: none */
	VEC(char *) arguments; /* borrowed from the command line */
};

enum dlfilter_stage { DLFILTER_EARLY, DLFILTER_LATE }; /* before and after the other filters */

struct script_dlfilter {
	const struct script_dlfilter_request *request;
	struct script_code *code;
	const struct script_filter *filter;
	void *handle; /* NULL: there is no filter */
	void *data; /* the filter's own */
	const struct script_probe *probe; /* of the sample that is asked about; NULL: none is */
	struct resolve_where where; /* its */
	struct perf_dlfilter_sample sample;
	struct perf_dlfilter_al places[2]; /* that resolve_ip and resolve_addr gave */
	uint8_t build_ids[3][20];
	VEC(uint64_t) words; /* branches, then the chain */
	struct writer attr;
	bool failed; /* out of memory in a callback */
	int write_errno; /* of the first failure to write; 0 none */
};

/* Searches the current folder, perf's folder of filters, and the dynamic linker's path. */
TALLY_MUST_CHECK enum tally_status script_dlfilter_open(
	struct script_dlfilter *dlfilter, const struct script_dlfilter_request *request, struct tally_error *err);
void script_dlfilter_close(struct script_dlfilter *dlfilter);
/* INVALID: the filter says that it cannot. */
TALLY_MUST_CHECK enum tally_status script_dlfilter_start(struct script_dlfilter *dlfilter, struct tally_error *err);
/* out: what was printed since, which goes to standard output. IO: not all could be written. */
TALLY_MUST_CHECK enum tally_status script_dlfilter_stop(
	struct script_dlfilter *dlfilter, struct text *out, struct tally_error *err);
/* wanted is true if there is no filter. INVALID: the filter ends the run. */
TALLY_MUST_CHECK enum tally_status script_dlfilter_wants(struct script_dlfilter *dlfilter,
	const struct script_probe *probe, enum dlfilter_stage stage, bool *wanted, struct tally_error *err);
/* Writes the text to standard output, which the filter also prints to. False: the output is closed. */
bool script_dlfilter_pass(struct script_dlfilter *dlfilter, struct text *out);
bool script_dlfilter_flush(struct script_dlfilter *dlfilter, struct text *out);
/* Lists the filters of the current folder and of perf's. */
void script_dlfilter_list(struct text *out, bool with_long_descriptions);

#endif
