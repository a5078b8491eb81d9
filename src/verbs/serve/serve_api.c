/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/serve/serve_api.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "cli/cli.h"
#include "tasks/fleet/fleet_time.h"
#include "verbs/serve/serve_parts.h"
#include "view/fleet/fleet_page.h"

#define DECODERS	 4
#define SERVE_API_WAIT_S 30 /* Maximum time to wait for a store or a decoder. */
#define RETRY_S		 10
#define TOLD_NS		 UINT64_C(60000000000)
/* Half of the time after which store_retain stops early: a call that took longer may have left data to remove. */
#define SERVE_LONG_RETENTION_NS UINT64_C(500000000)
#define BATCH_TYPE		"application/x-protobuf"
#define HEX_DIGIT		"0123456789abcdef"

enum serve_access { ACCESS_ALL, ACCESS_READ, ACCESS_WRITE };

static void serve_api_batches(
	struct serve_api *api, const struct http_request *request, struct http_response *response);
static void serve_api_page(struct serve_api *api, const struct http_request *request, struct http_response *response);
static void serve_api_health(struct serve_api *api, const struct http_request *request, struct http_response *response);

static const struct serve_route {
	struct tally_str path;
	bool is_prefix;
	const char *method;
	enum serve_access access;
	void (*answer)(struct serve_api *api, const struct http_request *request, struct http_response *response);
} routes[] = {
	{STR("/api/v1/batches"), false, "POST", ACCESS_WRITE, serve_api_batches},
	{STR("/api/v1/profile"), false, "GET", ACCESS_READ, serve_queries_profile},
	{STR("/api/v1/labels"), false, "GET", ACCESS_READ, serve_queries_labels},
	{STR("/api/v1/labels/"), true, "GET", ACCESS_READ, serve_queries_labels},
	{STR("/api/v1/events"), false, "GET", ACCESS_READ, serve_queries_events},
	{STR("/api/v1/load"), false, "GET", ACCESS_READ, serve_queries_load},
	{STR("/metrics"), false, "GET", ACCESS_READ, serve_metrics},
	{STR("/"), false, "GET", ACCESS_ALL, serve_api_page},
	{STR("/healthz"), false, "GET", ACCESS_ALL, serve_api_health},
};

bool serve_api_init(struct serve_api *api)
{
	api->counts = (struct serve_counts){0};
	api->started_ns = fleet_time_now();
	api->told_ns = 0;
	return pthread_mutex_init(&api->writer.lock, NULL) == 0 && pthread_mutex_init(&api->reader.lock, NULL) == 0 &&
	       serve_ingest_init(&api->ingest, api->writer.store, &api->writer.lock);
}

void serve_api_deinit(struct serve_api *api)
{
	serve_ingest_deinit(&api->ingest);
	pthread_mutex_destroy(&api->writer.lock);
	pthread_mutex_destroy(&api->reader.lock);
}

bool serve_store_lock(struct serve_store *store, struct http_response *response)
{
	struct timespec due;
	clock_gettime(CLOCK_REALTIME, &due);
	due.tv_sec += SERVE_API_WAIT_S;
	if (pthread_mutex_timedlock(&store->lock, &due) == 0)
		return true;
	http_response_error(response, HTTP_UNAVAILABLE, "the store is busy with other requests: try again later");
	response->retry_after_s = RETRY_S;
	return false;
}

