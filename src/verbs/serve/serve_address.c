/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/serve/serve_address.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>

#include "base/error.h"

#define HOST_BYTES 256
#define PORT_BYTES 6
#define LOOPBACK   "127.0.0.1"

/* Splits "host:port", "[host]:port" or "port". */
static bool split_address(struct tally_str text, struct tally_str *host, struct tally_str *port)
{
	const char *colon = memrchr(text.data, ':', text.len);
	*host = STR(LOOPBACK);
	*port = text;
	if (colon) {
		*host = (struct tally_str){text.data, (size_t)(colon - text.data)};
		*port = (struct tally_str){colon + 1, text.len - host->len - 1};
		bool is_bracketed = host->len > 2 && host->data[0] == '[' && host->data[host->len - 1] == ']';
		if (!is_bracketed && memchr(host->data, ':', host->len))
			return false; /* In an IPv6 address without brackets, the start of the port is ambiguous. */
		if (is_bracketed)
			*host = (struct tally_str){host->data + 1, host->len - 2};
	}
	uint64_t number;
	return host->len > 0 && host->len < HOST_BYTES && port->len < PORT_BYTES && str_to_u64(*port, 10, &number) &&
	       number <= UINT16_MAX;
}

enum tally_status serve_address_parse(const char *text, struct serve_address *address, struct tally_error *err)
{
	struct tally_str host, port;
	char host_text[HOST_BYTES], port_text[PORT_BYTES];
	if (!split_address(str_from(text), &host, &port))
		return error_set(err, TALLY_INVALID, "expects ADDRESS:PORT, [IPV6]:PORT or PORT, not '%.64s'", text);
	snprintf(host_text, sizeof(host_text), "%.*s", (int)host.len, host.data);
	snprintf(port_text, sizeof(port_text), "%.*s", (int)port.len, port.data);
	const struct addrinfo wanted = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
	struct addrinfo *found;
	int code = getaddrinfo(host_text, port_text, &wanted, &found);
	if (code != 0)
		return error_set(err, TALLY_NOT_FOUND, "no address '%.64s': %s", host_text, gai_strerror(code));
	memcpy(&address->socket, found->ai_addr, found->ai_addrlen);
	address->bytes = found->ai_addrlen;
	freeaddrinfo(found);
	return TALLY_OK;
}

bool serve_address_is_loopback(const struct serve_address *address)
{
	if (address->socket.ss_family == AF_INET6)
		return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)&address->socket)->sin6_addr);
	if (address->socket.ss_family != AF_INET)
		return false;
	return ntohl(((const struct sockaddr_in *)&address->socket)->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
}

void serve_address_print(struct text *out, const struct serve_address *address, unsigned port)
{
	char host[INET6_ADDRSTRLEN] = "";
	bool is_v6 = address->socket.ss_family == AF_INET6;
	const void *bytes = is_v6 ? (const void *)&((const struct sockaddr_in6 *)&address->socket)->sin6_addr
				  : (const void *)&((const struct sockaddr_in *)&address->socket)->sin_addr;
	inet_ntop(address->socket.ss_family, bytes, host, sizeof(host));
	text_printf(out, is_v6 ? "[%s]:%u" : "%s:%u", host, port);
}
