/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_server.h - receives requests from the network through libmicrohttpd, which is loaded at run time, and passes
 * them to two functions: one that may refuse a request before its body is received, and one that answers it.
 *
 * Both functions run in the thread of the connection, several at once. Limits apply to every client: the size of a body
 * and of all bodies together, connections, requests per second, and the time for receiving a request and sending the
 * response (http_server_tick closes connections that exceed it). Signals are blocked in these threads.
 *
 *	http_server_start(&settings, &server, err);
 *	while (running) http_server_tick(server);     // every second or so
 *	http_server_stop(server);                     // answers requests in progress first
 */
#ifndef VERBS_SERVE_HTTP_SERVER_H
#define VERBS_SERVE_HTTP_SERVER_H

#include <sys/socket.h>

#include "verbs/serve/http_request.h"

struct http_server_settings {
	const struct sockaddr *address; /* The address to listen on; port 0 selects any free port. */
	socklen_t address_bytes;
	const char *certificate, *key; /* Texts in PEM format; NULL for no TLS. */
	size_t body_bytes, all_body_bytes; /* Maximum size of a body, and of all bodies together. */
	unsigned connections, client_connections; /* Maximum number of connections, and of those of one client. */
	double client_rate, all_rate; /* Requests per second, of each client and of all; 0 for no limit. */
	unsigned receive_s, send_s, idle_s;
	/* Called before the body is received. Sets response->status to refuse the request. */
	void (*admit)(void *context, const struct http_request *request, struct http_response *response);
	void (*answer)(void *context, const struct http_request *request, struct http_response *response);
	void *context;
};

struct http_server_figures {
	uint64_t requests, busy_refusals, slow_connections; /* Since the start. */
	uint64_t connections; /* At present. */
};

struct http_server;
/* Returns UNSUPPORTED if libmicrohttpd is not supported by the build, not installed, or lacks TLS. */
TALLY_MUST_CHECK enum tally_status http_server_start(
	const struct http_server_settings *settings, struct http_server **server, struct tally_error *err);
unsigned http_server_port(const struct http_server *server);
void http_server_tick(struct http_server *server);
struct http_server_figures http_server_figures(struct http_server *server);
/* Stops accepting connections, waits until the requests in progress are answered or time out, and frees the server. */
void http_server_stop(struct http_server *server);

#endif
