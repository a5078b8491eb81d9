/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/stat/stat_counts_file.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"

#define DEPTH_MOST 8 /* Maximum nesting of objects and arrays in a line; stat writes at most two levels. */

struct stat_counts_line { /* The unread rest of a line. */
	const char *at, *end;
	bool failed;
};

static void stat_counts_skip_blanks(struct stat_counts_line *l)
{
	while (l->at < l->end && (*l->at == ' ' || *l->at == '\t' || *l->at == '\r'))
		l->at++;
}

static bool stat_counts_take(struct stat_counts_line *l, char c)
{
	stat_counts_skip_blanks(l);
	if (l->failed || l->at == l->end || *l->at != c)
		return false;
	l->at++;
	return true;
}

/* Returns the string without decoding escapes. Names of events and models contain none. */
static struct tally_str stat_counts_string(struct stat_counts_line *l)
{
	if (!stat_counts_take(l, '"')) {
		l->failed = true;
		return STR("");
	}
	const char *begin = l->at;
	while (l->at < l->end && *l->at != '"')
		l->at += *l->at == '\\' && l->at + 1 < l->end ? 2 : 1;
	if (l->at >= l->end) {
		l->failed = true;
		return STR("");
	}
	return (struct tally_str){begin, (size_t)(l->at++ - begin)};
}

/* Parses a number, true, false or null. */
static struct tally_str stat_counts_word(struct stat_counts_line *l)
{
	const char *begin = l->at;
	while (l->at < l->end && !strchr(" \t\r,:{}[]\"", *l->at))
		l->at++;
	l->failed |= l->at == begin;
	return (struct tally_str){begin, (size_t)(l->at - begin)};
}

struct stat_counts_members { /* The relevant members of a line. data is NULL if a member is missing. */
	struct tally_str event, value, benchmark, runs, deviation;
	struct tally_str kind, by; /* Members of the object "origin". */
	struct tally_str reason; /* Member of the object "failures". */
	struct tally_str warning; /* First item of the array "warnings". */
	struct stat_environment environment;
	bool has_environment;
};

/* parent is the key of the object or array that contains the member; it is empty at the top level. */
static void stat_counts_members_take(
	struct stat_counts_members *m, struct tally_str parent, struct tally_str key, struct tally_str value)
{
	const struct {
		const char *parent, *key;
		struct tally_str *place;
	} places[] = {{"", "event", &m->event}, {"", "counter-value", &m->value}, {"", "benchmark", &m->benchmark},
		{"", "runs", &m->runs}, {"", "deviation", &m->deviation}, {"origin", "kind", &m->kind},
		{"origin", "by", &m->by}, {"failures", "reason", &m->reason}, {"warnings", "", &m->warning}};
	for (size_t i = 0; i < ARRAY_LEN(places); i++)
		if (!places[i].place->data && str_equal(parent, str_from(places[i].parent)) &&
			str_equal(key, str_from(places[i].key)))
			*places[i].place = value;
	if (str_equal(parent, STR("environment"))) {
		stat_environment_set(&m->environment, key, value);
		m->has_environment = true;
	}
}

static void stat_counts_value(struct stat_counts_line *l, struct stat_counts_members *m, struct tally_str parent,
	struct tally_str key, unsigned depth);

/* Parses the members of an object, or the items of an array (which have no keys), up to the closing bracket. */
static void stat_counts_group(
	struct stat_counts_line *l, struct stat_counts_members *m, struct tally_str key, unsigned depth, char close)
{
	while (!l->failed && !stat_counts_take(l, close)) {
		struct tally_str member = STR("");
		if (close == '}') {
			member = stat_counts_string(l);
			l->failed |= !stat_counts_take(l, ':');
		}
		stat_counts_value(l, m, key, member, depth + 1);
		if (!stat_counts_take(l, ',') && !l->failed && (l->at == l->end || *l->at != close))
			l->failed = true;
	}
}

/* Parses a value. Only members of the top level and of objects and arrays directly below it are stored. */
static void stat_counts_value(struct stat_counts_line *l, struct stat_counts_members *m, struct tally_str parent,
	struct tally_str key, unsigned depth)
{
	stat_counts_skip_blanks(l);
	if (l->failed || l->at == l->end || depth > DEPTH_MOST) {
		l->failed = true;
		return;
	}
	if (stat_counts_take(l, '{')) {
		stat_counts_group(l, m, depth <= 1 ? key : STR("?"), depth, '}');
	} else if (stat_counts_take(l, '[')) {
		stat_counts_group(l, m, depth <= 1 ? key : STR("?"), depth, ']');
	} else {
		struct tally_str value = *l->at == '"' ? stat_counts_string(l) : stat_counts_word(l);
		stat_counts_members_take(m, parent, key, value);
	}
}

static void stat_counts_keep(struct tally_str text, char *room, size_t bytes)
{
	size_t len = MIN(text.len, bytes - 1);
	if (len)
		memcpy(room, text.data, len);
	room[len] = '\0';
}

