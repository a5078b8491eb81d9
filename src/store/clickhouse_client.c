/* SPDX-License-Identifier: Apache-2.0 */
#include "store/clickhouse_client.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/url_text.h"
#include "fleet/http_client.h"
#include "store/store_backend.h"

#define CLICKHOUSE_PORT	       "8123"
#define CLICKHOUSE_TLS_PORT    "8443"
#define CLICKHOUSE_NAME_BYTES  64
#define CLICKHOUSE_ANSWER_MAX  ((size_t)1 << 30)
#define CLICKHOUSE_ERROR_BYTES 300 /* Maximum length of the server's message. */
#define CLICKHOUSE_SECOND_NS   UINT64_C(1000000000)
#define CLICKHOUSE_OK	       200
/* Beginning of the message for a statement that max_execution_time ended. */
#define CLICKHOUSE_TIMEOUT "Code: 159,"
/* Statements that list IDs are long. With wait_end_of_query, the answer comes only after the statement has
 * succeeded. */
#define CLICKHOUSE_SETTINGS "wait_end_of_query=1&max_query_size=1000000000&max_ast_elements=100000000"

struct clickhouse_client {
	struct http_client *http;
	char database[CLICKHOUSE_NAME_BYTES];
	uint64_t deadline_ns; /* Deadline of statements by clock_ns; 0 if there is none. */
};

/* ---- URL of the store ---- */

struct clickhouse_place {
	struct tally_str user, password, host, port, database;
	bool has_password, uses_tls;
};

static bool clickhouse_is_identifier(struct tally_str name)
{
	for (size_t i = 0; i < name.len; i++) {
		char c = name.data[i];
		bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
		if (!is_letter && (i == 0 || c < '0' || c > '9'))
			return false;
	}
	return name.len > 0 && name.len < CLICKHOUSE_NAME_BYTES;
}

/* Cuts text at the last sign, because an unescaped password may contain the sign. */
static bool clickhouse_cut_last(struct tally_str *text, char sign, struct tally_str *before)
{
	const char *at = text->len ? memrchr(text->data, sign, text->len) : NULL;
	if (!at)
		return false;
	*before = (struct tally_str){text->data, (size_t)(at - text->data)};
	*text = (struct tally_str){at + 1, text->len - before->len - 1};
	return true;
}

/* Cuts text at the first sign; false if there is none. */
static bool clickhouse_cut(struct tally_str *text, char sign, struct tally_str *before)
{
	const char *at = text->len ? memchr(text->data, sign, text->len) : NULL;
	if (!at)
		return false;
	*before = (struct tally_str){text->data, (size_t)(at - text->data)};
	*text = (struct tally_str){at + 1, text->len - before->len - 1};
	return true;
}

static enum tally_status clickhouse_refuse_form(const char *place, struct tally_error *err)
{
	char shown[URL_SHOWN_BYTES];
	struct text url = {0};
	text_printf(&url, "clickhouse:%s", place);
	text_char(&url, '\0');
	enum tally_status status =
		url.failed ? error_nomem(err)
			   : error_set(err, TALLY_INVALID, "'%s' is not of the form clickhouse://host[:port]/database",
				     url_shown(url.data, shown));
	text_deinit(&url);
	return status;
}

static enum tally_status clickhouse_parse_place(
	const char *place, struct clickhouse_place *parts, struct tally_error *err)
{
	struct tally_str rest = str_from(place), before;
	*parts = (struct clickhouse_place){.database = STR("tally")};
	if (!str_starts_with(rest, STR("//")))
		return clickhouse_refuse_form(place, err);
	rest = (struct tally_str){rest.data + 2, rest.len - 2};
	if (clickhouse_cut_last(&rest, '@', &before)) {
		parts->user = before;
		parts->has_password = clickhouse_cut(&before, ':', &parts->user);
		parts->password = before;
	}
	if (clickhouse_cut(&rest, '/', &before)) {
		parts->database = rest;
		rest = before;
		if (clickhouse_cut(&parts->database, '?', &before)) {
			/* The value may be a password and is not shown. */
			if (!str_equal(parts->database, STR("tls=1"))) {
				struct tally_str name = parts->database;
				(void)clickhouse_cut(&parts->database, '=', &name);
				return error_set(err, TALLY_INVALID,
					"'%.*s' is not an option of a ClickHouse store; the only one is tls=1",
					(int)name.len, name.data);
			}
			parts->uses_tls = true;
			parts->database = before;
		}
	}
	parts->port = parts->uses_tls ? STR(CLICKHOUSE_TLS_PORT) : STR(CLICKHOUSE_PORT);
	parts->host = rest;
	if (clickhouse_cut(&rest, ':', &before)) {
		parts->host = before;
		parts->port = rest;
	}
	if (!clickhouse_is_identifier(parts->database))
		return error_set(err, TALLY_INVALID,
			"'%.*s' is not the name of a ClickHouse database: use letters, digits and _",
			(int)parts->database.len, parts->database.data);
	return TALLY_OK;
}

