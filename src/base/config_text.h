/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_text.h - parses the text of a configuration file in the common format of perf and git, one setting after
 * another.
 *
 *	[section]
 *		name = value  # or ; comments
 *		name = "quoted \"value\"" and more, \
 *			over two lines
 *
 * Names of sections and settings are converted to lower case, except the quoted part of [section "Part"], which is read
 * as section.Part. For config_edit.h, the position of each value in the text is available. Borrows the text;
 * config_text_deinit frees the memory of the last value. Used by one thread.
 *
 *	struct config_text config = {.rest = text};
 *	while ((status = config_text_next(&config, err)) == TALLY_OK) use(config.name, config_text_value(&config));
 */
#ifndef BASE_CONFIG_TEXT_H
#define BASE_CONFIG_TEXT_H

#include "base/text.h"

#define CONFIG_NAME_BYTES 256

struct config_text {
	struct tally_str rest; /* Text that was not read yet. */
	unsigned line; /* Line of the setting that was read last, counted from 1. */
	char section[CONFIG_NAME_BYTES];
	char name[2 * CONFIG_NAME_BYTES]; /* "section.setting" */
	struct text value;
	/* The value that was read last as it is written in the text, including quotation marks. */
	struct tally_str written;
};

/*
 * Reads the next setting. Returns TALLY_END after the last one, and TALLY_CORRUPT at the first invalid line; the
 * settings before it are valid.
 */
TALLY_MUST_CHECK enum tally_status config_text_next(struct config_text *config, struct tally_error *err);
/* Returns the value of the last setting; valid until the next one is read. */
static inline struct tally_str config_text_value(const struct config_text *config)
{
	return (struct tally_str){config->value.data ? config->value.data : "", config->value.len};
}
/*
 * Accepts "true", "yes", "on", "1" or nothing, and "false", "no", "off" or "0", in upper or lower case. Returns false
 * for any other value.
 */
bool config_text_bool(struct tally_str value, bool *is_on);
void config_text_deinit(struct config_text *config);

#endif
