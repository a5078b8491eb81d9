/* SPDX-License-Identifier: Apache-2.0 */
/*
 * serve_tokens.h - reads the tokens that clients must present, and compares them in constant time.
 *
 * A file has one token per line, so that an old and a new token can both be valid while clients are updated. Any thread
 * may read the tokens.
 *
 *	serve_tokens_read("/etc/tally/write-tokens", &tokens, err);
 *	if (serve_tokens_have(&tokens, serve_tokens_shown(request))) ...
 */
#ifndef VERBS_SERVE_SERVE_TOKENS_H
#define VERBS_SERVE_SERVE_TOKENS_H

#include "verbs/serve/http_request.h"

#define SERVE_TOKENS_MAX	64
#define SERVE_TOKEN_BYTES	256
#define SERVE_TOKEN_LEAST_BYTES 16 /* Shorter tokens could be guessed. */

struct serve_tokens {
	char items[SERVE_TOKENS_MAX][SERVE_TOKEN_BYTES]; /* Padded with zeros. */
	size_t count;
};

/* Returns INVALID if the file has no token, or a token that is too short, too long, or contains characters that are not
 * visible ASCII. */
TALLY_MUST_CHECK enum tally_status serve_tokens_read(
	const char *path, struct serve_tokens *tokens, struct tally_error *err);
/* Returns the token of the header "Authorization: Bearer TOKEN", or an empty string if there is none. */
struct tally_str serve_tokens_shown(const struct http_request *request);
bool serve_tokens_have(const struct serve_tokens *tokens, struct tally_str token);

#endif
