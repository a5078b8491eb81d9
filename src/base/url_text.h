/* SPDX-License-Identifier: Apache-2.0 */
/*
 * url_text.h - writes URLs for messages and logs, without the passwords and tokens that they contain.
 *
 * The user information of a URL ("user:password@") becomes "***@", and so do values of arguments behind '?' unless they
 * are known to be harmless. Where it cannot be said what is the password, more is left out, never less. Control
 * characters are escaped. Paths of files ("sqlite:/var/lib/store.db", "./folder") stay as they are.
 *
 *	char room[URL_SHOWN_BYTES];
 *	cli_sayf("cannot reach %s\n", url_shown("http://me:secret@host", room));
 */
#ifndef BASE_URL_TEXT_H
#define BASE_URL_TEXT_H

#include "base/text.h"

#define URL_SHOWN_BYTES 512

void text_url(struct text *out, struct tally_str url);
/* Returns room, with a text that ends with NUL; what does not fit is cut off. */
const char *url_shown(const char *url, char room[URL_SHOWN_BYTES]);

#endif
