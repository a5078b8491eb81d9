/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/config_files.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"

#define SYSTEM_CONFIG "/etc/perfconfig"

static enum tally_status config_files_read_file(
	const char *path, config_apply apply, void *data, struct diag *notes, struct tally_error *err)
{
	char *text;
	size_t len;
	struct tally_error unread;
	if (!file_is_regular(path) || file_read(path, LIMIT_CONFIG, &text, &len, &unread) != TALLY_OK)
		return TALLY_OK;
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

enum tally_status config_files_read(config_apply apply, void *data, struct diag *notes, struct tally_error *err)
{
	const char *path = getenv("PERF_CONFIG"), *home = getenv("HOME");
	char *own = NULL;
	if (path)
		return config_files_read_file(path, apply, data, notes, err);
	enum tally_status status = config_files_read_file(SYSTEM_CONFIG, apply, data, notes, err);
	if (status == TALLY_OK && home && asprintf(&own, "%s/.perfconfig", home) < 0)
		return error_nomem(err);
	if (status == TALLY_OK && own)
		status = config_files_read_file(own, apply, data, notes, err);
	free(own);
	return status;
}

void config_files_bool(const char *name, struct tally_str value, struct diag *notes, bool *target)
{
	if (!config_text_bool(value, target))
		diag_add(notes, DIAG_WARNING, "bad config value for '%s', ignoring...", name);
}
