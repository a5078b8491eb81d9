/* SPDX-License-Identifier: Apache-2.0 */
/*
 * serve_parts.h - declares the parts of serve_api.h: one function for each kind of request.
 *
 * This header is private to the API: serve_api.c admits requests and stores batches, serve_queries.c answers queries,
 * and serve_metrics.c writes the metrics.
 *
 *	serve_queries_profile(api, request, response);
 */
#ifndef VERBS_SERVE_SERVE_PARTS_H
#define VERBS_SERVE_SERVE_PARTS_H

#include "verbs/serve/serve_api.h"

static inline void serve_count(uint64_t *counter, uint64_t more)
{
	__atomic_fetch_add(counter, more, __ATOMIC_RELAXED);
}

/* Locks the store. Returns false, and sets an error response, if other threads hold the lock for too long. */
bool serve_store_lock(struct serve_store *store, struct http_response *response);
/* Sets the response to an error after which the client should retry. Occasionally reports it on standard error. */
void serve_api_unavailable(struct serve_api *api, const struct tally_error *err, struct http_response *response);

void serve_queries_profile(struct serve_api *api, const struct http_request *request, struct http_response *response);
void serve_queries_labels(struct serve_api *api, const struct http_request *request, struct http_response *response);
void serve_queries_events(struct serve_api *api, const struct http_request *request, struct http_response *response);
void serve_queries_load(struct serve_api *api, const struct http_request *request, struct http_response *response);
void serve_metrics(struct serve_api *api, const struct http_request *request, struct http_response *response);

#endif
