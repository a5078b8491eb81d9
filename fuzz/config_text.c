/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads arbitrary configuration files: every setting has a section and a name, and reading ends.
 */
#include "base/config_text.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct config_text config = {.rest = {(const char *)data, size}};
	struct tally_error err = {0};
	enum tally_status status;
	size_t settings = 0, bytes = 0;
	while ((status = config_text_next(&config, &err)) == TALLY_OK) {
		bool is_on;
		struct tally_str value = config_text_value(&config);
		(void)config_text_bool(value, &is_on);
		bytes += value.len;
		if (!strchr(config.name, '.') || ++settings > size || bytes > size)
			abort();
	}
	if (status == TALLY_CORRUPT && (config.line == 0 || !err.text[0]))
		abort();
	config_text_deinit(&config);
	return 0;
}
