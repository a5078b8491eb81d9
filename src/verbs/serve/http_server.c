/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/serve/http_server.h"

#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/shared_object.h"
#include "tally_config.h"
#include "verbs/serve/request_rate.h"

#if HAVE_MICROHTTPD
#include <microhttpd.h>

#define LIBRARY		     "libmicrohttpd.so.12"
#define HTTP_SERVER_NS_PER_S UINT64_C(1000000000)
#define HEADER_BYTES	     ((size_t)32 << 10) /* Maximum size of a request line with headers and arguments. */
#define STACK_BYTES	     ((size_t)1 << 20) /* Stack size of the thread of a connection. */
#define DISCARD_FACTOR \
	4 /* A larger body is read up to this multiple of the limit, so that the client receives the error response. */
/* Parameters of MHD_AccessHandlerCallback. */
#define HTTP_HANDLER_PARAMETERS                                                                                \
	void *context, struct MHD_Connection *link, const char *path, const char *method, const char *version, \
		const char *data, size_t *bytes, void **own
#define DRAIN_STEP_NS 20000000
#define DRAIN_S	      10

struct microhttpd {
	void *handle;
	__typeof__(&MHD_start_daemon) start;
	__typeof__(&MHD_stop_daemon) stop;
	__typeof__(&MHD_quiesce_daemon) quiesce;
	__typeof__(&MHD_is_feature_supported) supports;
	__typeof__(&MHD_create_response_from_buffer) from_buffer;
	__typeof__(&MHD_create_response_from_fd64) from_fd;
	__typeof__(&MHD_add_response_header) add_header;
	__typeof__(&MHD_queue_response) queue;
	__typeof__(&MHD_destroy_response) destroy_response;
	__typeof__(&MHD_get_connection_values_n) values;
	__typeof__(&MHD_get_connection_info) info;
};

struct http_connection { /* An element of the server's list of connections, which the server's lock protects. */
	struct http_connection *previous, *next;
	int fd;
	uint64_t due_ns; /* Time at which the connection is closed; 0 while the server works on its request. */
};

struct http_exchange { /* A request and its body, until the response has been sent. */
	struct arena arena;
	struct http_request request;
	struct text body;
	size_t received; /* Bytes of the body received, including discarded ones. */
	size_t held; /* Bytes that count towards the server's held_bytes. */
	bool is_too_large, is_busy;
};

struct http_server {
	struct http_server_settings settings;
	struct microhttpd library;
	struct MHD_Daemon *daemon;
	unsigned port;
	pthread_mutex_t lock; /* Protects all following members. */
	struct http_connection *connections;
	struct request_rate *rate;
	struct http_server_figures figures;
	size_t held_bytes, exchanges;
};

static bool microhttpd_load(struct microhttpd *l)
{
	l->handle = shared_object_open(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!l->handle)
		return false;
	*(void **)&l->start = dlsym(l->handle, "MHD_start_daemon");
	*(void **)&l->stop = dlsym(l->handle, "MHD_stop_daemon");
	*(void **)&l->quiesce = dlsym(l->handle, "MHD_quiesce_daemon");
	*(void **)&l->supports = dlsym(l->handle, "MHD_is_feature_supported");
	*(void **)&l->from_buffer = dlsym(l->handle, "MHD_create_response_from_buffer");
	*(void **)&l->from_fd = dlsym(l->handle, "MHD_create_response_from_fd64");
	*(void **)&l->add_header = dlsym(l->handle, "MHD_add_response_header");
	*(void **)&l->queue = dlsym(l->handle, "MHD_queue_response");
	*(void **)&l->destroy_response = dlsym(l->handle, "MHD_destroy_response");
	*(void **)&l->values = dlsym(l->handle, "MHD_get_connection_values_n");
	*(void **)&l->info = dlsym(l->handle, "MHD_get_connection_info");
	return l->start && l->stop && l->quiesce && l->supports && l->from_buffer && l->from_fd && l->add_header &&
	       l->queue && l->destroy_response && l->values && l->info;
}

