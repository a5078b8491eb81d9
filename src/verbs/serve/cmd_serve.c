/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/own_home.h"
#include "base/url_text.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "tasks/fleet/fleet_store.h"
#include "tasks/fleet/fleet_time.h"
#include "tasks/session/record_words.h"
#include "verbs/serve/serve_address.h"
#include "verbs/serve/serve_api.h"

#define SERVE_NS_PER_S	 UINT64_C(1000000000)
#define BODY_BYTES	 ((size_t)16 << 20) /* Maximum size of a batch as it is received, before decompression. */
#define ALL_BODY_BYTES	 ((size_t)256 << 20)
#define CONNECTIONS	 1024
#define RATE		 200 /* Default limit of requests per second from one client. */
#define ALL_RATE_FACTOR	 10 /* The limit of all clients together is this multiple of that of one client. */
#define RECEIVE_S	 60
#define RECEIVE_MAX_NS	 (86400 * SERVE_NS_PER_S)
#define SERVE_SEND_S	 300
#define IDLE_S		 120
#define QUERY_S		 30
#define RETAIN_PERIOD_NS (60 * SERVE_NS_PER_S)
#define PEM_BYTES	 ((size_t)1 << 20)
#define ROOT_STORE	 "/var/lib/tally/store.db"
#define STORE_NAME	 "tally/store.db"

struct serve_settings {
	const char *store, *listen, *token_file, *read_token_file, *retain, *max_bytes, *certificate, *key, *query_time,
		*receive_time;
	uint64_t connections, rate;
	bool is_quiet;
};

struct serve_plan { /* The settings after parsing and with defaults filled in. */
	char *store_url, *certificate, *key;
	struct serve_address address;
	struct serve_tokens *writers, *readers; /* NULL if no tokens are required. */
	uint64_t retain_ns, max_bytes, query_ns; /* 0 if unlimited. */
	unsigned receive_s;
};

#define ROW(member) .offset = offsetof(struct serve_settings, member)

static const struct option serve_rows[] = {
	{"store", 0, OPTION_STRING, "url", ROW(store),
		.help = "where the profiles are kept: sqlite:PATH (default: $XDG_DATA_HOME/tally/store.db, or "
			"/var/lib/tally/store.db for root)"},
	{"listen", 0, OPTION_STRING, "address:port", ROW(listen),
		.help = "where to listen (default: 127.0.0.1:7779); other addresses than loopback need both kinds of "
			"tokens"},
	{"token-file", 0, OPTION_STRING, "file", ROW(token_file),
		.help = "file with the tokens of agents, one a line: who sends profiles must show one"},
	{"read-token-file", 0, OPTION_STRING, "file", ROW(read_token_file),
		.help = "file with the tokens of those who ask, one a line"},
	{"retain", 0, OPTION_STRING, "duration", ROW(retain),
		.help = "remove profiles that are older, such as 30d (default: keep all)"},
	{"max-bytes", 0, OPTION_STRING, "size", ROW(max_bytes),
		.help = "remove the oldest profiles when the store is larger, such as 50G (default: any size)"},
	{"tls-cert", 0, OPTION_STRING, "file", ROW(certificate), .help = "certificate for HTTPS, in PEM"},
	{"tls-key", 0, OPTION_STRING, "file", ROW(key), .help = "key of the certificate, in PEM"},
	{"connections", 0, OPTION_U64, "n", ROW(connections), .help = "connections at once, at most (default: 1024)"},
	{"rate", 0, OPTION_U64, "n", ROW(rate),
		.help = "requests a second that one client may make (default: 200); all together may make ten times as "
			"many"},
	{"query-time", 0, OPTION_STRING, "duration", ROW(query_time),
		.help = "time that a query may take in the store (default: 30s)"},
	{"receive-time", 0, OPTION_STRING, "duration", ROW(receive_time),
		.help = "time in which a request must have arrived (default: 60s)"},
	{"quiet", 'q', OPTION_FLAG, ROW(is_quiet), .help = "do not say where the server listens"},
};
#undef ROW
static const struct option_table serve_table = {serve_rows, ARRAY_LEN(serve_rows), false};

