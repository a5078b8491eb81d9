/* SPDX-License-Identifier: Apache-2.0 */
/*
 * serve_tokens.h - reads the tokens that clients must show, and compares in a time that does not depend on how much of
 * a token is right.
 *
 * A file has one token a line, so that an old and a new one are valid while clients change over. A value, which any
 * thread may read.
 *
 *	serve_tokens_read("/etc/tally/write-tokens", &tokens, err);
 *	if (serve_tokens_have(&tokens, serve_tokens_shown(request))) ...
 */
#ifndef VERBS_SERVE_SERVE_TOKENS_H
#define VERBS_SERVE_SERVE_TOKENS_H

#include "verbs/serve/http_request.h"

#define SERVE_TOKENS_MAX	64
#define SERVE_TOKEN_BYTES	256
#define SERVE_TOKEN_LEAST_BYTES 16 /* shorter ones can be guessed */

struct serve_tokens {
	char items[SERVE_TOKENS_MAX][SERVE_TOKEN_BYTES]; /* filled up with zeros */
	size_t count;
};

/* INVALID: the file has no token, or one that is too short, too long, or has other than visible ASCII characters. */
TALLY_MUST_CHECK enum tally_status serve_tokens_read(
	const char *path, struct serve_tokens *tokens, struct tally_error *err);
/* "Authorization: Bearer TOKEN"; empty: the request shows none. */
struct tally_str serve_tokens_shown(const struct http_request *request);
bool serve_tokens_have(const struct serve_tokens *tokens, struct tally_str token);

#endif
