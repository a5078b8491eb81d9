/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_edit.h - changes one setting in the text of a configuration file (config_text.h), and preserves everything
 * else, including comments, order and spelling.
 *
 *	struct text changed = {0};
 *	status = config_edit_set(text, STR("report.children"), STR("false"), &changed, err);
 */
#ifndef BASE_CONFIG_EDIT_H
#define BASE_CONFIG_EDIT_H

#include "base/text.h"

/* Returns why the name of a setting is invalid ("does not contain a section name"); NULL if it is valid. */
const char *config_edit_complaint(struct tally_str name);
/*
 * Appends the changed text to out. The name must pass config_edit_complaint. Its section may have a subsection of any
 * characters after a dot. If the setting occurs more than once, the last one, which is the effective one, is changed.
 * The value is quoted only if necessary. Returns CORRUPT if the text has an invalid line, and INVALID if the value
 * cannot be represented in a file.
 */
TALLY_MUST_CHECK enum tally_status config_edit_set(struct tally_str text, struct tally_str name, struct tally_str value,
	struct text *out, struct tally_error *err);

#endif
