/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/stat/stat_counts_file.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"

#define DEPTH_MOST 8 /* objects in objects; ours has one in another */

struct stat_counts_line { /* what is left of it */
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

/* A string as it is written: escapes stay, since neither names of events nor models have any. */
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

/* A number, true, false or null. */
static struct tally_str stat_counts_word(struct stat_counts_line *l)
{
	const char *begin = l->at;
	while (l->at < l->end && !strchr(" \t\r,:{}[]\"", *l->at))
		l->at++;
	l->failed |= l->at == begin;
	return (struct tally_str){begin, (size_t)(l->at - begin)};
}

struct stat_counts_members {
	struct tally_str event, value, kind, by; /* data NULL: the line does not have it */
};

static void stat_counts_members_take(
	struct stat_counts_members *m, bool is_origin, struct tally_str key, struct tally_str value)
{
	if (is_origin && str_equal(key, STR("kind")))
		m->kind = value;
	else if (is_origin && str_equal(key, STR("by")))
		m->by = value;
	else if (!is_origin && str_equal(key, STR("event")))
		m->event = value;
	else if (!is_origin && str_equal(key, STR("counter-value")))
		m->value = value;
}

/* A value; the members of an object at depth 1, and of "origin" in it, are taken. Arrays do not occur in these lines. */
static void stat_counts_value(
	struct stat_counts_line *l, struct stat_counts_members *m, struct tally_str key, unsigned depth)
{
	bool is_origin = depth == 1 && str_equal(key, STR("origin"));
	stat_counts_skip_blanks(l);
	if (l->failed || l->at == l->end || depth > DEPTH_MOST) {
		l->failed = true;
		return;
	}
	if (!stat_counts_take(l, '{')) {
		bool is_string = *l->at == '"';
		struct tally_str value = is_string ? stat_counts_string(l) : stat_counts_word(l);
		if (depth == 1)
			stat_counts_members_take(m, false, key, value);
		return;
	}
	while (!l->failed && !stat_counts_take(l, '}')) {
		struct tally_str member = stat_counts_string(l);
		l->failed |= !stat_counts_take(l, ':');
		stat_counts_skip_blanks(l);
		if (is_origin && l->at < l->end && *l->at == '"' && !l->failed)
			stat_counts_members_take(m, true, member, stat_counts_string(l));
		else
			stat_counts_value(l, m, member, depth + 1);
		if (!stat_counts_take(l, ',') && !l->failed && (l->at == l->end || *l->at != '}'))
			l->failed = true;
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
	if (str_ends_with(event, STR(":u")))
		event.len -= 2;
	return event;
}

static enum tally_status stat_counts_add(
	struct stat_counts_file *file, const struct stat_counts_members *m, struct tally_error *err)
{
	struct stat_counts_row row = {0};
	char number[64], *end;
	if (!m->event.data || !m->value.data)
		return TALLY_OK; /* another kind of line */
	if (!m->kind.data || !str_equal(m->kind, STR("simulated")))
		return error_set(err, TALLY_INVALID,
			"it has counts that are not simulated, and vary from run to run; 'tally stat --simulate -j -o "
			"FILE' "
			"writes simulated ones");
	stat_counts_keep(stat_counts_plain(m->event), row.event, sizeof(row.event));
	stat_counts_keep(m->value, number, sizeof(number));
	row.value = strtod(number, &end);
	row.is_counted = number[0] >= '0' && number[0] <= '9' && *end == '\0' && row.value >= 0 && row.value < 1e30;
	if (!row.is_counted && number[0] != '<')
		return error_set(err, TALLY_CORRUPT, "its count of '%s' is no number", row.event);
	if (!file->by[0])
		stat_counts_keep(m->by, file->by, sizeof(file->by));
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
		stat_counts_value(&l, &members, STR(""), 0);
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

bool stat_counts_file_find(const struct stat_counts_file *file, struct tally_str event, double *value)
{
	for (size_t i = 0; i < file->rows.len; i++) {
		const struct stat_counts_row *row = &file->rows.items[i];
		if (!row->is_counted || !str_equal(str_from(row->event), stat_counts_plain(event)))
			continue;
		*value = row->value;
		return true;
	}
	return false;
}

void stat_counts_file_deinit(struct stat_counts_file *file)
{
	vec_free(&file->rows);
}
