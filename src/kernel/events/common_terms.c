/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/events/common_terms.h"

#include "abi/branch_words.h"
#include "base/array.h"
#include "base/error.h"

/* Maximum size of a stack dump in the kernel, in bytes. */
#define STACK_BYTES_MAX 65528

enum common_term {
	TERM_NAME,
	TERM_PERIOD,
	TERM_PERCORE,
	TERM_FREQ,
	TERM_TIME,
	TERM_CALL_GRAPH,
	TERM_STACK_SIZE,
	TERM_MAX_STACK,
	TERM_INHERIT,
	TERM_NO_INHERIT,
	TERM_OVERWRITE,
	TERM_NO_OVERWRITE,
	TERM_NR,
	TERM_MAX_EVENTS,
	TERM_BRANCH_TYPE,
	TERM_AUX_OUTPUT,
	TERM_AUX_SAMPLE_SIZE,
	TERM_AUX_ACTION,
	TERM_OTHER
};

static const struct {
	const char *name;
	enum { VALUE_NUMBER, VALUE_FLAG, VALUE_TEXT } value; /* A flag needs no value. */
	bool is_for_counting; /* Whether the term is also for counting; the others concern samples only. */
} rows[] = {
	[TERM_NAME] = {"name", VALUE_TEXT, true},
	[TERM_PERIOD] = {"period", VALUE_NUMBER, true},
	[TERM_PERCORE] = {"percore", VALUE_FLAG, true},
	[TERM_FREQ] = {"freq", VALUE_NUMBER, false},
	[TERM_TIME] = {"time", VALUE_NUMBER, false},
	[TERM_CALL_GRAPH] = {"call-graph", VALUE_TEXT, false},
	[TERM_STACK_SIZE] = {"stack-size", VALUE_NUMBER, false},
	[TERM_MAX_STACK] = {"max-stack", VALUE_NUMBER, false},
	[TERM_INHERIT] = {"inherit", VALUE_FLAG, false},
	[TERM_NO_INHERIT] = {"no-inherit", VALUE_FLAG, false},
	[TERM_OVERWRITE] = {"overwrite", VALUE_FLAG, false},
	[TERM_NO_OVERWRITE] = {"no-overwrite", VALUE_FLAG, false},
	[TERM_NR] = {"nr", VALUE_NUMBER, false},
	[TERM_MAX_EVENTS] = {"max-events", VALUE_NUMBER, false},
	[TERM_BRANCH_TYPE] = {"branch_type", VALUE_TEXT, false},
	[TERM_AUX_OUTPUT] = {"aux-output", VALUE_FLAG, false},
	[TERM_AUX_SAMPLE_SIZE] = {"aux-sample-size", VALUE_NUMBER, false},
	[TERM_AUX_ACTION] = {"aux-action", VALUE_TEXT, false},
};

static enum common_term common_term_find(struct tally_str name)
{
	for (unsigned i = 0; i < TERM_OTHER; i++)
		if (str_equal(name, str_from(rows[i].name)))
			return (enum common_term)i;
	return TERM_OTHER;
}

void common_terms_append(struct text *text)
{
	for (unsigned i = 0; i < TERM_OTHER; i++)
		text_printf(text, ",%s", rows[i].name);
}

enum tally_status term_fail(
	const struct term_scope *scope, struct tally_str at, struct tally_error *err, const char *reason)
{
	enum tally_status status = error_set(err, TALLY_INVALID, "%s '%.*s'", reason, (int)at.len, at.data);
	if (err)
		err->offset = (uint64_t)(at.data - scope->terms.data);
	return status;
}

enum tally_status term_unquote(
	const struct term_scope *scope, struct tally_str value, struct tally_str *text, struct tally_error *err)
{
	*text = value;
	if (value.len == 0 || value.data[0] != '\'')
		return TALLY_OK;
	const char *close = memchr(value.data + 1, '\'', value.len - 1);
	if (!close || close != value.data + value.len - 1)
		return term_fail(scope, value, err, "parser error: the closing quote is not at the end of");
	*text = (struct tally_str){value.data + 1, value.len - 2};
	return TALLY_OK;
}

static enum tally_status name_term(struct term_scope *scope, struct tally_str text, struct tally_error *err)
{
	scope->spec->name = arena_string(scope->arena, text.data, text.len);
	scope->spec->has_own_name = true;
	return scope->spec->name ? TALLY_OK : error_nomem(err);
}

static enum tally_status callgraph_term(struct term_scope *scope, struct tally_str value, struct tally_error *err)
{
	static const char *const names[] = {
		[CALLGRAPH_NONE] = "no", [CALLGRAPH_FP] = "fp", [CALLGRAPH_DWARF] = "dwarf", [CALLGRAPH_LBR] = "lbr"};
	for (unsigned i = 0; i < ARRAY_LEN(names); i++) {
		if (!str_equal(value, str_from(names[i])))
			continue;
		scope->spec->recording.callgraph = (enum record_callgraph)i;
		scope->spec->recording.has_callgraph = true;
		return TALLY_OK;
	}
	return term_fail(scope, value, err, "parser error: call-graph= takes fp, dwarf, lbr or no, not");
}

