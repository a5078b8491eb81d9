/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/events/event_format.h"

#include <inttypes.h>
#include <string.h>

#include "abi/branch_words.h"
#include "abi/names.h"
#include "kernel/events/modifiers.h"
#include "kernel/events/tool_events.h"

static const char *symbol_name(uint32_t type, uint64_t config)
{
	for (size_t i = 0; i < event_symbol_count; i++)
		if (event_symbols[i].type == type && event_symbols[i].config == config)
			return event_symbols[i].name;
	return NULL;
}

/* Appends the generic name; false if there is none for these numbers. */
static bool put_generic_name(struct text *t, uint32_t type, uint64_t config)
{
	const char *name = symbol_name(type, config);
	if (name)
		text_str(t, name);
	return name || (type == EVENT_HW_CACHE && cache_event_append(t, config));
}

static void put_breakpoint(struct text *t, const struct perf_attr *attr)
{
	text_printf(t, "mem:0x%" PRIx64 "/%" PRIu64 ":", attr->config1, attr->config2);
	text_str(t, attr->bp_type & BREAKPOINT_R ? "r" : "");
	text_str(t, attr->bp_type & BREAKPOINT_W ? "w" : "");
	text_str(t, attr->bp_type & BREAKPOINT_X ? "x" : "");
}

/* Appends the text before the first slash of an event without a PMU. */
static void put_body(struct text *t, const struct event_spec *spec)
{
	const struct perf_attr *attr = &spec->attr;
	if (spec->tool)
		text_str(t, tool_event_name(spec->tool));
	else if (spec->tracepoint_name)
		text_printf(t, "%s:%s", spec->tracepoint_system, spec->tracepoint_name);
	else if (attr->type == EVENT_BREAKPOINT)
		put_breakpoint(t, attr);
	else if (attr->type == EVENT_RAW)
		text_printf(t, "r%" PRIx64, attr->config);
	else if (!put_generic_name(t, attr->type, attr->config))
		text_printf(t, "%" PRIu32 ":0x%" PRIx64, attr->type, attr->config);
}

/* Appends the terms of a PMU's event as they were written, or the generic name of a generic event of one kind of
 * core. */
static void put_pmu_terms(struct text *t, const struct event_spec *spec)
{
	uint32_t type = spec->attr.type;
	bool is_generic = type == EVENT_HARDWARE || type == EVENT_HW_CACHE;
	if (spec->terms && !is_generic) {
		text_printf(t, ",%s", spec->terms);
	} else if (!is_generic) {
		text_printf(t, ",config=0x%" PRIx64, spec->attr.config);
	} else {
		text_char(t, ',');
		if (!put_generic_name(t, type, spec->attr.config & UINT32_MAX))
			text_printf(t, "%s,config=0x%" PRIx64, type == EVENT_HARDWARE ? "cycles" : "L1-dcache-loads",
				spec->attr.config);
	}
}

static const char *callgraph_name(enum record_callgraph callgraph)
{
	switch (callgraph) {
	case CALLGRAPH_FP:
		return "fp";
	case CALLGRAPH_DWARF:
		return "dwarf";
	case CALLGRAPH_LBR:
		return "lbr";
	case CALLGRAPH_BPF:
		return "bpf";
	case CALLGRAPH_AUTO:
		return "auto";
	case CALLGRAPH_NONE:
		break;
	}
	return "no";
}

static void put_aux_terms(struct text *t, const struct perf_attr *attr)
{
	static const char *const actions[] = {[1] = "start-paused", [2] = "pause", [4] = "resume"};
	text_str(t, ATTR_HAS(attr, AUX_OUTPUT) ? ",aux-output" : "");
	if (attr->aux_sample_size)
		text_printf(t, ",aux-sample-size=%" PRIu32, attr->aux_sample_size);
	if (attr->aux_action)
		text_printf(t, ",aux-action=%s", actions[attr->aux_action]);
}

