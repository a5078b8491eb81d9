/* SPDX-License-Identifier: Apache-2.0 */
/*
 * data_type_json.h - writes a data type and the samples of its fields as JSON, which docs/schema/annotate.json
 * describes.
 *
 *	data_type_json(&j, &table);
 */
#ifndef VIEW_DATA_DATA_TYPE_JSON_H
#define VIEW_DATA_DATA_TYPE_JSON_H

#include "base/json.h"
#include "view/text/data_type_text.h"

/* Writes the type as an object inside an array. */
void data_type_json(struct json *j, const struct data_type_table *table);

#endif
