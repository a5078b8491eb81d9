/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/filter.h"

#include <regex.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/symbol_name.h"
#include "base/word_list.h"
#include "profile/idle_functions.h"

static enum tally_status check_numbers(const char *list, struct tally_error *err)
{
	struct tally_str rest = str_from(list), part;
	uint64_t value;
	while (list && str_next_item(&rest, &part)) {
		if (!str_to_u64(part, 10, &value) || value > INT32_MAX)
			return error_set(
				err, TALLY_INVALID, "'%.*s' is not a process or thread id", (int)part.len, part.data);
	}
	return TALLY_OK;
}

static bool number_is_in_list(const char *list, int32_t number)
{
	struct tally_str rest = str_from(list), part;
	uint64_t value;
	while (str_next_item(&rest, &part)) {
		if (str_to_u64(part, 10, &value) && (int64_t)value == number)
			return true;
	}
	return false;
}

static bool is_set(const char *list)
{
	return list && *list;
}

static bool thread_is_wanted(
	const struct profile *p, const struct profile_filter_lists *lists, const struct profile_thread *thread)
{
	if (is_set(lists->comms) && !word_list_has(lists->comms, profile_string(p, thread->comm)))
		return false;
	if (is_set(lists->pids) && !number_is_in_list(lists->pids, thread->pid))
		return false;
	return !is_set(lists->tids) || number_is_in_list(lists->tids, thread->tid);
}

static bool binary_is_wanted(const struct profile *p, const char *list, uint32_t binary)
{
	if (binary == PROFILE_NONE)
		return word_list_has(list, STR("[unknown]"));
	return word_list_has(list, profile_string(p, p->binaries[binary].name)) ||
	       word_list_has(list, profile_string(p, p->binaries[binary].long_name));
}

/* An address in the list matches a frame without symbol: the address that is shown, or the first one recorded. */
static bool address_is_in_list(const char *list, const struct profile_frame *frame)
{
	struct tally_str rest = str_from(list), part;
	uint64_t address;
	while (word_list_next(list, &rest, &part)) {
		if (str_to_u64(str_trim(part), 16, &address) &&
			(address == frame->address || address == frame->raw_address))
			return true;
	}
	return false;
}

static bool frame_is_wanted(
	const struct profile *p, const struct profile_filter_lists *lists, const struct profile_frame *frame)
{
	if (is_set(lists->dsos) && !binary_is_wanted(p, lists->dsos, frame->binary))
		return false;
	if (!is_set(lists->symbols))
		return true;
	if (frame->function == PROFILE_NONE)
		return address_is_in_list(lists->symbols, frame);
	return symbol_list_has(lists->symbols, profile_string(p, p->functions[frame->function].name));
}

static bool frame_contains(const struct profile *p, const char *part, const struct profile_frame *frame)
{
	if (frame->function == PROFILE_NONE)
		return false;
	struct tally_str name = profile_string(p, p->functions[frame->function].name);
	return memmem(name.data, name.len, part, strlen(part)) != NULL;
}

/* Returns whether rows of samples at this frame are shown. */
static bool frame_shows(
	const struct profile *p, const struct profile_filter_lists *lists, const struct profile_frame *frame)
{
	if (lists->hides_guests && profile_frame_is_guest(frame))
		return false;
	return !is_set(lists->symbol_part) || frame_contains(p, lists->symbol_part, frame);
}

/* Inspects only the stack's own frames, because the frames of a waker do not describe the wait. */
static bool filter_stack_is_idle(const struct profile *p, struct list stack, const uint8_t *kinds)
{
	bool is_idle = false;
	for (uint32_t i = 0; i < stack.count; i++) {
		const struct profile_frame *frame = &p->frames[stack.items[i]];
		if (profile_frame_is_waker(frame))
			break;
		uint8_t kind = frame->function == PROFILE_NONE ? IDLE_UNKNOWN : kinds[frame->function];
		if (kind == IDLE_NEVER)
			return false;
		is_idle = is_idle || kind == IDLE_WAITS;
	}
	return is_idle;
}

/* Returns false if out of memory. */
static bool filter_find_idle(struct profile_filter *filter, const char *more)
{
	const struct profile *p = filter->profile;
	size_t stacks = list_table_len(&p->stacks);
	uint8_t *kinds = calloc(p->function_count + 1, sizeof(*kinds));
	filter->stack_is_idle = calloc(stacks + 1, sizeof(bool));
	bool is_done = kinds && filter->stack_is_idle;
	for (size_t i = 0; is_done && i < p->function_count; i++)
		kinds[i] = (uint8_t)idle_function_kind(profile_string(p, p->functions[i].name), more);
	for (size_t i = 0; is_done && i < stacks; i++)
		filter->stack_is_idle[i] = filter_stack_is_idle(p, profile_stack(p, (uint32_t)i), kinds);
	free(kinds);
	return is_done;
}

