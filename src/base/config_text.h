/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_text.h - parses the text of a configuration file, in the format that perf and git share, one setting after the
 * other.
 *
 *	[section]
 *		name = value  # or ; comments
 *		name = "quoted \"value\"" and more, \
 *			over two lines
 *
 * Names of sections and settings are converted to lower case. For those who change the text (config_edit.h), each setting
 * also says where its value is in it. Borrows the text; config_text_deinit frees what the last
 * value needed. One thread.
 *
 *	struct config_text config = {.rest = text};
 *	while ((status = config_text_next(&config, err)) == TALLY_OK) use(config.name, config_text_value(&config));
 */
#ifndef BASE_CONFIG_TEXT_H
#define BASE_CONFIG_TEXT_H

#include "base/text.h"

#define CONFIG_NAME_BYTES 256

struct config_text {
	struct tally_str rest;
	unsigned line; /* of the setting that was read last, counted from 1 */
	char section[CONFIG_NAME_BYTES];
	char name[2 * CONFIG_NAME_BYTES]; /* "section.setting" */
	struct text value;
	/* In the text: the bytes of the value that was read last, as they are written, quotation marks included. */
	struct tally_str written;
};

/* TALLY_END after the last setting; TALLY_CORRUPT at the first invalid line; the settings before it are valid. */
TALLY_MUST_CHECK enum tally_status config_text_next(struct config_text *config, struct tally_error *err);
/* Of the last setting; lives until the next one. */
static inline struct tally_str config_text_value(const struct config_text *config)
{
	return (struct tally_str){config->value.data ? config->value.data : "", config->value.len};
}
/* "true", "yes", "on", 1 or nothing; "false", "no", "off" or 0, in upper or lower case. False: it is none of these. */
bool config_text_bool(struct tally_str value, bool *is_on);
void config_text_deinit(struct config_text *config);

#endif
