/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_client.h - sends requests to a store over HTTP or HTTPS, by libcurl, which is loaded at run time.
 *
 * A client belongs to the caller and is used by one thread at a time; it keeps its connection open between requests.
 * Proxies come from libcurl's environment variables, and certificates are always checked. Nothing of an answer is
 * trusted: its size is bounded, redirections are not followed, and compressed bodies are not asked for.
 *
 * Errors: TALLY_UNSUPPORTED without libcurl; TALLY_IO if no complete answer came, with the reason. A refusal by the
 * server is an answer like any other: look at its status.
 *
 *	http_client_create(&(struct http_client_options){.url = "http://127.0.0.1:7779"}, &client, err);
 *	http_client_post(client, "/api/v1/batches", body, &(struct http_body_type){"application/x-protobuf", "zstd"},
 *		&answer, err);
 *	if (answer.status == 200) use(text_view(&answer.body));
 *	http_answer_deinit(&answer);   http_client_destroy(client);
 */
#ifndef FLEET_HTTP_CLIENT_H
#define FLEET_HTTP_CLIENT_H

#include <stdatomic.h>

#include "base/text.h"
#include "base/url_text.h"

#define HTTP_ANSWER_BYTES (256u << 20) /* of answers, unless the options say otherwise */
#define HTTP_TOKEN_BYTES  1024

struct http_client_options { /* borrowed while the client is created */
	const char *url; /* "http://host:port", "https://host/path" */
	const char *token; /* NULL: none is sent */
	const char *ca_file; /* certificates to trust in place of the system's; NULL: the system's */
	size_t answer_bytes; /* a longer answer is an error; 0: HTTP_ANSWER_BYTES */
	unsigned timeout_s; /* of a whole request; 0: two minutes */
	const atomic_bool *stop; /* ends a request soon after it becomes true; kept; NULL: nothing does */
};

struct http_body_type {
	const char *content_type, *content_encoding; /* NULL: the header is not sent */
};

struct http_answer {
	unsigned status; /* 200, 404, ... */
	unsigned retry_after_s; /* as the server asks; 0: it does not */
	/* How far the clock of this machine is ahead of the server's, as the answer's date says; less than 0: behind. 0: not
	 * known, or no more than the answer took and the date is exact to. */
	int64_t ahead_s;
	char redirect[URL_SHOWN_BYTES]; /* where the server sends the request instead, as text; empty: nowhere */
	struct text body;
	struct text
		grpc; /* the lines of the header that begin with "grpc-", with their ends; at most some thousand bytes */
};

struct http_client;
/* TALLY_INVALID: the URL is none that can be sent to. */
TALLY_MUST_CHECK enum tally_status http_client_create(
	const struct http_client_options *options, struct http_client **client, struct tally_error *err);
void http_client_destroy(struct http_client *client);
/* path: behind the URL, with a slash first. */
TALLY_MUST_CHECK enum tally_status http_client_get(
	struct http_client *client, const char *path, struct http_answer *answer, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status http_client_post(struct http_client *client, const char *path,
	struct tally_bytes body, const struct http_body_type *type, struct http_answer *answer,
	struct tally_error *err);
void http_answer_deinit(struct http_answer *answer);
/* Whether the text is the URL of a server; otherwise it may be a folder. */
bool http_url_is_given(const char *text);
/* The token in the first line of a file, or, without a file (NULL), that of the environment variable TALLY_TOKEN; empty:
 * there is none. token: HTTP_TOKEN_BYTES + 1 bytes. */
TALLY_MUST_CHECK enum tally_status http_token_read(const char *file, char *token, struct tally_error *err);
/* Appends text as a part of a URL: everything but letters, digits and "-._~" is escaped. */
void http_put_escaped(struct text *out, struct tally_str text);

#endif
