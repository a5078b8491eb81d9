/* SPDX-License-Identifier: Apache-2.0 */
/*
 * label_query.c - parses arbitrary text as a label query: it is refused with a column inside the text or at its end,
 * or can be evaluated.
 */
#include <stdlib.h>

#include "fleet/labels.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fleet_label items[] = {{STR("region"), STR("eu-west")}, {STR("service"), STR("api")}};
	struct fleet_labels labels = {items, 2};
	struct label_query *query;
	struct tally_error err = {.status = TALLY_OK};
	if (label_query_parse((struct tally_str){(const char *)data, size}, &query, &err) == TALLY_OK) {
		(void)label_query_matches(query, &labels, 1);
		(void)label_query_matches(query, NULL, 0);
		label_query_destroy(query);
		return 0;
	}
	const char *column = strstr(err.text, "column ");
	if (err.status == TALLY_INVALID && (!column || strtoull(column + strlen("column "), NULL, 10) > size + 1))
		abort();
	return 0;
}
