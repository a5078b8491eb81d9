/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/fleet/fleet_store.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "tasks/fleet/answer_json.h"
#include "tasks/fleet/destinations.h"

#define ANSWER_S 120 /* Timeout for a server's answer, in seconds. */

struct fleet_store { /* Either client or database is set. */
	char *name;
	char shown[URL_SHOWN_BYTES]; /* The name as it is shown in messages. */
	struct destination server; /* Used with client; points into name. */
	struct http_client *client;
	struct store *database;
};

#define ROW(member) .offset = offsetof(struct fleet_store_options, member)

static const struct option fleet_store_rows[] = {
	{"token-file", 0, OPTION_STRING, "file", ROW(token_file),
		.help = "file with the server's token in its first line (default: the environment variable "
			"TALLY_TOKEN)"},
	{"ca-file", 0, OPTION_STRING, "file", ROW(ca_file),
		.help = "certificates to trust in place of the system's, in PEM"},
};
#undef ROW
const struct option_table fleet_store_option_table = {fleet_store_rows, ARRAY_LEN(fleet_store_rows), false};

static enum tally_status open_client(
	const struct fleet_store_options *options, struct fleet_store *store, struct tally_error *err)
{
	char token[HTTP_TOKEN_BYTES + 1];
	enum tally_status status = http_token_read(options->token_file, token, err);
	if (status == TALLY_OK)
		status = http_client_create(&(struct http_client_options){.url = store->server.url,
						    .token = token[0] ? token : NULL,
						    .ca_file = options->ca_file,
						    .timeout_s = ANSWER_S},
			&store->client, err);
	explicit_bzero(token, sizeof(token));
	return status;
}

static bool fleet_store_is_database(const char *url)
{
	return str_starts_with(str_from(url), STR("sqlite:")) || str_starts_with(str_from(url), STR("clickhouse:"));
}

enum tally_status fleet_store_open(
	const struct fleet_store_options *options, struct fleet_store **store, struct tally_error *err)
{
	struct fleet_store *made = calloc(1, sizeof(*made));
	if (!made)
		return error_nomem(err);
	made->name = strdup(options->url ? options->url : FLEET_STORE_USUAL);
	enum tally_status status = made->name ? TALLY_OK : error_nomem(err);
	(void)url_shown(made->name ? made->name : "", made->shown);
	bool is_server = made->name && destination_find(made->name, &made->server);
	if (is_server && made->server.kind != DESTINATION_SERVE && !options->may_write)
		status = error_set(err, TALLY_INVALID,
			"'%s' takes profiles, but this program cannot ask it: name a server of 'tally serve' or a "
			"database",
			made->shown);
	else if (is_server)
		status = open_client(options, made, err);
	else if (status == TALLY_OK && options->may_write && !fleet_store_is_database(made->name))
		status = error_set(err, TALLY_INVALID,
			"'%s' is not the URL of a store or server: use sqlite:FILE, clickhouse://HOST/DATABASE, "
			"" DESTINATION_FORMS,
			made->shown);
	else if (status == TALLY_OK)
		status = store_open(made->name, options->may_write, &made->database, err);
	if (status == TALLY_OK)
		*store = made;
	else
		fleet_store_close(made);
	return status;
}

void fleet_store_close(struct fleet_store *store)
{
	if (!store)
		return;
	http_client_destroy(store->client);
	store_close(store->database);
	free(store->name);
	free(store);
}

const char *fleet_store_name(const struct fleet_store *store)
{
	return store->shown;
}

void fleet_store_warn_exposed(const struct cli *cli, const struct store *store)
{
	const char *path = store_file(store);
	struct text shown = {0};
	if (!path || !file_is_exposed(path))
		return;
	text_visible(&shown, str_from(path));
	cli_sayf(
		"%s: warning: all users of this machine can read the profiles in %.*s: 'chmod o= %.*s*' changes that\n",
		cli->program, (int)shown.len, shown.data ? shown.data : "", (int)shown.len,
		shown.data ? shown.data : "");
	text_deinit(&shown);
}

void fleet_store_warn(const struct cli *cli, const struct fleet_store *store)
{
	if (store->database)
		fleet_store_warn_exposed(cli, store->database);
}

static enum tally_status ingest_bytes(
	struct fleet_store *store, struct tally_bytes bytes, struct batch_receipt *receipt, struct tally_error *err)
{
	struct fleet_batch *batch;
	struct store_receipt stored = {0};
	enum tally_status status = batch_unpack(bytes, &batch, err);
	if (status != TALLY_OK)
		return status;
	const struct fleet_batch *one = batch;
	stored.refused = fleet_batch_lacks(batch);
	if (!stored.refused)
		status = store_ingest(store->database, &one, 1, &stored, err);
	if (status == TALLY_OK) {
		*receipt = (struct batch_receipt){.samples = stored.samples,
			.outcome = stored.refused	  ? BATCH_REFUSED
				   : stored.lacks_symbols ? BATCH_LACKS_SYMBOLS
				   : stored.is_duplicate  ? BATCH_DUPLICATE
							  : BATCH_STORED};
		memcpy(receipt->store, store_id(store->database), sizeof(receipt->store));
		if (stored.refused)
			snprintf(receipt->sentence, sizeof(receipt->sentence), "%s", stored.refused);
	}
	fleet_batch_destroy(batch);
	return status;
}

