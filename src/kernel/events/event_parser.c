/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/events/event_parser.h"

#include <stdlib.h>

#include "abi/names.h"
#include "base/array.h"
#include "base/error.h"
#include "kernel/events/catalogue.h"
#include "kernel/events/event_terms.h"
#include "kernel/events/modifiers.h"
#include "kernel/events/tool_events.h"
#include "kernel/events/tracepoints.h"

/* Maximum number of events in a list; real lists have some hundred. */
#define EVENTS_MAX 65536

struct event_parser_parser {
	struct event_catalogue *catalogue;
	struct event_list *list;
	const char *text;
	size_t pos;
	struct tally_error *err;
};

static enum tally_status fail_at(struct event_parser_parser *p, size_t column, enum tally_status status)
{
	if (p->err)
		p->err->offset = column;
	return status;
}

#define parse_fail(p, column, status, ...) fail_at((p), (column), error_set((p)->err, (status), __VA_ARGS__))

static void own_arena(struct event_list *list)
{
	if (!list->has_arena) {
		arena_init(&list->arena);
		list->has_arena = true;
	}
}

struct event_spec *event_list_add(struct event_list *list, struct tally_error *err)
{
	if (list->len >= EVENTS_MAX) {
		error_set(err, TALLY_LIMIT, "parser error: more than %d events", EVENTS_MAX);
		return NULL;
	}
	if (list->len == list->cap && !vec_grow(&list->specs, &list->cap, sizeof(*list->specs), list->len + 1)) {
		error_nomem(err);
		return NULL;
	}
	own_arena(list);
	struct event_spec *spec = &list->specs[list->len];
	uint32_t index = (uint32_t)list->len;
	*spec = (struct event_spec){.added_as = index, .leader = index, .member_count = 1, .scale = 1, .unit = ""};
	spec->attr.flags = ATTR_FLAG(ATTR_BIT_EXCLUDE_GUEST);
	list->len++;
	return spec;
}

static struct event_spec *spec_add(struct event_parser_parser *p)
{
	struct event_spec *spec = event_list_add(p->list, p->err);
	if (!spec)
		fail_at(p, p->pos, TALLY_LIMIT);
	return spec;
}

static enum tally_status event_parser_nomem(struct event_parser_parser *p)
{
	return fail_at(p, p->pos, error_nomem(p->err));
}

/* Returns the status that belongs to the error that spec_add has set. */
static enum tally_status add_failed(const struct event_parser_parser *p)
{
	return p->list->len >= EVENTS_MAX ? TALLY_LIMIT : TALLY_NOMEM;
}

static bool ends_name(char c)
{
	return c == '\0' || c == ',' || c == '{' || c == '}' || c == ':' || c == '/' || c == ' ' || c == '\t' ||
	       c == '\n';
}

static struct tally_str name_take(struct event_parser_parser *p)
{
	size_t start = p->pos;
	while (!ends_name(p->text[p->pos])) {
		if (p->text[p->pos] == '[') /* The set of a glob may contain any character. */
			p->pos += strcspn(p->text + p->pos, "],{}/");
		if (p->text[p->pos] != '\0' && !ends_name(p->text[p->pos]))
			p->pos++;
	}
	return (struct tally_str){p->text + start, p->pos - start};
}

