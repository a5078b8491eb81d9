/* SPDX-License-Identifier: Apache-2.0 */
/*
 * destination_grpc.h - makes the bodies of gRPC-Web requests, and reads the status in the answers. gRPC-Web is the
 * variant of gRPC for browsers, which works with any version of HTTP. For destinations.c.
 *
 * Only calls with one request and one answer, in binary. Answers are not trusted. Source: the gRPC-Web protocol
 * (doc/PROTOCOL-WEB.md of grpc).
 *
 *	size_t begin = destination_grpc_open(&body);   ... append the message ...
 *	destination_grpc_close(&body, begin);
 *	if (destination_grpc_status(&answer, &status, &message)) ...
 */
#ifndef TASKS_FLEET_DESTINATION_GRPC_H
#define TASKS_FLEET_DESTINATION_GRPC_H

#include "fleet/http_client.h"

/* Appends the head of a frame, and returns the offset at which its message begins. */
size_t destination_grpc_open(struct text *out);
/* Writes the length of the message, which starts at begin and is complete, to the head of its frame. */
void destination_grpc_close(struct text *out, size_t begin);
/* Reads the status (0 for OK), and appends the message, from the trailer frame, or from the header if there is none.
 * Returns false if the answer has no status. */
bool destination_grpc_status(const struct http_answer *answer, uint64_t *status, struct text *message);

#endif
