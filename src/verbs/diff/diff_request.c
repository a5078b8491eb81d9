/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/diff/diff_request.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "base/word_list.h"

#define DEFAULT_SORT "dso,symbol"
#define STREAM_SORT  "srcline,symbol,dso"
#define WEIGHTED     "wdiff"

#define DEFAULT_LEVEL	  0.005 /* Significance level; its rate of false alarms was measured (docs/diff.md). */
#define DEFAULT_MIN_SHARE 0.5

void diff_request_init(struct diff_request *request)
{
	*request = (struct diff_request){.samples.filters.hides_guests = true, .order = 1};
	request->test.level = DEFAULT_LEVEL;
	request->test.min_share = DEFAULT_MIN_SHARE;
}

static enum tally_status set_weights(struct diff_request *r, const char *text, struct tally_error *err)
{
	char *end;
	long base = strtol(text, &end, 10);
	bool is_read = end != text && *end == ',';
	const char *second = is_read ? end + 1 : text;
	long other = strtol(second, &end, 10);
	is_read = is_read && end != second && *end == 0;
	if (!is_read || base == 0 || other == 0 || labs(base) > INT32_MAX || labs(other) > INT32_MAX)
		return error_set(err, TALLY_INVALID, "Failed: wrong weight data, use 'wdiff:w1,w2'");
	r->method = DIFF_WEIGHTED;
	r->base_weight = base;
	r->new_weight = other;
	return TALLY_OK;
}

void diff_request_configure(struct diff_request *request, const char *name, struct tally_str value, struct diag *notes)
{
	static const struct {
		const char *name;
		enum diff_method method;
	} methods[] = {
		{"delta", DIFF_DELTA}, {"delta-abs", DIFF_DELTA_ABS}, {"ratio", DIFF_RATIO}, {WEIGHTED, DIFF_WEIGHTED}};
	uint64_t order;
	if (!strcmp(name, "diff.order")) {
		if (str_to_u64(value, 0, &order))
			request->order = order;
		else
			diag_add(notes, DIAG_WARNING, "bad config value for 'diff.order', ignoring...");
	} else if (!strcmp(name, "diff.compute")) {
		for (size_t i = 0; i < ARRAY_LEN(methods); i++) {
			if (!str_equal(value, str_from(methods[i].name)))
				continue;
			request->method = methods[i].method;
			return;
		}
		diag_add(notes, DIAG_WARNING, "Invalid compute method: %.*s", (int)(MIN(value.len, 80)), value.data);
	}
}

enum tally_status diff_request_set_method(struct diff_request *request, const char *text, struct tally_error *err)
{
	static const struct {
		const char *name;
		enum diff_method method;
	} methods[] = {
		{"delta", DIFF_DELTA}, {"delta-abs", DIFF_DELTA_ABS}, {"ratio", DIFF_RATIO}, {"cycles", DIFF_CYCLES}};
	const char *more = strchr(text, ':');
	size_t len = more ? (size_t)(more - text) : strlen(text);
	if (len == strlen(WEIGHTED) && !strncmp(text, WEIGHTED, len))
		return set_weights(request, more ? more + 1 : "", err);
	for (size_t i = 0; i < ARRAY_LEN(methods); i++) {
		if (len != strlen(methods[i].name) || strncmp(text, methods[i].name, len) != 0)
			continue;
		if (more)
			return error_set(err, TALLY_INVALID, "Failed: extra option specified '%s'", more + 1);
		request->method = methods[i].method;
		return TALLY_OK;
	}
	return error_set(
		err, TALLY_INVALID, "Failed: '%s' is not computation method (use 'delta','ratio' or 'wdiff')", text);
}

enum tally_status diff_request_set_percentage(struct diff_request *request, const char *text, struct tally_error *err)
{
	request->is_relative = !strcmp(text, "relative");
	if (!request->is_relative && strcmp(text, "absolute") != 0)
		return error_set(err, TALLY_INVALID, "--percentage takes relative or absolute, not '%s'", text);
	return TALLY_OK;
}

static bool parse_within(const char *text, double limit, double *value)
{
	char *end;
	double number = strtod(text, &end);
	if (end == text || *end || !(number >= 0 && number <= limit))
		return false;
	*value = number;
	return true;
}

enum tally_status diff_request_set_level(struct diff_request *request, const char *text, struct tally_error *err)
{
	if (parse_within(text, 1, &request->test.level))
		return TALLY_OK;
	return error_set(err, TALLY_INVALID, "--level takes a probability, such as 0.01, not '%s'", text);
}

enum tally_status diff_request_set_limit(struct diff_request *request, const char *text, struct tally_error *err)
{
	if (parse_within(text, 100, &request->test.min_share))
		return TALLY_OK;
	return error_set(err, TALLY_INVALID, "'%s' is not a percentage", text);
}

enum tally_status diff_request_set_paths(struct diff_request *request, const char *text, struct tally_error *err)
{
	request->with_paths = true;
	request->paths_by_line = text && !strcmp(text, "line");
	if (text && !request->paths_by_line && strcmp(text, "name") != 0)
		return error_set(err, TALLY_INVALID, "-g takes name or line, not '%s'", text);
	return TALLY_OK;
}

