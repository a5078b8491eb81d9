/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request_rate.h - limits the requests per second of each client, and of all clients together.
 *
 * Each client has a token bucket, and there is one for all clients. The table of clients has a fixed size: a new client
 * replaces the one that has not been seen for the longest time. IPv6 clients are distinguished by the first 64 bits of
 * their address, because a single customer usually has a /64 network. Not thread-safe: the caller must hold a lock.
 *
 *	if (!request_rate_take(&rate, &address, clock_ns())) ... refuse ...
 */
#ifndef VERBS_SERVE_REQUEST_RATE_H
#define VERBS_SERVE_REQUEST_RATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#define REQUEST_RATE_CLIENTS 4096
#define REQUEST_RATE_WAYS    8 /* Number of table entries in which a client may be stored. */

struct request_bucket {
	uint64_t client; /* Hash of the address; 0 if the entry is unused. */
	uint64_t seen_ns;
	double left; /* Number of requests that may be made at seen_ns. */
};

struct request_rate {
	double each, all; /* Requests per second; 0 for no limit. */
	struct request_bucket total;
	struct request_bucket clients[REQUEST_RATE_CLIENTS];
};

/* A burst may contain as many requests as the rate allows in this time. */
#define REQUEST_RATE_BURST_SECONDS 4
/* Counts a request. Returns false if the client, or all clients together, have exceeded their rate. */
bool request_rate_take(struct request_rate *rate, const struct sockaddr *client, uint64_t now_ns);

#endif
