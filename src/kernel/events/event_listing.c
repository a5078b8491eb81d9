/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/events/event_listing.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>

#include "abi/names.h"
#include "base/array.h"
#include "base/error.h"
#include "kernel/events/event_parser.h"
#include "kernel/events/pfm_events.h"
#include "kernel/events/privileges.h"
#include "kernel/events/tool_events.h"
#include "kernel/events/tracepoints.h"
#include "kernel/system/cpu_topology.h"

void event_listing_init(struct event_listing *listing, struct event_catalogue *catalogue)
{
	*listing = (struct event_listing){.catalogue = catalogue};
	arena_init(&listing->arena);
}

void event_listing_deinit(struct event_listing *listing)
{
	vec_free(&listing->events);
	pfm_library_close(listing->pfm);
	listing->pfm = NULL;
	arena_deinit(&listing->arena);
}

static const char *event_listing_lower(struct arena *arena, const char *text)
{
	char *copy = arena_string(arena, text, strlen(text));
	for (char *c = copy; c && *c; c++)
		if (*c >= 'A' && *c <= 'Z')
			*c = (char)(*c - 'A' + 'a');
	return copy;
}

struct event_listing_addition {
	struct event_listing *listing;
	struct tally_str pattern; /* Search pattern in lower case. */
	size_t first; /* Index of the first event of the kind being added. */
	bool failed;
};

static bool event_listing_matches(struct event_listing_addition *add, const char *name)
{
	const char *low = name ? event_listing_lower(&add->listing->arena, name) : NULL;
	add->failed |= name && !low;
	return low && str_glob(add->pattern, str_from(low));
}

static void event_listing_put(struct event_listing_addition *add, const struct listed_event *event)
{
	if (!add->failed && (event_listing_matches(add, event->name) || event_listing_matches(add, event->alias)))
		add->failed = !vec_push(&add->listing->events, *event) || add->failed;
}

static int event_listing_by_name(const void *a, const void *b)
{
	return strcmp(((const struct listed_event *)a)->name, ((const struct listed_event *)b)->name);
}

static void sort_kind(struct event_listing_addition *add)
{
	struct event_listing *listing = add->listing;
	if (listing->events.len > add->first)
		qsort(listing->events.items + add->first, listing->events.len - add->first,
			sizeof(*listing->events.items), event_listing_by_name);
}

/* The longer of the two names is the main one, the other its alias. */
static void event_listing_add_symbols(struct event_listing_addition *add, enum listed_kind kind, uint32_t type)
{
	for (size_t i = 0; i < event_symbol_count; i++) {
		const struct event_symbol *s = &event_symbols[i];
		if (s->type != type)
			continue;
		bool swapped = s->alias && strlen(s->alias) > strlen(s->name);
		event_listing_put(add, &(struct listed_event){.kind = kind,
					       .name = swapped ? s->alias : s->name,
					       .alias = swapped ? s->name : s->alias,
					       .description = s->description});
	}
	sort_kind(add);
}

static void add_tools(struct event_listing_addition *add)
{
	for (enum tool_event tool = TOOL_NONE + 1; tool < TOOL_EVENTS; tool++)
		event_listing_put(add, &(struct listed_event){.kind = LISTED_TOOL,
					       .name = tool_event_name(tool),
					       .description = tool_event_description(tool)});
}

static void add_caches(struct event_listing_addition *add)
{
	for (unsigned cache = 0; cache < CACHE_COUNT; cache++) {
		for (unsigned op = 0; op < CACHE_OP_COUNT; op++) {
			for (unsigned result = 0; result < CACHE_RESULT_COUNT; result++) {
				struct text name = {0};
				if (!cache_event_is_possible(cache, op) ||
					!cache_event_append(&name, cache | op << 8 | result << 16))
					continue;
				struct listed_event event = {.kind = LISTED_CACHE,
					.name = arena_string(&add->listing->arena, name.data, name.len)};
				add->failed |= !event.name;
				text_deinit(&name);
				if (event.name)
					event_listing_put(add, &event);
			}
		}
	}
	sort_kind(add);
}

static bool is_event_file(const char *name)
{
	struct tally_str text = str_from(name);
	return !str_ends_with(text, STR(".scale")) && !str_ends_with(text, STR(".unit")) &&
	       !str_ends_with(text, STR(".snapshot")) && !str_ends_with(text, STR(".per-pkg"));
}

static void add_pmu_event(struct event_listing_addition *add, const struct pmu *pmu, const char *name)
{
	struct arena *arena = &add->listing->arena;
	struct pmu_alias alias;
	if (pmu_alias_find(add->listing->catalogue->kernel, pmu, str_from(name), &alias, NULL) != TALLY_OK)
		return; /* The file has vanished or is unreadable. */
	struct listed_event event = {.kind = LISTED_PMU,
		.name = arena_printf(arena, "%s/%s/", pmu->name, name),
		.pmu = pmu->name,
		.terms = arena_string(arena, alias.terms, strlen(alias.terms)),
		.unit = alias.unit && *alias.unit ? arena_string(arena, alias.unit, strlen(alias.unit)) : NULL,
		.scale = alias.scale};
	pmu_alias_deinit(&alias);
	add->failed |= !event.name || !event.terms;
	if (!add->failed)
		event_listing_put(add, &event);
}

