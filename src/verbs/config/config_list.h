/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_list.h - lists the settings of the configuration files: each setting once, with its last value, which is the
 * effective one. Settings are grouped by section, in the order of the files.
 *
 *	struct config_list list = {0};
 *	status = config_list_read(&list, path, notes, err);   // for each file
 *	config_list_deinit(&list);
 */
#ifndef VERBS_CONFIG_CONFIG_LIST_H
#define VERBS_CONFIG_CONFIG_LIST_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/text.h"
#include "base/vec.h"

struct config_setting {
	const char *name; /* "section.setting" in lower case. */
	const char *section;
	struct tally_str value;
	const char *path; /* The file with the effective value; borrowed from the caller. */
};

struct config_list { /* Empty if zero-initialised. */
	struct arena arena;
	VEC(struct config_setting) settings;
};

/* Adds the settings of a file, which override those of earlier files. */
TALLY_MUST_CHECK enum tally_status config_list_read(
	struct config_list *list, const char *path, struct diag *notes, struct tally_error *err);
/* Returns NULL if the setting is in no file. */
const struct config_setting *config_list_find(const struct config_list *list, struct tally_str name);
/* Appends one "name=value" per line, like perf. */
void config_list_text(const struct config_list *list, struct text *out);
void config_list_json(const struct config_list *list, struct text *out);
void config_list_deinit(struct config_list *list);

#endif