static void http_server_set_due(struct http_server *server, struct http_connection *connection, unsigned seconds)
{
	if (!connection)
		return;
	pthread_mutex_lock(&server->lock);
	connection->due_ns = seconds ? clock_ns() + seconds * HTTP_SERVER_NS_PER_S : 0;
	pthread_mutex_unlock(&server->lock);
}

/* Called by libmicrohttpd when a connection starts or ends. */
static void http_server_notify(
	void *context, struct MHD_Connection *link, void **own, enum MHD_ConnectionNotificationCode code)
{
	struct http_server *server = context;
	struct http_connection *connection = *own;
	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		const union MHD_ConnectionInfo *info = server->library.info(link, MHD_CONNECTION_INFO_CONNECTION_FD);
		connection = calloc(1, sizeof(*connection));
		*own = connection;
		if (!connection || !info) {
			if (info)
				shutdown(info->connect_fd, SHUT_RDWR);
			free(connection);
			*own = NULL;
			return;
		}
		connection->fd = info->connect_fd;
		connection->due_ns = clock_ns() + server->settings.receive_s * HTTP_SERVER_NS_PER_S;
		pthread_mutex_lock(&server->lock);
		connection->next = server->connections;
		if (connection->next)
			connection->next->previous = connection;
		server->connections = connection;
		server->figures.connections++;
		pthread_mutex_unlock(&server->lock);
	} else if (connection) {
		pthread_mutex_lock(&server->lock);
		if (connection->previous)
			connection->previous->next = connection->next;
		else
			server->connections = connection->next;
		if (connection->next)
			connection->next->previous = connection->previous;
		server->figures.connections--;
		pthread_mutex_unlock(&server->lock);
		free(connection);
		*own = NULL;
	}
}

