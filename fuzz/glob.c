/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests patterns, numbers and similar names: the first line is matched against the rest.
 */
#include <stdlib.h>

#include "base/bytes.h"
#include "base/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tally_str rest = {(const char *)data, size};
	struct tally_str pattern;
	if (size > 4096 || !str_next(&rest, '\n', &pattern))
		return 0;
	struct tally_str text = rest.data ? rest : STR("");
	(void)str_glob(pattern, text);
	if (!str_glob(STR("*"), text) ||
		(memchr(pattern.data, '\\', pattern.len) == NULL && memchr(pattern.data, '[', pattern.len) == NULL &&
			!str_glob(pattern, pattern)))
		abort();
	uint64_t value = 0;
	for (int base = 0; base <= 36; base += base ? 1 : 2)
		(void)str_to_u64(pattern, base, &value);
	if (text_distance(pattern, text) != text_distance(text, pattern))
		abort();
	struct tally_str trimmed = str_trim(text);
	if (trimmed.len > text.len || bytes_hash(text.data, text.len) != bytes_hash(text.data, text.len))
		abort();
	return 0;
}
