/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/http_client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/error.h"
#include "base/file.h"
#include "base/shared_object.h"
#include "base/url_text.h"
#include "tally_config.h"

/* CURLOPT_PROTOCOLS, which new headers mark as deprecated; old libraries lack its replacement. */
#define PROTOCOLS_OPTION   ((CURLoption)(CURLOPTTYPE_LONG + 181))
#define URL_BYTES	   4096
#define CONNECT_TIMEOUT_MS 10000L
#define TIMEOUT_S	   120
#define RETRY_AFTER_MAX_S  3600
#define GRPC_BYTES	   4096 /* Maximum total size of the grpc- header lines that are retained. */
#define HTTP_DATE_S	   2 /* Resolution of a Date header and a margin, in seconds. */

bool http_url_is_given(const char *text)
{
	return strncmp(text, "http://", 7) == 0 || strncmp(text, "https://", 8) == 0;
}

void http_put_escaped(struct text *out, struct tally_str text)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
	static const char digits[] = "0123456789ABCDEF";
	for (size_t i = 0; i < text.len; i++) {
		unsigned char c = (unsigned char)text.data[i];
		if (c && strchr(plain, c)) {
			text_char(out, (char)c);
			continue;
		}
		text_char(out, '%');
		text_char(out, digits[c >> 4]);
		text_char(out, digits[c & 15]);
	}
}

static bool token_is_valid(struct tally_str token)
{
	for (size_t i = 0; i < token.len; i++)
		if (token.data[i] <= ' ' || token.data[i] > '~')
			return false;
	return token.len <= HTTP_TOKEN_BYTES;
}

enum tally_status http_token_read(const char *file, char *token, struct tally_error *err)
{
	const char *variable = getenv("TALLY_TOKEN");
	struct tally_str text = str_from(variable ? variable : ""), line = {"", 0};
	char *data = NULL;
	enum tally_status status = TALLY_OK;
	if (file) {
		size_t len;
		status = file_read(file, HTTP_TOKEN_BYTES * 4, &data, &len, err);
		if (status != TALLY_OK)
			return status;
		text = (struct tally_str){data, len};
	}
	if (str_next(&text, '\n', &line))
		line = str_trim(line);
	if (!token_is_valid(line))
		status = error_set(err, TALLY_INVALID,
			"%s is no token: a token is one line of at most %d printable characters without blanks",
			file ? "the text in the token file" : "the value of TALLY_TOKEN", HTTP_TOKEN_BYTES);
	else if (file && line.len == 0)
		status = error_set(err, TALLY_INVALID, "'%s' has no token in its first line", file);
	else
		snprintf(token, HTTP_TOKEN_BYTES + 1, "%.*s", (int)line.len, line.data);
	free(data);
	return status;
}

void http_answer_deinit(struct http_answer *answer)
{
	text_deinit(&answer->body);
	text_deinit(&answer->grpc);
	*answer = (struct http_answer){0};
}

#if HAVE_CURL
#include <curl/curl.h>

static const char *const http_libraries[] = {"libcurl.so.4", "libcurl-gnutls.so.4"};

struct http_library {
	void *handle;
	CURLcode (*global_init)(long flags);
	CURL *(*init)(void);
	void (*reset)(CURL *curl);
	void (*cleanup)(CURL *curl);
	CURLcode (*setopt)(CURL *curl, CURLoption option, ...);
	CURLcode (*perform)(CURL *curl);
	CURLcode (*getinfo)(CURL *curl, CURLINFO info, ...);
	const char *(*strerror)(CURLcode code);
	struct curl_slist *(*append)(struct curl_slist *list, const char *text);
	void (*free_list)(struct curl_slist *list);
};

struct http_client {
	struct http_library library;
	CURL *curl;
	char url[URL_BYTES];
	char shown[URL_SHOWN_BYTES]; /* The URL as it appears in messages. */
	char token[HTTP_TOKEN_BYTES + 1];
	char *ca_file;
	size_t answer_bytes;
	long timeout_ms;
	const atomic_bool *stop;
	char problem[CURL_ERROR_SIZE];
};

struct http_transfer {
	struct http_answer *answer;
	int64_t date_s; /* Date of the server in seconds since 1970; 0 if it sent none. */
	size_t most;
	bool is_too_long;
};

