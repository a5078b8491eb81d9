/* SPDX-License-Identifier: Apache-2.0 */
/*
 * destinations.h - sends batches to servers of several kinds: this program's own (serve), those that take
 * OpenTelemetry's profiles, Pyroscope and Parca. The URL says which: http://, otlp+http://, pyroscope+http:// or
 * parca+http://, each also with https.
 *
 * A batch is one request for each kind, so that one answer decides about it. Servers other than serve know no
 * batches: what they get twice, they count twice. Everything is borrowed. Any thread, with a client of its own.
 *
 * Sources: the specification of OTLP (docs/specification.md of opentelemetry-proto); the reference of Pyroscope's HTTP
 * API; the protocol of Connect (connectrpc.com); Parca's profilestore.proto; the status codes of gRPC.
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
	const char *url; /* of http or https: the end of the text */
};

#define DESTINATION_FORMS "http://, otlp+http://, pyroscope+http:// or parca+http://, or each with https"

/* False: the text is not the URL of a server of these kinds; it may be a folder. */
bool destination_find(const char *text, struct destination *destination);
/* As batch_post, for a server of any kind. Those other than serve know neither duplicates nor what symbols they lack. A
 * batch without samples is not sent to them. If the outcome is BATCH_STORED and there is a sentence, it is what the
 * server says of data that it did not take. */
TALLY_MUST_CHECK enum tally_status destination_post(const struct destination *destination, struct http_client *client,
	struct tally_bytes bytes, struct batch_receipt *receipt, struct tally_error *err);

/* The body of the request for a batch, appended; not for serve. */
TALLY_MUST_CHECK enum tally_status destination_encode(
	enum destination_kind kind, const struct fleet_batch *batch, struct text *out, struct tally_error *err);
/* What an answer of such a server means. */
void destination_judge(enum destination_kind kind, const struct http_answer *answer, struct batch_receipt *receipt);

#endif
