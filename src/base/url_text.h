/* SPDX-License-Identifier: Apache-2.0 */
/*
 * url_text.h - formats URLs for messages and logs without their passwords and tokens.
 *
 * The user information of a URL ("user:password@") is replaced by "***@", and values of query parameters by "***"
 * unless they are known to be harmless. If it is not clear which part is the password, more is omitted, never less.
 * Control characters are escaped. File paths ("sqlite:/var/lib/store.db", "./folder") are not changed.
 *
 *	char room[URL_SHOWN_BYTES];
 *	cli_sayf("cannot reach %s\n", url_shown("http://me:secret@host", room));
 */
#ifndef BASE_URL_TEXT_H
#define BASE_URL_TEXT_H

#include "base/text.h"

#define URL_SHOWN_BYTES 512

void text_url(struct text *out, struct tally_str url);
/* Returns room with a NUL-terminated text, which is truncated if it does not fit. */
const char *url_shown(const char *url, char room[URL_SHOWN_BYTES]);

#endif
