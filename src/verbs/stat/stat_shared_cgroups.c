/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/stat/stat_shared_cgroups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/vec.h"
#include "bpf/bpf_cgroup_counter.h"

struct stat_shared_cell { /* A counter of the set, with the indices of its event and cgroup. */
	size_t counter, event, cgroup;
};

struct stat_shared_cgroups {
	struct counter_set *set;
	struct bpf_cgroup_counter *counter;
	VEC(struct stat_shared_cell) cells;
	VEC(struct bpf_counted_event) events; /* Distinct events. */
	VEC(uint64_t) ids; /* Distinct cgroup IDs. */
};

static bool stat_shared_cgroups_are_equal(const struct event_spec *a, const struct event_spec *b)
{
	bool has_cpus = a->cpus && b->cpus;
	return memcmp(&a->attr, &b->attr, sizeof(a->attr)) == 0 &&
	       (has_cpus ? !strcmp(a->cpus, b->cpus) : a->cpus == b->cpus);
}

static enum tally_status stat_shared_cgroups_find_event(
	struct stat_shared_cgroups *c, const struct counter *counter, size_t *index, struct tally_error *err)
{
	for (*index = 0; *index < c->events.len; (*index)++)
		if (stat_shared_cgroups_are_equal(c->events.items[*index].spec, counter->spec))
			return TALLY_OK;
	struct bpf_counted_event event = {counter->spec, counter->cpus, counter->cpu_count};
	return vec_push(&c->events, event) ? TALLY_OK : error_nomem(err);
}

/* The ID of a cgroup is the inode number of its directory (Linux 5.5). */
static enum tally_status stat_shared_cgroups_find_id(
	struct stat_shared_cgroups *c, const char *path, size_t *index, struct tally_error *err)
{
	struct stat found;
	if (stat(path, &found) != 0)
		return error_set_errno(
			err, errno == ENOENT ? TALLY_NOT_FOUND : TALLY_IO, errno, "cannot open cgroup %s", path);
	for (*index = c->ids.len; *index > 0; (*index)--)
		if (c->ids.items[*index - 1] == found.st_ino) {
			(*index)--;
			return TALLY_OK;
		}
	*index = c->ids.len;
	return vec_push(&c->ids, (uint64_t)found.st_ino) ? TALLY_OK : error_nomem(err);
}

static enum tally_status stat_shared_cgroups_add(struct stat_shared_cgroups *c, size_t index, struct tally_error *err)
{
	const struct counter *counter = &c->set->counters[index];
	struct stat_shared_cell cell = {.counter = index};
	enum tally_status status = stat_shared_cgroups_find_event(c, counter, &cell.event, err);
	if (status == TALLY_OK)
		status = stat_shared_cgroups_find_id(c, counter->spec->cgroup_path, &cell.cgroup, err);
	if (status == TALLY_OK && !vec_push(&c->cells, cell))
		return error_nomem(err);
	return status;
}

enum tally_status stat_shared_cgroups_open(
	struct counter_set *set, struct stat_shared_cgroups **cgroups, struct tally_error *err)
{
	enum tally_status status = TALLY_OK;
	struct stat_shared_cgroups *c = calloc(1, sizeof(*c));
	if (!c)
		return error_nomem(err);
	c->set = set;
	for (size_t i = 0; status == TALLY_OK && i < set->len; i++)
		if (set->counters[i].spec->is_shared && set->counters[i].spec->cgroup_path)
			status = stat_shared_cgroups_add(c, i, err);
	if (status == TALLY_OK && c->cells.len > 0) {
		struct bpf_cgroup_request request = {
			c->events.items, c->events.len, c->ids.items, c->ids.len, set->cpus, set->cpu_count};
		status = bpf_cgroup_counter_open(set->kernel, &request, &c->counter, err);
	}
	*cgroups = status == TALLY_OK && c->counter ? c : NULL;
	if (!*cgroups)
		stat_shared_cgroups_close(c);
	return status;
}

enum tally_status stat_shared_cgroups_enable(struct stat_shared_cgroups *c, struct tally_error *err)
{
	return c ? bpf_cgroup_counter_begin(c->counter, err) : TALLY_OK;
}

enum tally_status stat_shared_cgroups_disable(struct stat_shared_cgroups *c, struct tally_error *err)
{
	return c ? bpf_cgroup_counter_end(c->counter, err) : TALLY_OK;
}

enum tally_status stat_shared_cgroups_read(struct stat_shared_cgroups *c, struct tally_error *err)
{
	enum tally_status status = c ? bpf_cgroup_counter_read(c->counter, err) : TALLY_OK;
	for (size_t i = 0; c && status == TALLY_OK && i < c->cells.len; i++) {
		const struct stat_shared_cell *cell = &c->cells.items[i];
		struct counter *counter = &c->set->counters[cell->counter];
		for (size_t k = 0; k < counter->cpu_count; k++) {
			struct cgroup_counter_reading reading =
				bpf_cgroup_counter_at(c->counter, cell->cgroup, cell->event, counter->cpus[k]);
			counter->counts[k * counter->thread_count] =
				(struct count){reading.value, reading.enabled_ns, reading.running_ns};
		}
	}
	return status;
}

uint64_t stat_shared_cgroups_losses(const struct stat_shared_cgroups *c)
{
	return c ? bpf_cgroup_counter_losses(c->counter) : 0;
}

void stat_shared_cgroups_close(struct stat_shared_cgroups *c)
{
	if (!c)
		return;
	bpf_cgroup_counter_close(c->counter);
	vec_free(&c->cells);
	vec_free(&c->events);
	vec_free(&c->ids);
	free(c);
}
