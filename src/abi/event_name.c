/* SPDX-License-Identifier: Apache-2.0 */
#include "abi/event_name.h"

#include "abi/names.h"

void event_modifiers_of_attr(struct text *t, const struct perf_attr *attr)
{
	bool is_first = true;
	char letters[8]; /* Enough for two of kuh, ppp and HG. */
	size_t count = 0;
	bool some_level_excluded =
		ATTR_HAS(attr, EXCLUDE_USER) || ATTR_HAS(attr, EXCLUDE_KERNEL) || ATTR_HAS(attr, EXCLUDE_HV);
	if (some_level_excluded) {
		if (!ATTR_HAS(attr, EXCLUDE_KERNEL))
			letters[count++] = 'k';
		if (!ATTR_HAS(attr, EXCLUDE_USER))
			letters[count++] = 'u';
		if (!ATTR_HAS(attr, EXCLUDE_HV))
			letters[count++] = 'h';
	}
	for (unsigned i = 0; i < attr_precise_ip(attr); i++)
		letters[count++] = 'p';
	/* perf's recorder sets exclude_guest for an event without modifiers, and clears it if there are any. */
	bool guest_by_default = some_level_excluded || attr_precise_ip(attr) > 0;
	if (ATTR_HAS(attr, EXCLUDE_HOST) || ATTR_HAS(attr, EXCLUDE_GUEST) == guest_by_default) {
		if (!ATTR_HAS(attr, EXCLUDE_HOST))
			letters[count++] = 'H';
		if (!ATTR_HAS(attr, EXCLUDE_GUEST))
			letters[count++] = 'G';
	}
	for (size_t i = 0; i < count; i++) {
		if (is_first)
			text_char(t, ':');
		is_first = false;
		text_char(t, letters[i]);
	}
}

static void breakpoint_name(struct text *t, const struct perf_attr *attr)
{
	text_str(t, "mem:0x");
	text_hex(t, attr->config1, 0);
	text_char(t, ':');
	if (attr->bp_type & BREAKPOINT_R)
		text_char(t, 'r');
	if (attr->bp_type & BREAKPOINT_W)
		text_char(t, 'w');
	if (attr->bp_type & BREAKPOINT_X)
		text_char(t, 'x');
}

/* On a hybrid CPU, the upper half of config identifies the PMU; perf calls each of them "cpu". */
static void hardware_name(struct text *t, uint64_t config)
{
	bool has_pmu = config > HW_EVENT_MASK;
	text_str(t, has_pmu ? "cpu/" : "");
	event_name_append(t, EVENT_HARDWARE, config & HW_EVENT_MASK);
	text_str(t, has_pmu ? "/" : "");
}

void event_name_of_attr(struct text *t, const struct perf_attr *attr)
{
	switch (attr->type) {
	case EVENT_TRACEPOINT:
		text_str(t, EVENT_NAME_UNKNOWN_TRACEPOINT);
		return;
	case EVENT_BREAKPOINT:
		breakpoint_name(t, attr);
		break;
	case EVENT_HARDWARE:
		hardware_name(t, attr->config);
		break;
	case EVENT_SOFTWARE:
	case EVENT_HW_CACHE:
	case EVENT_RAW:
		event_name_append(t, attr->type, attr->config);
		break;
	default:
		event_name_append(t, attr->type, attr->config);
		return;
	}
	event_modifiers_of_attr(t, attr);
}
