/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff_request.h - holds the parsed options of a `diff` command line. Strings are borrowed from the command line.
 *
 *	struct diff_request request;
 *	diff_request_init(&request);
 *	diff_request_set_method(&request, "wdiff:1,2", err);
 *	diff_request_finish(&request, err);
 */
#ifndef VERBS_DIFF_DIFF_REQUEST_H
#define VERBS_DIFF_DIFF_REQUEST_H

#include "base/diag.h"
#include "profile/diff/diff_table.h"
#include "tasks/comparing/diff_statistics.h"
#include "tasks/session/sample_options.h"
#include "tasks/session/symbol_options.h"
#include "verbs/diff/diff_gate.h"
#include "view/text/report_options.h"

enum diff_format { DIFF_FORMAT_TEXT, DIFF_FORMAT_JSON, DIFF_FORMAT_MARKDOWN };

struct diff_request {
	const char *const *paths; /* Recordings, ordered by side; the first is the baseline. */
	size_t path_count;
	bool is_repeated; /* There are several recordings per side; test has their numbers. */
	struct diff_test test;
	const char *fail_if; /* As typed; NULL if not given. */
	struct diff_gate gate; /* The parsed fail_if, set by diff_request_finish; its count is 0 if fail_if is NULL. */
	enum diff_format format;
	bool with_paths, paths_by_line; /* Options of -g. */
	const char *sort; /* As typed; NULL for the default. */
	struct sample_options samples;
	struct symbol_options symbols;
	const char *separator;
	enum diff_method method;
	int64_t base_weight, new_weight;
	uint64_t order; /* Index of the recording by whose difference rows are sorted; 0 to sort by the baseline. */
	bool is_baseline_only, with_formula, with_periods;
	bool with_spread; /* --cycles-hist: the spread of cycles. */
	bool with_streams; /* Compares hot streams instead of rows. */
	bool is_relative, is_quiet, force, dump;
	bool modules_are_asked; /* -m, which has no effect: modules are always loaded. */
	unsigned verbose;

	/* The following members are set by diff_request_finish. */
	enum profile_key keys[REPORT_MAX_COLUMNS];
	size_t key_count;
	enum profile_key columns[REPORT_MAX_COLUMNS]; /* Keys that the filters do not limit to a single value. */
	size_t column_count;
};

void diff_request_init(struct diff_request *request);
/* Applies a setting of the user's configuration, diff.compute or diff.order. As in perf, an invalid value is ignored
 * with a warning. */
void diff_request_configure(struct diff_request *request, const char *name, struct tally_str value, struct diag *notes);
/* Parses delta, delta-abs, ratio, wdiff:BASE,NEW or cycles. */
TALLY_MUST_CHECK enum tally_status diff_request_set_method(
	struct diff_request *request, const char *text, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status diff_request_set_percentage(
	struct diff_request *request, const char *text, struct tally_error *err);
/* Parses a number between 0 and 1, such as "0.01". */
TALLY_MUST_CHECK enum tally_status diff_request_set_level(
	struct diff_request *request, const char *text, struct tally_error *err);
/* Parses holm, bh or none. */
TALLY_MUST_CHECK enum tally_status diff_request_set_correction(
	struct diff_request *request, const char *text, struct tally_error *err);
/* Returns the word that --measure accepts. */
const char *diff_measure_name(enum diff_measure measure);
/* Parses auto, period, share or scaled. */
TALLY_MUST_CHECK enum tally_status diff_request_set_measure(
	struct diff_request *request, const char *text, struct tally_error *err);
/* Parses name or line; NULL selects name. */
TALLY_MUST_CHECK enum tally_status diff_request_set_paths(
	struct diff_request *request, const char *text, struct tally_error *err);
/* Parses a percentage between 0 and 100: the minimum share of rows to be tested. */
TALLY_MUST_CHECK enum tally_status diff_request_set_limit(
	struct diff_request *request, const char *text, struct tally_error *err);
/* Parses the sort keys and --fail-if, after all options have been set. */
TALLY_MUST_CHECK enum tally_status diff_request_finish(struct diff_request *request, struct tally_error *err);
bool diff_request_has_key(const struct diff_request *request, enum profile_key key);

#endif
