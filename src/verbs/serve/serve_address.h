/* SPDX-License-Identifier: Apache-2.0 */
/*
 * serve_address.h - parses the address on which a server listens: "127.0.0.1:7779", "[::1]:7779", "host:7779", or a
 * port alone, which selects the loopback address.
 *
 *	serve_address_parse("0.0.0.0:7779", &address, err);
 *	if (!serve_address_is_loopback(&address)) ...
 */
#ifndef VERBS_SERVE_SERVE_ADDRESS_H
#define VERBS_SERVE_SERVE_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>
#include <tally/status.h>

#include "base/text.h"

#define SERVE_ADDRESS_USUAL "127.0.0.1:7779"

struct serve_address {
	struct sockaddr_storage socket;
	socklen_t bytes;
};

TALLY_MUST_CHECK enum tally_status serve_address_parse(
	const char *text, struct serve_address *address, struct tally_error *err);
bool serve_address_is_loopback(const struct serve_address *address);
/* Appends an address such as "127.0.0.1:7779". */
void serve_address_print(struct text *out, const struct serve_address *address, unsigned port);

#endif