static enum tally_status default_store(char **url, struct tally_error *err)
{
	char home[PATH_MAX];
	const char *data = getenv("XDG_DATA_HOME");
	int length;
	if (geteuid() == 0)
		length = asprintf(url, "sqlite:" ROOT_STORE);
	else if (data && data[0] == '/')
		length = asprintf(url, "sqlite:%s/" STORE_NAME, data);
	else if (own_home(home))
		length = asprintf(url, "sqlite:%s/.local/share/" STORE_NAME, home);
	else
		return error_set(
			err, TALLY_NOT_FOUND, "there is no home folder: name a store with --store sqlite:PATH");
	return length < 0 ? error_nomem(err) : file_make_private_parents(*url + strlen("sqlite:"), err);
}

static enum tally_status read_tokens(
	const struct cli *cli, const char *path, struct serve_tokens **tokens, struct tally_error *err)
{
	struct stat file;
	if (!path)
		return TALLY_OK;
	*tokens = calloc(1, sizeof(**tokens));
	if (!*tokens)
		return error_nomem(err);
	enum tally_status status = serve_tokens_read(path, *tokens, err);
	if (status == TALLY_OK && stat(path, &file) == 0 && S_ISREG(file.st_mode) && file.st_mode & S_IRWXO)
		cli_sayf("%s: warning: other users can read the tokens in %s: 'chmod o= %s' changes that\n",
			cli->program, path, path);
	return status;
}

static enum tally_status read_pem(const char *path, char **text, struct tally_error *err)
{
	size_t len;
	enum tally_status status = file_read(path, PEM_BYTES, text, &len, err);
	return status == TALLY_OK ? status : error_prefix(err, "%s", path);
}

static enum tally_status check_access(
	const struct serve_settings *s, const struct serve_plan *plan, struct tally_error *err)
{
	if (serve_address_is_loopback(&plan->address) || (plan->writers && plan->readers))
		return TALLY_OK;
	return error_set(err, TALLY_INVALID,
		"--listen %s is open to other machines, so it needs tokens: name files with --token-file (of agents) "
		"and --read-token-file (of those who ask)",
		s->listen);
}

static enum tally_status plan_times(const struct serve_settings *s, struct serve_plan *plan, struct tally_error *err)
{
	bool has_unit;
	plan->query_ns = QUERY_S * SERVE_NS_PER_S;
	if (s->retain && (!fleet_duration_parse(str_from(s->retain), &plan->retain_ns) || plan->retain_ns == 0))
		return error_set(err, TALLY_INVALID, "--retain " FLEET_DURATION_EXPECTED);
	if (s->query_time && (!fleet_duration_parse(str_from(s->query_time), &plan->query_ns) || plan->query_ns == 0))
		return error_set(err, TALLY_INVALID, "--query-time " FLEET_DURATION_EXPECTED);
	uint64_t receive_ns = RECEIVE_S * SERVE_NS_PER_S;
	if (s->receive_time && (!fleet_duration_parse(str_from(s->receive_time), &receive_ns) || receive_ns == 0 ||
				       receive_ns > RECEIVE_MAX_NS))
		return error_set(err, TALLY_INVALID, "--receive-time expects a duration up to a day, such as '60s'");
	plan->receive_s = (unsigned)(receive_ns / SERVE_NS_PER_S);
	if (s->max_bytes && (!record_size_parse(s->max_bytes, &plan->max_bytes, &has_unit) || plan->max_bytes == 0))
		return error_set(err, TALLY_INVALID, "--max-bytes expects a size such as 500M or 50G");
	return TALLY_OK;
}

