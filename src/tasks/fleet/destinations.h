/* SPDX-License-Identifier: Apache-2.0 */
/*
 * destinations.h - sends batches to servers of several kinds: tally's own (serve), those that accept OpenTelemetry's
 * profiles, Pyroscope and Parca. The URL selects the kind: http://, otlp+http://, pyroscope+http:// or parca+http://,
 * each also with https.
 *
 * For every kind of server, a batch is sent as a single request, so that one answer decides about it. Only serve knows
 * batches; other servers count a batch twice if they receive it twice. Everything is borrowed. Thread-safe if each
 * thread has its own client.
 *
 * Sources: the OTLP specification (docs/specification.md of opentelemetry-proto); the reference of Pyroscope's HTTP
 * API; the Connect protocol (connectrpc.com); Parca's profilestore.proto; the status codes of gRPC.
 *
 *	destination_find("otlp+http://collector:4318", &destination);
 *	http_client_create(&(struct http_client_options){.url = destination.url}, &client, err);
 *	status = destination_post(&destination, client, bytes, &receipt, err);
 */
#ifndef TASKS_FLEET_DESTINATIONS_H
#define TASKS_FLEET_DESTINATIONS_H

#include "fleet/batch.h"
#include "tasks/fleet/batch_post.h"

enum destination_kind { DESTINATION_SERVE, DESTINATION_OTLP, DESTINATION_PYROSCOPE, DESTINATION_PARCA };

struct destination {
	enum destination_kind kind;
	const char *url; /* The http or https URL, which is the end of the text. */
};

#define DESTINATION_FORMS "http://, otlp+http://, pyroscope+http:// or parca+http://, or each with https"

/* Returns false if the text is not the URL of a server of these kinds; it may be a directory. */
bool destination_find(const char *text, struct destination *destination);
/* Works like batch_post, for a server of any kind. Servers other than serve report neither duplicates nor missing
 * symbols, and are not sent batches without samples. If the outcome is BATCH_STORED and there is a sentence, it is the
 * server's message about data that it rejected. */
TALLY_MUST_CHECK enum tally_status destination_post(const struct destination *destination, struct http_client *client,
	struct tally_bytes bytes, struct batch_receipt *receipt, struct tally_error *err);

/* Appends the body of the request for a batch. Not for serve. */
TALLY_MUST_CHECK enum tally_status destination_encode(
	enum destination_kind kind, const struct fleet_batch *batch, struct text *out, struct tally_error *err);
/* Derives the outcome from the answer of a server other than serve. */
void destination_judge(enum destination_kind kind, const struct http_answer *answer, struct batch_receipt *receipt);

#endif
