/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_list.h - lists what the configuration files set: each setting once, with the value that counts, which is the
 * last one, grouped by sections in the order in which they come.
 *
 *	struct config_list list = {0};
 *	status = config_list_read(&list, path, notes, err);   // of each file
 *	config_list_deinit(&list);
 */
#ifndef VERBS_CONFIG_CONFIG_LIST_H
#define VERBS_CONFIG_CONFIG_LIST_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/text.h"
#include "base/vec.h"

struct config_setting {
	const char *name; /* "section.setting", in lower case */
	const char *section;
	struct tally_str value;
	const char *path; /* of the file that sets it */
};

struct config_list { /* zero-initialised is empty */
	struct arena arena;
	VEC(struct config_setting) settings;
};

/* Adds the settings of a file, which replace those of earlier files. */
TALLY_MUST_CHECK enum tally_status config_list_read(
	struct config_list *list, const char *path, struct diag *notes, struct tally_error *err);
/* NULL: it is not set. */
const struct config_setting *config_list_find(const struct config_list *list, struct tally_str name);
/* One "name=value" per line, as perf has it. */
void config_list_text(const struct config_list *list, struct text *out);
void config_list_json(const struct config_list *list, struct text *out);
void config_list_deinit(struct config_list *list);

#endif
