/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top_json.h - prints top as JSON: one object on one line for each refresh (docs/schema/top.json), with the tables of
 * report --json.
 *
 *	top_json_print(&view, &out, err);
 */
#ifndef VERBS_TOP_TOP_JSON_H
#define VERBS_TOP_TOP_JSON_H

#include "verbs/top/top_view.h"

TALLY_MUST_CHECK enum tally_status top_json_print(struct top_view *view, struct text *out, struct tally_error *err);

#endif
