/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/serve/http_request.h"

#include <stdarg.h>
#include <stdio.h>
#include <strings.h>
#include <unistd.h>

#include "base/json.h"

static bool http_request_is_word(struct tally_str a, struct tally_str b)
{
	return a.len == b.len && strncasecmp(a.data, b.data, a.len) == 0;
}

bool http_request_argument(const struct http_request *request, struct tally_str name, struct tally_str *value)
{
	for (size_t i = 0; i < request->argument_count; i++) {
		if (!str_equal(request->arguments[i].name, name))
			continue;
		*value = request->arguments[i].value;
		return true;
	}
	return false;
}

struct tally_str http_request_header(const struct http_request *request, struct tally_str name)
{
	for (size_t i = 0; i < request->header_count; i++)
		if (http_request_is_word(request->headers[i].name, name))
			return request->headers[i].value;
	return STR("");
}

bool http_request_header_is(const struct http_request *request, struct tally_str name, struct tally_str word)
{
	struct tally_str rest = http_request_header(request, name), first = rest;
	str_next(&rest, ';', &first);
	return http_request_is_word(str_trim(first), word);
}

void http_response_error(struct http_response *response, enum http_status status, const char *format, ...)
{
	char sentence[1024];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(sentence, sizeof(sentence), format, arguments);
	va_end(arguments);
	http_response_deinit(response);
	response->status = status;
	response->type = "application/json";
	struct json j = {.out = &response->body, .is_compact = true};
	json_object(&j, NULL);
	json_string(&j, "error", str_from(sentence));
	json_object_end(&j);
}

void http_response_deinit(struct http_response *response)
{
	text_deinit(&response->body);
	if (response->fd >= 0)
		close(response->fd);
	*response = HTTP_RESPONSE_EMPTY;
}
