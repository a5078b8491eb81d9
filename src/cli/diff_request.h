/*
 * diff_request.h - what a `diff` command line asks for, parsed from the option texts. Runs nothing, prints nothing.
 *
 * A value; texts are borrowed from the command line.
 *
 *	struct diff_request request = {0};
 *	diff_request_set_method(&request, "wdiff:1,2", err);
 *	diff_request_finish(&request, err);
 */
#ifndef CLI_DIFF_REQUEST_H
#define CLI_DIFF_REQUEST_H

#include "profile/diff_table.h"
#include "view/text/report_options.h"

struct diff_request {
	const char *const *paths; /* of the recordings; the first is the baseline */
	size_t path_count;
	const char *sort; /* as typed, NULL: default */
	struct profile_filter_lists filters;
	const char *cpus, *times;
	const char *symfs, *kallsyms;
	const char *separator;
	enum diff_method method;
	int64_t base_weight, new_weight;
	uint64_t order; /* file whose difference sorts */
	bool is_baseline_only, with_formula, with_periods;
	bool is_relative, is_quiet, force, dump;
	unsigned verbose;

	/* made by finish */
	enum profile_key keys[REPORT_MAX_COLUMNS];
	size_t key_count;
	enum profile_key columns[REPORT_MAX_COLUMNS]; /* the keys that a filter leaves something to say */
	size_t column_count;
};

/* delta, delta-abs, ratio, wdiff:BASE,NEW. UNSUPPORTED: cycles. */
TALLY_MUST_CHECK enum tally_status diff_request_set_method(
	struct diff_request *request, const char *text, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status diff_request_set_percentage(
	struct diff_request *request, const char *text, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status diff_request_finish(struct diff_request *request, struct tally_error *err);
bool diff_request_has_key(const struct diff_request *request, enum profile_key key);

#endif