static enum tally_status make_serve_plan(
	const struct cli *cli, const struct serve_settings *s, struct serve_plan *plan, struct tally_error *err)
{
	enum tally_status status = serve_address_parse(s->listen, &plan->address, err);
	if (status != TALLY_OK)
		return error_prefix(err, "--listen");
	status = plan_times(s, plan, err);
	if (status == TALLY_OK)
		status = read_tokens(cli, s->token_file, &plan->writers, err);
	if (status == TALLY_OK)
		status = read_tokens(cli, s->read_token_file, &plan->readers, err);
	if (status == TALLY_OK)
		status = check_access(s, plan, err);
	if (status == TALLY_OK && s->certificate)
		status = read_pem(s->certificate, &plan->certificate, err);
	if (status == TALLY_OK && s->key)
		status = read_pem(s->key, &plan->key, err);
	if (status != TALLY_OK)
		return status;
	if (!s->store)
		return default_store(&plan->store_url, err);
	plan->store_url = strdup(s->store);
	return plan->store_url ? TALLY_OK : error_nomem(err);
}

static void tell_start(const struct cli *cli, const struct serve_plan *plan, const struct http_server *server)
{
	struct text line = {0};
	text_printf(&line, "[ %s serve: %s://", cli->program, plan->certificate ? "https" : "http");
	serve_address_print(&line, &plan->address, http_server_port(server));
	text_str(&line, "/ keeps profiles in ");
	text_url(&line, str_from(plan->store_url));
	text_str(&line, " ]\n");
	cli_say_rows((struct tally_str){line.data, line.len});
	text_deinit(&line);
	if (!plan->certificate && !serve_address_is_loopback(&plan->address))
		cli_sayf("%s: warning: without --tls-cert and --tls-key, tokens and profiles cross the network "
			 "unencrypted\n",
			cli->program);
}

static void serve_figures(void *context, struct http_server_figures *figures)
{
	struct http_server **server = context;
	struct http_server *started = __atomic_load_n(server, __ATOMIC_ACQUIRE);
	*figures = started ? http_server_figures(started) : (struct http_server_figures){0};
}

/* Runs periodic work until SIGINT or SIGTERM, which the caller has blocked. */
static void serve_until_told(
	struct serve_api *api, const struct serve_plan *plan, struct http_server *server, const sigset_t *ending)
{
	uint64_t retained_ns = 0;
	for (;;) {
		int number = sigtimedwait(ending, NULL, &(struct timespec){1, 0});
		if (number > 0)
			return;
		http_server_tick(server);
		uint64_t now = clock_ns();
		if ((plan->retain_ns == 0 && plan->max_bytes == 0) ||
			(retained_ns != 0 && now - retained_ns < RETAIN_PERIOD_NS))
			continue;
		uint64_t wall = fleet_time_now();
		bool has_more =
			serve_api_retain(api, plan->retain_ns ? wall - MIN(wall, plan->retain_ns) : 0, plan->max_bytes);
		retained_ns = has_more ? 0 : now;
	}
}

static enum tally_status serve_run(const struct cli *cli, const struct serve_settings *s, const struct serve_plan *plan,
	struct serve_api *api, struct tally_error *err)
{
	struct http_server *server = NULL, *told = NULL;
	sigset_t ending;
	sigemptyset(&ending);
	sigaddset(&ending, SIGINT);
	sigaddset(&ending, SIGTERM);
	const struct http_server_settings settings = {.address = (const struct sockaddr *)&plan->address.socket,
		.address_bytes = plan->address.bytes,
		.certificate = plan->certificate,
		.key = plan->key,
		.body_bytes = BODY_BYTES,
		.all_body_bytes = ALL_BODY_BYTES,
		.connections = (unsigned)s->connections,
		.client_connections = (unsigned)s->connections / 2 + 1,
		.client_rate = (double)s->rate,
		.all_rate = (double)s->rate * ALL_RATE_FACTOR,
		.receive_s = plan->receive_s,
		.send_s = SERVE_SEND_S,
		.idle_s = IDLE_S,
		.admit = serve_api_admit,
		.answer = serve_api_answer,
		.context = api};
	api->figures = serve_figures;
	api->figures_context = &told;
	/* These signals stay blocked, so that a second one does not interrupt the orderly shutdown that the first
	 * one started. */
	pthread_sigmask(SIG_BLOCK, &ending, NULL);
	enum tally_status status = http_server_start(&settings, &server, err);
	if (status == TALLY_OK) {
		__atomic_store_n(&told, server, __ATOMIC_RELEASE);
		if (!s->is_quiet)
			tell_start(cli, plan, server);
		serve_until_told(api, plan, server, &ending);
		http_server_stop(server);
	}
	return status == TALLY_OK ? status : error_prefix(err, "%s", s->listen);
}

