/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/fleet/destinations.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/array.h"
#include "base/error.h"
#include "base/protobuf_reader.h"
#include "tasks/fleet/answer_json.h"
#include "tasks/fleet/destination_forms.h"
#include "tasks/fleet/destination_grpc.h"

/* Field numbers of profiles_service.proto and status.proto. */
enum { RESPONSE_PARTIAL = 1 };
enum { PARTIAL_REJECTED = 1, PARTIAL_MESSAGE = 2 };
enum { STATUS_MESSAGE = 2 };

static const struct destination_protocol {
	struct tally_str scheme; /* Prefix of the http or https URL, such as "otlp+"; "" for 'tally serve'. */
	const char *path;
	struct http_body_type type;
	enum tally_status (*write)(const struct fleet_batch *batch, struct text *out, struct tally_error *err);
} destination_protocols[] = {
	[DESTINATION_SERVE] = {STR(""), NULL, {NULL, NULL}, NULL},
	[DESTINATION_OTLP] = {STR("otlp+"), "/v1development/profiles", {"application/x-protobuf", "gzip"},
		destination_write_otlp},
	[DESTINATION_PYROSCOPE] = {STR("pyroscope+"), "/push.v1.PusherService/Push", {"application/proto", NULL},
		destination_write_pyroscope},
	[DESTINATION_PARCA] = {STR("parca+"), "/parca.profilestore.v1alpha1.ProfileStoreService/WriteRaw",
		{"application/grpc-web+proto", NULL}, destination_write_parca},
};

/* Status codes of gRPC. */
enum {
	GRPC_OK = 0,
	GRPC_INVALID_ARGUMENT = 3,
	GRPC_NOT_FOUND = 5,
	GRPC_ALREADY_EXISTS = 6,
	GRPC_PERMISSION_DENIED = 7,
	GRPC_FAILED_PRECONDITION = 9,
	GRPC_OUT_OF_RANGE = 11,
	GRPC_UNIMPLEMENTED = 12,
	GRPC_UNAUTHENTICATED = 16
};

bool destination_find(const char *text, struct destination *destination)
{
	for (size_t i = 0; i < ARRAY_LEN(destination_protocols); i++) {
		struct tally_str scheme = destination_protocols[i].scheme;
		if (!str_starts_with(str_from(text), scheme) || !http_url_is_given(text + scheme.len))
			continue;
		*destination = (struct destination){(enum destination_kind)i, text + scheme.len};
		return true;
	}
	return false;
}

enum tally_status destination_encode(
	enum destination_kind kind, const struct fleet_batch *batch, struct text *out, struct tally_error *err)
{
	enum tally_status status = destination_protocols[kind].write(batch, out, err);
	return status == TALLY_OK && out->failed ? error_nomem(err) : status;
}

/* Returns the text of a field of a message, or an empty string if it is absent or the message is invalid. */
static struct tally_str destination_message(struct tally_bytes bytes, uint32_t number)
{
	struct protobuf_reader reader = protobuf_reader_make(bytes);
	struct protobuf_field field;
	struct tally_str found = STR("");
	while (protobuf_next(&reader, &field))
		if (field.number == number)
			found = protobuf_text(&field);
	return protobuf_check(&reader, NULL) == TALLY_OK ? found : STR("");
}

/* Extracts the error message of an answer: OTLP uses protobuf, Connect and proxies use JSON. */
static void destination_explain(
	enum destination_kind kind, const struct http_answer *answer, struct batch_receipt *receipt)
{
	struct text said = {0}, shown = {0};
	struct tally_str body = text_view(&answer->body);
	struct tally_str message = STR("");
	if (kind == DESTINATION_OTLP)
		message =
			destination_message((struct tally_bytes){(const uint8_t *)body.data, body.len}, STATUS_MESSAGE);
	if (message.len > 0)
		text_visible(&shown, message);
	else if (answer_json_string(body, STR("message"), &said))
		text_visible(&shown, text_view(&said));
	if (answer->redirect[0] && shown.len == 0)
		text_printf(&shown, "a redirect to %s, which is not followed", answer->redirect);
	snprintf(receipt->sentence, sizeof(receipt->sentence), "the server answered %u%s%.*s", answer->status,
		shown.len ? ": " : "", (int)MIN(shown.len, sizeof(receipt->sentence)), shown.len ? shown.data : "");
	text_deinit(&said);
	text_deinit(&shown);
}

/* A successful OTLP answer may report that the server has rejected a part of the data. */
static void destination_read_partial(const struct http_answer *answer, struct batch_receipt *receipt)
{
	struct protobuf_reader reader = protobuf_reader_make(
		(struct tally_bytes){(const uint8_t *)text_view(&answer->body).data, answer->body.len});
	struct protobuf_field field;
	uint64_t rejected = 0;
	struct text shown = {0};
	while (protobuf_next(&reader, &field)) {
		if (field.number != RESPONSE_PARTIAL || field.wire != PROTOBUF_BYTES)
			continue;
		struct protobuf_reader partial = protobuf_nested(&reader, &field);
		struct protobuf_field member;
		while (protobuf_next(&partial, &member))
			if (member.number == PARTIAL_REJECTED)
				rejected = member.value;
		text_visible(&shown, destination_message(field.bytes, PARTIAL_MESSAGE));
	}
	if (rejected > 0 || shown.len > 0)
		snprintf(receipt->sentence, sizeof(receipt->sentence), "the server rejected %" PRIu64 " profiles%s%.*s",
			rejected, shown.len ? ": " : "", (int)MIN(shown.len, sizeof(receipt->sentence)),
			shown.len ? shown.data : "");
	text_deinit(&shown);
}

