/* SPDX-License-Identifier: Apache-2.0 */
/*
 * serve_arguments.h - reads the arguments of a request for profiles, labels or the load over time.
 *
 * The result borrows the request; serve_arguments_deinit frees the label queries. Error messages are sent to the
 * client.
 *
 *	status = serve_arguments_read(request, SERVE_ARGUMENTS_PROFILE, now_ns, &arguments, err);
 */
#ifndef VERBS_SERVE_SERVE_ARGUMENTS_H
#define VERBS_SERVE_SERVE_ARGUMENTS_H

#include "store/store.h"
#include "verbs/serve/http_request.h"

enum serve_argument {
	SERVE_ARGUMENT_QUERY = 1,
	SERVE_ARGUMENT_TIMES = 2, /* The arguments from and until. */
	SERVE_ARGUMENT_EVENT = 4,
	SERVE_ARGUMENT_PROFILE = 8, /* The arguments format, threads, merge, by and count. */
	SERVE_ARGUMENT_STEP = 16,
	SERVE_ARGUMENT_BASELINE = 32, /* The arguments baseline_query, baseline_from and baseline_until. */
};

#define SERVE_POINTS_MAX 10000 /* Maximum number of points of a load over time. */

struct serve_arguments {
	struct store_selection selection, baseline;
	struct label_query *query, *baseline_query;
	struct tally_str query_text, baseline_text, format;
	bool has_baseline, counts_samples;
	uint64_t step_ns;
};

/* Reads the arguments that takes, a set of enum serve_argument bits, permits. Returns INVALID if there is another
 * argument, or if one is repeated or malformed. */
TALLY_MUST_CHECK enum tally_status serve_arguments_read(const struct http_request *request, unsigned takes,
	uint64_t now_ns, struct serve_arguments *arguments, struct tally_error *err);
void serve_arguments_deinit(struct serve_arguments *arguments);

#endif
