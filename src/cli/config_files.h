/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_files.h - reads the settings of the user's configuration one after the other: from $PERF_CONFIG if it is set,
 * else from /etc/perfconfig and then ~/.perfconfig (perf-config(1)). The caller interprets the settings.
 *
 *	config_files_read(apply, &request, notes, err);
 */
#ifndef CLI_CONFIG_FILES_H
#define CLI_CONFIG_FILES_H

#include "base/config_text.h"
#include "base/diag.h"

/* Anything but TALLY_OK ends the reading and is returned. */
typedef enum tally_status (*config_apply)(void *data, const struct config_text *config, struct tally_error *err);

/* An invalid line becomes a warning. */
TALLY_MUST_CHECK enum tally_status config_files_read(
	config_apply apply, void *data, struct diag *notes, struct tally_error *err);
/* The same of one file. A file that is not there, and anything but a file, has no settings. */
TALLY_MUST_CHECK enum tally_status config_files_read_file(
	const char *path, config_apply apply, void *data, struct diag *notes, struct tally_error *err);

/* The names of the files. NULL: HOME or PERF_CONFIG is not set, or out of memory. */
struct config_paths {
	const char *system;
	char *own; /* ~/.perfconfig */
	const char *instead; /* $PERF_CONFIG, which replaces both */
};
void config_paths_init(struct config_paths *paths);
void config_paths_deinit(struct config_paths *paths);
/* Sets target to a setting's value. A value that is neither on nor off becomes a warning, and target keeps its
 * value. */
void config_files_bool(const char *name, struct tally_str value, struct diag *notes, bool *target);

#endif