void serve_api_unavailable(struct serve_api *api, const struct tally_error *err, struct http_response *response)
{
	uint64_t now = clock_ns(), told = __atomic_load_n(&api->told_ns, __ATOMIC_RELAXED);
	http_response_error(response, HTTP_UNAVAILABLE, "%s", err->text);
	response->retry_after_s = RETRY_S;
	if ((told == 0 || now - told > TOLD_NS) &&
		__atomic_compare_exchange_n(&api->told_ns, &told, now, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		cli_sayf("%s: the store: %s\n", api->program, err->text);
}

static const struct serve_route *find_route(const struct http_request *request)
{
	for (size_t i = 0; i < ARRAY_LEN(routes); i++) {
		bool matches = routes[i].is_prefix ? str_starts_with(request->path, routes[i].path)
						   : str_equal(request->path, routes[i].path);
		if (matches)
			return &routes[i];
	}
	return NULL;
}

/* Without tokens, DNS rebinding would let a web page in a local browser reach the server under the page's own host
 * name. Therefore only requests that name this machine in the Host header are served. */
static bool is_addressed_here(const struct http_request *request)
{
	static const struct tally_str names[] = {STR("localhost"), STR("127.0.0.1"), STR("[::1]")};
	struct tally_str host = http_request_header(request, STR("Host"));
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (host.len >= names[i].len && strncasecmp(host.data, names[i].data, names[i].len) == 0 &&
			(host.len == names[i].len || host.data[names[i].len] == ':'))
			return true;
	return false;
}

static void check_token(struct serve_api *api, enum serve_access access, const struct http_request *request,
	struct http_response *response)
{
	const struct serve_tokens *needed = access == ACCESS_WRITE ? api->writers : api->readers;
	const struct serve_tokens *others = access == ACCESS_WRITE ? api->readers : api->writers;
	struct tally_str token = serve_tokens_shown(request);
	if (access == ACCESS_ALL || !needed || serve_tokens_have(needed, token))
		return;
	serve_count(&api->counts.denied, 1);
	if (others && serve_tokens_have(others, token)) {
		http_response_error(response, HTTP_FORBIDDEN,
			access == ACCESS_WRITE ? "this token is one for reading, and batches need one for writing"
					       : "this token is one for writing, and queries need one for reading");
		return;
	}
	http_response_error(response, HTTP_UNAUTHORIZED,
		token.len ? "the token is not one of this server's"
			  : "this needs a token: send the header 'Authorization: Bearer TOKEN'");
	response->asks_for_token = true;
}

/* Checks the content type and the encoding of a batch. Browsers send this type across origins only after a CORS
 * preflight request, which the server rejects. */
static void check_body(const struct http_request *request, struct http_response *response)
{
	struct tally_str encoding = http_request_header(request, STR("Content-Encoding"));
	if (!http_request_header_is(request, STR("Content-Type"), STR(BATCH_TYPE)))
		http_response_error(response, HTTP_WRONG_TYPE, "a batch needs 'Content-Type: " BATCH_TYPE "'");
	else if (encoding.len > 0 && !http_request_header_is(request, STR("Content-Encoding"), STR("zstd")) &&
		 !http_request_header_is(request, STR("Content-Encoding"), STR("identity")))
		http_response_error(response, HTTP_WRONG_TYPE, "the content encoding of a batch is zstd, or none");
}

void serve_api_admit(void *context, const struct http_request *request, struct http_response *response)
{
	struct serve_api *api = context;
	const struct serve_route *route = find_route(request);
	if (!route) {
		http_response_error(
			response, HTTP_NOT_FOUND, "there is no such page: docs/fleet.md lists those that are");
		return;
	}
	bool is_head = str_equal(request->method, STR("HEAD")) && strcmp(route->method, "GET") == 0;
	if (!is_head && !str_equal(request->method, str_from(route->method))) {
		http_response_error(response, HTTP_METHOD_NOT_ALLOWED, "this page takes %s only", route->method);
		response->allow = route->method;
		return;
	}
	if (api->is_local && !is_addressed_here(request)) {
		http_response_error(response, HTTP_FORBIDDEN,
			"a server without tokens serves only requests to localhost, 127.0.0.1 or [::1]");
		return;
	}
	check_token(api, route->access, request, response);
	if (!response->status && route->access == ACCESS_WRITE)
		check_body(request, response);
}

void serve_api_answer(void *context, const struct http_request *request, struct http_response *response)
{
	const struct serve_route *route = find_route(request);
	if (route)
		route->answer(context, request, response);
}

static void serve_api_health(struct serve_api *api, const struct http_request *request, struct http_response *response)
{
	struct tally_error why;
	bool fails = serve_ingest_fails(&api->ingest, &why);
	(void)request;
	response->status = fails ? HTTP_UNAVAILABLE : HTTP_OK;
	response->type = "text/plain; charset=utf-8";
	text_str(&response->body, fails ? "batches cannot be stored\n" : "ok\n");
}

/* The page itself contains no data. Its script prompts for a token if one is required. */
static void serve_api_page(struct serve_api *api, const struct http_request *request, struct http_response *response)
{
	struct tally_str page = fleet_page_html();
	(void)request;
	(void)api;
	response->status = HTTP_OK;
	response->type = "text/html; charset=utf-8";
	response->policy = fleet_page_policy().data;
	text_bytes(&response->body, page.data, page.len);
}

static void fail_batch(struct serve_api *api, const struct tally_error *err, struct http_response *response)
{
	if (err->status == TALLY_CORRUPT || err->status == TALLY_INVALID || err->status == TALLY_LIMIT) {
		/* The batch itself is invalid, so that sending it again cannot succeed. */
		serve_count(&api->counts.refused, 1);
		http_response_error(response, HTTP_BAD_REQUEST, "the batch is refused: %s", err->text);
		return;
	}
	serve_count(&api->counts.failed, 1);
	serve_api_unavailable(api, err, response);
}

static void serve_api_batches(struct serve_api *api, const struct http_request *request, struct http_response *response)
{
	struct tally_error err;
	struct store_receipt receipt;
	bool is_packed = http_request_header_is(request, STR("Content-Encoding"), STR("zstd"));
	serve_count(&api->counts.bytes, request->body.len);
	if (request->argument_count > 0) {
		http_response_error(response, HTTP_BAD_REQUEST, "batches take no arguments");
		return;
	}
	if (serve_ingest_add(&api->ingest, request->body, is_packed, &receipt, &err) != TALLY_OK) {
		fail_batch(api, &err, response);
		return;
	}
	serve_count(receipt.is_duplicate    ? &api->counts.duplicates
		    : receipt.lacks_symbols ? &api->counts.lacking
					    : &api->counts.stored,
		1);
	serve_count(&api->counts.samples, receipt.samples);
	char id[2 * STORE_ID_BYTES];
	const uint8_t *bytes = store_id(api->writer.store);
	for (size_t i = 0; i < STORE_ID_BYTES; i++) {
		id[2 * i] = HEX_DIGIT[bytes[i] >> 4];
		id[2 * i + 1] = HEX_DIGIT[bytes[i] & 15];
	}
	response->status = HTTP_OK;
	response->type = "application/json";
	struct json j = {.out = &response->body, .is_compact = true};
	json_object(&j, NULL);
	json_bool(&j, "stored", !receipt.is_duplicate && !receipt.lacks_symbols);
	json_bool(&j, "duplicate", receipt.is_duplicate);
	json_u64(&j, "samples", receipt.samples);
	json_bool(&j, "lacks_symbols", receipt.lacks_symbols);
	json_string(&j, "store", (struct tally_str){id, sizeof(id)});
	json_object_end(&j);
}

bool serve_api_retain(struct serve_api *api, uint64_t oldest_ns, uint64_t max_bytes)
{
	struct tally_error err;
	uint64_t removed = 0, begun = clock_ns();
	pthread_mutex_lock(&api->writer.lock);
	enum tally_status status = store_retain(api->writer.store, oldest_ns, max_bytes, &removed, &err);
	pthread_mutex_unlock(&api->writer.lock);
	serve_count(&api->counts.removed, removed);
	if (status == TALLY_OK)
		return removed > 0 && clock_ns() - begun > SERVE_LONG_RETENTION_NS;
	serve_count(&api->counts.failed_retentions, 1);
	cli_sayf("%s: cannot remove old batches: %s\n", api->program, err.text);
	return false;
}