static bool http_library_find(struct http_library *l)
{
	*(void **)&l->global_init = dlsym(l->handle, "curl_global_init");
	*(void **)&l->init = dlsym(l->handle, "curl_easy_init");
	*(void **)&l->reset = dlsym(l->handle, "curl_easy_reset");
	*(void **)&l->cleanup = dlsym(l->handle, "curl_easy_cleanup");
	*(void **)&l->setopt = dlsym(l->handle, "curl_easy_setopt");
	*(void **)&l->perform = dlsym(l->handle, "curl_easy_perform");
	*(void **)&l->getinfo = dlsym(l->handle, "curl_easy_getinfo");
	*(void **)&l->strerror = dlsym(l->handle, "curl_easy_strerror");
	*(void **)&l->append = dlsym(l->handle, "curl_slist_append");
	*(void **)&l->free_list = dlsym(l->handle, "curl_slist_free_all");
	return l->global_init && l->init && l->reset && l->cleanup && l->setopt && l->perform && l->getinfo &&
	       l->strerror && l->append && l->free_list;
}

static enum tally_status http_library_open(struct http_library *l, struct tally_error *err)
{
	for (size_t i = 0; i < sizeof(http_libraries) / sizeof(http_libraries[0]); i++) {
		l->handle = shared_object_open(http_libraries[i], RTLD_NOW | RTLD_LOCAL);
		if (!l->handle)
			continue;
		if (http_library_find(l) && l->global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK)
			return TALLY_OK;
		dlclose(l->handle);
		l->handle = NULL;
	}
	return error_set(err, TALLY_UNSUPPORTED,
		"a server can only be reached with libcurl, which cannot be loaded (%s); install libcurl4",
		shared_object_error());
}

/* Copies the URL without slashes at its end. */
static enum tally_status http_client_take_url(struct http_client *client, const char *url, struct tally_error *err)
{
	size_t len = strlen(url);
	const char *host = strstr(url, "://");
	(void)url_shown(url, client->shown);
	if (!http_url_is_given(url) || !host || host[3] == '\0' || host[3] == '/')
		return error_set(err, TALLY_INVALID,
			"'%s' is no URL of a server: it begins with http:// or https:// and a host", client->shown);
	if (len >= sizeof(client->url) || strpbrk(url, " \t\r\n?#"))
		return error_set(err, TALLY_INVALID, "the URL of the server is too long, or has a blank, '?' or '#'");
	memcpy(client->url, url, len + 1);
	while (len && client->url[len - 1] == '/')
		client->url[--len] = '\0';
	return TALLY_OK;
}

enum tally_status http_client_create(
	const struct http_client_options *options, struct http_client **out, struct tally_error *err)
{
	struct http_client *client = calloc(1, sizeof(*client));
	if (!client)
		return error_nomem(err);
	client->answer_bytes = options->answer_bytes ? options->answer_bytes : HTTP_ANSWER_BYTES;
	client->timeout_ms = (options->timeout_s ? (long)options->timeout_s : TIMEOUT_S) * 1000;
	client->stop = options->stop;
	snprintf(client->token, sizeof(client->token), "%s", options->token ? options->token : "");
	enum tally_status status = http_client_take_url(client, options->url, err);
	if (status == TALLY_OK && options->ca_file && !(client->ca_file = strdup(options->ca_file)))
		status = error_nomem(err);
	if (status == TALLY_OK)
		status = http_library_open(&client->library, err);
	if (status == TALLY_OK && !(client->curl = client->library.init()))
		status = error_nomem(err);
	if (status != TALLY_OK) {
		http_client_destroy(client);
		return status;
	}
	*out = client;
	return TALLY_OK;
}

/* The library remains loaded, because what it started at its first use may still refer to it. */
void http_client_destroy(struct http_client *client)
{
	if (!client)
		return;
	if (client->curl)
		client->library.cleanup(client->curl);
	free(client->ca_file);
	free(client);
}

static size_t http_client_take_bytes(char *data, size_t size, size_t count, void *context)
{
	struct http_transfer *transfer = context;
	size_t len = size * count;
	struct text *body = &transfer->answer->body;
	transfer->is_too_long |= len > transfer->most - body->len;
	if (transfer->is_too_long)
		return 0;
	text_bytes(body, data, len);
	return body->failed ? 0 : len;
}