struct profile_idle profile_filter_idle(const struct profile_filter *filter)
{
	struct profile_idle idle = {0};
	const struct profile *p = filter->profile;
	for (size_t i = 0; p && filter->stack_is_idle && i < p->sample_count; i++) {
		const struct profile_sample *sample = &p->samples[i];
		bool is_idle = profile_filter_is_idle(filter, sample);
		idle.count += is_idle ? sample->count : 0;
		idle.period += is_idle ? sample->period : 0;
		idle.total_period += sample->period;
	}
	return idle;
}

static bool filter_fill(struct profile_filter *filter, const struct profile_filter_lists *lists)
{
	const struct profile *p = filter->profile;
	if (is_set(lists->comms) || is_set(lists->pids) || is_set(lists->tids)) {
		filter->thread_passes = calloc(p->thread_count + 1, sizeof(bool));
		for (size_t i = 0; filter->thread_passes && i < p->thread_count; i++)
			filter->thread_passes[i] = thread_is_wanted(p, lists, &p->threads[i]);
		if (!filter->thread_passes)
			return false;
	}
	if (is_set(lists->dsos) || is_set(lists->symbols)) {
		filter->frame_passes = calloc(p->frame_count + 1, sizeof(bool));
		for (size_t i = 0; filter->frame_passes && i < p->frame_count; i++)
			filter->frame_passes[i] = frame_is_wanted(p, lists, &p->frames[i]);
		if (!filter->frame_passes)
			return false;
	}
	if (lists->no_idle && !filter_find_idle(filter, lists->idle_functions))
		return false;
	if (is_set(lists->symbol_part) || (lists->hides_guests && p->has_guests)) {
		filter->frame_shows = calloc(p->frame_count + 1, sizeof(bool));
		for (size_t i = 0; filter->frame_shows && i < p->frame_count; i++)
			filter->frame_shows[i] = frame_shows(p, lists, &p->frames[i]);
		if (!filter->frame_shows)
			return false;
	}
	return true;
}

/* Matches the name with its parameters or without them. */
static bool name_matches(const regex_t *regex, struct tally_str name)
{
	struct tally_str plain = symbol_name_plain(name);
	if (regexec(regex, name.data, 0, NULL, 0) == 0)
		return true;
	if (plain.len == name.len)
		return false;
	char *copy = strndup(plain.data, plain.len);
	bool does_match = copy && regexec(regex, copy, 0, NULL, 0) == 0;
	free(copy);
	return does_match;
}

/* Marks the frames with functions that the expression matches; leaves *matches unchanged if no expression is
 * given. */
static enum tally_status match_frames(
	const struct profile *p, const char *pattern, bool **matches, struct tally_error *err)
{
	regex_t regex;
	if (!is_set(pattern))
		return TALLY_OK;
	int failure = regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB);
	if (failure) {
		char why[128];
		regerror(failure, &regex, why, sizeof(why));
		return error_set(err, TALLY_INVALID, "'%s' is not a regular expression: %s", pattern, why);
	}
	bool *made = calloc(p->frame_count + 1, sizeof(bool));
	for (size_t i = 0; made && i < p->frame_count; i++) {
		uint32_t function = p->frames[i].function;
		if (function != PROFILE_NONE)
			made[i] = name_matches(&regex, profile_string(p, p->functions[function].name));
	}
	regfree(&regex);
	if (!made)
		return error_nomem(err);
	*matches = made;
	return TALLY_OK;
}

enum tally_status profile_filter_init(struct profile_filter *filter, const struct profile *profile,
	const struct profile_filter_lists *lists, struct tally_error *err)
{
	struct profile_filter made = {.profile = profile};
	if (check_numbers(lists->pids, err) != TALLY_OK || check_numbers(lists->tids, err) != TALLY_OK)
		return TALLY_INVALID;
	if (!filter_fill(&made, lists)) {
		profile_filter_deinit(&made);
		return error_nomem(err);
	}
	enum tally_status status = match_frames(profile, lists->parent, &made.frame_is_parent, err);
	if (status == TALLY_OK)
		status = match_frames(profile, lists->ignored_callees, &made.ignores_callees, err);
	if (status != TALLY_OK) {
		profile_filter_deinit(&made);
		return status;
	}
	made.excludes_other = lists->excludes_other;
	made.parallelism_passes = lists->parallelism;
	made.parallelism_limit = lists->parallelism_limit;
	*filter = made;
	return TALLY_OK;
}

void profile_filter_deinit(struct profile_filter *filter)
{
	free(filter->thread_passes);
	free(filter->frame_passes);
	free(filter->frame_is_parent);
	free(filter->ignores_callees);
	free(filter->frame_shows);
	free(filter->stack_is_idle);
	*filter = (struct profile_filter){0};
}