static enum tally_status unknown_event(struct event_parser_parser *p, size_t column, struct tally_str name)
{
	char word[128];
	size_t len = MIN(name.len, sizeof(word) - 1);
	memcpy(word, name.data, len);
	word[len] = '\0';
	if (len == 0)
		return parse_fail(p, column, TALLY_INVALID, "parser error: an event's name is missing");
	const char *nearest = event_catalogue_nearest(p->catalogue, word);
	return parse_fail(p, column, TALLY_NOT_FOUND, "parser error: no event '%s' on this machine%s%s%s", word,
		nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
}

/* Parses the modifiers at pos and applies them to the specs from `first` on. */
static enum tally_status modifiers_take(struct event_parser_parser *p, size_t first, bool is_for_group)
{
	size_t start = p->pos;
	struct modifiers m;
	size_t n = modifiers_parse(str_from(p->text + start), &m);
	p->pos += n;
	if (m.is_repeated)
		return parse_fail(
			p, start, TALLY_INVALID, "Bad modifier: '%.*s' repeats a letter", (int)n, p->text + start);
	if (p->text[p->pos] == 'R')
		return parse_fail(p, p->pos, TALLY_UNSUPPORTED,
			"parser error: not supported yet: modifier 'R': retire latency is not a count: a few Intel "
			"CPUs report it as the weight of samples, see record -W");
	if (!ends_name(p->text[p->pos]))
		return parse_fail(p, p->pos, TALLY_INVALID,
			"parser error: '%c' is not a modifier; modifiers are u k h (modes), G H (guest, host), p P "
			"(precise), D e S W I X b",
			p->text[p->pos]);
	if (n == 0)
		return TALLY_OK;
	for (size_t i = first; i < p->list->len; i++) {
		struct event_spec *spec = &p->list->specs[i];
		struct modifiers own = m;
		bool is_member = is_for_group && spec->leader != i;
		/* Both are properties of the group, and the kernel reads them from its leader. */
		own.is_pinned &= !is_member;
		own.is_exclusive &= !is_member;
		modifiers_apply(&own, spec, is_for_group);
	}
	return TALLY_OK;
}

/* Adds one spec of this type and config, or one per kind of core on a hybrid machine. */
static enum tally_status generic_add(struct event_parser_parser *p, uint32_t type, uint64_t config)
{
	const struct event_catalogue *catalogue = p->catalogue;
	bool is_raw = type == EVENT_RAW, added = false;
	bool is_hardware = is_raw || type == EVENT_HARDWARE || type == EVENT_HW_CACHE;
	for (size_t i = 0; is_hardware && i < catalogue->pmu_count; i++) {
		const struct pmu *pmu = &catalogue->pmus[i];
		if (!pmu->is_hybrid || pmu->is_left_out)
			continue;
		struct event_spec *spec = spec_add(p);
		if (!spec)
			return add_failed(p);
		spec->is_of_other_core = added;
		spec->attr.type = is_raw ? pmu->type : type;
		spec->attr.config = config | (is_raw ? 0 : (uint64_t)pmu->type << HW_PMU_TYPE_SHIFT);
		spec->pmu = arena_string(&p->list->arena, pmu->name, strlen(pmu->name));
		spec->cpus = arena_string(&p->list->arena, pmu->cpus, strlen(pmu->cpus));
		if (!spec->pmu || !spec->cpus)
			return event_parser_nomem(p);
		added = true;
	}
	if (added)
		return TALLY_OK;
	struct event_spec *spec = spec_add(p);
	if (!spec)
		return add_failed(p);
	spec->attr.type = type;
	spec->attr.config = config;
	return TALLY_OK;
}

static enum tally_status tool_add(struct event_parser_parser *p, enum tool_event tool)
{
	struct event_spec *spec = spec_add(p);
	if (!spec)
		return add_failed(p);
	spec->attr.type = EVENT_SOFTWARE;
	spec->attr.config = SW_DUMMY;
	spec->tool = tool;
	spec->unit = tool_event_is_constant(tool) ? "" : "ns";
	return TALLY_OK;
}

/* Adds a generic name, rNNN or a tool event; *found is false if the name is none of these. */
static enum tally_status symbol_add(struct event_parser_parser *p, struct tally_str name, bool *found)
{
	const struct event_symbol *symbol = event_symbol_find(name);
	uint64_t config;
	*found = true;
	if (symbol)
		return generic_add(p, symbol->type, symbol->config);
	if (cache_event_find(name, &config))
		return generic_add(p, EVENT_HW_CACHE, config);
	enum tool_event tool = tool_event_find(name);
	if (tool != TOOL_NONE)
		return tool_add(p, tool);
	struct tally_str digits = {name.data + 1, name.len ? name.len - 1 : 0};
	if (name.len > 1 && name.data[0] == 'r' && digits.len <= 16 && str_to_u64(digits, 16, &config))
		return generic_add(p, EVENT_RAW, config);
	*found = false;
	return TALLY_OK;
}

static enum tally_status tracepoint_add(
	struct event_parser_parser *p, size_t column, struct tally_str system, struct tally_str name)
{
	uint64_t id;
	enum tally_status status = tracepoint_id(p->catalogue->kernel, system, name, &id, p->err);
	if (status != TALLY_OK)
		return fail_at(p, column, status);
	struct event_spec *spec = spec_add(p);
	if (!spec)
		return add_failed(p);
	struct arena *arena = &p->list->arena;
	spec->attr.type = EVENT_TRACEPOINT;
	spec->attr.config = id;
	spec->tracepoint_system = arena_string(arena, system.data, system.len);
	spec->tracepoint_name = arena_string(arena, name.data, name.len);
	spec->name = arena_printf(arena, "%.*s:%.*s", (int)system.len, system.data, (int)name.len, name.data);
	return spec->tracepoint_system && spec->tracepoint_name && spec->name ? TALLY_OK : event_parser_nomem(p);
}

static bool event_parser_is_pattern(struct tally_str text)
{
	for (size_t i = 0; i < text.len; i++)
		if (strchr("*?[", text.data[i]))
			return true;
	return false;
}

/* Adds SYSTEM:NAME, each possibly with wildcards. pos is after both. */
static enum tally_status tracepoints_add(
	struct event_parser_parser *p, size_t column, struct tally_str system, struct tally_str name)
{
	if (!event_parser_is_pattern(system) && !event_parser_is_pattern(name))
		return tracepoint_add(p, column, system, name);
	struct name_list names = {0};
	enum tally_status status = tracepoint_names(p->catalogue->kernel, system, name, &names, p->err);
	if (status != TALLY_OK)
		return fail_at(p, column, status);
	const char *pattern = NULL;
	for (size_t i = 0; i < names.len && status == TALLY_OK; i++) {
		struct tally_str rest = str_from(names.items[i]), first;
		if (!str_next(&rest, ':', &first))
			continue;
		status = tracepoint_add(p, column, first, rest);
		if (status == TALLY_OK && !pattern) {
			pattern = arena_printf(
				&p->list->arena, "%.*s:%.*s", (int)system.len, system.data, (int)name.len, name.data);
			status = pattern ? TALLY_OK : event_parser_nomem(p);
		}
		if (status == TALLY_OK)
			p->list->specs[p->list->len - 1].pattern = pattern;
		if (status == TALLY_NOT_FOUND || status == TALLY_UNSUPPORTED)
			status = TALLY_OK; /* The tracepoint was unloaded meanwhile or is internal to tracing. */
	}
	name_list_deinit(&names);
	return status;
}

/* Parses mem:ADDR[/LEN][:rwx]; pos is after "mem:". */
static enum tally_status breakpoint_add(struct event_parser_parser *p)
{
	size_t start = p->pos;
	size_t n = strcspn(p->text + start, "/:,} \t\n");
	uint64_t address, length = 0;
	uint32_t kind = 0;
	if (!str_to_u64((struct tally_str){p->text + start, n}, 0, &address))
		return parse_fail(
			p, start, TALLY_INVALID, "parser error: mem: takes an address, as mem:0x1000[/LEN][:rwx]");
	p->pos += n;
	if (p->text[p->pos] == '/') {
		size_t at = ++p->pos;
		n = strcspn(p->text + at, ":,} \t\n");
		if (!str_to_u64((struct tally_str){p->text + at, n}, 0, &length) || length == 0)
			return parse_fail(p, at, TALLY_INVALID, "parser error: a breakpoint's length is 1, 2, 4 or 8");
		p->pos += n;
	}
	if (p->text[p->pos] == ':') {
		size_t at = p->pos + 1;
		for (; strchr("rwx", p->text[at]) && p->text[at]; at++)
			kind |= p->text[at] == 'r' ? BREAKPOINT_R : p->text[at] == 'w' ? BREAKPOINT_W : BREAKPOINT_X;
		if (kind)
			p->pos = at;
	}
	struct event_spec *spec = spec_add(p);
	if (!spec)
		return add_failed(p);
	spec->attr.type = EVENT_BREAKPOINT;
	spec->attr.bp_type = kind ? kind : BREAKPOINT_R | BREAKPOINT_W;
	spec->attr.config1 = address;
	spec->attr.config2 = length ? length : spec->attr.bp_type == BREAKPOINT_X ? sizeof(long) : 4;
	return TALLY_OK;
}

/* Parses TYPE:CONFIG in numbers, which perf accepts, too. */
static bool is_number_pair(
	struct event_parser_parser *p, struct tally_str name, uint64_t *type, uint64_t *config, size_t *end)
{
	if (p->text[p->pos] != ':' || !str_to_u64(name, 0, type) || *type > UINT32_MAX)
		return false;
	size_t start = p->pos + 1, n = 0;
	while (!ends_name(p->text[start + n]))
		n++;
	*end = start + n;
	return str_to_u64((struct tally_str){p->text + start, n}, 0, config);
}

static enum tally_status terms_apply(
	struct event_parser_parser *p, const struct pmu *pmu, struct tally_str terms, struct event_spec *spec)
{
	if (p->err)
		p->err->offset = TALLY_NO_OFFSET;
	enum tally_status status = event_terms_apply(p->catalogue, pmu, terms, &p->list->arena, spec, p->err);
	size_t column = (size_t)(terms.data - p->text);
	if (status != TALLY_OK && p->err)
		p->err->offset = p->err->offset == TALLY_NO_OFFSET ? column : column + p->err->offset;
	return status;
}

static enum tally_status pmu_add(
	struct event_parser_parser *p, const struct pmu *pmu, struct tally_str terms, bool is_merged)
{
	struct event_spec *spec = spec_add(p);
	if (!spec)
		return add_failed(p);
	struct arena *arena = &p->list->arena;
	spec->attr.type = pmu->type;
	spec->is_merged = is_merged;
	spec->pmu = arena_string(arena, pmu->name, strlen(pmu->name));
	if (pmu->is_uncore || pmu->is_hybrid)
		spec->cpus = arena_string(arena, pmu->cpus, strlen(pmu->cpus));
	spec->is_uncore = pmu->is_uncore;
	if (!spec->pmu || ((pmu->is_uncore || pmu->is_hybrid) && !spec->cpus))
		return event_parser_nomem(p);
	return terms_apply(p, pmu, terms, spec);
}

/* Cuts out the text between two slashes; pos is at the first and moves behind the second. */
static enum tally_status terms_cut(struct event_parser_parser *p, struct tally_str *terms)
{
	const char *start = p->text + p->pos + 1;
	size_t len = event_terms_length(str_from(start));
	if (start[len] != '/')
		return parse_fail(p, p->pos, TALLY_INVALID, "parser error: the closing '/' is missing");
	*terms = (struct tally_str){start, len};
	p->pos += len + 2;
	return TALLY_OK;
}

/* Parses NAME/terms/, where NAME is one PMU or a family of several. pos is at the first slash. */
static enum tally_status pmus_take(struct event_parser_parser *p, size_t column, struct tally_str name)
{
	const struct event_catalogue *catalogue = p->catalogue;
	const struct pmu *exact = pmu_find(catalogue->pmus, catalogue->pmu_count, name);
	size_t first = p->list->len;
	struct tally_str terms;
	enum tally_status status = terms_cut(p, &terms);
	if (status == TALLY_OK && exact)
		return pmu_add(p, exact, terms, false);
	enum tool_event tool = str_equal(name, STR("tool")) ? tool_event_find(terms) : TOOL_NONE;
	if (status == TALLY_OK && tool != TOOL_NONE) /* perf 7.x has a PMU named "tool" for these events. */
		return tool_add(p, tool);
	for (size_t i = 0; i < catalogue->pmu_count && status == TALLY_OK; i++) {
		if (!pmu_matches(&catalogue->pmus[i], name))
			continue;
		status = pmu_add(p, &catalogue->pmus[i], terms, p->list->len > first);
		if (status != TALLY_OK)
			return status;
		struct event_spec *spec = &p->list->specs[p->list->len - 1];
		spec->family = arena_string(&p->list->arena, name.data, name.len);
		if (!spec->family)
			return event_parser_nomem(p);
	}
	if (status == TALLY_OK && p->list->len == first)
		return parse_fail(p, column, TALLY_NOT_FOUND,
			"Cannot find PMU `%.*s'. Missing kernel support?: /sys/bus/event_source/devices lists those of "
			"this machine",
			(int)name.len, name.data);
	return status;
}

/* Adds the event of this name from every PMU that defines it; *found is false if none does. */
static enum tally_status named_event_add(struct event_parser_parser *p, struct tally_str name, bool *found)
{
	const struct event_catalogue *catalogue = p->catalogue;
	enum tally_status status = TALLY_OK;
	*found = false;
	for (size_t i = 0; i < catalogue->pmu_count && status == TALLY_OK; i++) {
		struct pmu_alias alias;
		if (pmu_alias_find(catalogue->kernel, &catalogue->pmus[i], name, &alias, NULL) != TALLY_OK)
			continue;
		pmu_alias_deinit(&alias);
		*found = true;
		status = pmu_add(p, &catalogue->pmus[i], name, false);
	}
	return status;
}

/* Parses the rest of an event, terms and [:]modifiers, and names the specs from `first` on. */
static enum tally_status event_finish(struct event_parser_parser *p, size_t start, size_t first, bool is_generic)
{
	bool after_slash = p->pos > start && p->text[p->pos - 1] == '/';
	enum tally_status status = TALLY_OK;
	if (!after_slash && p->text[p->pos] == '/') {
		/* An event without a PMU may have the terms that any event accepts. */
		struct tally_str terms;
		status = terms_cut(p, &terms);
		for (size_t i = first; i < p->list->len && status == TALLY_OK; i++)
			status = terms_apply(p, NULL, terms, &p->list->specs[i]);
		after_slash = true;
	}
	if (status != TALLY_OK)
		return status;
	if (p->text[p->pos] == ':' || (after_slash && !ends_name(p->text[p->pos]))) {
		p->pos += p->text[p->pos] == ':';
		status = modifiers_take(p, first, false);
	}
	for (size_t i = first; i < p->list->len && status == TALLY_OK; i++) {
		struct event_spec *spec = &p->list->specs[i];
		if (spec->name)
			continue;
		const char *text = p->text + start;
		size_t len = p->pos - start;
		bool is_expanded = is_generic && spec->pmu && !memchr(text, '/', len);
		if (is_expanded) {
			size_t name_len = strcspn(text, ":,} ");
			name_len = MIN(name_len, len);
			size_t rest = name_len < len ? name_len + 1 : len;
			spec->name = arena_printf(&p->list->arena, "%s/%.*s/%.*s", spec->pmu, (int)name_len, text,
				(int)(len - rest), text + rest);
		} else {
			spec->name = arena_string(&p->list->arena, text, len);
		}
		if (!spec->name)
			status = event_parser_nomem(p);
	}
	return status;
}

/* Handles a name that is not generic: a family of PMUs, a tracepoint or an event of some PMU. pos is after the name. */
static enum tally_status other_take(struct event_parser_parser *p, size_t start, struct tally_str name)
{
	bool found;
	if (p->text[p->pos] == '/')
		return pmus_take(p, start, name);
	enum tally_status status = named_event_add(p, name, &found);
	if (status != TALLY_OK || found)
		return status;
	if (p->text[p->pos] != ':')
		return unknown_event(p, start, name);
	p->pos++;
	struct tally_str event = name_take(p);
	return event.len ? tracepoints_add(p, start, name, event) : unknown_event(p, start, name);
}

static enum tally_status event_parser_event_take(struct event_parser_parser *p)
{
	size_t start = p->pos, first = p->list->len, end;
	uint64_t type, config;
	bool found = false;
	struct tally_str name = name_take(p);
	enum tally_status status = TALLY_OK;
	if (name.len == 0)
		return unknown_event(p, start, name);
	bool has_slash = p->text[p->pos] == '/';
	if (has_slash && pmu_find(p->catalogue->pmus, p->catalogue->pmu_count, name)) {
		status = pmus_take(p, start, name);
	} else if (str_equal(name, STR("mem")) && p->text[p->pos] == ':') {
		p->pos++;
		status = breakpoint_add(p);
	} else if (is_number_pair(p, name, &type, &config, &end)) {
		p->pos = end;
		status = generic_add(p, (uint32_t)type, config);
	} else {
		status = symbol_add(p, name, &found);
		if (status == TALLY_OK && !found)
			status = other_take(p, start, name);
	}
	return status == TALLY_OK ? event_finish(p, start, first, found) : status;
}

/* Members that count on different kinds of core cannot share a group: each kind gets its own leader. */
static void group_link(struct event_list *list, size_t first)
{
	for (size_t i = first; i < list->len; i++) {
		struct event_spec *spec = &list->specs[i];
		for (size_t k = first; k < i; k++) {
			struct event_spec *leader = &list->specs[k];
			bool is_leader = leader->leader == k;
			bool same = !spec->cpus || !leader->cpus || strcmp(spec->cpus, leader->cpus) == 0;
			if (is_leader && same && !spec->is_merged) {
				spec->leader = (uint32_t)k;
				leader->member_count++;
				break;
			}
		}
	}
}

void event_list_group(struct event_list *list, size_t first, bool is_weak)
{
	group_link(list, first);
	for (size_t i = first; i < list->len; i++)
		list->specs[i].is_weak_group |= is_weak;
}

static enum tally_status event_parser_events_take(struct event_parser_parser *p, bool is_in_group);

/* Parses {a,b}[:modifiers]; pos is at the brace. */
static enum tally_status group_take(struct event_parser_parser *p)
{
	size_t open = p->pos++, first = p->list->len;
	enum tally_status status = event_parser_events_take(p, true);
	if (status != TALLY_OK)
		return status;
	if (p->text[p->pos] != '}')
		return parse_fail(p, open, TALLY_INVALID, "parser error: the group's '}' is missing");
	p->pos++;
	group_link(p->list, first);
	if (p->text[p->pos] == ':') {
		p->pos++;
		status = modifiers_take(p, first, true);
	}
	return status;
}

/* Blanks around events and groups are insignificant. */
static void event_parser_blanks_skip(struct event_parser_parser *p)
{
	p->pos += strspn(p->text + p->pos, " \t\n");
}

static enum tally_status event_parser_events_take(struct event_parser_parser *p, bool is_in_group)
{
	for (;;) {
		enum tally_status status;
		event_parser_blanks_skip(p);
		if (p->text[p->pos] == '{' && !is_in_group)
			status = group_take(p);
		else
			status = event_parser_event_take(p);
		if (status != TALLY_OK)
			return status;
		event_parser_blanks_skip(p);
		char c = p->text[p->pos];
		if (c == '\0' || (c == '}' && is_in_group))
			return TALLY_OK;
		if (c != ',')
			return parse_fail(p, p->pos, TALLY_INVALID, "parser error: unexpected '%c'", c);
		p->pos++;
	}
}

enum tally_status event_parse(
	struct event_catalogue *catalogue, const char *text, struct event_list *list, struct tally_error *err)
{
	own_arena(list);
	struct event_parser_parser p = {.catalogue = catalogue, .list = list, .text = text, .err = err};
	size_t len = list->len;
	enum tally_status status = event_parser_events_take(&p, false);
	if (status != TALLY_OK)
		list->len = len;
	return status;
}

enum tally_status event_spec_restrict_to_user(struct event_list *list, size_t index, struct tally_error *err)
{
	struct event_spec *spec = &list->specs[index];
	if (!spec->has_own_name || spec->has_vendor_name) {
		own_arena(list);
		size_t len = strlen(spec->name);
		bool has_letters = len > 0 && spec->name[len - 1] != '/' && strchr(spec->name, ':') &&
				   !spec->tracepoint_name && !spec->has_vendor_name;
		bool after_slash = len > 0 && spec->name[len - 1] == '/';
		const char *name =
			arena_printf(&list->arena, "%s%su", spec->name, has_letters || after_slash ? "" : ":");
		if (!name)
			return error_nomem(err);
		spec->name = name;
	}
	spec->attr.flags |= ATTR_FLAG(ATTR_BIT_EXCLUDE_KERNEL) | ATTR_FLAG(ATTR_BIT_EXCLUDE_HV);
	return TALLY_OK;
}

enum tally_status event_list_repeat(struct event_list *list, size_t first, size_t count, struct tally_error *err)
{
	if (count > EVENTS_MAX - (MIN(list->len, EVENTS_MAX)))
		return error_set(err, TALLY_LIMIT, "more than %d events", EVENTS_MAX);
	if (list->len + count > list->cap &&
		!vec_grow(&list->specs, &list->cap, sizeof(*list->specs), list->len + count))
		return error_nomem(err);
	uint32_t shift = (uint32_t)(list->len - first);
	for (size_t i = 0; i < count; i++) {
		struct event_spec *copy = &list->specs[list->len++];
		*copy = list->specs[first + i];
		copy->added_as = (uint32_t)list->len - 1;
		copy->leader += shift;
	}
	return TALLY_OK;
}

/* Renames "cpu_core/cycles/u" to "cycles:u". */
static bool name_without_core(struct event_list *list, struct event_spec *spec)
{
	size_t len = spec->pmu ? strlen(spec->pmu) : 0;
	if (len == 0 || strncmp(spec->name, spec->pmu, len) != 0 || spec->name[len] != '/')
		return true;
	const char *event = spec->name + len + 1, *letters = strrchr(event, '/');
	if (!letters)
		return true;
	const char *name = arena_printf(
		&list->arena, "%.*s%s%s", (int)(letters - event), event, letters[1] ? ":" : "", letters + 1);
	spec->name = name ? name : spec->name;
	return name != NULL;
}

enum tally_status event_list_merge_cores(struct event_list *list, struct tally_error *err)
{
	for (size_t i = 1; i < list->len; i++) {
		if (!list->specs[i].is_of_other_core)
			continue;
		list->specs[i].is_merged = true;
		if (!list->specs[i - 1].is_merged && !name_without_core(list, &list->specs[i - 1]))
			return error_nomem(err);
	}
	return TALLY_OK;
}

void event_list_drop(struct event_list *list, const bool *is_dropped)
{
	size_t kept = 0;
	for (size_t i = 0; i < list->len; i++) {
		if (is_dropped[i])
			continue;
		struct event_spec *spec = &list->specs[kept];
		if (kept != i)
			*spec = list->specs[i];
		size_t before = i - kept; /* Becomes the number of dropped specs before the leader. */
		for (size_t k = spec->leader; k < i; k++)
			before -= is_dropped[k];
		spec->leader -= (uint32_t)before;
		kept++;
	}
	list->len = kept;
}

void event_list_deinit(struct event_list *list)
{
	free(list->specs);
	if (list->has_arena)
		arena_deinit(&list->arena);
	*list = (struct event_list){0};
}
