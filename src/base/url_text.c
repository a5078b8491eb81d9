/* SPDX-License-Identifier: Apache-2.0 */
#include "base/url_text.h"

#include <stdio.h>

#define URL_HIDDEN "***"

static bool url_text_is_scheme(struct tally_str text)
{
	for (size_t i = 0; i < text.len; i++) {
		char c = text.data[i];
		bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
		if (!is_letter && (i == 0 || ((c < '0' || c > '9') && c != '+' && c != '-' && c != '.')))
			return false;
	}
	return text.len > 0;
}

/*
 * Returns where user information may begin; 0 if the text is not a URL with a host. A URL without its slashes is a
 * mistake, but may contain a password as well.
 */
static size_t url_text_begin(struct tally_str url)
{
	const char *colon = url.len ? memchr(url.data, ':', url.len) : NULL;
	if (!colon)
		return 0;
	struct tally_str scheme = {url.data, (size_t)(colon - url.data)};
	if (!url_text_is_scheme(scheme) || str_equal(scheme, STR("sqlite")))
		return 0;
	size_t begin = scheme.len + 1;
	while (begin < url.len && url.data[begin] == '/')
		begin++;
	return begin;
}

/*
 * Returns where the host begins. A password may contain '/', '?', '#' and '@' if they were not escaped. A path may
 * contain '@' as well, so the part before it decides whether there can be a password.
 */
static size_t url_text_host(struct tally_str url, size_t begin)
{
	size_t first_end = begin, host = begin;
	bool has_colon = false;
	for (; first_end < url.len && !strchr("/?#", url.data[first_end]); first_end++) {
		has_colon |= url.data[first_end] == ':';
		if (url.data[first_end] == '@')
			host = first_end + 1;
	}
	if (!has_colon)
		return host;
	for (size_t i = first_end; i < url.len; i++)
		if (url.data[i] == '@')
			host = i + 1;
	return host;
}

/* Appends the part from the question mark on, and hides it unless it is known to be harmless, as "tls=1" is. */
static void url_text_arguments(struct text *out, struct tally_str arguments)
{
	static const struct tally_str harmless[] = {STR("?tls=1"), STR("?")};
	for (size_t i = 0; i < sizeof(harmless) / sizeof(harmless[0]); i++)
		if (str_equal(arguments, harmless[i])) {
			text_visible(out, arguments);
			return;
		}
	text_str(out, "?" URL_HIDDEN);
}

void text_url(struct text *out, struct tally_str url)
{
	size_t begin = url_text_begin(url);
	if (begin == 0) {
		text_visible(out, url);
		return;
	}
	size_t host = url_text_host(url, begin);
	text_visible(out, (struct tally_str){url.data, begin});
	if (host > begin)
		text_str(out, URL_HIDDEN "@");
	struct tally_str rest = {url.data + host, url.len - host};
	const char *mark = rest.len ? memchr(rest.data, '?', rest.len) : NULL;
	size_t path = mark ? (size_t)(mark - rest.data) : rest.len;
	text_visible(out, (struct tally_str){rest.data, path});
	if (mark)
		url_text_arguments(out, (struct tally_str){mark, rest.len - path});
}

const char *url_shown(const char *url, char room[URL_SHOWN_BYTES])
{
	struct text text = {0};
	text_url(&text, str_from(url));
	snprintf(room, URL_SHOWN_BYTES, "%.*s", (int)text.len, text.data ? text.data : "");
	text_deinit(&text);
	return room;
}
