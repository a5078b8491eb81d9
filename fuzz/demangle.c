/* SPDX-License-Identifier: Apache-2.0 */
/* Demangles arbitrary text as a linker name: the result is text too, and is available in bounded time. */
#include "code/demangle/demangle.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena arena;
	char *name = malloc(size + 1);
	if (!name)
		return 0;
	if (size)
		memcpy(name, data, size);
	name[size] = 0;
	arena_init(&arena);
	const char *readable = demangle(&arena, name);
	size_t bars;
	if (strlen(readable) == SIZE_MAX || demangle_length(name, &bars) < bars)
		abort();
	arena_deinit(&arena);
	free(name);
	return 0;
}
