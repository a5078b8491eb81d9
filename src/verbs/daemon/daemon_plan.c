/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/daemon/daemon_plan.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/file.h"
#include "base/shell_words.h"
#include "cli/config_files.h"

#define SESSION_PREFIX "session-"

static enum tally_status daemon_plan_check(const char *name, struct tally_str run, struct tally_error *err)
{
	if (!*name || *name == '.' || strchr(name, '/') || strlen(name) >= 200)
		return error_set(err, TALLY_INVALID,
			"the session '%s' needs a name that can be a folder's: session-NAME.run = ...", name);
	char **words;
	bool is_good = shell_words_split(run, &words);
	bool is_nomem = !words;
	free(words);
	if (is_nomem)
		return error_nomem(err);
	if (!is_good)
		return error_set(err, TALLY_INVALID, "session-%s.run has a quotation mark that is not closed", name);
	return TALLY_OK;
}

static enum tally_status daemon_plan_add(
	struct daemon_plan *plan, const char *name, struct tally_str run, struct tally_error *err)
{
	struct daemon_planned session = {
		arena_string(&plan->arena, name, strlen(name)), arena_string(&plan->arena, run.data, run.len)};
	enum tally_status status = daemon_plan_check(name, run, err);
	if (status != TALLY_OK)
		return status;
	if (!session.name || !session.run)
		return error_nomem(err);
	for (size_t i = 0; i < plan->sessions.len; i++) {
		if (strcmp(plan->sessions.items[i].name, name) != 0)
			continue;
		plan->sessions.items[i] = session;
		return TALLY_OK;
	}
	return vec_push(&plan->sessions, session) ? TALLY_OK : error_nomem(err);
}

static enum tally_status daemon_plan_take(void *data, const struct config_text *config, struct tally_error *err)
{
	struct daemon_plan *plan = data;
	struct tally_str value = config_text_value(config);
	size_t prefix = strlen(SESSION_PREFIX), section = strlen(config->section);
	if (strcmp(config->name, "daemon.base") == 0) {
		plan->base = arena_string(&plan->arena, value.data, value.len);
		return plan->base ? TALLY_OK : error_nomem(err);
	}
	if (section < prefix || strncmp(config->section, SESSION_PREFIX, prefix) != 0 ||
		strcmp(config->name + section, ".run") != 0)
		return TALLY_OK;
	return daemon_plan_add(plan, config->section + prefix, value, err);
}

enum tally_status daemon_plan_read(const char *path, struct daemon_plan *plan, struct tally_error *err)
{
	struct diag notes;
	*plan = (struct daemon_plan){0};
	if (path && !file_exists(path))
		return error_set(err, TALLY_NOT_FOUND, "there is no configuration file '%s'", path);
	diag_init(&notes);
	enum tally_status status = path ? config_files_read_file(path, daemon_plan_take, plan, &notes, err)
					: config_files_read(daemon_plan_take, plan, &notes, err);
	/* The lines after an invalid one are not read, so their sessions would appear to be removed and be stopped. */
	if (status == TALLY_OK && notes.len)
		status = error_set(err, TALLY_INVALID, "%s", notes.entries[0].text);
	diag_deinit(&notes);
	if (status != TALLY_OK)
		daemon_plan_deinit(plan);
	return status;
}

const struct daemon_planned *daemon_plan_find(const struct daemon_plan *plan, const char *name)
{
	for (size_t i = 0; i < plan->sessions.len; i++)
		if (strcmp(plan->sessions.items[i].name, name) == 0)
			return &plan->sessions.items[i];
	return NULL;
}

void daemon_plan_deinit(struct daemon_plan *plan)
{
	vec_free(&plan->sessions);
	arena_deinit(&plan->arena);
	plan->base = NULL;
}