static struct http_connection *http_server_connection(const struct http_server *server, struct MHD_Connection *link)
{
	const union MHD_ConnectionInfo *info = server->library.info(link, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	return info ? info->socket_context : NULL;
}

struct http_pair_list {
	struct arena *arena;
	struct http_pair *items;
	size_t count;
	bool is_full; /* The request has more than HTTP_REQUEST_PAIRS pairs. */
	bool failed; /* Out of memory. */
};

static enum MHD_Result http_server_add_pair(void *context, enum MHD_ValueKind kind, const char *key, size_t key_bytes,
	const char *value, size_t value_bytes)
{
	(void)kind;
	struct http_pair_list *list = context;
	if (list->count == HTTP_REQUEST_PAIRS) {
		list->is_full = true;
		return MHD_NO;
	}
	const char *name = arena_string(list->arena, key ? key : "", key ? key_bytes : 0);
	const char *text = arena_string(list->arena, value ? value : "", value ? value_bytes : 0);
	list->failed = !name || !text;
	if (list->failed)
		return MHD_NO;
	list->items[list->count++] = (struct http_pair){{name, key ? key_bytes : 0}, {text, value ? value_bytes : 0}};
	return MHD_YES;
}

static void http_server_read_pairs(const struct http_server *server, struct MHD_Connection *link,
	enum MHD_ValueKind kind, struct arena *arena, struct http_pair_list *list)
{
	*list = (struct http_pair_list){
		.arena = arena, .items = arena_array(arena, struct http_pair, HTTP_REQUEST_PAIRS)};
	list->failed = !list->items;
	if (!list->failed)
		server->library.values(link, kind, http_server_add_pair, list);
}

static void http_server_release(struct http_server *server, struct http_exchange *exchange)
{
	pthread_mutex_lock(&server->lock);
	server->held_bytes -= exchange->held;
	server->exchanges--;
	pthread_mutex_unlock(&server->lock);
	text_deinit(&exchange->body);
	arena_deinit(&exchange->arena);
	free(exchange);
}

/* Returns NULL if out of memory or if the request has too many headers or arguments (*is_full). */
static struct http_exchange *http_server_begin(
	struct http_server *server, struct MHD_Connection *link, const char *path, const char *method, bool *is_full)
{
	struct http_exchange *exchange = calloc(1, sizeof(*exchange));
	struct http_pair_list arguments, headers;
	*is_full = false;
	if (!exchange)
		return NULL;
	arena_init(&exchange->arena);
	pthread_mutex_lock(&server->lock);
	server->figures.requests++;
	server->exchanges++;
	pthread_mutex_unlock(&server->lock);
	const char *own_path = arena_string(&exchange->arena, path, strlen(path));
	const char *own_method = arena_string(&exchange->arena, method, strlen(method));
	http_server_read_pairs(server, link, MHD_GET_ARGUMENT_KIND, &exchange->arena, &arguments);
	http_server_read_pairs(server, link, MHD_HEADER_KIND, &exchange->arena, &headers);
	*is_full = arguments.is_full || headers.is_full;
	if (!own_path || !own_method || *is_full || arguments.failed || headers.failed) {
		http_server_release(server, exchange);
		return NULL;
	}
	exchange->request = (struct http_request){.method = str_from(own_method),
		.path = str_from(own_path),
		.arguments = arguments.items,
		.argument_count = arguments.count,
		.headers = headers.items,
		.header_count = headers.count};
	return exchange;
}

static bool http_server_set_headers(
	const struct microhttpd *l, struct MHD_Response *made, const struct http_response *response)
{
	char text[128];
	bool is_set = l->add_header(made, "Content-Type", response->type ? response->type : "text/plain") == MHD_YES;
	/* Responses are data: browsers must not interpret them as HTML, embed them in frames of other sites, or
	 * cache them. */
	is_set &= l->add_header(made, "X-Content-Type-Options", "nosniff") == MHD_YES;
	is_set &= l->add_header(made, "X-Frame-Options", "SAMEORIGIN") == MHD_YES;
	is_set &= l->add_header(made, "Cache-Control", "no-store") == MHD_YES;
	if (response->encoding)
		is_set &= l->add_header(made, "Content-Encoding", response->encoding) == MHD_YES;
	if (response->policy)
		is_set &= l->add_header(made, "Content-Security-Policy", response->policy) == MHD_YES;
	if (response->allow)
		is_set &= l->add_header(made, "Allow", response->allow) == MHD_YES;
	if (response->asks_for_token)
		is_set &= l->add_header(made, "WWW-Authenticate", "Bearer") == MHD_YES;
	if (response->file_name) {
		snprintf(text, sizeof(text), "attachment; filename=\"%s\"", response->file_name);
		is_set &= l->add_header(made, "Content-Disposition", text) == MHD_YES;
	}
	if (response->retry_after_s) {
		snprintf(text, sizeof(text), "%u", response->retry_after_s);
		is_set &= l->add_header(made, "Retry-After", text) == MHD_YES;
	}
	return is_set;
}

static struct MHD_Response *http_server_make_response(const struct microhttpd *l, struct http_response *response)
{
	struct stat file;
	if (response->fd >= 0 && fstat(response->fd, &file) == 0) {
		struct MHD_Response *made = l->from_fd((uint64_t)file.st_size, response->fd);
		if (made)
			response->fd = -1; /* libmicrohttpd closes the file. */
		return made;
	}
	if (response->fd >= 0 || response->body.failed)
		return NULL;
	struct MHD_Response *made = l->from_buffer(response->body.len, response->body.data,
		response->body.data ? MHD_RESPMEM_MUST_FREE : MHD_RESPMEM_PERSISTENT);
	if (made)
		response->body = (struct text){0};
	return made;
}

/* Queues the response, and frees it. */
static enum MHD_Result http_server_send(
	struct http_server *server, struct MHD_Connection *link, struct http_response *response)
{
	const struct microhttpd *l = &server->library;
	struct MHD_Response *made = http_server_make_response(l, response);
	enum MHD_Result result = MHD_NO;
	if (made && http_server_set_headers(l, made, response))
		result = l->queue(link, response->status ? response->status : HTTP_FAILED, made);
	if (made)
		l->destroy_response(made);
	http_response_deinit(response);
	http_server_set_due(server, http_server_connection(server, link), server->settings.send_s);
	return result;
}

static bool http_server_may_come(struct http_server *server, struct MHD_Connection *link)
{
	const union MHD_ConnectionInfo *info = server->library.info(link, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	pthread_mutex_lock(&server->lock);
	bool passes = request_rate_take(server->rate, info ? info->client_addr : NULL, clock_ns());
	server->figures.busy_refusals += !passes;
	pthread_mutex_unlock(&server->lock);
	return passes;
}

/* Decides about a request after its headers were received, before its body. */
static enum MHD_Result http_server_admit(
	struct http_server *server, struct MHD_Connection *link, struct http_exchange *exchange)
{
	struct http_response response = HTTP_RESPONSE_EMPTY;
	uint64_t length;
	struct tally_str announced = http_request_header(&exchange->request, STR("Content-Length"));
	if (!http_server_may_come(server, link)) {
		http_response_error(&response, HTTP_TOO_MANY, "too many requests: try again in a second");
		response.retry_after_s = 1;
	} else if (str_to_u64(announced, 10, &length) && length > server->settings.body_bytes) {
		http_response_error(&response, HTTP_TOO_LARGE, "the body has %llu bytes, and the limit is %zu",
			(unsigned long long)length, server->settings.body_bytes);
	} else {
		server->settings.admit(server->settings.context, &exchange->request, &response);
	}
	if (response.status)
		return http_server_send(server, link, &response);
	http_response_deinit(&response);
	return MHD_YES;
}

static bool http_server_hold(struct http_server *server, struct http_exchange *exchange, size_t bytes)
{
	pthread_mutex_lock(&server->lock);
	bool fits = bytes <= server->settings.all_body_bytes - MIN(server->held_bytes, server->settings.all_body_bytes);
	if (fits) {
		server->held_bytes += bytes;
		exchange->held += bytes;
	}
	pthread_mutex_unlock(&server->lock);
	return fits;
}

/* Appends a part of the body. MHD_NO closes the connection without a response. */
static enum MHD_Result http_server_take(
	struct http_server *server, struct http_exchange *exchange, const char *data, size_t bytes)
{
	size_t limit = server->settings.body_bytes;
	exchange->received += bytes;
	if (exchange->received > limit) {
		exchange->is_too_large = true;
		text_deinit(&exchange->body);
		return exchange->received > limit * DISCARD_FACTOR ? MHD_NO : MHD_YES;
	}
	if (!exchange->is_busy && !http_server_hold(server, exchange, bytes)) {
		exchange->is_busy = true;
		text_deinit(&exchange->body);
	}
	if (!exchange->is_busy)
		text_bytes(&exchange->body, data, bytes);
	return MHD_YES;
}

static enum MHD_Result http_server_answer(
	struct http_server *server, struct MHD_Connection *link, struct http_exchange *exchange)
{
	struct http_response response = HTTP_RESPONSE_EMPTY;
	http_server_set_due(server, http_server_connection(server, link), 0);
	if (exchange->is_too_large) {
		http_response_error(
			&response, HTTP_TOO_LARGE, "the body has more than %zu bytes", server->settings.body_bytes);
	} else if (exchange->is_busy || exchange->body.failed) {
		http_response_error(&response, HTTP_UNAVAILABLE, "too many bodies are on their way: try again later");
		response.retry_after_s = 5;
	} else {
		struct text *body = &exchange->body;
		exchange->request.body = (struct tally_bytes){(const uint8_t *)body->data, body->len};
		server->settings.answer(server->settings.context, &exchange->request, &response);
	}
	return http_server_send(server, link, &response);
}

/* Called by libmicrohttpd: first without a body, then with each part of it, and finally without data for the
 * response. */
static enum MHD_Result http_server_handle(HTTP_HANDLER_PARAMETERS)
{
	(void)version;
	struct http_server *server = context;
	struct http_exchange *exchange = *own;
	if (!exchange) {
		bool is_full;
		*own = exchange = http_server_begin(server, link, path, method, &is_full);
		if (exchange)
			return http_server_admit(server, link, exchange);
		struct http_response response = HTTP_RESPONSE_EMPTY;
		if (is_full)
			http_response_error(&response, HTTP_BAD_REQUEST,
				"the request has more than %d headers or arguments", HTTP_REQUEST_PAIRS);
		else
			http_response_error(
				&response, HTTP_UNAVAILABLE, "the server is out of memory: try again later");
		return http_server_send(server, link, &response);
	}
	if (*bytes > 0) {
		enum MHD_Result result = http_server_take(server, exchange, data, *bytes);
		*bytes = 0;
		return result;
	}
	return http_server_answer(server, link, exchange);
}

static void http_server_complete(
	void *context, struct MHD_Connection *link, void **own, enum MHD_RequestTerminationCode code)
{
	(void)code;
	struct http_server *server = context;
	if (*own)
		http_server_release(server, *own);
	*own = NULL;
	http_server_set_due(server, http_server_connection(server, link), server->settings.idle_s);
}

static enum tally_status http_server_listen(struct http_server *server, int *fd, struct tally_error *err)
{
	const struct http_server_settings *s = &server->settings;
	struct sockaddr_storage bound;
	socklen_t bytes = sizeof(bound);
	int one = 1, made = socket(s->address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (made < 0)
		return error_set_errno(err, TALLY_IO, errno, "socket");
	if (setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) != 0 ||
		bind(made, s->address, s->address_bytes) != 0 || listen(made, SOMAXCONN) != 0 ||
		getsockname(made, (struct sockaddr *)&bound, &bytes) != 0) {
		error_set_errno(err, TALLY_IO, errno, "cannot listen there");
		close(made);
		return TALLY_IO;
	}
	server->port = ntohs(bound.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&bound)->sin6_port
							 : ((struct sockaddr_in *)&bound)->sin_port);
	*fd = made;
	return TALLY_OK;
}

/* Signals are blocked during the start, because the library's threads inherit the signal mask. */
static struct MHD_Daemon *http_server_start_daemon(struct http_server *server, int fd)
{
	const struct http_server_settings *s = &server->settings;
	sigset_t blocked, before;
	sigemptyset(&blocked);
	const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
	for (size_t i = 0; i < ARRAY_LEN(signals); i++)
		sigaddset(&blocked, signals[i]);
	struct MHD_OptionItem tls[] = {{MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)(uintptr_t)s->certificate},
		{MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)(uintptr_t)s->key}, {MHD_OPTION_END, 0, NULL}};
	unsigned flags = MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL | MHD_USE_ITC;
	pthread_sigmask(SIG_BLOCK, &blocked, &before);
	struct MHD_Daemon *daemon = server->library.start(flags | (s->certificate ? MHD_USE_TLS : 0), 0, NULL, NULL,
		http_server_handle, server, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_NOTIFY_COMPLETED,
		http_server_complete, server, MHD_OPTION_NOTIFY_CONNECTION, http_server_notify, server,
		MHD_OPTION_CONNECTION_LIMIT, s->connections, MHD_OPTION_PER_IP_CONNECTION_LIMIT, s->client_connections,
		MHD_OPTION_CONNECTION_TIMEOUT, s->idle_s, MHD_OPTION_CONNECTION_MEMORY_LIMIT, HEADER_BYTES,
		MHD_OPTION_THREAD_STACK_SIZE, STACK_BYTES, MHD_OPTION_ARRAY, s->certificate ? tls : &tls[2],
		MHD_OPTION_END);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return daemon;
}

