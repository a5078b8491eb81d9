/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tally_counter_read.c - reads the public counter and its regions: from mapped pages if they give the value, by read(2)
 * otherwise. Only tally_counter_prepare allocates memory here.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <tally/region.h>
#include <tally/simulation.h>
#include <unistd.h>

#include "base/error.h"
#include "kernel/counting/read_format.h"
#include "kernel/counting/scaling.h"
#include "kernel/counting/tally_counter.h"

#define READ_TIMES (READ_FORMAT_TOTAL_TIME_ENABLED | READ_FORMAT_TOTAL_TIME_RUNNING)

/* Its address identifies the thread. */
static _Thread_local char thread_place;

static size_t cell_count(const struct counter *counter)
{
	return counter->cpu_count * counter->thread_count;
}

static void group_add(struct tally_counter *c, uint32_t leader, uint32_t *used)
{
	const struct counter_set *set = c->set;
	struct counter_group *group = &c->groups[c->group_count++];
	bool is_group = c->events.specs[set->counters[leader].spec->leader].member_count > 1;
	group->start = *used;
	group->read_format = is_group ? READ_TIMES | READ_FORMAT_ID | READ_FORMAT_GROUP : READ_TIMES;
	for (uint32_t i = leader; i < set->len; i++)
		if (set->counters[i].leader == leader)
			c->members[(*used)++] = i;
	group->count = *used - group->start;
}

static void *page_map(struct tally_counter *c, size_t event)
{
	const struct counter *counter = &c->set->counters[event];
	uint32_t type = counter->spec->attr.type;
	if (type == EVENT_SOFTWARE || type == EVENT_TRACEPOINT || type == EVENT_BREAKPOINT || counter->fds[0] < 0)
		return NULL;
	void *page = c->kernel->mmap(c->kernel->context, c->page_bytes, PROT_READ, counter->fds[0], 0);
	if (page == MAP_FAILED)
		return NULL; /* The limit on locked memory is reached; read(2) works, too. */
	if (user_page_is_capable(page))
		return page;
	c->kernel->munmap(c->kernel->context, page, c->page_bytes);
	return NULL;
}

enum tally_status tally_counter_prepare(struct tally_counter *c, bool may_map, struct tally_error *err)
{
	size_t len = c->set->len, cells = 0;
	uint32_t used = 0;
	c->groups = calloc(len + 1, sizeof(*c->groups));
	c->members = calloc(len + 1, sizeof(*c->members));
	c->first_cell = calloc(len + 1, sizeof(*c->first_cell));
	c->pages = calloc(len + 1, sizeof(*c->pages));
	c->words = calloc(READING_WORDS(len), sizeof(*c->words));
	c->values = calloc(len + 1, sizeof(*c->values));
	for (size_t i = 0; c->first_cell && i < len; i++) {
		c->first_cell[i] = cells;
		cells += cell_count(&c->set->counters[i]);
		c->first_cell[i + 1] = cells;
	}
	c->cells = calloc(cells + 1, sizeof(*c->cells));
	if (!c->groups || !c->members || !c->first_cell || !c->pages || !c->words || !c->values || !c->cells)
		return error_nomem(err);
	for (uint32_t i = 0; i < len; i++)
		if (c->set->counters[i].leader == i)
			group_add(c, i, &used);
	c->owner = &thread_place;
	c->owner_pid = getpid();
	c->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	c->registers = may_map ? user_registers() : NULL;
	size_t mapped = 0;
	for (size_t i = 0; c->registers && i < len; i++)
		mapped += (c->pages[i] = page_map(c, i)) != NULL;
	if (mapped == 0)
		c->registers = NULL;
	return TALLY_OK;
}

void tally_counter_unprepare(struct tally_counter *c)
{
	/* In a forked child the pages are not mapped, and something else may be in their place. */
	bool is_owner = c->pages && c->owner_pid == getpid();
	for (size_t i = 0; is_owner && i < c->set->len; i++)
		if (c->pages[i])
			c->kernel->munmap(c->kernel->context, c->pages[i], c->page_bytes);
	free(c->groups);
	free(c->members);
	free(c->first_cell);
	free(c->pages);
	free(c->words);
	free(c->values);
	free(c->cells);
	c->groups = NULL;
	c->members = NULL;
	c->first_cell = NULL;
	c->pages = NULL;
	c->words = NULL;
	c->values = NULL;
	c->cells = NULL;
	c->group_count = 0;
}

/* Reads all members or none, so that the members cover the same time. */
static bool read_by_pages(struct tally_counter *c, const struct counter_group *group)
{
	struct user_read read = {.registers = c->registers};
	if (!c->registers || c->owner != &thread_place)
		return false;
	for (uint32_t i = 0; i < group->count; i++) {
		uint32_t event = c->members[group->start + i];
		struct counter_cell *cell = tally_counter_cell(c, event, 0);
		if (!c->pages[event] || !user_page_read(c->pages[event], &read, &cell->count))
			return false;
		cell->is_in_error = false;
		cell->is_user_read = true;
	}
	return true;
}

