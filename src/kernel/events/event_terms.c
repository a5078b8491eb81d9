/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/events/event_terms.h"

#include "abi/names.h"
#include "base/array.h"
#include "base/error.h"
#include "kernel/events/common_terms.h"
#include "kernel/system/kernel_files.h"

static const char *const unbuilt_terms[] = {"driver-config", "metric-id"};

static enum tally_status term_unknown(const struct term_scope *scope, struct tally_str name, struct tally_error *err)
{
	struct text valid = {0};
	struct name_list formats = {0};
	if (scope->pmu && kernel_names(scope->catalogue->kernel, &formats, NULL,
				  "/sys/bus/event_source/devices/%s/format", scope->pmu->name) == TALLY_OK)
		for (size_t i = 0; i < formats.len && valid.len < 200; i++)
			text_printf(&valid, "%s,", formats.items[i]);
	name_list_deinit(&formats);
	text_str(&valid, "config,config1,config2,config3");
	common_terms_append(&valid);
	enum tally_status status = error_set(err, TALLY_NOT_FOUND, "unknown term '%.*s'%s%s%s: valid terms: %.*s",
		(int)name.len, name.data, scope->pmu ? " for pmu '" : "", scope->pmu ? scope->pmu->name : "",
		scope->pmu ? "'" : "", (int)valid.len, valid.data ? valid.data : "");
	text_deinit(&valid);
	if (err)
		err->offset = (uint64_t)(name.data - scope->terms.data);
	return status;
}

/* The term that sets config1 of a probe PMU; NULL for every other PMU. */
static const char *probe_kind(const struct pmu *pmu)
{
	return strcmp(pmu->name, "uprobe") == 0 ? "path" : strcmp(pmu->name, "kprobe") == 0 ? "func" : NULL;
}

/* Length of the text before `stop` outside quotes; a quote opens only after an equals sign. */
static size_t unquoted_span(struct tally_str text, char stop)
{
	bool is_quoted = false;
	for (size_t i = 0; i < text.len; i++) {
		char c = text.data[i];
		if (is_quoted)
			is_quoted = c != '\'';
		else if (c == '\'' && i > 0 && text.data[i - 1] == '=')
			is_quoted = true;
		else if (c == stop)
			return i;
	}
	return text.len;
}

size_t event_terms_length(struct tally_str text)
{
	return unquoted_span(text, '/');
}

static bool term_next(struct tally_str *rest, struct tally_str *term)
{
	if (rest->len == 0)
		return false;
	size_t len = unquoted_span(*rest, ',');
	size_t used = len < rest->len ? len + 1 : len;
	*term = (struct tally_str){rest->data, len};
	*rest = (struct tally_str){rest->data + used, rest->len - used};
	return true;
}

static uint64_t *config_word(struct perf_attr *attr, struct tally_str name)
{
	if (str_equal(name, STR("config")))
		return &attr->config;
	if (str_equal(name, STR("config1")))
		return &attr->config1;
	if (str_equal(name, STR("config2")))
		return &attr->config2;
	if (str_equal(name, STR("config3")))
		return &attr->config3;
	return NULL;
}

/* Applies config=, config1= and so on; *known is false for other terms. */
static enum tally_status config_term(
	struct term_scope *scope, struct tally_str name, struct tally_str value, bool *known, struct tally_error *err)
{
	const struct event_spec *spec = scope->spec;
	uint64_t *word = config_word(&scope->spec->attr, name);
	*known = word != NULL;
	if (!word)
		return TALLY_OK;
	if (spec->tracepoint_name || spec->tool)
		return term_fail(scope, name, err, "parser error: only hardware and PMU events take");
	if (scope->pmu && probe_kind(scope->pmu) && word != &scope->spec->attr.config)
		return term_fail(scope, name, err, "parser error: a probe is placed by path=, func= and offset=, not");
	if (value.len == 0)
		return term_fail(scope, name, err, "parser error: a value is missing after");
	if (!str_to_u64(value, 0, word))
		return term_fail(scope, value, err, "parser error: expected a number, not");
	return TALLY_OK;
}

/* Applies the location of a uprobe (path, offset) or kprobe (func, offset); *known is false for other terms. */
static enum tally_status probe_term(
	struct term_scope *scope, struct tally_str name, struct tally_str value, bool *known, struct tally_error *err)
{
	struct perf_attr *attr = &scope->spec->attr;
	const char *place = scope->pmu ? probe_kind(scope->pmu) : NULL;
	bool is_place = place && str_equal(name, str_from(place));
	*known = is_place || (place && str_equal(name, STR("offset")));
	if (!*known)
		return TALLY_OK;
	if (value.len == 0)
		return term_fail(scope, name, err, "parser error: a value is missing after");
	if (!is_place)
		return str_to_u64(value, 0, &attr->config2)
			       ? TALLY_OK
			       : term_fail(scope, value, err, "parser error: expected a number, not");
	struct tally_str text;
	enum tally_status status = term_unquote(scope, value, &text, err);
	if (status != TALLY_OK)
		return status;
	scope->spec->probe_path = arena_string(scope->arena, text.data, text.len);
	attr->config1 = (uint64_t)(uintptr_t)scope->spec->probe_path;
	return scope->spec->probe_path ? TALLY_OK : error_nomem(err);
}

/* Whether the user's terms set this key. Some of a PMU's named events demand that by the term "key=?". */
static bool is_given(struct tally_str terms, struct tally_str key)
{
	struct tally_str term, name;
	while (term_next(&terms, &term))
		if (str_next(&term, '=', &name) && str_equal(name, key))
			return true;
	return false;
}

