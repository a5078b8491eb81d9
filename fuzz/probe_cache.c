/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_cache.c - reads arbitrary bytes as the probe cache file of perf: every entry has a text, a group, an event
 * and lines, and another file accepts all entries.
 */
#include "tasks/probing/probe_cache.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct probe_cache file, copy;
	if (probe_cache_parse((struct tally_str){(const char *)data, size}, &file, NULL) != TALLY_OK ||
		probe_cache_parse(STR(""), &copy, NULL) != TALLY_OK)
		abort();
	for (size_t i = 0; i < file.entries.len; i++) {
		const struct probe_cache_entry *entry = &file.entries.items[i];
		if (entry->text.len == 0 || entry->group.len == 0 || entry->event.len == 0 || entry->lines.len == 0)
			abort();
		if (probe_cache_put(&copy, true, entry->text, entry->lines, NULL) != TALLY_OK)
			abort();
	}
	if (copy.entries.len != file.entries.len)
		abort();
	probe_cache_deinit(&copy);
	probe_cache_deinit(&file);
	return 0;
}