/* Parses "Date: Sat, 28 Nov 2026 22:48:53 GMT". */
static void http_client_take_date(struct http_transfer *transfer, const char *data, size_t len)
{
	static const char name[] = "date:";
	char line[64];
	struct tm date = {0};
	if (len < sizeof(name) || len >= sizeof(line) || strncasecmp(data, name, sizeof(name) - 1) != 0)
		return;
	memcpy(line, data + sizeof(name) - 1, len - (sizeof(name) - 1));
	line[len - (sizeof(name) - 1)] = '\0';
	if (strptime(line, " %a, %d %b %Y %H:%M:%S GMT", &date))
		transfer->date_s = (int64_t)timegm(&date);
}

/* Number of seconds by which the clock of this machine is ahead; 0 if the date lies between the two local times. */
static int64_t http_client_ahead(int64_t begin_s, int64_t end_s, int64_t date_s)
{
	if (date_s <= 0)
		return 0;
	if (begin_s > date_s + HTTP_DATE_S)
		return begin_s - date_s;
	return end_s + HTTP_DATE_S < date_s ? end_s - date_s : 0;
}

/* Called by curl for each header line. */
static size_t http_client_take_header(char *data, size_t size, size_t count, void *context)
{
	static const char wanted[] = "grpc-";
	struct http_transfer *transfer = context;
	struct text *grpc = &transfer->answer->grpc;
	size_t len = size * count;
	http_client_take_date(transfer, data, len);
	if (len > sizeof(wanted) && strncasecmp(data, wanted, sizeof(wanted) - 1) == 0 && grpc->len + len <= GRPC_BYTES)
		text_bytes(grpc, data, len);
	return grpc->failed ? 0 : len;
}

static int http_client_progress(void *context, curl_off_t all_down, curl_off_t down, curl_off_t all_up, curl_off_t up)
{
	const struct http_client *client = context;
	return client->stop && atomic_load(client->stop);
}

