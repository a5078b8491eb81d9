#include "kernel/events/event_terms.h"

#include "abi/names.h"
#include "base/error.h"
#include "kernel/events/catalogue.h"
#include "kernel/system/kernel_files.h"

/* In the terms that one apply call works through. */
struct term_scope {
	const struct event_catalogue *catalogue;
	const struct pmu *pmu;
	struct arena *arena;
	struct event_spec *spec;
	struct tally_str terms;
};

static const char *const recording_terms[] = {"call-graph", "stack-size", "time", "max-stack", "max-events",
	"branch_type", "inherit", "no-inherit", "overwrite", "no-overwrite", "percore", "driver-config", "aux-output",
	"aux-action", "aux-sample-size", "metric-id"};

static enum tally_status term_fail(
	const struct term_scope *scope, struct tally_str at, struct tally_error *err, const char *reason)
{
	enum tally_status status = error_set(err, TALLY_INVALID, "%s '%.*s'", reason, (int)at.len, at.data);
	if (err)
		err->offset = (uint64_t)(at.data - scope->terms.data);
	return status;
}

static enum tally_status term_unknown(const struct term_scope *scope, struct tally_str name, struct tally_error *err)
{
	struct text valid = {0};
	struct name_list formats = {0};
	if (scope->pmu && kernel_names(scope->catalogue->kernel, &formats, NULL,
				  "/sys/bus/event_source/devices/%s/format", scope->pmu->name) == TALLY_OK)
		for (size_t i = 0; i < formats.len && valid.len < 200; i++)
			text_printf(&valid, "%s,", formats.items[i]);
	name_list_deinit(&formats);
	text_str(&valid, "config,config1,config2,config3,name,period,freq");
	enum tally_status status = error_set(err, TALLY_NOT_FOUND, "unknown term '%.*s'%s%s%s: valid terms: %.*s",
		(int)name.len, name.data, scope->pmu ? " for pmu '" : "", scope->pmu ? scope->pmu->name : "",
		scope->pmu ? "'" : "", (int)valid.len, valid.data ? valid.data : "");
	text_deinit(&valid);
	if (err)
		err->offset = (uint64_t)(name.data - scope->terms.data);
	return status;
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

/* name=, period=, freq=, config*=. *known is false if it is none of them. */
static enum tally_status common_term(
	struct term_scope *scope, struct tally_str name, struct tally_str value, bool *known, struct tally_error *err)
{
	struct event_spec *spec = scope->spec;
	uint64_t *word = config_word(&spec->attr, name), number = 0;
	bool is_period = str_equal(name, STR("period")), is_freq = str_equal(name, STR("freq"));
	*known = true;
	if (str_equal(name, STR("name"))) {
		if (value.len >= 2 && value.data[0] == '\'' && value.data[value.len - 1] == '\'')
			value = (struct tally_str){value.data + 1, value.len - 2};
		if (value.len == 0)
			return term_fail(scope, name, err, "parser error: a value is missing after");
		spec->name = arena_string(scope->arena, value.data, value.len);
		spec->has_own_name = true;
		return spec->name ? TALLY_OK : error_nomem(err);
	}
	if (!word && !is_period && !is_freq) {
		*known = false;
		return TALLY_OK;
	}
	if (value.len == 0)
		return term_fail(scope, name, err, "parser error: a value is missing after");
	if (!str_to_u64(value, 0, &number))
		return term_fail(scope, value, err, "parser error: expected a number, not");
	if (word) {
		*word = number;
	} else {
		spec->attr.sample_period_or_freq = number;
		spec->has_period = is_period;
		spec->has_freq = is_freq;
	}
	return TALLY_OK;
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

/* A generic name inside a core PMU's slashes: cpu/cycles/, cpu_atom/LLC-loads/. */
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

/* r1a8: raw config in hex. */
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
	enum tally_status status = common_term(scope, name, value, &known, err);
	if (status != TALLY_OK || known)
		return status;
	for (size_t i = 0; i < sizeof(recording_terms) / sizeof(recording_terms[0]); i++)
		if (str_equal(name, str_from(recording_terms[i])))
			return term_fail(scope, name, err, "parser error: not supported yet: term");
	return scope->pmu ? pmu_term(scope, name, value, has_value, err) : term_unknown(scope, name, err);
}

enum tally_status event_terms_apply(const struct event_catalogue *catalogue, const struct pmu *pmu,
	struct tally_str terms, struct arena *list_arena, struct event_spec *spec, struct tally_error *err)
{
	struct term_scope scope = {catalogue, pmu, list_arena, spec, terms};
	struct tally_str rest = terms, term;
	if (terms.len == 0)
		return TALLY_OK; /* pmu// is the PMU's event 0 */
	if (terms.data[terms.len - 1] == ',')
		return term_fail(
			&scope, (struct tally_str){terms.data + terms.len - 1, 1}, err, "parser error: nothing after");
	while (str_next(&rest, ',', &term)) {
		enum tally_status status = term_apply(&scope, term, err);
		if (status != TALLY_OK)
			return status;
	}
	return TALLY_OK;
}