enum tally_status fleet_store_send(
	struct fleet_store *store, struct tally_bytes bytes, struct batch_receipt *receipt, struct tally_error *err)
{
	return store->client ? destination_post(&store->server, store->client, bytes, receipt, err)
			     : ingest_bytes(store, bytes, receipt, err);
}

static void put_argument(struct text *path, const char *name, struct tally_str value)
{
	if (value.len == 0)
		return;
	text_printf(path, "&%s=", name);
	http_put_escaped(path, value);
}

static enum tally_status get_answer(struct fleet_store *store, const char *page, const struct fleet_question *question,
	struct http_answer *answer, struct tally_error *err)
{
	struct text path = {0};
	char sentence[320];
	text_printf(&path, "%s?from=%" PRIu64 "&until=%" PRIu64, page, question->begin_ns, question->end_ns);
	put_argument(&path, "query", question->query);
	put_argument(&path, "event", question->event);
	if (strcmp(page, "/api/v1/profile") == 0) {
		text_printf(&path, "&format=batch&threads=%d&merge=%d", question->by_thread, question->merges_labels);
		put_argument(&path, "by", question->kept_label);
	}
	text_char(&path, '\0');
	enum tally_status status =
		path.failed ? error_nomem(err) : http_client_get(store->client, path.data, answer, err);
	text_deinit(&path);
	if (status != TALLY_OK || answer->status == 200)
		return status;
	batch_answer_sentence(answer, sentence, sizeof(sentence));
	bool is_wrong = answer->status >= 400 && answer->status < 500;
	http_answer_deinit(answer);
	return error_set(err, is_wrong ? TALLY_INVALID : TALLY_IO, "%s: %s", store->shown, sentence);
}

static enum tally_status selection_of(const struct fleet_question *question, struct store_selection *selection,
	struct label_query **query, struct tally_error *err)
{
	*query = NULL;
	*selection = (struct store_selection){.begin_ns = question->begin_ns,
		.end_ns = question->end_ns,
		.event = question->event,
		.merges_labels = question->merges_labels,
		.kept_label = question->kept_label,
		.by_thread = question->by_thread};
	enum tally_status status = question->query.len ? label_query_parse(question->query, query, err) : TALLY_OK;
	selection->query = *query;
	return status;
}

enum tally_status fleet_store_ask(struct fleet_store *store, const struct fleet_question *question,
	struct fleet_batch **batch, struct tally_error *err)
{
	if (!store->client) {
		struct store_selection selection;
		struct label_query *query;
		enum tally_status status = selection_of(question, &selection, &query, err);
		if (status == TALLY_OK)
			status = store_query(store->database, &selection, batch, err);
		label_query_destroy(query);
		return status;
	}
	struct http_answer answer;
	enum tally_status status = get_answer(store, "/api/v1/profile", question, &answer, err);
	if (status != TALLY_OK)
		return status;
	status = batch_unpack((struct tally_bytes){(const uint8_t *)answer.body.data, answer.body.len}, batch, err);
	http_answer_deinit(&answer);
	return status == TALLY_OK ? status : error_prefix(err, "the answer of %s", store->shown);
}

static enum tally_status get_labels(struct fleet_store *store, const struct fleet_question *question,
	struct tally_str name, void (*take)(void *context, struct tally_str text), void *context,
	struct tally_error *err)
{
	struct http_answer answer;
	char page[64 + LABEL_NAME_BYTES];
	snprintf(page, sizeof(page), "/api/v1/labels%s%.*s", name.len ? "/" : "", (int)name.len, name.data);
	enum tally_status status = get_answer(store, page, question, &answer, err);
	if (status != TALLY_OK)
		return status;
	if (!answer_json_strings(text_view(&answer.body), name.len ? STR("values") : STR("labels"), take, context))
		status = error_set(err, TALLY_INVALID, "%s does not answer as 'tally serve' does", store->shown);
	http_answer_deinit(&answer);
	return status;
}

enum tally_status fleet_store_labels(struct fleet_store *store, const struct fleet_question *question,
	struct tally_str name, void (*take)(void *context, struct tally_str text), void *context,
	struct tally_error *err)
{
	struct store_selection selection;
	struct label_query *query;
	if (name.len > 0 && !label_name_is_valid(name))
		return error_set(err, TALLY_INVALID,
			"'%.*s' is not the name of a label: those have letters, digits and _", (int)MIN(name.len, 64),
			name.data);
	if (store->client)
		return get_labels(store, question, name, take, context, err);
	enum tally_status status = selection_of(question, &selection, &query, err);
	if (status == TALLY_OK)
		status = store_label_values(store->database, &selection, name, take, context, err);
	label_query_destroy(query);
	return status;
}
