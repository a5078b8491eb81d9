/* SPDX-License-Identifier: Apache-2.0 */
/* Reads arbitrary text as a file of stat --simulate -j -o. */
#include "verbs/stat/stat_counts_file.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct stat_counts_file file = {0};
	struct tally_error err;
	if (stat_counts_file_parse((struct tally_str){(const char *)data, size}, &file, &err) == TALLY_OK)
		for (size_t i = 0; i < file.rows.len; i++)
			if (file.rows.items[i].is_counted &&
				stat_counts_file_find(&file, file.rows.items[i].benchmark,
					str_from(file.rows.items[i].event)) != &file.rows.items[i])
				abort();
	stat_counts_file_deinit(&file);
	return 0;
}
