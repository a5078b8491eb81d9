/* SPDX-License-Identifier: Apache-2.0 */
#include "code/binaries/kernel_match.h"

#include <stdio.h>
#include <string.h>

#define KERNEL_MATCH_PAGE_BYTES UINT64_C(4096)

#define NEEDLE_BYTES 16

/* Searches for " _text\n" directly, because parsing some hundred thousand lines is slow. Returns 0 if the symbol is
 * missing. */
static uint64_t kernel_match_place_of(const struct kallsyms *list, const char *name)
{
	char needle[NEEDLE_BYTES];
	const struct tally_str text = list->kernel;
	int len = snprintf(needle, sizeof(needle), " %s\n", name);
	const char *found = memmem(text.data, text.len, needle, (size_t)len);
	uint64_t address = 0;
	if (!found)
		return 0;
	const char *before = memrchr(text.data, '\n', (size_t)(found - text.data));
	const char *start = before ? before + 1 : text.data;
	struct tally_str rest = {start, (size_t)(found - start)}, digits;
	return str_next(&rest, ' ', &digits) && str_to_u64(digits, 16, &address) ? address : 0;
}

/* Returns whether the recorded end is the kernel's: some recorders round it up to whole pages. */
static bool is_end(uint64_t recorded, uint64_t end)
{
	return recorded == end || recorded == ((end + KERNEL_MATCH_PAGE_BYTES - 1) & ~(KERNEL_MATCH_PAGE_BYTES - 1));
}

enum kernel_match kernel_match_list(const struct kallsyms *list, uint64_t start, uint64_t end)
{
	static const char *const starts[] = {"_text", "_stext"};
	static const char *const ends[] = {"_etext", "_edata"}; /* perf ends the kernel's mapping at either symbol. */
	uint64_t moved = 0;
	bool is_found = false, is_placed = false, has_end = false;
	for (size_t i = 0; i < 2 && start != 0 && !is_placed; i++) {
		uint64_t place = kernel_match_place_of(list, starts[i]);
		if (place == 0)
			continue;
		is_found = true;
		is_placed = ((start - place) & (KERNEL_MATCH_PAGE_BYTES - 1)) == 0;
		moved = start - place;
	}
	if (!is_placed)
		return is_found ? KERNEL_MATCH_OTHER : KERNEL_MATCH_UNKNOWN;
	for (size_t i = 0; i < 2 && end > start; i++) {
		uint64_t place = kernel_match_place_of(list, ends[i]);
		has_end = has_end || place != 0;
		if (place != 0 && is_end(end, place + moved))
			return KERNEL_MATCH_SAME;
	}
	return has_end ? KERNEL_MATCH_OTHER : KERNEL_MATCH_UNKNOWN;
}
