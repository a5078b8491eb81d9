/* SPDX-License-Identifier: Apache-2.0 */
/*
 * serve_api.h - answers the requests of agents and of query clients: functions from requests to responses over a store,
 * independent of the network. docs/fleet.md describes the requests.
 *
 * The store is opened twice, for writing and for reading, so that a long query does not delay agents; each has a lock.
 * The caller owns both stores and the tokens, which must outlive the API. Any number of threads may call admit and
 * answer.
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

struct serve_store { /* A store, used by one thread at a time. */
	struct store *store;
	pthread_mutex_t lock;
};

struct serve_counts { /* Counts since the start, changed atomically. */
	uint64_t stored, duplicates, lacking, refused, failed; /* Numbers of batches. */
	uint64_t samples, bytes; /* Samples of stored batches; bytes of all received batches. */
	uint64_t queries, failed_queries, query_ns;
	uint64_t denied; /* Requests without a valid token. */
	uint64_t removed, failed_retentions; /* Removed batches; failed attempts to remove batches. */
};

struct serve_api {
	struct serve_store writer, reader;
	const struct serve_tokens *writers, *readers; /* NULL if no token is required. */
	/* Tokens are not required, so requests must be addressed to this machine; otherwise a web page of another site
	 * could send them through a user's browser. */
	bool is_local;
	const char *program;
	uint64_t query_ns; /* Time limit of a query. */
	void (*figures)(void *context, struct http_server_figures *figures); /* NULL if there is no server. */
	void *figures_context;
	/* The following members are set by serve_api_init. */
	struct serve_ingest ingest;
	struct serve_counts counts;
	uint64_t started_ns, told_ns; /* Time of the start, and of the last message about a failure of the store. */
};

/* Returns false if the locks cannot be created. */
bool serve_api_init(struct serve_api *api);
void serve_api_deinit(struct serve_api *api);
/* Callbacks for struct http_server_settings; context is the serve_api. */
void serve_api_admit(void *context, const struct http_request *request, struct http_response *response);
void serve_api_answer(void *context, const struct http_request *request, struct http_response *response);
/* Removes the batches before oldest_ns, and the oldest ones as long as the store is larger than max_bytes (0: any
 * size). Returns true if it should be called again soon to remove more. */
bool serve_api_retain(struct serve_api *api, uint64_t oldest_ns, uint64_t max_bytes);

#endif
