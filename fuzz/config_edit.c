/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A value that is written to a configuration file reads back unchanged, and every other setting stays.
 */
#include "base/config_edit.h"

#include <stdlib.h>

#include "base/config_text.h"

/* Returns the number of settings in the text, and the last value of the named one. */
static size_t read_all(struct tally_str text, const char *name, struct text *value)
{
	struct config_text config = {.rest = text};
	size_t count = 0;
	while (config_text_next(&config, NULL) == TALLY_OK) {
		count++;
		if (strcmp(config.name, name) != 0)
			continue;
		text_clear(value);
		text_bytes(value, config.value.data, config.value.len);
		text_char(value, '.');
	}
	config_text_deinit(&config);
	return count;
}

/* The first line of the input is the value, the rest is the file. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tally_str text = {(const char *)data, size}, value;
	struct text out = {0}, before = {0}, after = {0};
	if (memchr(data, 0, size) || !str_next(&text, '\n', &value))
		return 0;
	value = str_trim(value);
	if (value.len == 0 || config_edit_set(text, STR("a.b"), value, &out, NULL) != TALLY_OK)
		goto end;
	size_t had = read_all(text, "a.b", &before), has = read_all(text_view(&out), "a.b", &after);
	if (after.len == 0 || has != had + (before.len == 0))
		abort();
	/* Setting the value that it already has changes nothing. */
	size_t len = out.len;
	text_clear(&before);
	if (config_edit_set(text_view(&out), STR("a.b"), value, &before, NULL) != TALLY_OK || before.len != len ||
		memcmp(before.data, out.data, len) != 0)
		abort();
end:
	text_deinit(&out);
	text_deinit(&before);
	text_deinit(&after);
	return 0;
}
