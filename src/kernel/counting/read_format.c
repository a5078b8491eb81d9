/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/counting/read_format.h"

#include "abi/perf_constants.h"

struct words {
	const uint64_t *next;
	size_t left;
	bool failed;
};

static uint64_t read_format_take(struct words *words, bool is_there)
{
	if (!is_there)
		return 0;
	if (words->left == 0) {
		words->failed = true;
		return 0;
	}
	words->left--;
	return *words->next++;
}

static struct tally_reading_value read_format_take_value(struct words *words, uint64_t value, uint64_t format)
{
	struct tally_reading_value taken = {.value = value};
	taken.id = read_format_take(words, format & READ_FORMAT_ID);
	taken.lost = read_format_take(words, format & READ_FORMAT_LOST);
	return taken;
}

enum tally_status reading_decode(const uint64_t *given, size_t count, uint64_t format, struct tally_reading *reading,
	struct tally_reading_value *values, size_t room)
{
	struct words words = {.next = given, .left = count};
	bool is_group = format & READ_FORMAT_GROUP;
	struct tally_reading read = {.count = 1};
	if (count == 0) {
		*reading = (struct tally_reading){.is_in_error = true};
		return TALLY_OK;
	}
	/* The number of events of a group, or the value of a single event. */
	uint64_t first = read_format_take(&words, true);
	read.enabled_ns = read_format_take(&words, format & READ_FORMAT_TOTAL_TIME_ENABLED);
	read.running_ns = read_format_take(&words, format & READ_FORMAT_TOTAL_TIME_RUNNING);
	if (!is_group) {
		read.first = read_format_take_value(&words, first, format);
		if (room && !words.failed)
			values[0] = read.first;
	} else if (first > room) {
		return TALLY_LIMIT;
	} else {
		size_t words_each = 1;
		words_each += (format & READ_FORMAT_ID) != 0;
		words_each += (format & READ_FORMAT_LOST) != 0;
		read.count = (size_t)first;
		if (read.count > words.left / words_each)
			return TALLY_CORRUPT;
		for (size_t i = 0; i < read.count; i++)
			values[i] = read_format_take_value(&words, read_format_take(&words, true), format);
		if (read.count)
			read.first = values[0];
	}
	if (words.failed)
		return TALLY_CORRUPT;
	*reading = read;
	return TALLY_OK;
}
