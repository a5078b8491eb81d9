/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/fleet/batch_post.h"

#include <stdio.h>

#include "base/array.h"
#include "base/error.h"
#include "fleet/batch_pack.h"
#include "tasks/fleet/answer_json.h"

#define BATCHES_PATH "/api/v1/batches"
#define BATCH_TYPE   "application/x-protobuf"

bool batch_is_packed(struct tally_bytes bytes)
{
	static const uint8_t magic[] = {0x28, 0xb5, 0x2f, 0xfd}; /* The magic number of zstd frames (RFC 8878). */
	return bytes.len >= sizeof(magic) && memcmp(bytes.data, magic, sizeof(magic)) == 0;
}

enum tally_status batch_unpack(struct tally_bytes bytes, struct fleet_batch **batch, struct tally_error *err)
{
	struct text plain = {0};
	enum tally_status status = TALLY_OK;
	if (batch_is_packed(bytes)) {
		status = fleet_batch_decompress(bytes, FLEET_BATCH_BYTES, &plain, err);
		bytes = (struct tally_bytes){(const uint8_t *)plain.data, plain.len};
	}
	if (status == TALLY_OK)
		status = fleet_batch_read(bytes, batch, err);
	text_deinit(&plain);
	return status;
}

void batch_answer_sentence(const struct http_answer *answer, char *sentence, size_t bytes)
{
	struct text said = {0}, shown = {0};
	if (answer_json_string(text_view(&answer->body), STR("error"), &said))
		text_visible(&shown, text_view(&said));
	if (shown.len > 0)
		snprintf(sentence, bytes, "%.*s", (int)MIN(shown.len, bytes), shown.data);
	else if (answer->redirect[0])
		snprintf(sentence, bytes, "the server answered %u, a redirect to %s, which is not followed",
			answer->status, answer->redirect);
	else
		snprintf(sentence, bytes, "the server answered %u", answer->status);
	text_deinit(&said);
	text_deinit(&shown);
}

static bool read_store_id(struct tally_str json, uint8_t store[BATCH_STORE_BYTES])
{
	struct text hex = {0};
	bool is_good = answer_json_string(json, STR("store"), &hex) && hex.len == 2 * (size_t)BATCH_STORE_BYTES;
	for (size_t i = 0; is_good && i < BATCH_STORE_BYTES; i++) {
		uint64_t byte;
		is_good = str_to_u64((struct tally_str){hex.data + 2 * i, 2}, 16, &byte);
		store[i] = is_good ? (uint8_t)byte : 0;
	}
	text_deinit(&hex);
	return is_good;
}

static enum tally_status read_receipt(
	const struct http_answer *answer, struct batch_receipt *receipt, struct tally_error *err)
{
	struct tally_str body = text_view(&answer->body);
	if (!read_store_id(body, receipt->store))
		return error_set(err, TALLY_INVALID, "the server does not answer as 'tally serve' does");
	receipt->samples = answer_json_u64(body, STR("samples"));
	receipt->outcome = answer_json_bool(body, STR("lacks_symbols")) ? BATCH_LACKS_SYMBOLS
			   : answer_json_bool(body, STR("stored"))	? BATCH_STORED
									: BATCH_DUPLICATE;
	return TALLY_OK;
}

bool batch_status_refuses(unsigned status)
{
	return status == 400 || status == 413 || status == 415 || status == 422;
}

bool batch_status_is_busy(unsigned status)
{
	return status == 408 || status == 425 || status == 429 || status >= 500;
}

/* For an invalid batch, 'tally serve' returns a sentence. Errors without one come from proxies (for example 400 for
 * HTTP on a port for HTTPS) and do not concern the batch, except that it may be too large for the proxy. */
static enum batch_outcome batch_outcome_of(const struct http_answer *answer)
{
	struct text said = {0};
	if (answer->status == 401 || answer->status == 403)
		return BATCH_DENIED;
	if (!batch_status_refuses(answer->status))
		return BATCH_LATER;
	bool has_sentence = answer_json_string(text_view(&answer->body), STR("error"), &said);
	text_deinit(&said);
	return has_sentence || answer->status == 413 ? BATCH_REFUSED : BATCH_LATER;
}

enum tally_status batch_post(
	struct http_client *client, struct tally_bytes bytes, struct batch_receipt *receipt, struct tally_error *err)
{
	struct http_answer answer;
	const struct http_body_type type = {BATCH_TYPE, batch_is_packed(bytes) ? "zstd" : NULL};
	struct batch_receipt made = {0};
	enum tally_status status = http_client_post(client, BATCHES_PATH, bytes, &type, &answer, err);
	if (status != TALLY_OK)
		return status;
	made.status = answer.status;
	made.retry_after_s = answer.retry_after_s;
	made.ahead_s = answer.ahead_s;
	if (answer.status == 200) {
		status = read_receipt(&answer, &made, err);
	} else {
		made.outcome = batch_outcome_of(&answer);
		batch_answer_sentence(&answer, made.sentence, sizeof(made.sentence));
	}
	http_answer_deinit(&answer);
	if (status == TALLY_OK)
		*receipt = made;
	return status;
}
