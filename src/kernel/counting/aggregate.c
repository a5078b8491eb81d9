/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/counting/aggregate.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/order.h"
#include "kernel/counting/scaling.h"
#include "kernel/events/tool_events.h"

struct placed {
	struct cpu_place place;
	size_t index; /* Index in the set's list of CPUs. */
};

/* Sets the fields that the mode ignores to -1, so that CPUs which are summed in one group have equal keys. */
static struct cpu_place place_key(struct cpu_place place, enum aggregation_mode mode)
{
	struct cpu_place key = {-1, -1, -1, -1, -1, -1, -1};
	switch (mode) {
	case AGGREGATE_CPU:
		key.cpu = place.cpu;
		break;
	case AGGREGATE_CORE:
		key.core = place.core;
		key.die = place.die;
		key.socket = place.socket;
		break;
	case AGGREGATE_DIE:
		key.die = place.die;
		key.socket = place.socket;
		break;
	case AGGREGATE_SOCKET:
		key.socket = place.socket;
		break;
	case AGGREGATE_NODE:
		key.node = place.node;
		break;
	case AGGREGATE_CLUSTER:
		key.cluster = place.cluster;
		key.die = place.die;
		key.socket = place.socket;
		break;
	case AGGREGATE_CACHE:
		key.cache = place.cache;
		key.die = place.die;
		key.socket = place.socket;
		break;
	case AGGREGATE_ALL:
	case AGGREGATE_THREAD:
		break;
	}
	return key;
}

static int aggregate_order(int a, int b)
{
	return COMPARE(a, b);
}

static int place_compare(const struct cpu_place *a, const struct cpu_place *b)
{
	int c = aggregate_order(a->node, b->node);
	c = c ? c : aggregate_order(a->socket, b->socket);
	c = c ? c : aggregate_order(a->die, b->die);
	c = c ? c : aggregate_order(a->cluster, b->cluster);
	c = c ? c : aggregate_order(a->cache, b->cache);
	c = c ? c : aggregate_order(a->core, b->core);
	return c ? c : aggregate_order(a->cpu, b->cpu);
}

static int placed_compare(const void *a, const void *b)
{
	return place_compare(&((const struct placed *)a)->place, &((const struct placed *)b)->place);
}

enum tally_status aggregation_group(const struct cpu_place *places, size_t count, enum aggregation_mode mode,
	struct aggregation *aggregation, struct tally_error *err)
{
	struct aggregation a = {.mode = mode};
	struct placed *placed = calloc(count + 1, sizeof(*placed));
	a.cpus = calloc(count + 1, sizeof(*a.cpus));
	a.group_of_cpu = calloc(count + 1, sizeof(*a.group_of_cpu));
	a.places = calloc(count + 1, sizeof(*a.places));
	if (!placed || !a.cpus || !a.group_of_cpu || !a.places) {
		free(placed);
		aggregation_deinit(&a);
		return error_nomem(err);
	}
	for (size_t i = 0; i < count; i++)
		placed[i] = (struct placed){place_key(places[i], mode), i};
	qsort(placed, count, sizeof(*placed), placed_compare);
	for (size_t i = 0; i < count; i++) {
		if (i == 0 || place_compare(&placed[i].place, &placed[i - 1].place) != 0)
			a.places[a.len++] = mode == AGGREGATE_CPU ? places[placed[i].index] : placed[i].place;
		a.group_of_cpu[placed[i].index] = (uint32_t)(a.len - 1);
		a.cpus[i] = places[i].cpu;
	}
	a.cpu_count = count;
	free(placed);
	*aggregation = a;
	return TALLY_OK;
}

static enum tally_status places_group(
	const struct kernel_seam *kernel, const struct counter_set *set, struct aggregation *a, struct tally_error *err)
{
	struct cpu_place *places;
	enum aggregation_mode mode = a->mode;
	unsigned level = a->cache_level;
	enum tally_status status = cpu_places(kernel, set->cpus, set->cpu_count, &places, err);
	if (status != TALLY_OK)
		return status;
	if (mode == AGGREGATE_CACHE || mode == AGGREGATE_CLUSTER)
		level = cpu_places_caches(kernel, places, set->cpu_count, level);
	status = aggregation_group(places, set->cpu_count, mode, a, err);
	a->cache_level = level;
	free(places);
	return status;
}

enum tally_status aggregation_make(const struct kernel_seam *kernel, const struct counter_set *set,
	enum aggregation_mode mode, struct aggregation *aggregation, struct tally_error *err)
{
	struct aggregation made = {.mode = mode, .cache_level = mode == AGGREGATE_CACHE ? aggregation->cache_level : 0};
	enum tally_status status = TALLY_OK;
	if (mode == AGGREGATE_ALL) {
		made.len = 1;
	} else if (mode == AGGREGATE_THREAD) {
		made.threads = malloc(set->thread_count * sizeof(pid_t) + 1);
		if (!made.threads)
			return error_nomem(err);
		memcpy(made.threads, set->threads, set->thread_count * sizeof(pid_t));
		made.len = set->thread_count;
	} else {
		status = places_group(kernel, set, &made, err);
	}
	if (status != TALLY_OK) {
		aggregation_deinit(&made);
		return status;
	}
	*aggregation = made;
	return TALLY_OK;
}

void aggregation_deinit(struct aggregation *aggregation)
{
	free(aggregation->places);
	free(aggregation->threads);
	free(aggregation->cpus);
	free(aggregation->group_of_cpu);
	*aggregation = (struct aggregation){0};
}

static size_t aggregate_group_of(const struct aggregation *a, int cpu, size_t thread)
{
	if (a->mode == AGGREGATE_ALL)
		return 0;
	if (a->mode == AGGREGATE_THREAD)
		return thread;
	size_t low;
	LOWER_BOUND(low, a->cpu_count, middle, a->cpus[middle] < cpu);
	return low < a->cpu_count ? a->group_of_cpu[low] : 0;
}

void aggregate_counter(const struct aggregation *aggregation, const struct counter *counter,
	const struct count *previous, bool is_scaling, struct aggregate *results)
{
	memset(results, 0, aggregation->len * sizeof(*results));
	if (tool_event_is_shared(counter->spec->tool) && counter->cpu_count > 0 && counter->thread_count > 0) {
		/* A shared count is the same for every CPU and thread: each group reports it as it is, without
		 * summing. */
		struct count count = counter->counts[0];
		if (previous && !tool_event_is_constant(counter->spec->tool))
			count.value -= previous[0].value;
		if (previous) {
			count.enabled_ns -= previous[0].enabled_ns;
			count.running_ns -= previous[0].running_ns;
		}
		for (size_t i = 0; i < aggregation->len; i++)
			results[i] = (struct aggregate){.value = count.value, .raw = count, .cpu_count = 1};
		return;
	}
	for (size_t cpu = 0; cpu < counter->cpu_count; cpu++) {
		size_t last = SIZE_MAX;
		for (size_t thread = 0; thread < counter->thread_count; thread++) {
			size_t cell = cpu * counter->thread_count + thread;
			size_t group = aggregate_group_of(aggregation, counter->cpus[cpu], thread);
			struct aggregate *result = &results[group];
			struct count count = counter->counts[cell];
			if (previous) {
				count.value -= previous[cell].value;
				count.enabled_ns -= previous[cell].enabled_ns;
				count.running_ns -= previous[cell].running_ns;
			}
			result->value += is_scaling ? count_scale(count) : count.value;
			result->raw.value += count.value;
			result->raw.enabled_ns += count.enabled_ns;
			result->raw.running_ns += count.running_ns;
			result->cpu_count += group != last;
			last = group;
		}
	}
}
