/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/config_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"

#define SYSTEM_CONFIG "/etc/perfconfig"

enum tally_status config_files_read_file(
	const char *path, config_apply apply, void *data, struct diag *notes, struct tally_error *err)
{
	char *text;
	size_t len;
	struct tally_error unread;
	struct stat st;
	if (stat(path, &st) != 0 || !S_ISREG(st.st_mode))
		return TALLY_OK;
	if (file_read(path, LIMIT_CONFIG, &text, &len, &unread) != TALLY_OK) {
		diag_add(notes, DIAG_WARNING, "%s is not used as configuration: %s", path, unread.text);
		return TALLY_OK;
	}
	struct config_text config = {.rest = {text, len}};
	enum tally_status status;
	struct tally_error bad;
	while ((status = config_text_next(&config, &bad)) == TALLY_OK) {
		status = apply(data, &config, err);
		if (status != TALLY_OK)
			break;
	}
	if (status == TALLY_CORRUPT) {
		diag_add(notes, DIAG_WARNING, "%s in %s", bad.text, path);
		status = TALLY_OK;
	}
	config_text_deinit(&config);
	free(text);
	return status == TALLY_END ? TALLY_OK : status;
}

void config_paths_init(struct config_paths *paths)
{
	const char *home = getenv("HOME");
	*paths = (struct config_paths){.system = SYSTEM_CONFIG, .instead = getenv("PERF_CONFIG")};
	if (home && asprintf(&paths->own, "%s/.perfconfig", home) < 0)
		paths->own = NULL;
}

void config_paths_deinit(struct config_paths *paths)
{
	free(paths->own);
	paths->own = NULL;
}

enum tally_status config_files_read(config_apply apply, void *data, struct diag *notes, struct tally_error *err)
{
	struct config_paths paths;
	config_paths_init(&paths);
	enum tally_status status =
		config_files_read_file(paths.instead ? paths.instead : paths.system, apply, data, notes, err);
	if (status == TALLY_OK && !paths.instead && paths.own)
		status = config_files_read_file(paths.own, apply, data, notes, err);
	config_paths_deinit(&paths);
	return status;
}

void config_files_bool(const char *name, struct tally_str value, struct diag *notes, bool *target)
{
	if (!config_text_bool(value, target))
		diag_add(notes, DIAG_WARNING, "bad config value for '%s', ignoring...", name);
}
