/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/simulation/simulation_sampling.h"

#include <string.h>
#include <strings.h>

#include "abi/names.h"
#include "base/array.h"
#include "base/error.h"

#define PERIOD_OF_INSTRUCTIONS 1000003
#define PERIOD_OF_ACCESSES     200003
#define PERIOD_OF_MISSES       10007
#define PERIOD_MOST	       (UINT64_C(1) << 48) /* The limit of the simulator. */

static const struct {
	const char *name;
	enum sim_kind kind;
} rows[] = {
#define ROW(number, identifier, name, kind) [number] = {name, SIM_KIND_##kind},
	SIM_EVENTS(ROW)
#undef ROW
};
_Static_assert(ARRAY_LEN(rows) == SIM_EVENT_COUNT, "a row for each event");

const char *simulation_event_name(uint32_t event)
{
	return rows[event].name;
}

const char *simulation_event_kind(uint32_t event)
{
	switch (rows[event].kind) {
	case SIM_KIND_BRANCHES:
		return "branches";
	case SIM_KIND_CACHES:
		return "caches";
	case SIM_KIND_TLB:
		return "tlb";
	case SIM_KIND_INSTRUCTIONS:
	default:
		return "instructions";
	}
}

uint64_t simulation_event_period(uint32_t event)
{
	if (event == SIM_INSTRUCTIONS)
		return PERIOD_OF_INSTRUCTIONS;
	return strstr(rows[event].name, "-misses") ? PERIOD_OF_MISSES : PERIOD_OF_ACCESSES;
}

static bool simulation_sampling_find_generic(struct tally_str name, struct perf_attr *attr)
{
	const struct event_symbol *symbol = event_symbol_find(name);
	if (name.len >= 2 && strncasecmp(name.data, "l2", 2) == 0)
		return false; /* For perf, "l2" is another name of LLC; here it is a separate cache. */
	if (symbol) {
		attr->type = symbol->type;
		attr->config = symbol->config;
		return true;
	}
	attr->type = EVENT_HW_CACHE;
	return cache_event_find(name, &attr->config);
}

struct perf_attr simulation_event_attr(uint32_t event)
{
	struct perf_attr attr = {0};
	if (!simulation_sampling_find_generic(str_from(rows[event].name), &attr))
		attr = (struct perf_attr){.type = EVENT_RAW, .config = event};
	return attr;
}

bool simulation_event_find(struct tally_str name, uint32_t *event)
{
	struct perf_attr wanted;
	for (uint32_t i = 0; i < SIM_EVENT_COUNT; i++)
		if (str_equal(name, str_from(rows[i].name))) {
			*event = i;
			return true;
		}
	if (!simulation_sampling_find_generic(name, &wanted))
		return false;
	for (uint32_t i = 0; i < SIM_EVENT_COUNT; i++) {
		struct perf_attr attr = simulation_event_attr(i);
		if (attr.type != wanted.type || attr.config != wanted.config)
			continue;
		*event = i;
		return true;
	}
	return false;
}

static enum tally_status simulation_sampling_refuse(struct tally_str name, struct tally_error *err)
{
	return error_set(err, TALLY_INVALID,
		"'%.*s' is not simulated: -e takes instructions, branches, branch-misses, conditional-branches, "
		"indirect-branches and their -misses, and perf's names for loads, stores and misses of L1-icache, "
		"L1-dcache, l2, LLC, dTLB and iTLB, such as LLC-load-misses",
		(int)name.len, name.data);
}

/* Removes ":u" and "/period=N/" from the name. */
static enum tally_status simulation_sampling_split(struct tally_str *name, uint64_t *period, struct tally_error *err)
{
	static const char term[] = "period=";
	struct tally_str word = *name;
	const char *colon = memchr(word.data, ':', word.len), *slash;
	if (colon && (word.data + word.len - colon != 2 || colon[1] != 'u'))
		return error_set(err, TALLY_INVALID,
			"'%.*s': the simulation sees user space only, instruction by instruction: it knows no other "
			"modifier than :u",
			(int)word.len, word.data);
	if (colon)
		word.len = (size_t)(colon - word.data);
	slash = memchr(word.data, '/', word.len);
	if (slash) {
		struct tally_str terms = {slash + 1, word.len - (size_t)(slash + 1 - word.data)};
		bool is_closed = terms.len > sizeof(term) - 1 && terms.data[terms.len - 1] == '/' &&
				 memcmp(terms.data, term, sizeof(term) - 1) == 0;
		struct tally_str number = {terms.data + sizeof(term) - 1, is_closed ? terms.len - sizeof(term) : 0};
		if (!is_closed || !str_to_u64(number, 10, period) || *period == 0)
			return error_set(err, TALLY_INVALID, "'%.*s': a simulated event takes /period=N/ only",
				(int)word.len, word.data);
		word.len = (size_t)(slash - word.data);
	}
	*name = word;
	return TALLY_OK;
}

enum tally_status simulation_sampling_add(
	struct simulation_sampling *sampling, const char *words, uint64_t period, struct tally_error *err)
{
	struct tally_str rest = str_from(words), name;
	while (str_next_item(&rest, &name)) {
		uint64_t own = period;
		uint32_t event;
		enum tally_status status = simulation_sampling_split(&name, &own, err);
		if (status != TALLY_OK)
			return status;
		if (!simulation_event_find(name, &event))
			return simulation_sampling_refuse(name, err);
		if (own > PERIOD_MOST)
			return error_set(err, TALLY_INVALID, "a sample stands for at most 2^48 simulated events");
		for (size_t i = 0; i < sampling->len; i++)
			if (sampling->events[i].event == event)
				return error_set(err, TALLY_INVALID, "-e names %s twice", rows[event].name);
		if (sampling->len == SIM_SAMPLED_MOST)
			return error_set(
				err, TALLY_LIMIT, "one simulation samples at most %u events", SIM_SAMPLED_MOST);
		sampling->events[sampling->len++] =
			(struct sim_sampled){.event = event, .period = own ? own : simulation_event_period(event)};
	}
	return TALLY_OK;
}