enum tally_status diff_request_set_correction(struct diff_request *request, const char *text, struct tally_error *err)
{
	static const char *const names[] = {
		[RUN_CORRECT_HOLM] = "holm", [RUN_CORRECT_BH] = "bh", [RUN_CORRECT_NONE] = "none"};
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (strcmp(text, names[i]) != 0)
			continue;
		request->test.correction = (enum run_correction)i;
		return TALLY_OK;
	}
	return error_set(err, TALLY_INVALID, "--correction takes holm, bh or none, not '%s'", text);
}

static const char *const measures[] = {
	[DIFF_AUTO] = "auto", [DIFF_PERIODS] = "period", [DIFF_SHARES] = "share", [DIFF_SCALED] = "scaled"};

const char *diff_measure_name(enum diff_measure measure)
{
	return measures[measure];
}

enum tally_status diff_request_set_measure(struct diff_request *request, const char *text, struct tally_error *err)
{
	for (size_t i = 0; i < ARRAY_LEN(measures); i++) {
		if (strcmp(text, measures[i]) != 0)
			continue;
		request->test.measure = (enum diff_measure)i;
		return TALLY_OK;
	}
	return error_set(err, TALLY_INVALID, "--measure takes auto, period, share or scaled, not '%s'", text);
}

bool diff_request_has_key(const struct diff_request *request, enum profile_key key)
{
	for (size_t i = 0; i < request->key_count; i++)
		if (request->keys[i] == key)
			return true;
	return false;
}

static enum tally_status diff_request_add_key(struct diff_request *r, struct tally_str name, struct tally_error *err)
{
	enum profile_key key = PROFILE_KEY_COUNT;
	if (!profile_key_find(name, &key)) {
		const char *nearest = profile_key_nearest(name);
		return error_set(err, TALLY_INVALID, "Error:\nUnknown --sort key: `%.*s'%s%s%s", (int)name.len,
			name.data, nearest ? "; did you mean `" : "", nearest ? nearest : "", nearest ? "'?" : "");
	}
	if (profile_key_get(key)->is_value)
		return error_set(err, TALLY_INVALID,
			"--sort key '%.*s' is a value, and rows of diff are by keys: -p shows periods", (int)name.len,
			name.data);
	if (!row_value_has_key(key)) /* These keys are for branches and memory accesses, which diff does not count. */
		return error_set(err, TALLY_INVALID, "Error:\nInvalid --sort key: `%.*s'", (int)name.len, name.data);
	if (!diff_request_has_key(r, key) && r->key_count < REPORT_MAX_COLUMNS)
		r->keys[r->key_count++] = key;
	return TALLY_OK;
}

static bool is_single(const char *list)
{
	return list && word_list_single(list).len > 0;
}

/* A filter on a single name makes the column constant. */
static bool is_constant(const struct diff_request *r, enum profile_key key)
{
	return (key == KEY_COMM && is_single(r->samples.filters.comms)) ||
	       (key == KEY_DSO && is_single(r->samples.filters.dsos)) ||
	       (key == KEY_SYMBOL && is_single(r->samples.filters.symbols));
}

static enum tally_status diff_request_add_keys(struct diff_request *r, const char *list, struct tally_error *err)
{
	struct tally_str rest = str_from(list), part;
	while (str_next(&rest, ',', &part)) {
		part = str_trim(part);
		enum tally_status status = part.len ? diff_request_add_key(r, part, err) : TALLY_OK;
		if (status != TALLY_OK)
			return status;
	}
	return TALLY_OK;
}

enum tally_status diff_request_finish(struct diff_request *r, struct tally_error *err)
{
	bool adds = r->sort && *r->sort == '+';
	enum tally_status status = TALLY_OK;
	r->key_count = 0;
	if (r->is_quiet)
		r->verbose = 0;
	if (!r->sort || adds)
		status = diff_request_add_keys(r, DEFAULT_SORT, err);
	if (status == TALLY_OK && r->sort)
		status = diff_request_add_keys(r, r->sort + adds, err);
	if (status == TALLY_OK && r->with_streams) {
		r->key_count = 0; /* Streams have no rows, so the keys of the user are only checked. */
		status = diff_request_add_keys(r, STREAM_SORT, err);
	}
	if (status != TALLY_OK)
		return status;
	r->column_count = 0;
	for (size_t i = 0; i < r->key_count; i++)
		if (!is_constant(r, r->keys[i]))
			r->columns[r->column_count++] = r->keys[i];
	if (r->column_count == 0) {
		memcpy(r->columns, r->keys, sizeof(r->columns));
		r->column_count = r->key_count;
	}
	if (r->fail_if)
		status = diff_gate_parse(r->fail_if, r->test.level, &r->gate, err);
	double loosest = diff_gate_loosest_p(&r->gate);
	r->test.loosest_level = MAX(loosest, r->test.level);
	return status;
}