/* Stores a reading less the cell's base, its value at the last reset. A base above the value predates a reset of the
 * descriptor by someone else. */
static void cell_set(struct counter_cell *cell, struct count read, bool is_in_error)
{
	if (cell->base > read.value)
		cell->base = 0;
	read.value -= cell->base;
	cell->count = read;
	cell->is_in_error = is_in_error;
	cell->is_user_read = false;
}

/* Fast path for the usual case, a complete group, which needs no reading_decode. */
static bool take_whole_group(
	struct tally_counter *c, const struct counter_group *group, size_t index, size_t word_count)
{
	const uint64_t *words = c->words;
	if (group->read_format == READ_TIMES || word_count != 3 + 2 * (size_t)group->count || words[0] != group->count)
		return false;
	for (uint32_t i = 0; i < group->count; i++)
		cell_set(tally_counter_cell(c, c->members[group->start + i], index),
			(struct count){words[3 + 2 * i], words[1], words[2]}, false);
	return true;
}

static enum tally_status read_by_system(
	struct tally_counter *c, const struct counter_group *group, size_t index, struct tally_error *err)
{
	const struct counter *leader = &c->set->counters[c->members[group->start]];
	struct tally_reading reading;
	if (leader->fds[index] < 0)
		return TALLY_OK; /* The leader's thread had ended before it was opened. */
	ssize_t n = c->kernel->read(
		c->kernel->context, leader->fds[index], c->words, READING_WORDS(group->count) * sizeof(*c->words));
	if (n < 0)
		return error_set_errno(err, TALLY_IO, errno, "cannot read '%s'", leader->spec->name);
	if (take_whole_group(c, group, index, (size_t)n / sizeof(*c->words)))
		return TALLY_OK;
	if (reading_decode(c->words, (size_t)n / sizeof(*c->words), group->read_format, &reading, c->values,
		    group->count) != TALLY_OK)
		return error_set(err, TALLY_CORRUPT, "the data read from '%s' does not match its read format",
			leader->spec->name);
	for (size_t i = 0, at = 0; i < group->count; i++) {
		uint32_t event = c->members[group->start + i];
		struct counter_cell *cell = tally_counter_cell(c, event, index);
		if (c->set->counters[event].fds[index] < 0)
			continue; /* An event that is not open is not in the kernel's list. */
		bool is_given = at < reading.count;
		cell_set(cell,
			(struct count){is_given ? c->values[at].value : 0, reading.enabled_ns, reading.running_ns},
			reading.is_in_error);
		at++;
	}
	return TALLY_OK;
}

enum tally_status tally_counter_refresh(struct tally_counter *c, struct tally_error *err)
{
	for (size_t g = 0; g < c->group_count; g++) {
		const struct counter_group *group = &c->groups[g];
		const struct counter *leader = &c->set->counters[c->members[group->start]];
		if (read_by_pages(c, group))
			continue;
		for (size_t index = 0; index < cell_count(leader); index++) {
			enum tally_status status = read_by_system(c, group, index, err);
			if (status != TALLY_OK)
				return status;
		}
	}
	return TALLY_OK;
}

void tally_counter_set_base(struct tally_counter *c)
{
	if (tally_counter_refresh(c, NULL) != TALLY_OK)
		return;
	for (size_t i = 0; i < c->first_cell[c->set->len]; i++) {
		c->cells[i].base += c->cells[i].count.value;
		c->cells[i].count.value = 0;
	}
}

static enum tally_count_state state_of(const struct counter_cell *cell)
{
	if (cell->is_in_error)
		return TALLY_COUNT_IN_ERROR;
	if (cell->count.enabled_ns && !cell->count.running_ns)
		return TALLY_COUNT_NEVER_RAN;
	return count_is_scaled(cell->count) ? TALLY_COUNT_SCALED : TALLY_COUNT_EXACT;
}

static struct tally_count count_of_cell(const struct tally_counter *c, size_t event, const struct counter_cell *cell)
{
	return (struct tally_count){
		.name = c->set->counters[event].spec->name,
		.value = count_scale(cell->count),
		.raw_value = cell->count.value,
		.enabled_ns = cell->count.enabled_ns,
		.running_ns = cell->count.running_ns,
		.state = state_of(cell),
	};
}

