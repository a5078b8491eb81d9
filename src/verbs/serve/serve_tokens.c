/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/serve/serve_tokens.h"

#include <stdlib.h>
#include <strings.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"

#define FILE_BYTES (SERVE_TOKENS_MAX * (SERVE_TOKEN_BYTES + 1))

static bool is_visible(struct tally_str token)
{
	for (size_t i = 0; i < token.len; i++)
		if (token.data[i] <= ' ' || token.data[i] > '~')
			return false;
	return true;
}

static enum tally_status serve_tokens_add(struct serve_tokens *tokens, struct tally_str token, struct tally_error *err)
{
	if (!is_visible(token))
		return error_set(err, TALLY_INVALID, "a token has other than visible ASCII characters");
	if (token.len < SERVE_TOKEN_LEAST_BYTES || token.len >= SERVE_TOKEN_BYTES)
		return error_set(err, TALLY_INVALID,
			"a token has %zu characters; it needs %d to %d ('openssl rand -hex 32' makes one)", token.len,
			SERVE_TOKEN_LEAST_BYTES, SERVE_TOKEN_BYTES - 1);
	if (tokens->count == SERVE_TOKENS_MAX)
		return error_set(err, TALLY_LIMIT, "there are more than %d tokens", SERVE_TOKENS_MAX);
	memcpy(tokens->items[tokens->count++], token.data, token.len);
	return TALLY_OK;
}

enum tally_status serve_tokens_read(const char *path, struct serve_tokens *tokens, struct tally_error *err)
{
	char *data;
	size_t len;
	enum tally_status status = file_read(path, FILE_BYTES, &data, &len, err);
	if (status != TALLY_OK)
		return status;
	struct serve_tokens made = {.count = 0};
	struct tally_str rest = {data, len}, line;
	while (status == TALLY_OK && str_next(&rest, '\n', &line))
		if (str_trim(line).len > 0)
			status = serve_tokens_add(&made, str_trim(line), err);
	if (status == TALLY_OK && made.count == 0)
		status = error_set(err, TALLY_INVALID, "there is no token ('openssl rand -hex 32' makes one)");
	explicit_bzero(data, len);
	free(data);
	if (status != TALLY_OK)
		return error_prefix(err, "%s", path);
	*tokens = made;
	return TALLY_OK;
}

struct tally_str serve_tokens_shown(const struct http_request *request)
{
	static const struct tally_str scheme = STR("Bearer ");
	struct tally_str value = http_request_header(request, STR("Authorization"));
	if (value.len < scheme.len || strncasecmp(value.data, scheme.data, scheme.len) != 0)
		return STR("");
	return str_trim((struct tally_str){value.data + scheme.len, value.len - scheme.len});
}

bool serve_tokens_have(const struct serve_tokens *tokens, struct tally_str token)
{
	char shown[SERVE_TOKEN_BYTES] = {0};
	bool is_found = false;
	if (token.len < SERVE_TOKEN_LEAST_BYTES || token.len >= SERVE_TOKEN_BYTES || !is_visible(token))
		return false;
	memcpy(shown, token.data, token.len);
	/* Compares all bytes of all tokens, so that the time does not depend on how many of them match. */
	for (size_t i = 0; i < tokens->count; i++) {
		volatile unsigned char difference = 0;
		for (size_t at = 0; at < SERVE_TOKEN_BYTES; at++)
			difference = (unsigned char)(difference | (shown[at] ^ tokens->items[i][at]));
		is_found |= difference == 0;
	}
	return is_found;
}