/* Appends the terms that an event of any kind may have, each after a comma. */
static void put_common_terms(struct text *t, const struct event_spec *spec)
{
	const struct recording_terms *r = &spec->recording;
	if (spec->has_own_name) {
		/* A quote cannot occur inside quotes; a name with one contains no character that requires quotes. */
		const char *quote = strchr(spec->name, '\'') ? "" : "'";
		text_printf(t, ",name=%s%s%s", quote, spec->name, quote);
	}
	if (spec->has_period || spec->has_freq)
		text_printf(t, ",%s=%" PRIu64, spec->has_period ? "period" : "freq", spec->attr.sample_period_or_freq);
	if (r->time)
		text_str(t, r->time == TERM_YES ? ",time=1" : ",time=0");
	if (r->has_callgraph)
		text_printf(t, ",call-graph=%s", callgraph_name(r->callgraph));
	if (r->stack_bytes)
		text_printf(t, ",stack-size=%" PRIu32, r->stack_bytes);
	if (spec->attr.sample_max_stack)
		text_printf(t, ",max-stack=%u", (unsigned)spec->attr.sample_max_stack);
	if (r->inherit)
		text_str(t, r->inherit == TERM_YES ? ",inherit" : ",no-inherit");
	if (r->overwrite)
		text_str(t, r->overwrite == TERM_YES ? ",overwrite" : ",no-overwrite");
	if (r->most_events)
		text_printf(t, ",nr=%" PRIu64, r->most_events);
	if (r->branch_sample_type) {
		text_str(t, ",branch_type='");
		branch_words_append(t, r->branch_sample_type);
		text_char(t, '\'');
	}
	put_aux_terms(t, &spec->attr);
	text_str(t, spec->is_per_core ? ",percore" : "");
}

/* Appends config1, config2 and config3, for an event of which the text of the terms is not known. */
static void put_config_words(struct text *t, const struct perf_attr *attr)
{
	const uint64_t words[] = {attr->config1, attr->config2, attr->config3};
	for (unsigned i = 0; i < 3; i++)
		if (words[i])
			text_printf(t, ",config%u=0x%" PRIx64, i + 1, words[i]);
}

void event_spec_format(struct text *text, const struct event_spec *spec)
{
	struct text terms = {0}, letters = {0};
	uint32_t type = spec->attr.type;
	if (spec->pmu)
		put_pmu_terms(&terms, spec);
	if (type != EVENT_BREAKPOINT && (!spec->pmu || type == EVENT_HARDWARE || type == EVENT_HW_CACHE))
		put_config_words(&terms, &spec->attr);
	put_common_terms(&terms, spec);
	modifiers_format(&letters, spec);
	if (spec->pmu)
		text_str(text, spec->family ? spec->family : spec->pmu);
	else
		put_body(text, spec);
	if (terms.len > 0)
		text_printf(text, "/%.*s/", (int)terms.len - 1, terms.data + 1);
	if (letters.len > 0)
		text_printf(text, "%s%.*s", terms.len > 0 ? "" : ":", (int)letters.len, letters.data);
	text->failed |= terms.failed || letters.failed;
	text_deinit(&terms);
	text_deinit(&letters);
}

void event_format(struct text *text, const struct event_list *list)
{
	for (size_t first = 0, end; first < list->len; first = end) {
		/* The braces include all specs up to the last one that has its leader in them; groups of several kinds
		 * of core are interleaved. */
		end = first + 1;
		for (size_t i = first + 1; i < list->len; i++)
			if (list->specs[i].leader < end)
				end = i + 1;
		bool is_first = true;
		for (size_t i = first; i < end; i++) {
			if (list->specs[i].is_merged)
				continue; /* The family's name, already written, includes this spec. */
			text_str(text, i > 0 ? "," : "");
			text_str(text, is_first && end > first + 1 ? "{" : "");
			event_spec_format(text, &list->specs[i]);
			is_first = false;
		}
		text_str(text, end > first + 1 ? "}" : "");
	}
}
