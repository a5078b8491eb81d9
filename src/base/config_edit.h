/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_edit.h - changes one setting in the text of a configuration file (config_text.h), and leaves everything else as
 * it is: comments, order and spelling stay.
 *
 *	struct text changed = {0};
 *	status = config_edit_set(text, STR("report.children"), STR("false"), &changed, err);
 */
#ifndef BASE_CONFIG_EDIT_H
#define BASE_CONFIG_EDIT_H

#include "base/text.h"

/* What is wrong with the name of a setting ("does not contain a section name"); NULL: a file can have it. */
const char *config_edit_complaint(struct tally_str name);
/* Appends the text with the setting to out. The name passes config_edit_complaint; a part of the section behind a dot
 * may be anything. If the setting is there more than once, the last one changes, which is the valid one. The value is
 * written as it is if it reads well so, and otherwise in quotation marks. CORRUPT: the text has an invalid line;
 * INVALID: the value cannot be written to a file. */
TALLY_MUST_CHECK enum tally_status config_edit_set(struct tally_str text, struct tally_str name, struct tally_str value,
	struct text *out, struct tally_error *err);

#endif