static enum tally_status serve_stores(
	const struct cli *cli, const struct serve_settings *s, const struct serve_plan *plan, struct tally_error *err)
{
	struct serve_api api = {.writers = plan->writers,
		.readers = plan->readers,
		.is_local = !plan->writers || !plan->readers,
		.program = cli->program,
		.query_ns = plan->query_ns};
	enum tally_status status = store_open(plan->store_url, true, &api.writer.store, err);
	if (status != TALLY_OK)
		return status;
	fleet_store_warn_exposed(cli, api.writer.store);
	status = store_open(plan->store_url, false, &api.reader.store, err);
	if (status == TALLY_OK && !serve_api_init(&api))
		status = error_set_errno(err, TALLY_IO, errno, "cannot make a lock");
	if (status == TALLY_OK) {
		status = serve_run(cli, s, plan, &api, err);
		serve_api_deinit(&api);
	}
	store_close(api.reader.store);
	store_close(api.writer.store);
	return status;
}

static int cmd_serve_run(const struct cli *cli, const struct command *command, int argc, char **argv)
{
	struct serve_settings s = {.listen = SERVE_ADDRESS_USUAL, .connections = CONNECTIONS, .rate = RATE};
	struct serve_plan plan = {0};
	struct tally_error err;
	int rest;
	int code = cli_parse_options(cli, command, argc, argv, &s, &rest);
	if (code != CLI_GO_ON)
		return code;
	if (rest < argc)
		return cli_usagef(cli, command, NULL, "unexpected argument '%s'", argv[rest]);
	if (!s.certificate != !s.key)
		return cli_usagef(cli, command, "tls-cert,tls-key", "--tls-cert and --tls-key need each other");
	if (s.connections == 0 || s.connections > UINT16_MAX)
		return cli_usagef(
			cli, command, "connections", "--connections expects a number from 1 to %d", UINT16_MAX);
	enum tally_status status = make_serve_plan(cli, &s, &plan, &err);
	if (status == TALLY_OK)
		status = serve_stores(cli, &s, &plan, &err);
	if (plan.key)
		explicit_bzero(plan.key, strlen(plan.key));
	free(plan.store_url);
	free(plan.certificate);
	free(plan.key);
	free(plan.writers);
	free(plan.readers);
	return status == TALLY_OK ? 0 : cli_fail(cli, &err);
}

static const char *const serve_usages[] = {"[<options>]", NULL};
static const char *const serve_examples[] = {
	"keep profiles of this machine, and show them at http://127.0.0.1:7779/",
	"tally serve",
	"for a team: other machines may send and ask, with tokens, over TLS",
	"tally serve --listen 0.0.0.0:7779 --token-file agents --read-token-file people --tls-cert cert.pem --tls-key "
	"key.pem --retain 30d",
	NULL,
};

const struct command command_serve = {
	.name = "serve",
	.summary = "Keep the profiles of many machines, and answer queries about them",
	.usages = serve_usages,
	.options = &serve_table,
	.description =
		"Takes profiles from 'tally agent' and 'tally push' over HTTP, keeps them in a database and answers "
		"queries: by a web page, by 'tally fleet', as pprof, folded stacks, JSON, and as metrics for "
		"Prometheus.\n\nA batch that was acknowledged is on disk. SIGTERM and Ctrl-C end the server after the "
		"requests that have begun. docs/fleet.md describes the requests, tokens and limits.",
	.examples = serve_examples,
	.run = cmd_serve_run,
};