static void clickhouse_put_url(struct text *url, const struct clickhouse_place *parts)
{
	const char *password = getenv("CLICKHOUSE_PASSWORD");
	text_str(url, parts->uses_tls ? "https://" : "http://");
	if (parts->user.len || password) {
		http_put_escaped(url, parts->user.len ? parts->user : STR("default"));
		text_char(url, ':');
		http_put_escaped(url, parts->has_password || !password ? parts->password : str_from(password));
		text_char(url, '@');
	}
	text_bytes(url, parts->host.data, parts->host.len);
	text_char(url, ':');
	text_bytes(url, parts->port.data, parts->port.len);
	text_char(url, '\0');
}

enum tally_status clickhouse_client_open(const char *place, struct clickhouse_client **client, struct tally_error *err)
{
	struct clickhouse_place parts;
	enum tally_status status = clickhouse_parse_place(place, &parts, err);
	if (status != TALLY_OK)
		return status;
	struct clickhouse_client *c = calloc(1, sizeof(*c));
	if (!c)
		return error_nomem(err);
	memcpy(c->database, parts.database.data, parts.database.len);
	struct text url = {0};
	clickhouse_put_url(&url, &parts);
	status = url.failed ? error_nomem(err)
			    : http_client_create(&(struct http_client_options){.url = url.data,
							 .answer_bytes = CLICKHOUSE_ANSWER_MAX},
				      &c->http, err);
	text_deinit(&url);
	if (status != TALLY_OK) {
		clickhouse_client_close(c);
		return status;
	}
	*client = c;
	return TALLY_OK;
}

void clickhouse_client_close(struct clickhouse_client *client)
{
	if (!client)
		return;
	http_client_destroy(client->http);
	free(client);
}

const char *clickhouse_client_database(const struct clickhouse_client *client)
{
	return client->database;
}

void clickhouse_client_set_deadline(struct clickhouse_client *client, uint64_t deadline_ns)
{
	client->deadline_ns = deadline_ns;
}

/* ---- statements ---- */

/* Reports the first line of the server's message without unprintable characters. */
static enum tally_status clickhouse_refusal(const struct http_answer *answer, struct tally_error *err)
{
	char words[CLICKHOUSE_ERROR_BYTES];
	struct tally_str text = text_view(&answer->body);
	size_t len = 0;
	while (len < text.len && len < sizeof(words) - 1 && text.data[len] != '\n') {
		char c = text.data[len];
		words[len++] = c >= ' ' && c < 0x7f ? c : '?';
	}
	words[len] = '\0';
	if (str_starts_with(text, STR(CLICKHOUSE_TIMEOUT)))
		return error_set(err, TALLY_LIMIT, "%s", STORE_IS_LATE);
	return error_set(
		err, TALLY_INVALID, "ClickHouse refused a statement (HTTP status %u): %s", answer->status, words);
}

static enum tally_status clickhouse_send(struct clickhouse_client *client, struct tally_str path,
	struct tally_bytes body, struct text *result, struct tally_error *err)
{
	struct http_answer answer = {0};
	struct text ended = {0};
	text_bytes(&ended, path.data, path.len);
	text_char(&ended, '\0');
	enum tally_status status = ended.failed ? error_nomem(err)
						: http_client_post(client->http, ended.data, body,
							  &(struct http_body_type){0}, &answer, err);
	text_deinit(&ended);
	if (status != TALLY_OK)
		return status;
	if (answer.status != CLICKHOUSE_OK)
		status = clickhouse_refusal(&answer, err);
	else if (result)
		text_bytes(result, answer.body.data ? answer.body.data : "", answer.body.len);
	if (status == TALLY_OK && result && result->failed)
		status = error_nomem(err);
	http_answer_deinit(&answer);
	return status;
}