/* OTLP allows a retry for 429, 502, 503 and 504 only. Other statuses may come from a proxy and apply to all batches,
 * so no batch is dropped because of them. */
static enum batch_outcome destination_outcome(unsigned status)
{
	if (status >= 200 && status < 300)
		return BATCH_STORED;
	if (status == 401 || status == 403)
		return BATCH_DENIED;
	return batch_status_refuses(status) ? BATCH_REFUSED : BATCH_LATER;
}

static enum batch_outcome destination_outcome_grpc(uint64_t status)
{
	switch (status) {
	case GRPC_OK:
		return BATCH_STORED;
	case GRPC_PERMISSION_DENIED:
	case GRPC_UNAUTHENTICATED:
		return BATCH_DENIED;
	case GRPC_INVALID_ARGUMENT:
	case GRPC_ALREADY_EXISTS:
	case GRPC_OUT_OF_RANGE:
		return BATCH_REFUSED;
	default: /* NOT_FOUND and UNIMPLEMENTED concern the service, not the batch. */
		return BATCH_LATER;
	}
}

/* In gRPC, the HTTP status is a success even for errors; the gRPC status is in the trailers. */
static void destination_read_grpc(const struct http_answer *answer, struct batch_receipt *receipt)
{
	struct text message = {0}, shown = {0};
	uint64_t status;
	if (!destination_grpc_status(answer, &status, &message)) {
		receipt->outcome = BATCH_LATER;
		snprintf(receipt->sentence, sizeof(receipt->sentence), "the server does not answer as gRPC-Web does");
		return;
	}
	receipt->outcome = destination_outcome_grpc(status);
	text_visible(&shown, text_view(&message));
	if (status != GRPC_OK)
		snprintf(receipt->sentence, sizeof(receipt->sentence),
			"the server answered status %" PRIu64 " of gRPC%s%.*s", status, shown.len ? ": " : "",
			(int)MIN(shown.len, sizeof(receipt->sentence)), shown.len ? shown.data : "");
	text_deinit(&message);
	text_deinit(&shown);
}

void destination_judge(enum destination_kind kind, const struct http_answer *answer, struct batch_receipt *receipt)
{
	receipt->status = answer->status;
	receipt->retry_after_s = answer->retry_after_s;
	receipt->ahead_s = answer->ahead_s;
	receipt->outcome = destination_outcome(answer->status);
	if (receipt->outcome != BATCH_STORED)
		destination_explain(kind, answer, receipt);
	else if (kind == DESTINATION_OTLP)
		destination_read_partial(answer, receipt);
	else if (kind == DESTINATION_PARCA)
		destination_read_grpc(answer, receipt);
}

/* *samples is the number of samples in the batch. Without samples, no body is made. */
static enum tally_status destination_make_body(enum destination_kind kind, struct tally_bytes bytes, struct text *body,
	uint64_t *samples, struct tally_error *err)
{
	struct fleet_batch *batch = NULL;
	enum tally_status status = batch_unpack(bytes, &batch, err);
	if (status != TALLY_OK)
		return status;
	*samples = fleet_batch_sample_count(batch);
	if (*samples > 0)
		status = destination_encode(kind, batch, body, err);
	fleet_batch_destroy(batch);
	return status;
}

static enum tally_status destination_send(const struct destination *destination, struct http_client *client,
	const struct text *body, struct batch_receipt *receipt, struct tally_error *err)
{
	const struct destination_protocol *protocol = &destination_protocols[destination->kind];
	struct http_answer answer;
	struct tally_bytes bytes = {(const uint8_t *)body->data, body->len};
	enum tally_status status = http_client_post(client, protocol->path, bytes, &protocol->type, &answer, err);
	if (status != TALLY_OK)
		return status;
	destination_judge(destination->kind, &answer, receipt);
	http_answer_deinit(&answer);
	return TALLY_OK;
}

enum tally_status destination_post(const struct destination *destination, struct http_client *client,
	struct tally_bytes bytes, struct batch_receipt *receipt, struct tally_error *err)
{
	struct batch_receipt made = {.outcome = BATCH_STORED};
	struct text body = {0};
	struct tally_error why;
	uint64_t samples = 0;
	if (destination->kind == DESTINATION_SERVE)
		return batch_post(client, bytes, receipt, err);
	enum tally_status status = destination_make_body(destination->kind, bytes, &body, &samples, &why);
	if (status == TALLY_CORRUPT || status == TALLY_LIMIT) { /* A retry would fail in the same way. */
		made.outcome = BATCH_REFUSED;
		snprintf(made.sentence, sizeof(made.sentence), "%.*s", (int)sizeof(made.sentence) - 1, why.text);
		status = TALLY_OK;
	} else if (status == TALLY_OK && samples > 0) {
		status = destination_send(destination, client, &body, &made, &why);
	}
	text_deinit(&body);
	if (made.outcome == BATCH_STORED)
		made.samples = samples;
	if (status == TALLY_OK)
		*receipt = made;
	else if (err)
		*err = why;
	return status;
}