static enum tally_status branch_term(struct term_scope *scope, struct tally_str value, struct tally_error *err)
{
	struct tally_str unknown;
	if (branch_words_parse(value, &scope->spec->recording.branch_sample_type, &unknown))
		return TALLY_OK;
	return term_fail(scope, unknown.len ? unknown : value, err, "invalid branch sample type:");
}

/* The names are in the order of the bits of attr.aux_action. */
static enum tally_status action_term(struct term_scope *scope, struct tally_str value, struct tally_error *err)
{
	static const char *const names[] = {"start-paused", "pause", "resume"};
	for (unsigned i = 0; i < ARRAY_LEN(names); i++) {
		if (!str_equal(value, str_from(names[i])))
			continue;
		scope->spec->attr.aux_action = 1u << i;
		return TALLY_OK;
	}
	return term_fail(scope, value, err, "parser error: aux-action= takes pause, resume or start-paused, not");
}

static enum tally_status text_term(
	struct term_scope *scope, enum common_term term, struct tally_str value, struct tally_error *err)
{
	if (term == TERM_NAME)
		return name_term(scope, value, err);
	if (term == TERM_CALL_GRAPH)
		return callgraph_term(scope, value, err);
	return term == TERM_BRANCH_TYPE ? branch_term(scope, value, err) : action_term(scope, value, err);
}

static enum term_choice common_terms_choice(uint64_t number)
{
	return number ? TERM_YES : TERM_NO;
}

static enum tally_status flag_term(struct term_scope *scope, enum common_term term, struct tally_str value,
	uint64_t number, struct tally_error *err)
{
	struct recording_terms *recording = &scope->spec->recording;
	if (number > 1)
		return term_fail(scope, value, err, "parser error: expected 0 or 1, not");
	if (term == TERM_INHERIT || term == TERM_NO_INHERIT)
		recording->inherit = common_terms_choice(term == TERM_INHERIT ? number : !number);
	else if (term == TERM_OVERWRITE || term == TERM_NO_OVERWRITE)
		recording->overwrite = common_terms_choice(term == TERM_OVERWRITE ? number : !number);
	else if (term == TERM_PERCORE)
		scope->spec->is_per_core = number;
	else if (number)
		scope->spec->attr.flags |= ATTR_FLAG(ATTR_BIT_AUX_OUTPUT);
	else
		scope->spec->attr.flags &= ~ATTR_FLAG(ATTR_BIT_AUX_OUTPUT);
	return TALLY_OK;
}

static enum tally_status number_term(struct term_scope *scope, enum common_term term, struct tally_str value,
	uint64_t number, struct tally_error *err)
{
	struct event_spec *spec = scope->spec;
	if (term == TERM_PERIOD || term == TERM_FREQ) {
		spec->attr.sample_period_or_freq = number;
		spec->has_period = term == TERM_PERIOD;
		spec->has_freq = term == TERM_FREQ;
	} else if (term == TERM_TIME) {
		spec->recording.time = common_terms_choice(number);
	} else if (term == TERM_STACK_SIZE) {
		if (number == 0 || number > STACK_BYTES_MAX || number % 8 != 0)
			return term_fail(
				scope, value, err, "parser error: stack-size= is a multiple of 8 up to 65528, not");
		spec->recording.stack_bytes = (uint32_t)number;
	} else if (term == TERM_MAX_STACK) {
		if (number == 0 || number > UINT16_MAX)
			return term_fail(
				scope, value, err, "parser error: max-stack= is a number of frames up to 65535, not");
		spec->attr.sample_max_stack = (uint16_t)number;
	} else if (term == TERM_AUX_SAMPLE_SIZE) {
		if (number == 0 || number > UINT32_MAX)
			return term_fail(scope, value, err, "parser error: aux-sample-size= is a number of bytes, not");
		spec->attr.aux_sample_size = (uint32_t)number;
	} else {
		if (number == 0)
			return term_fail(scope, value, err, "parser error: nr= is a number of events, not");
		spec->recording.most_events = number;
	}
	return TALLY_OK;
}

enum tally_status common_term_apply(
	struct term_scope *scope, struct tally_str name, struct tally_str value, bool *known, struct tally_error *err)
{
	enum common_term term = common_term_find(name);
	uint64_t number = 1;
	*known = term != TERM_OTHER;
	if (term == TERM_OTHER)
		return TALLY_OK;
	if (value.len == 0 && rows[term].value != VALUE_FLAG)
		return term_fail(scope, name, err, "parser error: a value is missing after");
	if (!rows[term].is_for_counting && !scope->spec->recording.first)
		scope->spec->recording.first = rows[term].name;
	if (rows[term].value == VALUE_TEXT) {
		struct tally_str text;
		enum tally_status status = term_unquote(scope, value, &text, err);
		if (status != TALLY_OK)
			return status;
		if (text.len == 0)
			return term_fail(scope, name, err, "parser error: a value is missing after");
		return text_term(scope, term, text, err);
	}
	if (value.len > 0 && !str_to_u64(value, 0, &number))
		return term_fail(scope, value, err, "parser error: expected a number, not");
	return rows[term].value == VALUE_FLAG ? flag_term(scope, term, value, number, err)
					      : number_term(scope, term, value, number, err);
}
