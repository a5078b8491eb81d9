/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_request.h - defines HTTP requests and responses independently of the network, so that handlers are functions
 * from a request to a response.
 *
 * A request borrows all of its strings. A response owns its body, and its owner calls http_response_deinit. Not
 * thread-safe.
 *
 *	struct http_response response = HTTP_RESPONSE_EMPTY;
 *	if (!http_request_argument(request, STR("query"), &value))
 *		http_response_error(&response, 400, "the argument 'query' is missing");
 */
#ifndef VERBS_SERVE_HTTP_REQUEST_H
#define VERBS_SERVE_HTTP_REQUEST_H

#include "base/text.h"

#define HTTP_REQUEST_PAIRS 100 /* Maximum number of arguments of a request, and of headers. */

enum http_status {
	HTTP_OK = 200,
	HTTP_BAD_REQUEST = 400,
	HTTP_UNAUTHORIZED = 401,
	HTTP_FORBIDDEN = 403,
	HTTP_NOT_FOUND = 404,
	HTTP_METHOD_NOT_ALLOWED = 405,
	HTTP_TOO_LARGE = 413,
	HTTP_WRONG_TYPE = 415,
	HTTP_TOO_MANY = 429,
	HTTP_FAILED = 500,
	HTTP_UNAVAILABLE = 503,
};

struct http_pair {
	struct tally_str name, value;
};

struct http_request {
	struct tally_str method, path; /* The path is percent-decoded. */
	const struct http_pair *arguments, *headers;
	size_t argument_count, header_count;
	struct tally_bytes body;
};

struct http_response {
	unsigned status; /* 0 if it has not been set yet. */
	/* Static strings for headers; NULL omits the header. policy is the Content-Security-Policy of a page. */
	const char *type, *encoding, *file_name, *allow, *policy;
	unsigned retry_after_s; /* 0 omits the header. */
	/* Adds a header that asks the client for a token (WWW-Authenticate). */
	bool asks_for_token;
	struct text body;
	int fd; /* A file with the body, which is sent from the beginning of the file; -1 if the body is in body. */
};
#define HTTP_RESPONSE_EMPTY    \
	(struct http_response) \
	{                      \
		.fd = -1       \
	}

/* Returns false if the request has no such argument. */
bool http_request_argument(const struct http_request *request, struct tally_str name, struct tally_str *value);
/* Returns the header's value, or an empty string if there is none. The case of name is ignored. */
struct tally_str http_request_header(const struct http_request *request, struct tally_str name);
/* Returns whether the header's value, up to its first semicolon, equals word, ignoring case. */
bool http_request_header_is(const struct http_request *request, struct tally_str name, struct tally_str word);

/* Replaces the response by {"error": sentence}. */
void http_response_error(struct http_response *response, enum http_status status, const char *format, ...)
	TALLY_PRINTF(3, 4);
void http_response_deinit(struct http_response *response);

#endif