static void clickhouse_put_path(const struct clickhouse_client *client, bool in_database, struct text *path)
{
	text_str(path, "/?" CLICKHOUSE_SETTINGS);
	if (in_database) {
		text_str(path, "&database=");
		text_str(path, client->database);
	}
	if (client->deadline_ns) {
		uint64_t now = clock_ns(), left = client->deadline_ns > now ? client->deadline_ns - now : 0;
		/* Rounded up to whole seconds, because 0 would mean no limit. */
		text_str(path, "&max_execution_time=");
		text_u64(path, left / CLICKHOUSE_SECOND_NS + 1);
	}
}

static enum tally_status clickhouse_post(struct clickhouse_client *client, struct tally_str statement, bool in_database,
	struct text *result, struct tally_error *err)
{
	struct text path = {0};
	clickhouse_put_path(client, in_database, &path);
	enum tally_status status =
		path.failed
			? error_nomem(err)
			: clickhouse_send(client, text_view(&path),
				  (struct tally_bytes){(const uint8_t *)statement.data, statement.len}, result, err);
	text_deinit(&path);
	return status;
}

enum tally_status clickhouse_client_run(
	struct clickhouse_client *client, struct tally_str statement, bool in_database, struct tally_error *err)
{
	return clickhouse_post(client, statement, in_database, NULL, err);
}

enum tally_status clickhouse_client_ask(
	struct clickhouse_client *client, struct tally_str statement, struct text *answer, struct tally_error *err)
{
	struct text whole = {0};
	text_bytes(&whole, statement.data, statement.len);
	text_str(&whole, " FORMAT RowBinary");
	enum tally_status status =
		whole.failed ? error_nomem(err) : clickhouse_post(client, text_view(&whole), true, answer, err);
	text_deinit(&whole);
	return status;
}

enum tally_status clickhouse_client_insert(
	struct clickhouse_client *client, const char *statement, const struct text *rows, struct tally_error *err)
{
	if (rows->failed)
		return error_nomem(err);
	if (rows->len == 0)
		return TALLY_OK;
	struct text path = {0};
	clickhouse_put_path(client, true, &path);
	text_str(&path, "&query=");
	http_put_escaped(&path, str_from(statement));
	http_put_escaped(&path, STR(" FORMAT RowBinary"));
	enum tally_status status =
		path.failed ? error_nomem(err)
			    : clickhouse_send(client, text_view(&path),
				      (struct tally_bytes){(const uint8_t *)rows->data, rows->len}, NULL, err);
	text_deinit(&path);
	return status;
}

/* ---- rows ---- */

#define ROW_VARINT_BITS 7

static void row_put_bytes(struct text *row, uint64_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		text_char(row, (char)(value >> 8 * i & 0xff));
}

void row_put_u8(struct text *row, uint8_t value)
{
	row_put_bytes(row, value, 1);
}

void row_put_u32(struct text *row, uint32_t value)
{
	row_put_bytes(row, value, 4);
}

void row_put_u64(struct text *row, uint64_t value)
{
	row_put_bytes(row, value, 8);
}

void row_put_count(struct text *row, uint64_t count)
{
	for (; count >= 0x80; count >>= ROW_VARINT_BITS)
		text_char(row, (char)(0x80 | (count & 0x7f)));
	text_char(row, (char)count);
}

void row_put_text(struct text *row, struct tally_str value)
{
	row_put_count(row, value.len);
	text_bytes(row, value.data, value.len);
}

struct cursor row_cursor(const struct text *answer)
{
	struct tally_bytes bytes = {(const uint8_t *)(answer->data ? answer->data : ""), answer->len};
	return cursor_make(bytes, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

uint64_t row_get_count(struct cursor *c)
{
	uint64_t value = 0;
	for (unsigned shift = 0; shift < 64; shift += ROW_VARINT_BITS) {
		uint8_t byte = cursor_u8(c);
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return value;
	}
	c->failed = true;
	return 0;
}

struct tally_str row_get_text(struct cursor *c)
{
	uint64_t len = row_get_count(c);
	const uint8_t *data = cursor_count(c, len, 1) ? cursor_take(c, (size_t)len) : NULL;
	return data ? (struct tally_str){(const char *)data, (size_t)len} : (struct tally_str){"", 0};
}