static struct tally_count count_of_event(const struct tally_counter *c, size_t event)
{
	struct tally_count sum = {.name = c->set->counters[event].spec->name};
	bool lacks_some = false, is_in_error = false, is_scaled = false;
	for (size_t i = 0; i < cell_count(&c->set->counters[event]); i++) {
		struct tally_count one = count_of_cell(c, event, tally_counter_cell(c, event, i));
		sum.value += one.value;
		sum.raw_value += one.raw_value;
		sum.enabled_ns += one.enabled_ns;
		sum.running_ns += one.running_ns;
		lacks_some |= one.state == TALLY_COUNT_NEVER_RAN;
		is_in_error |= one.state == TALLY_COUNT_IN_ERROR;
		is_scaled |= one.state == TALLY_COUNT_SCALED;
	}
	if (is_in_error)
		sum.state = TALLY_COUNT_IN_ERROR;
	else if (lacks_some && sum.running_ns == 0)
		sum.state = TALLY_COUNT_NEVER_RAN;
	else if (lacks_some || is_scaled)
		sum.state = TALLY_COUNT_SCALED;
	return sum;
}

uint64_t tally_counter_value(struct tally_counter *counter)
{
	if (!counter || tally_counter_refresh(counter, NULL) != TALLY_OK)
		return 0;
	return count_of_event(counter, 0).value;
}

enum tally_status tally_counter_read(
	struct tally_counter *counter, struct tally_count *counts, size_t len, struct tally_error *err)
{
	if (len != tally_counter_len(counter))
		return error_set(
			err, TALLY_INVALID, "room for %zu counts, but there are %zu", len, tally_counter_len(counter));
	enum tally_status status = counter ? tally_counter_refresh(counter, err) : TALLY_OK;
	for (size_t i = 0; i < len && status == TALLY_OK; i++)
		counts[i] = count_of_event(counter, i);
	return status;
}

enum tally_status tally_counter_read_parts(
	struct tally_counter *c, struct tally_counter_part *parts, size_t len, struct tally_error *err)
{
	if (len != tally_counter_part_count(c))
		return error_set(
			err, TALLY_INVALID, "room for %zu parts, but there are %zu", len, tally_counter_part_count(c));
	enum tally_status status = c ? tally_counter_refresh(c, err) : TALLY_OK;
	if (!c || status != TALLY_OK)
		return status;
	for (size_t event = 0; event < c->set->len; event++) {
		const struct counter *counter = &c->set->counters[event];
		for (size_t i = 0; i < cell_count(counter); i++)
			parts[c->first_cell[event] + i] = (struct tally_counter_part){
				.event = event,
				.thread = counter->threads[i % counter->thread_count],
				.cpu = counter->cpus[i / counter->thread_count],
				.fd = counter->fds[i],
				.count = count_of_cell(c, event, tally_counter_cell(c, event, i)),
			};
	}
	return TALLY_OK;
}

bool tally_counter_is_user_read(const struct tally_counter *counter, size_t event)
{
	return event < tally_counter_len(counter) && tally_counter_cell(counter, event, 0)->is_user_read;
}

/* A region requires exactly one cell per event. */
static enum tally_status region_read(struct tally_counter *c)
{
	if (c->set->len > TALLY_MARK_EVENTS || c->first_cell[c->set->len] != c->set->len)
		return TALLY_INVALID;
	enum tally_status status = tally_counter_refresh(c, NULL);
	for (size_t i = 0; i < c->set->len && status == TALLY_OK; i++)
		if (c->cells[i].is_in_error)
			status = TALLY_UNSUPPORTED;
	return status;
}

enum tally_status tally_region_begin(struct tally_counter *counter, struct tally_mark *mark)
{
	enum tally_status status = counter ? region_read(counter) : TALLY_OK;
	for (size_t i = 0; counter && status == TALLY_OK && i < counter->set->len; i++) {
		mark->at[i].value = counter->cells[i].count.value;
		mark->at[i].enabled_ns = counter->cells[i].count.enabled_ns;
		mark->at[i].running_ns = counter->cells[i].count.running_ns;
	}
	tally_simulation_request(TALLY_SIMULATION_BEGIN, TALLY_SIMULATION_THREAD);
	return status;
}

enum tally_status tally_region_end(
	struct tally_counter *counter, const struct tally_mark *mark, uint64_t *values, size_t len)
{
	tally_simulation_request(TALLY_SIMULATION_END, TALLY_SIMULATION_THREAD);
	if (len != tally_counter_len(counter))
		return TALLY_INVALID;
	enum tally_status status = counter ? region_read(counter) : TALLY_OK;
	bool lacks_some = false;
	for (size_t i = 0; i < len && status == TALLY_OK; i++) {
		struct count now = counter->cells[i].count;
		struct count spent = {
			now.value - mark->at[i].value,
			now.enabled_ns - mark->at[i].enabled_ns,
			now.running_ns - mark->at[i].running_ns,
		};
		/* A region shorter than the clock's resolution needs no scaling. */
		values[i] = spent.enabled_ns ? count_scale(spent) : spent.value;
		lacks_some |= spent.enabled_ns && !spent.running_ns;
	}
	return status == TALLY_OK && lacks_some ? TALLY_END : status;
}
