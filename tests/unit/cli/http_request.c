/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/serve/http_request.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "unit_test.h"
#include "verbs/serve/request_rate.h"
#include "verbs/serve/serve_address.h"
#include "verbs/serve/serve_tokens.h"

#define NS_PER_S UINT64_C(1000000000)
#define TOKEN	 "0123456789abcdef-first"
#define OTHER	 "0123456789abcdef-other"

static const struct http_pair arguments[] = {{STR("query"), STR("a=\"b\"")}, {STR("from"), STR("")}};
static const struct http_pair headers[] = {{STR("content-TYPE"), STR("Application/X-Protobuf; charset=x")},
	{STR("AUTHORIZATION"), STR("bearer  " TOKEN " ")}};
static const struct http_request request = {
	.arguments = arguments, .argument_count = 2, .headers = headers, .header_count = 2};

static void test_values(void **state)
{
	struct tally_str value;
	(void)state;
	assert_true(http_request_argument(&request, STR("query"), &value));
	assert_true(str_equal(value, STR("a=\"b\"")));
	assert_true(http_request_argument(&request, STR("from"), &value));
	assert_false(http_request_argument(&request, STR("Query"), &value));
	assert_true(http_request_header_is(&request, STR("Content-Type"), STR("application/x-protobuf")));
	assert_false(http_request_header_is(&request, STR("Content-Type"), STR("application/x-proto")));
	assert_false(http_request_header_is(&request, STR("Content-Encoding"), STR("zstd")));
	assert_int_equal(http_request_header(&request, STR("Host")).len, 0);
}

static void test_errors(void **state)
{
	struct http_response response = HTTP_RESPONSE_EMPTY;
	(void)state;
	text_str(&response.body, "half an answer");
	response.file_name = "x";
	http_response_error(&response, HTTP_BAD_REQUEST, "no \"%s\"", "\x01<script>\xff");
	text_char(&response.body, 0);
	assert_int_equal(response.status, 400);
	assert_null(response.file_name);
	assert_string_equal(response.type, "application/json");
	assert_string_equal(response.body.data, "{\"error\": \"no \\\"\\u0001<script>\\ufffd\\\"\"}\n");
	http_response_deinit(&response);
	assert_int_equal(response.fd, -1);
}

static void write_file(char *path, const char *text)
{
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

static void test_tokens(void **state)
{
	static struct serve_tokens tokens;
	struct tally_error err;
	char path[] = "/tmp/tally-tokens-XXXXXX";
	(void)state;
	write_file(path, "\n" TOKEN "\r\n  " OTHER);
	assert_int_equal(serve_tokens_read(path, &tokens, &err), TALLY_OK);
	unlink(path);
	assert_int_equal(tokens.count, 2);
	assert_true(serve_tokens_have(&tokens, serve_tokens_shown(&request)));
	assert_true(serve_tokens_have(&tokens, STR(OTHER)));
	assert_false(serve_tokens_have(&tokens, STR("")));
	assert_false(serve_tokens_have(&tokens, STR("0123456789abcdef-firs")));
	assert_false(serve_tokens_have(&tokens, STR(TOKEN "x")));
	assert_false(serve_tokens_have(&tokens, STR(TOKEN "\0")));
	const struct http_request none = {0};
	assert_int_equal(serve_tokens_shown(&none).len, 0);
}

static void test_wrong_tokens(void **state)
{
	static const char *const wrong[] = {
		"", "\n \n", "short", "0123456789abcdef with blanks", "0123456789abcdef\x7f"};
	static struct serve_tokens tokens;
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		struct tally_error err;
		char path[] = "/tmp/tally-tokens-XXXXXX";
		write_file(path, wrong[i]);
		assert_int_equal(serve_tokens_read(path, &tokens, &err), TALLY_INVALID);
		unlink(path);
		assert_non_null(strstr(err.text, "token"));
	}
	assert_int_equal(tokens.count, 0);
}

static struct sockaddr_storage address_of(const char *text)
{
	struct sockaddr_storage made = {0};
	bool is_v6 = strchr(text, ':') != NULL;
	made.ss_family = is_v6 ? AF_INET6 : AF_INET;
	void *bytes = is_v6 ? (void *)&((struct sockaddr_in6 *)&made)->sin6_addr
			    : (void *)&((struct sockaddr_in *)&made)->sin_addr;
	assert_int_equal(inet_pton(made.ss_family, text, bytes), 1);
	return made;
}

static unsigned passing(struct request_rate *rate, const char *client, uint64_t now_ns, unsigned tries)
{
	struct sockaddr_storage address = address_of(client);
	unsigned passed = 0;
	for (unsigned i = 0; i < tries; i++)
		passed += request_rate_take(rate, (const struct sockaddr *)&address, now_ns);
	return passed;
}

static void test_rate(void **state)
{
	struct request_rate *rate = calloc(1, sizeof(*rate));
	(void)state;
	assert_non_null(rate);
	rate->each = 10;
	rate->all = 100;
	assert_int_equal(passing(rate, "10.0.0.1", NS_PER_S, 1000), 40);
	assert_int_equal(passing(rate, "::ffff:10.0.0.1", NS_PER_S, 1000), 0); /* The same client. */
	assert_int_equal(passing(rate, "10.0.0.1", 2 * NS_PER_S, 1000), 10);
	assert_int_equal(passing(rate, "2001:db8::1", 2 * NS_PER_S, 1000), 40);
	assert_int_equal(passing(rate, "2001:db8::2", 2 * NS_PER_S, 1000), 0); /* The same network. */
	assert_int_equal(passing(rate, "2001:db8:0:1::1", 2 * NS_PER_S, 1000), 40);
	/* 400 in the burst and 100 for the second that has passed, minus those above. */
	unsigned others = 0;
	for (unsigned i = 2; i < 250; i++) {
		char client[32];
		snprintf(client, sizeof(client), "10.0.1.%u", i);
		others += passing(rate, client, 2 * NS_PER_S, 40);
	}
	assert_int_equal(others, 400 - 10 - 40 - 40);
	rate->each = rate->all = 0;
	assert_int_equal(passing(rate, "10.0.0.1", 3 * NS_PER_S, 1000), 1000);
	free(rate);
}

static void test_addresses(void **state)
{
	static const struct {
		const char *text, *printed;
		bool is_loopback;
	} good[] = {{"127.0.0.1:7779", "127.0.0.1:1", true}, {"[::1]:0", "[::1]:1", true}, {"80", "127.0.0.1:1", true},
		{"0.0.0.0:1", "0.0.0.0:1", false}, {"[::]:1", "[::]:1", false}, {"127.9.9.9:1", "127.9.9.9:1", true}};
	static const char *const wrong[] = {"", ":80", "::1:80", "1.2.3.4", "1.2.3.4:", "1.2.3.4:65536", "1.2.3.4:-1",
		"host:port", "[::1]", "1.2.3.4:0x10"};
	struct tally_error err;
	struct serve_address address;
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		struct text out = {0};
		assert_int_equal(serve_address_parse(good[i].text, &address, &err), TALLY_OK);
		assert_int_equal(serve_address_is_loopback(&address), good[i].is_loopback);
		serve_address_print(&out, &address, 1);
		text_char(&out, 0);
		assert_string_equal(out.data, good[i].printed);
		text_deinit(&out);
	}
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
		if (serve_address_parse(wrong[i], &address, &err) == TALLY_OK)
			fail_msg("'%s' was taken", wrong[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_tokens),
		cmocka_unit_test(test_wrong_tokens),
		cmocka_unit_test(test_rate),
		cmocka_unit_test(test_addresses),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
