/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_files.h - reads the settings of the user's configuration: from $PERF_CONFIG if it is set, else from
 * /etc/perfconfig and then ~/.perfconfig (perf-config(1)). The caller interprets the settings.
 *
 *	config_files_read(apply, &request, notes, err);
 */
#ifndef CLI_CONFIG_FILES_H
#define CLI_CONFIG_FILES_H

#include "base/config_text.h"
#include "base/diag.h"

/* Called for each setting. Any status but TALLY_OK ends reading and is returned. */
typedef enum tally_status (*config_apply)(void *data, const struct config_text *config, struct tally_error *err);

/* Reads all files and calls apply, with data, for each setting. An invalid line results in a warning in notes, and the
 * rest of its file is ignored. */
TALLY_MUST_CHECK enum tally_status config_files_read(
	config_apply apply, void *data, struct diag *notes, struct tally_error *err);
/* Reads one file as config_files_read does. A path that does not exist, is not a regular file or cannot be read has no
 * settings. */
TALLY_MUST_CHECK enum tally_status config_files_read_file(
	const char *path, config_apply apply, void *data, struct diag *notes, struct tally_error *err);

/* Paths of the files, of which some may not exist. */
struct config_paths {
	const char *system; /* /etc/perfconfig. */
	char *own; /* ~/.perfconfig; NULL if HOME is not set or memory ran out. */
	const char *instead; /* $PERF_CONFIG, which replaces both others; NULL if it is not set. */
};
void config_paths_init(struct config_paths *paths);
void config_paths_deinit(struct config_paths *paths);
/* Sets target to the value of a boolean setting. An invalid value results in a warning and leaves target unchanged. */
void config_files_bool(const char *name, struct tally_str value, struct diag *notes, bool *target);

#endif
