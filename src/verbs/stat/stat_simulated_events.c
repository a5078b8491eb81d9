/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/stat/stat_simulated_events.h"

#include <string.h>

#include "abi/names.h"
#include "base/array.h"
#include "base/error.h"
#include "base/text.h"
#include "tasks/simulation/simulation_sampling.h"

#define BIT(event) (UINT64_C(1) << (event))

/* perf's generic cache events are sums: misses are all accesses that miss in the last-level cache, references are all
 * accesses to it. stat_simulated_value adds the instruction fetches to the references. */
#define ALL_LLC_MISSES	   (BIT(SIM_LLC_LOAD_MISSES) | BIT(SIM_LLC_STORE_MISSES) | BIT(SIM_LLC_CODE_MISSES))
#define ALL_LLC_REFERENCES (BIT(SIM_LLC_LOADS) | BIT(SIM_LLC_STORES))

static const char default_words[] =
	"instructions,branches,branch-misses,L1-dcache-loads,L1-dcache-load-misses,LLC-loads,LLC-load-misses,"
	"L1-icache-loads,L1-icache-load-misses,dTLB-loads,dTLB-load-misses";

static bool stat_simulated_find_attr(struct tally_str name, struct perf_attr *attr)
{
	const struct event_symbol *symbol = event_symbol_find(name);
	*attr = (struct perf_attr){.type = EVENT_HW_CACHE};
	if (symbol) {
		attr->type = symbol->type;
		attr->config = symbol->config;
		return true;
	}
	return cache_event_find(name, &attr->config);
}

/* Returns the set of simulated events that the name adds up, or 0 if it is not simulated. */
static uint64_t stat_simulated_sum_of(struct tally_str name, struct perf_attr *attr)
{
	uint32_t event;
	if (simulation_event_find(name, &event)) {
		*attr = simulation_event_attr(event);
		return BIT(event);
	}
	if (!stat_simulated_find_attr(name, attr) || attr->type != EVENT_HARDWARE)
		return 0;
	return attr->config == HW_CACHE_MISSES	     ? ALL_LLC_MISSES
	       : attr->config == HW_CACHE_REFERENCES ? ALL_LLC_REFERENCES
						     : 0;
}

static enum tally_status stat_simulated_refuse(struct tally_str name, struct tally_error *err)
{
	struct perf_attr attr;
	bool is_known = stat_simulated_find_attr(name, &attr);
	if (is_known && attr.type == EVENT_SOFTWARE)
		return error_set(err, TALLY_INVALID,
			"'%.*s' is not simulated: the kernel counts it, also on machines without hardware counters; "
			"count it without --simulate",
			(int)name.len, name.data);
	if (is_known && attr.type == EVENT_HARDWARE)
		return error_set(err, TALLY_INVALID,
			"'%.*s' cannot be simulated: a simulation counts what instructions do, not how long a CPU "
			"takes for them; 'instructions' is the nearest",
			(int)name.len, name.data);
	return error_set(err, TALLY_INVALID,
		"'%.*s' is not simulated: -e takes instructions, branches, branch-misses, conditional-branches, "
		"indirect-branches and their -misses, cache-references, cache-misses, and perf's names for loads, "
		"stores and misses of L1-icache, L1-dcache, l2, LLC, dTLB and iTLB, such as LLC-load-misses",
		(int)name.len, name.data);
}

/* Groups have no effect, because all events are counted all the time; the only valid modifier is :u. */
static enum tally_status stat_simulated_split(struct tally_str word, struct tally_str *name, struct tally_error *err)
{
	while (word.len && word.data[0] == '{')
		word = (struct tally_str){word.data + 1, word.len - 1};
	const char *colon = word.len ? memchr(word.data, ':', word.len) : NULL;
	struct tally_str modifier = {colon, colon ? word.len - (size_t)(colon - word.data) : 0};
	if (colon && !str_equal(modifier, STR(":u")) && !str_equal(modifier, STR(":u}")))
		return error_set(err, TALLY_INVALID,
			"'%.*s': simulated events are of user space, all the time: they know no other modifier than :u",
			(int)word.len, word.data);
	if (colon)
		word.len = (size_t)(colon - word.data);
	while (word.len && word.data[word.len - 1] == '}')
		word.len--;
	*name = word;
	return TALLY_OK;
}