static void http_server_free(struct http_server *server)
{
	if (server->library.handle)
		dlclose(server->library.handle);
	pthread_mutex_destroy(&server->lock);
	free(server->rate);
	free(server);
}

static enum tally_status http_server_open(struct http_server *server, struct tally_error *err)
{
	int fd = -1;
	if (!microhttpd_load(&server->library))
		return error_set(err, TALLY_UNSUPPORTED,
			"serving needs libmicrohttpd, which is not installed (" LIBRARY ", Debian's package "
			"libmicrohttpd12)");
	if (server->settings.certificate && server->library.supports(MHD_FEATURE_TLS) != MHD_YES)
		return error_set(err, TALLY_UNSUPPORTED, "this libmicrohttpd was built without TLS");
	enum tally_status status = http_server_listen(server, &fd, err);
	if (status != TALLY_OK)
		return status;
	errno = 0;
	server->daemon = http_server_start_daemon(server, fd);
	if (server->daemon)
		return TALLY_OK;
	close(fd);
	return error_set(err, TALLY_INVALID,
		server->settings.certificate
			? "libmicrohttpd does not start: are the certificate and its key valid PEM?"
			: "libmicrohttpd does not start");
}

enum tally_status http_server_start(
	const struct http_server_settings *settings, struct http_server **server, struct tally_error *err)
{
	struct http_server *made = calloc(1, sizeof(*made));
	struct request_rate *rate = calloc(1, sizeof(*rate));
	if (!made || !rate) {
		free(made);
		free(rate);
		return error_nomem(err);
	}
	*rate = (struct request_rate){.each = settings->client_rate, .all = settings->all_rate};
	made->settings = *settings;
	made->rate = rate;
	pthread_mutex_init(&made->lock, NULL);
	enum tally_status status = http_server_open(made, err);
	if (status != TALLY_OK)
		http_server_free(made);
	else
		*server = made;
	return status;
}