static void add_pmus(struct event_listing_addition *add)
{
	const struct event_catalogue *catalogue = add->listing->catalogue;
	for (size_t i = 0; i < catalogue->pmu_count; i++) {
		struct name_list names = {0};
		if (kernel_names(catalogue->kernel, &names, NULL, "/sys/bus/event_source/devices/%s/events",
			    catalogue->pmus[i].name) != TALLY_OK)
			continue; /* Most PMUs have no such directory. */
		for (size_t n = 0; n < names.len; n++)
			if (is_event_file(names.items[n]))
				add_pmu_event(add, &catalogue->pmus[i], names.items[n]);
		name_list_deinit(&names);
	}
	sort_kind(add);
}

static void add_syntax(struct event_listing_addition *add, unsigned kinds)
{
	static const struct listed_event forms[] = {
		{.kind = LISTED_SYNTAX_RAW, .name = "rNNN", .description = "An event of the CPU by its number, in hex"},
		{.kind = LISTED_SYNTAX_RAW,
			.name = "cpu/t1=v1[,t2=v2,t3 ...]/modifier",
			.description = "An event of a PMU by the terms of its formats"},
		{.kind = LISTED_SYNTAX_BREAKPOINT,
			.name = "mem:<addr>[/len][:access]",
			.description = "Accesses of an address: r, w, x"},
	};
	for (size_t i = 0; i < ARRAY_LEN(forms); i++)
		if (kinds & 1u << forms[i].kind)
			event_listing_put(add, &forms[i]);
}

static enum tally_status add_tracepoints(struct event_listing_addition *add, struct tally_error *err)
{
	struct event_listing *listing = add->listing;
	struct name_list names = {0};
	struct tally_error why;
	enum tally_status status = tracepoint_names(listing->catalogue->kernel, STR("*"), STR("*"), &names, &why);
	if (status == TALLY_NOMEM)
		return error_nomem(err);
	if (status != TALLY_OK) {
		listing->tracefs_error = why;
		return TALLY_OK;
	}
	for (size_t i = 0; i < names.len && !add->failed; i++) {
		struct listed_event event = {.kind = LISTED_TRACEPOINT,
			.name = arena_string(&listing->arena, names.items[i], strlen(names.items[i]))};
		add->failed |= !event.name;
		if (event.name)
			event_listing_put(add, &event);
	}
	name_list_deinit(&names);
	sort_kind(add);
	return TALLY_OK;
}

static bool add_vendor_name(void *context, const struct pfm_name *name)
{
	struct event_listing_addition *add = context;
	struct arena *arena = &add->listing->arena;
	const char *mask = name->mask, *description = name->description;
	struct listed_event event = {.kind = LISTED_VENDOR,
		.name = arena_printf(arena, "%s::%s%s%s", name->pmu, name->event, mask ? ":" : "", mask ? mask : ""),
		.pmu = arena_string(arena, name->pmu, strlen(name->pmu)),
		.description = description ? arena_string(arena, description, strlen(description)) : NULL};
	add->failed |= !event.name || !event.pmu || (description && !event.description);
	if (!add->failed)
		event_listing_put(add, &event);
	return !add->failed;
}

static void add_vendors(struct event_listing_addition *add)
{
	struct event_listing *listing = add->listing;
	struct tally_error *why = &listing->vendor_error;
	if (!listing->pfm && pfm_library_open(&listing->pfm, why) != TALLY_OK)
		return;
	if (pfm_library_names(listing->pfm, add_vendor_name, add, why) == TALLY_OK)
		sort_kind(add);
}

enum tally_status event_listing_add(
	struct event_listing *listing, unsigned kinds, const char *pattern, struct tally_error *err)
{
	const char *low = event_listing_lower(&listing->arena, pattern);
	if (!low)
		return error_nomem(err);
	struct event_listing_addition add = {.listing = listing, .pattern = str_from(low)};
	enum tally_status status = TALLY_OK;
	for (unsigned kind = 0; kind < LISTED_KINDS && status == TALLY_OK && !add.failed; kind++) {
		if (!(kinds & 1u << kind))
			continue;
		add.first = listing->events.len;
		switch ((enum listed_kind)kind) {
		case LISTED_HARDWARE:
			event_listing_add_symbols(&add, LISTED_HARDWARE, EVENT_HARDWARE);
			break;
		case LISTED_SOFTWARE:
			event_listing_add_symbols(&add, LISTED_SOFTWARE, EVENT_SOFTWARE);
			break;
		case LISTED_TOOL:
			add_tools(&add);
			break;
		case LISTED_CACHE:
			add_caches(&add);
			break;
		case LISTED_PMU:
			add_pmus(&add);
			break;
		case LISTED_SYNTAX_RAW:
		case LISTED_SYNTAX_BREAKPOINT:
			add_syntax(&add, 1u << kind);
			break;
		case LISTED_TRACEPOINT:
			status = add_tracepoints(&add, err);
			break;
		case LISTED_VENDOR:
			add_vendors(&add);
			break;
		case LISTED_SDT:
		case LISTED_KINDS:
			break;
		}
	}
	return add.failed ? error_nomem(err) : status;
}