static enum tally_status stat_simulated_add_one(
	struct stat_simulated_events *events, struct tally_str name, bool has_modifier, struct tally_error *err)
{
	struct perf_attr attr;
	uint64_t sum = stat_simulated_sum_of(name, &attr);
	if (sum == 0)
		return stat_simulated_refuse(name, err);
	struct event_spec *spec = event_list_add(&events->list, err);
	if (!spec)
		return err ? err->status : TALLY_NOMEM;
	spec->attr.type = attr.type;
	spec->attr.config = attr.config;
	spec->attr.flags |= ATTR_FLAG(ATTR_BIT_EXCLUDE_KERNEL) | ATTR_FLAG(ATTR_BIT_EXCLUDE_HV);
	spec->name = arena_printf(&events->list.arena, "%.*s%s", (int)name.len, name.data, has_modifier ? ":u" : "");
	return spec->name && vec_push(&events->sums, sum) ? TALLY_OK : error_nomem(err);
}

enum tally_status stat_simulated_events_add(
	struct stat_simulated_events *events, const char *words, struct tally_error *err)
{
	struct tally_str rest = str_from(words), word, name;
	while (str_next_item(&rest, &word)) {
		enum tally_status status = stat_simulated_split(word, &name, err);
		if (status == TALLY_OK)
			status = stat_simulated_add_one(events, name, memchr(word.data, ':', word.len) != NULL, err);
		if (status != TALLY_OK)
			return status;
	}
	return TALLY_OK;
}

enum tally_status stat_simulated_events_add_default(
	struct stat_simulated_events *events, unsigned detail, struct tally_error *err)
{
	if (detail == 0)
		return stat_simulated_events_add(events, default_words, err);
	enum tally_status status = TALLY_OK;
	for (uint32_t event = 0; status == TALLY_OK && event < SIM_EVENT_COUNT; event++)
		status = stat_simulated_add_one(events, str_from(simulation_event_name(event)), false, err);
	return status;
}

void stat_simulated_events_deinit(struct stat_simulated_events *events)
{
	event_list_deinit(&events->list);
	vec_free(&events->sums);
}

void stat_simulated_events_kinds(const struct stat_simulated_events *events, struct text *kinds)
{
	uint64_t all = 0;
	const char *last = NULL;
	for (size_t i = 0; i < events->sums.len; i++)
		all |= events->sums.items[i];
	for (uint32_t event = 0; event < SIM_EVENT_COUNT; event++) {
		const char *kind = simulation_event_kind(event);
		if (!(all & BIT(event)) || (last && strcmp(last, kind) == 0))
			continue; /* Events of the same kind are adjacent. */
		text_printf(kinds, "%s%s", last ? "," : "", kind);
		last = kind;
	}
}

bool stat_simulated_value(const struct stat_simulated_events *events, size_t event,
	const struct simulation_counts *counts, uint64_t *value)
{
	uint64_t sum = events->sums.items[event];
	bool has_l2 = strstr(counts->model, " l2=") != NULL;
	/* Instruction fetches that reach the last level are the misses of the level before it. */
	if (sum == ALL_LLC_REFERENCES)
		sum |= BIT(has_l2 ? SIM_L2_CODE_MISSES : SIM_L1I_LOAD_MISSES);
	*value = 0;
	for (uint32_t i = 0; i < SIM_EVENT_COUNT; i++) {
		bool is_of_l2 = i >= SIM_L2_LOADS && i <= SIM_L2_CODE_MISSES;
		if (!(sum & BIT(i)))
			continue;
		if (!counts->is_counted[i] || (is_of_l2 && !has_l2))
			return false;
		*value += counts->values[i];
	}
	return true;
}