unsigned http_server_port(const struct http_server *server)
{
	return server->port;
}

void http_server_tick(struct http_server *server)
{
	uint64_t now = clock_ns();
	pthread_mutex_lock(&server->lock);
	for (struct http_connection *c = server->connections; c; c = c->next) {
		if (c->due_ns == 0 || c->due_ns > now)
			continue;
		/* The thread of the connection detects the shutdown and closes the socket. */
		shutdown(c->fd, SHUT_RDWR);
		c->due_ns = 0;
		server->figures.slow_connections++;
	}
	pthread_mutex_unlock(&server->lock);
}

struct http_server_figures http_server_figures(struct http_server *server)
{
	pthread_mutex_lock(&server->lock);
	struct http_server_figures figures = server->figures;
	pthread_mutex_unlock(&server->lock);
	return figures;
}

static bool http_server_is_idle(struct http_server *server)
{
	pthread_mutex_lock(&server->lock);
	bool is_idle = server->exchanges == 0;
	pthread_mutex_unlock(&server->lock);
	return is_idle;
}

void http_server_stop(struct http_server *server)
{
	uint64_t due = clock_ns() + DRAIN_S * HTTP_SERVER_NS_PER_S;
	int fd = server->library.quiesce(server->daemon);
	while (!http_server_is_idle(server) && clock_ns() < due)
		nanosleep(&(struct timespec){0, DRAIN_STEP_NS}, NULL);
	server->library.stop(server->daemon);
	if (fd >= 0)
		close(fd);
	http_server_free(server);
}

#else

enum tally_status http_server_start(
	const struct http_server_settings *settings, struct http_server **server, struct tally_error *err)
{
	(void)settings;
	(void)server;
	return error_set(err, TALLY_UNSUPPORTED, "serving: this tally was built without libmicrohttpd");
}

unsigned http_server_port(const struct http_server *server)
{
	(void)server;
	return 0;
}

void http_server_tick(struct http_server *server)
{
	(void)server;
}

struct http_server_figures http_server_figures(struct http_server *server)
{
	(void)server;
	return (struct http_server_figures){0};
}

void http_server_stop(struct http_server *server)
{
	(void)server;
}

#endif
