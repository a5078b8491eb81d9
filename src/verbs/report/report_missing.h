/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_missing.h - implements `report --missing`: for each DSO, prints how many samples have no symbol, which files
 * were searched and why they were not used, and what to install.
 *
 *	report_missing(out, store, &result.hits, false);
 */
#ifndef VERBS_REPORT_REPORT_MISSING_H
#define VERBS_REPORT_REPORT_MISSING_H

#include "analysis/binary_hits.h"
#include "base/json.h"

/* hits must be finished, and the store must have loaded their files. shows_all includes DSOs without missing symbols.
 * report_missing_json appends a member "missing". */
void report_missing_json(
	struct json *j, const struct binary_store *store, const struct binary_hits *hits, bool shows_all);
void report_missing(struct text *out, const struct binary_store *store, const struct binary_hits *hits, bool shows_all);

#endif
