/* SPDX-License-Identifier: Apache-2.0 */
/*
 * annotate_json.h - writes an annotated function as JSON, which docs/schema/annotate.json describes. Numbers are exact.
 *
 *	json_object(&j, NULL); ... annotate_json_function(&j, &function);
 */
#ifndef VIEW_DATA_ANNOTATE_JSON_H
#define VIEW_DATA_ANNOTATE_JSON_H

#include "base/json.h"
#include "view/text/annotate_lines.h"

void annotate_json_function(struct json *j, const struct annotate_function *function);

#endif
