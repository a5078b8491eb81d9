/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_client.h - sends requests to a store over HTTP or HTTPS, by libcurl, which is loaded at run time.
 *
 * A client belongs to the caller and is used by one thread at a time; its connection remains open between requests.
 * Proxies come from the environment variables of libcurl, and certificates are always checked. Answers are not trusted:
 * their size is limited, redirections are not followed, and compressed bodies are not accepted.
 *
 * Errors: TALLY_UNSUPPORTED without libcurl; TALLY_IO, with the reason, if no complete answer was received; TALLY_LIMIT
 * if the answer or the URL is too long. A refusal by the server is no error; the status of the answer shows it.
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

#define HTTP_ANSWER_BYTES (256u << 20) /* Default maximum size of answers. */
#define HTTP_TOKEN_BYTES  1024

struct http_client_options { /* Texts are copied. */
	const char *url; /* Such as "http://host:port" or "https://host/path". */
	const char *token; /* Token that is sent in an Authorization header ("Bearer"); NULL to send none. */
	const char *ca_file; /* File with trusted certificates; NULL for those of the system. */
	size_t answer_bytes; /* Maximum size of an answer; 0 is HTTP_ANSWER_BYTES. */
	unsigned timeout_s; /* Timeout of a whole request; 0 is two minutes. */
	/* A request ends soon after this becomes true; must outlive the client. NULL for none. */
	const atomic_bool *stop;
};

struct http_body_type {
	const char *content_type, *content_encoding; /* NULL to send no such header. */
};

struct http_answer {
	unsigned status; /* HTTP status, such as 200. */
	unsigned retry_after_s; /* Delay that the server requests; 0 for none. */
	/* Seconds by which the clock of this machine is ahead of the date in the answer; negative if it is behind. 0 if
	 * unknown, or not more than the duration of the request and the resolution of the date. */
	int64_t ahead_s;
	char redirect[URL_SHOWN_BYTES]; /* Target of a redirection, for messages; empty if none. */
	struct text body;
	/* Header lines that begin with "grpc-", with their line ends; at most some thousand bytes. */
	struct text grpc;
};

struct http_client;
/* Creates a client; TALLY_INVALID if the URL is not valid for requests. */
TALLY_MUST_CHECK enum tally_status http_client_create(
	const struct http_client_options *options, struct http_client **client, struct tally_error *err);
void http_client_destroy(struct http_client *client);
/* Sends a request; path is appended to the URL and begins with a slash. The answer is set by each request, and is empty
 * after a failure. */
TALLY_MUST_CHECK enum tally_status http_client_get(
	struct http_client *client, const char *path, struct http_answer *answer, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status http_client_post(struct http_client *client, const char *path,
	struct tally_bytes body, const struct http_body_type *type, struct http_answer *answer,
	struct tally_error *err);
void http_answer_deinit(struct http_answer *answer);
/* Returns whether the text begins with http:// or https://, so that it is the URL of a server and no folder. */
bool http_url_is_given(const char *text);
/* Reads the token from the first line of a file or, if file is NULL, from the environment variable TALLY_TOKEN, without
 * which it is empty. A file without a token is TALLY_INVALID. token has room for HTTP_TOKEN_BYTES + 1 bytes. */
TALLY_MUST_CHECK enum tally_status http_token_read(const char *file, char *token, struct tally_error *err);
/* Appends text as a part of a URL, with all characters escaped but letters, digits and "-._~". */
void http_put_escaped(struct text *out, struct tally_str text);

#endif
