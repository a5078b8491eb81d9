/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/thread_pool.h"
#include "profile/flat/flat_part.h"

#define FLAT_JOIN_TASK_ROWS 4096

bool flat_part_reserve(struct flat_part *part, size_t count)
{
	return vec_reserve(&part->rows, count) && vec_reserve(&part->tallies, count) &&
	       vec_reserve(&part->made_by, count) && vec_reserve(&part->stats, count * part->row_words);
}

/* Copies rows of the next part to unused rows from row on. */
static void copy_rows(struct flat_part *to, size_t row, const struct flat_part *from, size_t first, size_t count)
{
	memcpy(to->rows.items + row, from->rows.items + first, count * sizeof(*to->rows.items));
	memcpy(to->tallies.items + row, from->tallies.items + first, count * sizeof(*to->tallies.items));
	memcpy(to->made_by.items + row, from->made_by.items + first, count * sizeof(*to->made_by.items));
	memcpy(to->stats.items + row * to->row_words, from->stats.items + first * to->row_words,
		count * to->row_words * sizeof(*to->stats.items));
}

static void flat_join_lengthen(struct flat_part *part, size_t count)
{
	part->rows.len += count;
	part->tallies.len += count;
	part->made_by.len += count;
	part->stats.len += count * part->row_words;
}

struct flat_join_joining {
	struct flat_part *to, *from;
	uint32_t group; /* The group that both parts have. */
	size_t count; /* Number of rows of from: those of the shared group, or those after it. */
	size_t first; /* Index of the first of these rows. */
	uint32_t *places; /* By task: the number of new rows, later the index of the first one. */
};

static size_t flat_join_task_end(const struct flat_join_joining *j, size_t task)
{
	return thread_pool_task_end(task, FLAT_JOIN_TASK_ROWS, j->count);
}

/* Each row of the next part has at most one counterpart, so workers do not write to the same row. */
static void add_known(void *context, size_t task, unsigned worker)
{
	const struct flat_join_joining *j = context;
	struct flat_part *to = j->to, *from = j->from;
	for (size_t i = task * FLAT_JOIN_TASK_ROWS; i < flat_join_task_end(j, task); i++) {
		uint32_t row = flat_part_row(to, j->group, from->tallies.items[i].frame_group);
		from->kept.items[i] = (struct kept_row){row, 0};
		if (row == UINT32_MAX) {
			j->places[task]++;
			continue;
		}
		struct row_tally *tally = &to->tallies.items[row];
		const struct row_tally *more = &from->tallies.items[i];
		from->kept.items[i].at = tally->instance_count;
		tally->instance_count += more->instance_count;
		if (more->max_depth > tally->max_depth)
			tally->max_depth = more->max_depth;
		flat_stats_add(to->table, to->stats.items + row * to->row_words, from->stats.items + i * to->row_words);
	}
}

static void flat_join_add_new(void *context, size_t task, unsigned worker)
{
	const struct flat_join_joining *j = context;
	uint32_t row = j->places[task];
	for (size_t i = task * FLAT_JOIN_TASK_ROWS; i < flat_join_task_end(j, task); i++) {
		if (j->from->kept.items[i].row != UINT32_MAX)
			continue;
		copy_rows(j->to, row, j->from, i, 1);
		j->from->kept.items[i].row = row++;
	}
}

static void append_some(void *context, size_t task, unsigned worker)
{
	const struct flat_join_joining *j = context;
	size_t done = task * FLAT_JOIN_TASK_ROWS, count = flat_join_task_end(j, task) - done,
	       row = j->to->rows.len + done;
	copy_rows(j->to, row, j->from, j->first + done, count);
	for (size_t i = 0; i < count; i++)
		j->from->kept.items[j->first + done + i] = (struct kept_row){(uint32_t)(row + i), 0};
}

/* Joins the rows of the group that ends one part and begins the other. Returns false if out of memory. */
static bool join_shared_group(struct flat_join_joining *j)
{
	struct flat_part *to = j->to;
	size_t tasks = thread_pool_tasks(j->count, FLAT_JOIN_TASK_ROWS);
	j->places = calloc(tasks + 1, sizeof(*j->places));
	if (!j->places)
		return false;
	for (size_t row = to->group_rows.items[to->group_rows.len - 1]; row < to->rows.len; row++)
		to->row_of[to->tallies.items[row].frame_group] = (struct group_row){j->group + 1, (uint32_t)row};
	thread_pool_for(tasks, to->options->threads, add_known, j);
	size_t row = to->rows.len;
	for (size_t task = 0; task < tasks; task++) {
		size_t count = j->places[task];
		j->places[task] = (uint32_t)row;
		row += count;
	}
	thread_pool_for(tasks, to->options->threads, flat_join_add_new, j);
	flat_join_lengthen(to, row - to->rows.len);
	free(j->places);
	return true;
}

bool flat_part_join(struct flat_part *to, struct flat_part *from)
{
	size_t count = to->rows.len + from->rows.len, groups = from->group_rows.len, done = 0, group = 0;
	if (count >= UINT32_MAX || !flat_part_reserve(to, count) || !vec_reserve(&from->kept, from->rows.len) ||
		!vec_reserve(&to->group_rows, to->group_rows.len + groups))
		return false;
	if (groups > 0 && to->group_rows.len > 0 && from->first_group == to->first_group + to->group_rows.len - 1) {
		done = groups > 1 ? from->group_rows.items[1] : from->rows.len;
		struct flat_join_joining shared = {.to = to, .from = from, .group = from->first_group, .count = done};
		if (!join_shared_group(&shared))
			return false;
		group = 1;
	}
	size_t moved = to->rows.len - done;
	struct flat_join_joining others = {.to = to, .from = from, .first = done, .count = from->rows.len - done};
	thread_pool_for(
		thread_pool_tasks(others.count, FLAT_JOIN_TASK_ROWS), to->options->threads, append_some, &others);
	flat_join_lengthen(to, others.count);
	from->kept.len = from->rows.len;
	for (; group < groups; group++)
		to->group_rows.items[to->group_rows.len++] = (uint32_t)(from->group_rows.items[group] + moved);
	return true;
}
