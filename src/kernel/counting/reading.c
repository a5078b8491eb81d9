/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/counting/reading.h"

#include <errno.h>
#include <stdlib.h>

#include "base/error.h"

/* read(2) of a single event returns its value and the enabled and running times. */
static void single_read(struct counter_set *set, struct counter *counter, size_t cell)
{
	uint64_t words[3];
	ssize_t n = set->kernel->read(set->kernel->context, counter->fds[cell], words, sizeof(words));
	if (n == (ssize_t)sizeof(words))
		counter->counts[cell] = (struct count){words[0], words[1], words[2]};
}

struct group_buffer {
	uint64_t *words;
	size_t member_count;
	uint32_t *members; /* In the order of opening, the leader first. */
};

/* read(2) of a group's leader returns nr, enabled, running and nr pairs (value, id), in the order of opening. */
static void group_read(struct counter_set *set, const struct group_buffer *group, size_t cell)
{
	const struct counter *leader = &set->counters[group->members[0]];
	size_t size = (3 + 2 * group->member_count) * sizeof(uint64_t);
	ssize_t n = set->kernel->read(set->kernel->context, leader->fds[cell], group->words, size);
	if (n < (ssize_t)(3 * sizeof(uint64_t)))
		return;
	size_t given = ((size_t)n / sizeof(uint64_t) - 3) / 2, k = 0;
	if (given > group->words[0])
		given = (size_t)group->words[0];
	for (size_t i = 0; i < group->member_count; i++) {
		struct counter *member = &set->counters[group->members[i]];
		if (member->fds[cell] < 0)
			continue; /* Its thread had ended, so the kernel's list lacks it. */
		if (k >= given)
			return;
		member->counts[cell] = (struct count){group->words[3 + 2 * k], group->words[1], group->words[2]};
		k++;
	}
}

static void members_find(const struct counter_set *set, size_t leader, struct group_buffer *group)
{
	group->member_count = 0;
	for (size_t i = leader; i < set->len; i++)
		if (set->counters[i].leader == leader && set->counters[i].open_count > 0)
			group->members[group->member_count++] = (uint32_t)i;
}

enum tally_status counter_set_read(struct counter_set *set, struct tally_error *err)
{
	struct group_buffer group = {
		.words = malloc((3 + 2 * set->len) * sizeof(uint64_t)),
		.members = malloc(set->len * sizeof(uint32_t) + 1),
	};
	if (!group.words || !group.members) {
		free(group.words);
		free(group.members);
		return error_nomem(err);
	}
	for (size_t i = 0; i < set->len; i++) {
		struct counter *counter = &set->counters[i];
		if (counter->leader != i || counter->open_count == 0)
			continue;
		bool is_group = set->events->specs[counter->spec->leader].member_count > 1;
		if (is_group)
			members_find(set, i, &group);
		for (size_t cell = 0; cell < counter->cpu_count * counter->thread_count; cell++) {
			if (counter->fds[cell] < 0)
				continue;
			if (is_group)
				group_read(set, &group, cell);
			else
				single_read(set, counter, cell);
		}
	}
	free(group.words);
	free(group.members);
	return TALLY_OK;
}
