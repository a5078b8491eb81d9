/* SPDX-License-Identifier: Apache-2.0 */
/*
 * serve_api.h - answers the requests of agents and of those who ask: a function from requests to responses over a
 * store, without a network. docs/fleet.md describes the requests.
 *
 * The store is opened twice, to write and to read, so that a long query does not hold up agents; each has a lock. The
 * caller owns both stores and the tokens, which outlive the API. Any number of threads may call admit and answer.
 *
 *	struct serve_api api = {.writer = {store}, .reader = {other}, .writers = &tokens, .program = "tally"};
 *	serve_api_init(&api);
 *	serve_api_admit(&api, &request, &response);
 *	if (!response.status) serve_api_answer(&api, &request, &response);
 */
#ifndef VERBS_SERVE_SERVE_API_H
#define VERBS_SERVE_SERVE_API_H

#include <pthread.h>

#include "store/store.h"
#include "verbs/serve/http_server.h"
#include "verbs/serve/serve_ingest.h"
#include "verbs/serve/serve_tokens.h"

struct serve_store {
	struct store *store;
	pthread_mutex_t lock;
};

struct serve_counts { /* since the start; changed atomically */
	uint64_t stored, duplicates, lacking, refused, failed; /* batches */
	uint64_t samples, bytes; /* of stored batches, of all bodies */
	uint64_t queries, failed_queries, query_ns;
	uint64_t denied; /* requests without a right token */
	uint64_t removed, failed_retentions; /* removed batches */
};

struct serve_api {
	struct serve_store writer, reader;
	const struct serve_tokens *writers, *readers; /* NULL: nobody needs a token */
	bool is_local; /* without tokens: a page of another site must not be able to ask through a browser */
	const char *program;
	uint64_t query_ns; /* that a query may take */
	void (*figures)(void *context, struct http_server_figures *figures); /* of the server; NULL: there is none */
	void *figures_context;
	/* set by init */
	struct serve_ingest ingest;
	struct serve_counts counts;
	uint64_t started_ns, told_ns; /* told: when a failure of the store was last written to standard error */
};

/* False: the system has no room for locks. */
bool serve_api_init(struct serve_api *api);
void serve_api_deinit(struct serve_api *api);
/* The two functions of struct http_server_settings; context is the API. */
void serve_api_admit(void *context, const struct http_request *request, struct http_response *response);
void serve_api_answer(void *context, const struct http_request *request, struct http_response *response);
/* Removes what is too old or too much, see store_retain. True: there is more to remove, after others had their turn. */
bool serve_api_retain(struct serve_api *api, uint64_t oldest_ns, uint64_t max_bytes);

#endif