static void http_client_prepare(struct http_client *client, const char *url, struct http_transfer *transfer)
{
	const struct http_library *l = &client->library;
	l->reset(client->curl);
	client->problem[0] = '\0';
	(void)l->setopt(client->curl, CURLOPT_URL, url);
	(void)l->setopt(client->curl, CURLOPT_NOSIGNAL, 1L);
	(void)l->setopt(client->curl, PROTOCOLS_OPTION, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
	(void)l->setopt(client->curl, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_TIMEOUT_MS);
	(void)l->setopt(client->curl, CURLOPT_TIMEOUT_MS, client->timeout_ms);
	(void)l->setopt(client->curl, CURLOPT_USERAGENT, "tally/" TALLY_VERSION);
	(void)l->setopt(client->curl, CURLOPT_ERRORBUFFER, client->problem);
	(void)l->setopt(client->curl, CURLOPT_WRITEFUNCTION, http_client_take_bytes);
	(void)l->setopt(client->curl, CURLOPT_WRITEDATA, transfer);
	(void)l->setopt(client->curl, CURLOPT_HEADERFUNCTION, http_client_take_header);
	(void)l->setopt(client->curl, CURLOPT_HEADERDATA, transfer);
	(void)l->setopt(client->curl, CURLOPT_NOPROGRESS, 0L);
	(void)l->setopt(client->curl, CURLOPT_XFERINFOFUNCTION, http_client_progress);
	(void)l->setopt(client->curl, CURLOPT_XFERINFODATA, client);
	if (client->ca_file)
		(void)l->setopt(client->curl, CURLOPT_CAINFO, client->ca_file);
}

static bool http_client_add_header(
	const struct http_client *client, struct curl_slist **list, const char *name, const char *value)
{
	char line[HTTP_TOKEN_BYTES + 64];
	snprintf(line, sizeof(line), "%s: %s", name, value);
	struct curl_slist *longer = client->library.append(*list, line);
	if (longer)
		*list = longer;
	return longer != NULL;
}

static enum tally_status http_client_explain(
	struct http_client *client, CURLcode code, const struct http_transfer *transfer, struct tally_error *err)
{
	if (transfer->answer->body.failed || transfer->answer->grpc.failed || code == CURLE_OUT_OF_MEMORY)
		return error_nomem(err);
	if (code == CURLE_ABORTED_BY_CALLBACK)
		return error_set(err, TALLY_IO, "the request to %s was ended before it was answered", client->shown);
	if (transfer->is_too_long)
		return error_set(err, TALLY_LIMIT, "the answer of %s is longer than %zu bytes", client->shown,
			client->answer_bytes);
	return error_set(err, TALLY_IO, "cannot reach %s: %s", client->shown,
		client->problem[0] ? client->problem : client->library.strerror(code));
}

static enum tally_status http_client_perform(
	struct http_client *client, struct curl_slist *headers, struct http_transfer *transfer, struct tally_error *err)
{
	const struct http_library *l = &client->library;
	long status = 0;
	curl_off_t retry_after = 0;
	const char *redirect = NULL;
	(void)l->setopt(client->curl, CURLOPT_HTTPHEADER, headers);
	int64_t begin_s = (int64_t)time(NULL);
	CURLcode code = l->perform(client->curl);
	if (code != CURLE_OK)
		return http_client_explain(client, code, transfer, err);
	transfer->answer->ahead_s = http_client_ahead(begin_s, (int64_t)time(NULL), transfer->date_s);
	(void)l->getinfo(client->curl, CURLINFO_RESPONSE_CODE, &status);
#if LIBCURL_VERSION_NUM >= 0x074200
	if (l->getinfo(client->curl, CURLINFO_RETRY_AFTER, &retry_after) != CURLE_OK || retry_after < 0)
		retry_after = 0;
#endif
	if (l->getinfo(client->curl, CURLINFO_REDIRECT_URL, &redirect) == CURLE_OK && redirect)
		(void)url_shown(redirect, transfer->answer->redirect);
	transfer->answer->status = (unsigned)status;
	transfer->answer->retry_after_s = (unsigned)(retry_after < RETRY_AFTER_MAX_S ? retry_after : RETRY_AFTER_MAX_S);
	return TALLY_OK;
}

/* body is NULL for a GET request. */
static enum tally_status http_client_request(struct http_client *client, const char *path,
	const struct tally_bytes *body, const struct http_body_type *type, struct http_answer *answer,
	struct tally_error *err)
{
	char url[2 * URL_BYTES], token[HTTP_TOKEN_BYTES + 16];
	struct curl_slist *headers = NULL;
	struct http_transfer transfer = {.answer = answer, .most = client->answer_bytes};
	*answer = (struct http_answer){0};
	if ((size_t)snprintf(url, sizeof(url), "%s%s", client->url, path) >= sizeof(url))
		return error_set(err, TALLY_LIMIT, "a request to %s is too long: shorten the query", client->shown);
	http_client_prepare(client, url, &transfer);
	bool ok = true;
	snprintf(token, sizeof(token), "Bearer %s", client->token);
	if (client->token[0])
		ok = http_client_add_header(client, &headers, "Authorization", token);
	if (body) {
		(void)client->library.setopt(client->curl, CURLOPT_POST, 1L);
		(void)client->library.setopt(
			client->curl, CURLOPT_POSTFIELDS, body->data ? (const char *)body->data : "");
		(void)client->library.setopt(client->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body->len);
		/* An empty Expect header avoids a delay of a second with servers that do not answer "100 Continue". */
		ok = ok && http_client_add_header(client, &headers, "Expect", "");
		if (type->content_type)
			ok = ok && http_client_add_header(client, &headers, "Content-Type", type->content_type);
		if (type->content_encoding)
			ok = ok && http_client_add_header(client, &headers, "Content-Encoding", type->content_encoding);
	}
	enum tally_status status = ok ? http_client_perform(client, headers, &transfer, err) : error_nomem(err);
	client->library.free_list(headers);
	if (status != TALLY_OK)
		http_answer_deinit(answer);
	return status;
}

enum tally_status http_client_get(
	struct http_client *client, const char *path, struct http_answer *answer, struct tally_error *err)
{
	return http_client_request(client, path, NULL, NULL, answer, err);
}

enum tally_status http_client_post(struct http_client *client, const char *path, struct tally_bytes body,
	const struct http_body_type *type, struct http_answer *answer, struct tally_error *err)
{
	return http_client_request(client, path, &body, type, answer, err);
}

#else

enum tally_status http_client_create(
	const struct http_client_options *options, struct http_client **client, struct tally_error *err)
{
	return error_set(err, TALLY_UNSUPPORTED,
		"a server can only be reached with libcurl, which this program was built without");
}

void http_client_destroy(struct http_client *client)
{
}

enum tally_status http_client_get(
	struct http_client *client, const char *path, struct http_answer *answer, struct tally_error *err)
{
	return error_set(err, TALLY_UNSUPPORTED, "this program was built without libcurl");
}

enum tally_status http_client_post(struct http_client *client, const char *path, struct tally_bytes body,
	const struct http_body_type *type, struct http_answer *answer, struct tally_error *err)
{
	return error_set(err, TALLY_UNSUPPORTED, "this program was built without libcurl");
}

#endif