static void put_pmu_of_type(struct text *t, const struct event_catalogue *catalogue, uint32_t type)
{
	static const char *const fixed[] = {[EVENT_HARDWARE] = "hardware",
		[EVENT_SOFTWARE] = "software",
		[EVENT_TRACEPOINT] = "tracepoint",
		[EVENT_HW_CACHE] = "hw-cache"};
	if (type < ARRAY_LEN(fixed)) {
		text_str(t, fixed[type]);
		return;
	}
	for (size_t i = 0; i < catalogue->pmu_count; i++) {
		if (catalogue->pmus[i].type == type) {
			text_str(t, catalogue->pmus[i].name);
			return;
		}
	}
	text_printf(t, "type=%u", type);
}

static void put_encoding(struct text *t, const struct event_catalogue *catalogue, const struct perf_attr *attr)
{
	const uint64_t more[] = {attr->config1, attr->config2, attr->config3};
	put_pmu_of_type(t, catalogue, attr->type);
	text_printf(t, "/config=%#llx", (unsigned long long)attr->config);
	for (size_t i = 0; i < ARRAY_LEN(more); i++)
		if (more[i])
			text_printf(t, ",config%zu=%#llx", i + 1, (unsigned long long)more[i]);
	text_char(t, '/');
}

static void try_to_open(const struct kernel_seam *kernel, const struct event_spec *spec, struct event_opening *opening)
{
	struct perf_attr attr = spec->attr;
	attr.flags |= ATTR_FLAG(ATTR_BIT_DISABLED);
	pid_t pid = 0;
	int cpu = -1;
	int *cpus = NULL;
	size_t count = 0;
	if (spec->is_uncore && cpu_list_parse(str_from(spec->cpus), &cpus, &count, NULL) == TALLY_OK && count > 0) {
		pid = -1;
		cpu = cpus[0];
	}
	free(cpus);
	opening->was_tried = true;
	int fd = kernel->perf_event_open(kernel->context, &attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	/* stat has the same fallbacks: not every PMU can exclude guests, and users may measure their own code. */
	if (fd < 0 && errno == EINVAL && attr.flags & ATTR_FLAG(ATTR_BIT_EXCLUDE_GUEST)) {
		attr.flags &= ~ATTR_FLAG(ATTR_BIT_EXCLUDE_GUEST);
		fd = kernel->perf_event_open(kernel->context, &attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	}
	if (fd < 0 && (errno == EACCES || errno == EPERM)) {
		attr.flags |= ATTR_FLAG(ATTR_BIT_EXCLUDE_KERNEL) | ATTR_FLAG(ATTR_BIT_EXCLUDE_HV);
		fd = kernel->perf_event_open(kernel->context, &attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	}
	opening->opens = fd >= 0;
	if (fd >= 0)
		kernel->close(kernel->context, fd);
	else
		refusal_reason(kernel, spec, pid, cpu, errno, &opening->reason);
}

enum tally_status event_opening_try(struct event_listing *listing, const struct listed_event *event, bool by_opening,
	struct event_opening *opening, struct tally_error *err)
{
	*opening = (struct event_opening){0};
	if (event->kind == LISTED_TOOL || event->kind == LISTED_SYNTAX_RAW || event->kind == LISTED_SYNTAX_BREAKPOINT ||
		event->kind == LISTED_SDT) {
		opening->opens = true;
		return TALLY_OK;
	}
	struct event_list list = {0};
	struct tally_error why;
	enum tally_status status = event->kind == LISTED_VENDOR
					   ? pfm_events_parse(listing->catalogue, event->name, &list, &why)
					   : event_parse(listing->catalogue, event->name, &list, &why);
	if (status == TALLY_NOMEM) {
		event_list_deinit(&list);
		return error_nomem(err);
	}
	if (status != TALLY_OK) {
		text_str(&opening->reason, why.text);
	} else {
		put_encoding(&opening->encoding, listing->catalogue, &list.specs[0].attr);
		opening->opens = true;
		if (by_opening)
			try_to_open(listing->catalogue->kernel, &list.specs[0], opening);
	}
	event_list_deinit(&list);
	return opening->reason.failed || opening->encoding.failed ? error_nomem(err) : TALLY_OK;
}

void event_opening_deinit(struct event_opening *opening)
{
	text_deinit(&opening->encoding);
	text_deinit(&opening->reason);
}