static enum tally_status alias_apply(struct term_scope *scope, struct tally_str name, struct tally_error *err)
{
	struct pmu_alias alias;
	enum tally_status status = pmu_alias_find(scope->catalogue->kernel, scope->pmu, name, &alias, err);
	if (status != TALLY_OK)
		return status;
	struct event_spec inner = *scope->spec;
	inner.scale = alias.scale;
	if (alias.unit) {
		inner.unit = arena_string(scope->arena, alias.unit, strlen(alias.unit));
		if (!inner.unit)
			status = error_nomem(err);
	}
	struct tally_str rest = str_from(alias.terms), term;
	while (status == TALLY_OK && str_next(&rest, ',', &term)) {
		struct tally_str key;
		term = str_trim(term);
		uint64_t number = 1;
		struct tally_str value = term;
		bool has_value = str_next(&value, '=', &key) && key.len < term.len;
		if (has_value && str_equal(value, STR("?")) && is_given(scope->terms, key))
			continue;
		if (has_value && !str_to_u64(value, 0, &number)) {
			status = error_set(err, TALLY_INVALID,
				"parser error: event '%.*s' of PMU %s needs a value for '%.*s'", (int)name.len,
				name.data, scope->pmu->name, (int)key.len, key.data);
			break;
		}
		uint64_t *word = config_word(&inner.attr, key);
		if (word)
			*word = number;
		else
			status = pmu_term_set(scope->catalogue->kernel, scope->pmu, key, number, &inner.attr, err);
	}
	pmu_alias_deinit(&alias);
	if (status == TALLY_OK)
		*scope->spec = inner;
	return status;
}

/* Applies a generic name between a core PMU's slashes: cpu/cycles/, cpu_atom/LLC-loads/. */
static bool generic_apply(struct term_scope *scope, struct tally_str name)
{
	const struct event_symbol *symbol = event_symbol_find(name);
	uint64_t config;
	if (!scope->pmu->is_core)
		return false;
	if (symbol && symbol->type == EVENT_HARDWARE) {
		scope->spec->attr.type = EVENT_HARDWARE;
		config = symbol->config;
	} else if (cache_event_find(name, &config)) {
		scope->spec->attr.type = EVENT_HW_CACHE;
	} else {
		return false;
	}
	if (scope->pmu->is_hybrid)
		config |= (uint64_t)scope->pmu->type << HW_PMU_TYPE_SHIFT;
	scope->spec->attr.config = config;
	return true;
}

/* Applies a raw config in hexadecimal, such as r1a8. */
static bool raw_apply(struct term_scope *scope, struct tally_str name)
{
	uint64_t config;
	if (name.len < 2 || name.data[0] != 'r' ||
		!str_to_u64((struct tally_str){name.data + 1, name.len - 1}, 16, &config))
		return false;
	scope->spec->attr.config = config;
	return true;
}

static enum tally_status pmu_term(struct term_scope *scope, struct tally_str name, struct tally_str value,
	bool has_value, struct tally_error *err)
{
	uint64_t number = 1;
	if (has_value && !str_to_u64(value, 0, &number))
		return term_fail(scope, value.len ? value : name, err, "parser error: expected a number, not");
	enum tally_status status =
		pmu_term_set(scope->catalogue->kernel, scope->pmu, name, number, &scope->spec->attr, err);
	if (status != TALLY_NOT_FOUND)
		return status;
	if (!has_value) {
		status = alias_apply(scope, name, err);
		if (status != TALLY_NOT_FOUND)
			return status;
		if (generic_apply(scope, name) || raw_apply(scope, name))
			return TALLY_OK;
	}
	return term_unknown(scope, name, err);
}

static enum tally_status term_apply(struct term_scope *scope, struct tally_str term, struct tally_error *err)
{
	struct tally_str name, value = term;
	bool known;
	if (!str_next(&value, '=', &name) || name.len == 0)
		return term_fail(scope, term, err, "parser error: a term's name is missing in");
	bool has_value = name.len < term.len;
	if (has_value && value.len == 0)
		return term_fail(scope, name, err, "parser error: a value is missing after");
	enum tally_status status = common_term_apply(scope, name, value, &known, err);
	if (status != TALLY_OK || known)
		return status;
	for (size_t i = 0; i < ARRAY_LEN(unbuilt_terms); i++)
		if (str_equal(name, str_from(unbuilt_terms[i])))
			return term_fail(scope, name, err, "parser error: not supported yet: term");
	status = config_term(scope, name, value, &known, err);
	if (status == TALLY_OK && !known)
		status = probe_term(scope, name, value, &known, err);
	if (status == TALLY_OK && !known)
		status = scope->pmu ? pmu_term(scope, name, value, has_value, err) : term_unknown(scope, name, err);
	if (status == TALLY_OK)
		text_printf(&scope->config_terms, ",%.*s", (int)term.len, term.data);
	return status;
}

enum tally_status event_terms_apply(const struct event_catalogue *catalogue, const struct pmu *pmu,
	struct tally_str terms, struct arena *list_arena, struct event_spec *spec, struct tally_error *err)
{
	struct term_scope scope = {catalogue, pmu, list_arena, spec, terms, {0}};
	struct tally_str rest = terms, term;
	enum tally_status status = TALLY_OK;
	if (terms.len > 0 && terms.data[terms.len - 1] == ',')
		return term_fail(
			&scope, (struct tally_str){terms.data + terms.len - 1, 1}, err, "parser error: nothing after");
	while (status == TALLY_OK && term_next(&rest, &term))
		status = term_apply(&scope, term, err);
	struct text *kept = &scope.config_terms;
	if (status == TALLY_OK && kept->len > 0)
		spec->terms = arena_string(list_arena, kept->data + 1, kept->len - 1);
	if (status == TALLY_OK && (kept->failed || (kept->len > 0 && !spec->terms)))
		status = error_nomem(err);
	text_deinit(kept);
	return status;
}
