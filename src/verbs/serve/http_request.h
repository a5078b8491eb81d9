/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_request.h - defines requests and responses of HTTP apart from any network, so that handlers are functions from
 * one to the other.
 *
 * A request borrows all of its texts. A response owns its body; whoever takes it over ends it with http_response_deinit.
 * One thread.
 *
 *	struct http_response response = HTTP_RESPONSE_EMPTY;
 *	if (!http_request_argument(request, STR("query"), &value))
 *		http_response_error(&response, 400, "the argument 'query' is missing");
 */
#ifndef VERBS_SERVE_HTTP_REQUEST_H
#define VERBS_SERVE_HTTP_REQUEST_H

#include "base/text.h"

#define HTTP_REQUEST_PAIRS 100 /* arguments, and headers, of one request */

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
	struct tally_str method, path; /* the path without its escapes */
	const struct http_pair *arguments, *headers;
	size_t argument_count, header_count;
	struct tally_bytes body;
};

struct http_response {
	unsigned status; /* 0: none yet */
	const char *type, *encoding, *file_name, *allow, *policy; /* static; NULL: no such header. policy: of a page */
	unsigned retry_after_s; /* 0: no such header */
	bool asks_for_token;
	struct text body;
	int fd; /* of a file that is the body, from its beginning on; -1: it is the text */
};
#define HTTP_RESPONSE_EMPTY    \
	(struct http_response) \
	{                      \
		.fd = -1       \
	}

/* False: the request has no such argument. */
bool http_request_argument(const struct http_request *request, struct tally_str name, struct tally_str *value);
/* Of the header, whatever the case of its name; empty: there is none. */
struct tally_str http_request_header(const struct http_request *request, struct tally_str name);
/* Whether the header's value, without what follows a semicolon, is this word in any case. */
bool http_request_header_is(const struct http_request *request, struct tally_str name, struct tally_str word);

/* Replaces what the response was by {"error": sentence}. */
void http_response_error(struct http_response *response, enum http_status status, const char *format, ...)
	TALLY_PRINTF(3, 4);
void http_response_deinit(struct http_response *response);

#endif
