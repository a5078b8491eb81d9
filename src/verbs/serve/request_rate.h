/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request_rate.h - limits how many requests a second each client, and all together, may make.
 *
 * Each client has a bucket of permissions that fills with time, and so have all together. The table of clients has a
 * fixed size: a client that was not seen for the longest time makes room for a new one. IPv6 clients are told apart by
 * the first 64 bits of their address, which is what one customer gets. The caller locks.
 *
 *	if (!request_rate_take(&rate, &address, clock_ns())) ... refuse ...
 */
#ifndef VERBS_SERVE_REQUEST_RATE_H
#define VERBS_SERVE_REQUEST_RATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#define REQUEST_RATE_CLIENTS 4096
#define REQUEST_RATE_WAYS    8 /* buckets in which a client may be */

struct request_bucket {
	uint64_t client; /* 0: nobody */
	uint64_t seen_ns;
	double left;
};

struct request_rate {
	double each, all; /* requests a second; 0: any number */
	struct request_bucket total;
	struct request_bucket clients[REQUEST_RATE_CLIENTS];
};

/* A burst may have as many requests as BURST_SECONDS of the rate. */
#define REQUEST_RATE_BURST_SECONDS 4
/* False: the client, or all clients together, made too many requests of late. */
bool request_rate_take(struct request_rate *rate, const struct sockaddr *client, uint64_t now_ns);

#endif
