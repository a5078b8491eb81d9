/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/script/script_counters.h"

#include "abi/perf_constants.h"

#define WIDTH_NAME   "branch_counter_width"
#define MOST_WIDTH   8 /* Upper limit in bits. CPUs have 2; each counter value is printed as that many letters. */
#define MOST_LETTERS 26

bool script_counters_event_has(const struct perfdata_event *event)
{
	return (event->attr.branch_sample_type & BRANCH_COUNTERS) != 0;
}

static unsigned width_in(const struct perfdata_pmu_caps *caps)
{
	uint64_t width;
	for (size_t i = 0; i < caps->len; i++)
		if (str_equal(caps->items[i].name, STR(WIDTH_NAME)) && str_to_u64(caps->items[i].value, 10, &width) &&
			width <= MOST_WIDTH)
			return (unsigned)width;
	return 0;
}

void script_counters_init(struct script_counters *counters, const struct perfdata_reader *reader, bool has_numbers)
{
	const struct perfdata_features *features = perfdata_reader_features(reader);
	*counters = (struct script_counters){
		.reader = reader, .width = width_in(&features->cpu_caps), .has_numbers = has_numbers};
	for (size_t i = 0; i < features->pmu_caps_count && counters->width == 0; i++)
		counters->width = width_in(&features->pmu_caps[i]);
}

/* Events beyond the 26th share the last letter. */
static char script_counters_letter_of(size_t index)
{
	return (char)('A' + (index < MOST_LETTERS ? index : MOST_LETTERS - 1));
}

void script_counters_print_key(const struct script_counters *counters, struct text *t)
{
	size_t count, letter = 0;
	const struct perfdata_event *events = perfdata_reader_events(counters->reader, &count);
	if (counters->has_numbers)
		return;
	text_str(t, "# Branch counter abbr list:\n");
	for (size_t i = 0; i < count; i++)
		if (script_counters_event_has(&events[i]))
			text_printf(t, "# %s = %c\n", events[i].name.data, script_counters_letter_of(letter++));
	text_str(t, "# '-' No event occurs\n# '+' Event occurrences may be lost due to branch counter saturated\n");
}

static void script_counters_print_one(const struct script_counters *counters, struct text *t,
	const struct perfdata_event *event, size_t letter, uint64_t value)
{
	bool is_full = value == (UINT64_C(1) << counters->width) - 1;
	if (counters->has_numbers)
		text_printf(t, "%s %llu%s ", event->name.data, (unsigned long long)value, is_full ? "+" : "");
	else {
		text_repeat(t, script_counters_letter_of(letter), (size_t)value);
		text_str(t, is_full ? "+" : "");
	}
}

void script_counters_print(
	const struct script_counters *counters, struct text *t, const struct perfdata_event *event, uint64_t word)
{
	size_t count, letter = 0, before = t->len;
	const struct perfdata_event *events = perfdata_reader_events(counters->reader, &count);
	const struct perfdata_features *features = perfdata_reader_features(counters->reader);
	struct perfdata_group group = {.leader_index = event->index, .member_count = 1};
	unsigned width = counters->width, shift = 0;
	for (size_t i = 0; i < features->group_count; i++) {
		const struct perfdata_group *other = &features->groups[i];
		if (event->index >= other->leader_index && event->index - other->leader_index < other->member_count)
			group = *other;
	}
	for (size_t i = 0; i < count && width; i++) {
		if (!script_counters_event_has(&events[i]))
			continue;
		bool is_member = i >= group.leader_index && i - group.leader_index < group.member_count;
		if (is_member && shift + width <= 64) {
			script_counters_print_one(
				counters, t, &events[i], letter, word >> shift & ((UINT64_C(1) << width) - 1));
			shift += width;
		}
		letter++;
	}
	if (t->len == before)
		text_char(t, '-');
}