static struct tally_str stat_counts_plain(struct tally_str event)
{
	while (str_ends_with(event, STR(":u")))
		event.len -= 2;
	return event;
}

/* "runs" and "deviation" are absent if there was a single run, and in files of earlier versions. */
static bool stat_counts_spread(const struct stat_counts_members *m, struct stat_counts_row *row)
{
	char number[64], *end;
	row->runs = 1;
	if (m->runs.data && (!str_to_u64(m->runs, 10, &row->runs) || row->runs == 0))
		return false;
	if (!m->deviation.data)
		return true;
	stat_counts_keep(m->deviation, number, sizeof(number));
	row->deviation = strtod(number, &end);
	return end != number && *end == '\0' && row->deviation >= 0 && row->deviation < 1e30;
}

static enum tally_status stat_counts_add(
	struct stat_counts_file *file, const struct stat_counts_members *m, struct tally_error *err)
{
	struct stat_counts_row row = {0};
	char number[64], *end;
	if (!m->event.data || !m->value.data)
		return TALLY_OK; /* The line has no count, for example because it is a comparison. */
	if (!m->kind.data || !str_equal(m->kind, STR("simulated")))
		return error_set(err, TALLY_INVALID,
			"it has counts that are not simulated, and vary from run to run; 'tally stat --simulate -j -o "
			"FILE' "
			"writes simulated ones");
	stat_counts_keep(m->event, row.event, sizeof(row.event));
	row.event[stat_counts_plain(str_from(row.event)).len] = '\0';
	stat_counts_keep(m->benchmark, row.benchmark, sizeof(row.benchmark));
	if (!stat_counts_spread(m, &row))
		return error_set(err, TALLY_CORRUPT, "its runs or deviation of '%s' are no numbers", row.event);
	stat_counts_keep(m->value, number, sizeof(number));
	row.value = strtod(number, &end);
	row.is_counted = number[0] >= '0' && number[0] <= '9' && *end == '\0' && row.value >= 0 && row.value < 1e30;
	if (!row.is_counted && number[0] != '<')
		return error_set(err, TALLY_CORRUPT, "its count of '%s' is no number", row.event);
	if (!file->by[0])
		stat_counts_keep(m->by, file->by, sizeof(file->by));
	if (!file->fault[0])
		stat_counts_keep(m->reason.data ? m->reason : m->warning, file->fault, sizeof(file->fault));
	if (!file->has_environment && m->has_environment) {
		file->environment = m->environment;
		file->has_environment = true;
	}
	if (stat_counts_file_find(file, row.benchmark, str_from(row.event)))
		return error_set(err, TALLY_INVALID,
			"it has two counts of '%s'%s%s; --name tells the benchmarks of a file apart", row.event,
			row.benchmark[0] ? " of " : "", row.benchmark);
	return vec_push(&file->rows, row) ? TALLY_OK : error_nomem(err);
}

enum tally_status stat_counts_file_parse(struct tally_str text, struct stat_counts_file *file, struct tally_error *err)
{
	struct tally_str line;
	for (size_t number = 1; str_next(&text, '\n', &line); number++) {
		struct stat_counts_members members = {0};
		struct stat_counts_line l = {line.data, line.data + line.len, false};
		stat_counts_skip_blanks(&l);
		if (l.at == l.end)
			continue;
		l.failed = *l.at != '{';
		stat_counts_value(&l, &members, STR(""), STR(""), 0);
		stat_counts_skip_blanks(&l);
		if (l.failed || l.at != l.end)
			return error_set(err, TALLY_CORRUPT, "line %zu is no JSON object", number);
		enum tally_status status = stat_counts_add(file, &members, err);
		if (status != TALLY_OK)
			return status;
	}
	if (file->rows.len == 0)
		return error_set(
			err, TALLY_INVALID, "it has no counts; 'tally stat --simulate -j -o FILE' writes some");
	return TALLY_OK;
}

enum tally_status stat_counts_file_read(const char *path, struct stat_counts_file *file, struct tally_error *err)
{
	char *text;
	size_t len;
	enum tally_status status = file_read(path, LIMIT_SMALL_FILE, &text, &len, err);
	if (status != TALLY_OK)
		return status;
	status = stat_counts_file_parse((struct tally_str){text, len}, file, err);
	free(text);
	if (status != TALLY_OK && err)
		error_prefix(err, "cannot compare with '%s'", path);
	return status;
}

const struct stat_counts_row *stat_counts_file_find(
	const struct stat_counts_file *file, const char *benchmark, struct tally_str event)
{
	for (size_t i = 0; i < file->rows.len; i++) {
		const struct stat_counts_row *row = &file->rows.items[i];
		if (row->is_counted && str_equal(str_from(row->event), stat_counts_plain(event)) &&
			strcmp(row->benchmark, benchmark) == 0)
			return row;
	}
	return NULL;
}

void stat_counts_file_deinit(struct stat_counts_file *file)
{
	vec_free(&file->rows);
}
