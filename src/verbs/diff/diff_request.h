/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff_request.h - holds what a `diff` command line requests, parsed from the option texts. It runs and prints nothing.
 *
 * A value; texts are borrowed from the command line.
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
	const char *const *paths; /* of the recordings, by side; the first is the baseline */
	size_t path_count;
	bool is_repeated; /* several recordings a side: test says how many */
	struct diff_test test;
	const char *fail_if; /* as typed */
	struct diff_gate gate; /* made of it by finish; count 0: none */
	enum diff_format format;
	bool with_paths, paths_by_line; /* -g */
	const char *sort; /* as typed, NULL: default */
	struct sample_options samples;
	struct symbol_options symbols;
	const char *separator;
	enum diff_method method;
	int64_t base_weight, new_weight;
	uint64_t order; /* file whose difference sorts */
	bool is_baseline_only, with_formula, with_periods;
	bool with_spread; /* of cycles */
	bool with_streams; /* instead of rows */
	bool is_relative, is_quiet, force, dump;
	bool modules_are_asked; /* -m: they always are loaded */
	unsigned verbose;

	/* made by finish */
	enum profile_key keys[REPORT_MAX_COLUMNS];
	size_t key_count;
	enum profile_key columns[REPORT_MAX_COLUMNS]; /* the keys that still vary after the filters */
	size_t column_count;
};

void diff_request_init(struct diff_request *request);
/* Applies a setting of the user's configuration: diff.compute, diff.order. Ignored settings become warnings, as in
 * perf. */
void diff_request_configure(struct diff_request *request, const char *name, struct tally_str value, struct diag *notes);
/* delta, delta-abs, ratio, wdiff:BASE,NEW, cycles. */
TALLY_MUST_CHECK enum tally_status diff_request_set_method(
	struct diff_request *request, const char *text, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status diff_request_set_percentage(
	struct diff_request *request, const char *text, struct tally_error *err);
/* "0.01", within 0 and 1. */
TALLY_MUST_CHECK enum tally_status diff_request_set_level(
	struct diff_request *request, const char *text, struct tally_error *err);
/* holm, bh, none. */
TALLY_MUST_CHECK enum tally_status diff_request_set_correction(
	struct diff_request *request, const char *text, struct tally_error *err);
/* The word that --measure takes. */
const char *diff_measure_name(enum diff_measure measure);
TALLY_MUST_CHECK enum tally_status diff_request_set_measure(
	struct diff_request *request, const char *text, struct tally_error *err);
/* name, line; NULL: name. */
TALLY_MUST_CHECK enum tally_status diff_request_set_paths(
	struct diff_request *request, const char *text, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status diff_request_set_limit(
	struct diff_request *request, const char *text, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status diff_request_finish(struct diff_request *request, struct tally_error *err);
bool diff_request_has_key(const struct diff_request *request, enum profile_key key);

#endif
