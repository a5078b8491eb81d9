/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/serve/request_rate.h"

#include <netinet/in.h>
#include <string.h>

#include "base/array.h"
#include "base/bytes.h"

/* Length of the prefix ::ffff:0:0/96 of an IPv4-mapped IPv6 address (RFC 4291, section 2.5.5.2). */
#define MAPPED_BYTES 12

static uint64_t request_rate_client(const struct sockaddr *address)
{
	uint8_t key[9] = {0};
	if (address && address->sa_family == AF_INET) {
		memcpy(key, &((const struct sockaddr_in *)address)->sin_addr, 4);
		key[8] = 4;
	} else if (address && address->sa_family == AF_INET6) {
		const struct in6_addr *in6 = &((const struct sockaddr_in6 *)address)->sin6_addr;
		bool is_mapped = IN6_IS_ADDR_V4MAPPED(in6);
		memcpy(key, (const uint8_t *)in6 + (is_mapped ? MAPPED_BYTES : 0), is_mapped ? 4 : 8);
		key[8] = is_mapped ? 4 : 6;
	}
	uint64_t hash = bytes_hash(key, sizeof(key));
	return hash ? hash : 1;
}

static void request_rate_fill(struct request_bucket *bucket, double rate, uint64_t now_ns)
{
	double most = rate * REQUEST_RATE_BURST_SECONDS;
	double since = now_ns > bucket->seen_ns ? (double)(now_ns - bucket->seen_ns) / 1e9 : 0;
	bucket->left = bucket->seen_ns == 0 ? most : MIN(most, bucket->left + since * rate);
	bucket->seen_ns = now_ns;
}

static struct request_bucket *request_rate_find(struct request_rate *rate, uint64_t client)
{
	size_t set = client % (REQUEST_RATE_CLIENTS / REQUEST_RATE_WAYS) * REQUEST_RATE_WAYS;
	struct request_bucket *oldest = &rate->clients[set];
	for (size_t i = set; i < set + REQUEST_RATE_WAYS; i++) {
		if (rate->clients[i].client == client)
			return &rate->clients[i];
		if (rate->clients[i].seen_ns < oldest->seen_ns)
			oldest = &rate->clients[i];
	}
	*oldest = (struct request_bucket){.client = client};
	return oldest;
}

bool request_rate_take(struct request_rate *rate, const struct sockaddr *client, uint64_t now_ns)
{
	struct request_bucket *own = request_rate_find(rate, request_rate_client(client));
	request_rate_fill(own, rate->each, now_ns);
	request_rate_fill(&rate->total, rate->all, now_ns);
	bool own_passes = rate->each == 0 || own->left >= 1, all_pass = rate->all == 0 || rate->total.left >= 1;
	if (!own_passes || !all_pass)
		return false;
	own->left -= 1;
	rate->total.left -= 1;
	return true;
}
