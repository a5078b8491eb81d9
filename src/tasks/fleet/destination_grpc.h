/* SPDX-License-Identifier: Apache-2.0 */
/*
 * destination_grpc.h - makes the bodies of gRPC-Web's requests, and reads the status in its answers. gRPC-Web is what
 * servers of gRPC speak with browsers, over any version of HTTP. For destinations.c.
 *
 * Only calls with one request and one answer, in binary. Nothing of an answer is trusted. Source: the protocol of
 * gRPC-Web (doc/PROTOCOL-WEB.md of grpc).
 *
 *	size_t begin = destination_grpc_open(&body);   ... append the message ...
 *	destination_grpc_close(&body, begin);
 *	if (destination_grpc_status(&answer, &status, &message)) ...
 */
#ifndef TASKS_FLEET_DESTINATION_GRPC_H
#define TASKS_FLEET_DESTINATION_GRPC_H

#include "fleet/http_client.h"

size_t destination_grpc_open(struct text *out);
void destination_grpc_close(struct text *out, size_t begin);
/* The status (0: OK) and the message, which is appended: of the last frame, or of the header if there is none. False:
 * the answer has no status. */
bool destination_grpc_status(const struct http_answer *answer, uint64_t *status, struct text *message);

#endif
