/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_server.h - takes requests from the network by libmicrohttpd, which is loaded at run time, and hands them to two
 * functions: one that may refuse a request before its body comes, and one that answers it.
 *
 * Both functions run in a thread of the connection, several at once. Bounds hold against every client: bytes of a body
 * and of all bodies together, connections, requests a second, and the time in which a request must arrive and an answer
 * be fetched (http_server_tick ends connections that take longer). Signals do not reach these threads.
 *
 *	http_server_start(&settings, &server, err);
 *	while (running) http_server_tick(server);     // every second or so
 *	http_server_stop(server);                     // answers what has begun
 */
#ifndef VERBS_SERVE_HTTP_SERVER_H
#define VERBS_SERVE_HTTP_SERVER_H

#include <sys/socket.h>

#include "verbs/serve/http_request.h"

struct http_server_settings {
	const struct sockaddr *address; /* where to listen; port 0: any that is free */
	socklen_t address_bytes;
	const char *certificate, *key; /* PEM; NULL: no TLS */
	size_t body_bytes, all_body_bytes;
	unsigned connections, client_connections;
	double client_rate, all_rate; /* requests a second */
	unsigned receive_s, send_s, idle_s;
	/* Sets response->status to refuse the request; called before its body comes. */
	void (*admit)(void *context, const struct http_request *request, struct http_response *response);
	void (*answer)(void *context, const struct http_request *request, struct http_response *response);
	void *context;
};

struct http_server_figures {
	uint64_t requests, busy_refusals, slow_connections; /* since the start */
	uint64_t connections; /* now */
};

struct http_server;
/* UNSUPPORTED: built without libmicrohttpd, it is not installed, or it lacks TLS. */
TALLY_MUST_CHECK enum tally_status http_server_start(
	const struct http_server_settings *settings, struct http_server **server, struct tally_error *err);
unsigned http_server_port(const struct http_server *server);
void http_server_tick(struct http_server *server);
struct http_server_figures http_server_figures(struct http_server *server);
/* Takes no more connections, waits until the requests that have begun are answered (or time is up), and ends. */
void http_server_stop(struct http_server *server);

#endif
