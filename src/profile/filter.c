#include "profile/filter.h"
#include "base/error.h"

#include <stdlib.h>

static bool is_in_list(const char *list, struct tally_str name)
{
	struct tally_str rest = str_from(list), part;
	while (str_next(&rest, ',', &part)) {
		if (str_equal(str_trim(part), name))
			return true;
	}
	return false;
}

static enum tally_status check_numbers(const char *list, struct tally_error *err)
{
	struct tally_str rest = str_from(list), part;
	uint64_t value;
	while (list && str_next(&rest, ',', &part)) {
		if (!str_to_u64(str_trim(part), 10, &value) || value > INT32_MAX)
			return error_set(
				err, TALLY_INVALID, "'%.*s' is not a process or thread id", (int)part.len, part.data);
	}
	return TALLY_OK;
}

static bool number_is_in_list(const char *list, int32_t number)
{
	struct tally_str rest = str_from(list), part;
	uint64_t value;
	while (str_next(&rest, ',', &part)) {
		if (str_to_u64(str_trim(part), 10, &value) && (int64_t)value == number)
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
	if (is_set(lists->comms) && !is_in_list(lists->comms, profile_string(p, thread->comm)))
		return false;
	if (is_set(lists->pids) && !number_is_in_list(lists->pids, thread->pid))
		return false;
	return !is_set(lists->tids) || number_is_in_list(lists->tids, thread->tid);
}

static bool binary_is_wanted(const struct profile *p, const char *list, uint32_t binary)
{
	if (binary == PROFILE_NONE)
		return is_in_list(list, STR("[unknown]"));
	return is_in_list(list, profile_string(p, p->binaries[binary].name)) ||
	       is_in_list(list, profile_string(p, p->binaries[binary].long_name));
}

static bool frame_is_wanted(
	const struct profile *p, const struct profile_filter_lists *lists, const struct profile_frame *frame)
{
	if (is_set(lists->dsos) && !binary_is_wanted(p, lists->dsos, frame->binary))
		return false;
	if (!is_set(lists->symbols) && !is_set(lists->symbol_part))
		return true;
	if (frame->function == PROFILE_NONE)
		return false;
	struct tally_str name = profile_string(p, p->functions[frame->function].name);
	if (is_set(lists->symbols) && !is_in_list(lists->symbols, name))
		return false;
	return !is_set(lists->symbol_part) ||
	       memmem(name.data, name.len, lists->symbol_part, strlen(lists->symbol_part)) != NULL;
}

enum tally_status profile_filter_init(struct profile_filter *filter, const struct profile *profile,
	const struct profile_filter_lists *lists, struct tally_error *err)
{
	struct profile_filter made = {.profile = profile};
	if (check_numbers(lists->pids, err) != TALLY_OK || check_numbers(lists->tids, err) != TALLY_OK)
		return TALLY_INVALID;
	if (is_set(lists->comms) || is_set(lists->pids) || is_set(lists->tids)) {
		made.thread_passes = calloc(profile->thread_count + 1, sizeof(bool));
		if (!made.thread_passes)
			return error_nomem(err);
		for (size_t i = 0; i < profile->thread_count; i++)
			made.thread_passes[i] = thread_is_wanted(profile, lists, &profile->threads[i]);
	}
	if (is_set(lists->dsos) || is_set(lists->symbols) || is_set(lists->symbol_part)) {
		made.frame_passes = calloc(profile->frame_count + 1, sizeof(bool));
		if (!made.frame_passes) {
			free(made.thread_passes);
			return error_nomem(err);
		}
		for (size_t i = 0; i < profile->frame_count; i++)
			made.frame_passes[i] = frame_is_wanted(profile, lists, &profile->frames[i]);
	}
	*filter = made;
	return TALLY_OK;
}

void profile_filter_deinit(struct profile_filter *filter)
{
	free(filter->thread_passes);
	free(filter->frame_passes);
	*filter = (struct profile_filter){0};
}
