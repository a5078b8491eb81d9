/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_json.h - writes a table of a report as JSON, which docs/schema/report.json describes. Numbers are exact, not
 * rounded as in text.
 *
 * It writes one object into a JSON text; the caller opens and closes the document around it. Columns, limits and
 * call-graph options of the text report apply; widths, separators and colours do not.
 *
 *	report_json_table(&j, &table, NULL, &options, err);
 */
#ifndef VIEW_DATA_REPORT_JSON_H
#define VIEW_DATA_REPORT_JSON_H

#include "base/json.h"
#include "profile/rows/hierarchy.h"
#include "view/text/report_options.h"

/* tree is a hierarchy of the table, or NULL if rows are flat. */
TALLY_MUST_CHECK enum tally_status report_json_table(struct json *j, const struct flat_table *table,
	const struct hierarchy *tree, const struct report_text_options *options, struct tally_error *err);

#endif
