/* SPDX-License-Identifier: Apache-2.0 */
#include "code/binaries/symbol_origin.h"

#include "base/array.h"
#include "code/binaries/load_kernel.h"

/* Maps source names in a search trail to perf's letters. */
static const struct {
	const char *source;
	char letter;
} letters[] = {
	{KERNEL_LIST, 'k'},
	{"--vmlinux", 'v'},
	{"vmlinux of the release", 'v'},
	{"cache of build ids", 'B'},
	{"debug file in the cache of build ids", 'D'},
	{"cache of debuginfod", 'D'}, /* perf stores what it fetches in its build-ID cache. */
	{"debug file by build id", 'b'},
	{"debug link", 'l'},
};

static char symbol_origin_letter_of(const struct binary_info *info, const struct binary_step *step)
{
	for (size_t i = 0; i < ARRAY_LEN(letters); i++)
		if (!strcmp(letters[i].source, step->source))
			return letters[i].letter;
	return info->kind == BINARY_MODULE ? 'K' : 'd';
}

char symbol_origin(const struct binary_store *store, uint32_t id)
{
	const struct binary_info info = binary_store_info(store, id);
	if (info.status != BINARY_OK)
		return SYMBOL_ORIGIN_NONE;
	if (info.kind == BINARY_PERF_MAP || info.kind == BINARY_JITDUMP)
		return 'j';
	/* Later sources supplement earlier ones, so the last one that was used determines the letter. */
	size_t count;
	char letter = 'd';
	const struct binary_step *steps = binary_store_trail(store, id, &count);
	for (size_t i = 0; i < count; i++)
		if (steps[i].found == BINARY_FOUND_USED)
			letter = symbol_origin_letter_of(&info, &steps[i]);
	return letter;
}
