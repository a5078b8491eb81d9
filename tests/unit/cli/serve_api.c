/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/serve/serve_api.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tally_config.h"
#include "unit_test.h"
#include "verbs/serve/serve_arguments.h"

#define NS_PER_S UINT64_C(1000000000)
#define NOW	 (UINT64_C(1764313200) * NS_PER_S)
#define ALL                                                                                            \
	(SERVE_ARGUMENT_QUERY | SERVE_ARGUMENT_TIMES | SERVE_ARGUMENT_EVENT | SERVE_ARGUMENT_PROFILE | \
		SERVE_ARGUMENT_STEP | SERVE_ARGUMENT_BASELINE)
#define TOKEN "0123456789abcdef-write"
#define OTHER "0123456789abcdef-read"

static enum tally_status read_pairs(
	const struct http_pair *pairs, size_t count, unsigned takes, struct serve_arguments *a, struct tally_error *err)
{
	const struct http_request request = {.arguments = pairs, .argument_count = count};
	return serve_arguments_read(&request, takes, NOW, a, err);
}

static void test_usual_arguments(void **state)
{
	struct serve_arguments a;
	struct tally_error err;
	(void)state;
	assert_int_equal(read_pairs(NULL, 0, ALL, &a, &err), TALLY_OK);
	assert_int_equal(a.selection.begin_ns, NOW - 3600 * NS_PER_S);
	assert_int_equal(a.selection.end_ns, NOW);
	assert_null(a.query);
	assert_false(a.has_baseline || a.selection.by_thread || a.counts_samples);
	assert_int_equal(a.step_ns, 36 * NS_PER_S);
	serve_arguments_deinit(&a);
}

static void test_all_arguments(void **state)
{
	static const struct http_pair pairs[] = {{STR("query"), STR("host=\"a\"")}, {STR("from"), STR("-2h")},
		{STR("until"), STR("-1h")}, {STR("event"), STR("cycles")}, {STR("format"), STR("pprof")},
		{STR("threads"), STR("1")}, {STR("count"), STR("0")}, {STR("step"), STR("5m")},
		{STR("baseline_from"), STR("-1d")}, {STR("baseline_until"), STR("-23h")},
		{STR("baseline_query"), STR("")}};
	struct serve_arguments a;
	struct tally_error err;
	(void)state;
	assert_int_equal(read_pairs(pairs, ARRAY_LEN(pairs), ALL, &a, &err), TALLY_OK);
	assert_int_equal(a.selection.begin_ns, NOW - 7200 * NS_PER_S);
	assert_int_equal(a.selection.end_ns, NOW - 3600 * NS_PER_S);
	assert_true(str_equal(a.selection.event, STR("cycles")) && str_equal(a.format, STR("pprof")));
	assert_true(a.selection.by_thread && !a.counts_samples && a.selection.query && a.selection.query == a.query);
	assert_int_equal(a.step_ns, 300 * NS_PER_S);
	assert_true(a.has_baseline && !a.baseline.query);
	assert_int_equal(a.baseline.end_ns, NOW - 23 * 3600 * NS_PER_S);
	assert_true(str_equal(a.baseline.event, STR("cycles")));
	serve_arguments_deinit(&a);
}

static void test_wrong_arguments(void **state)
{
	static const struct {
		struct http_pair pair;
		const char *word; /* Part of the error message. */
	} wrong[] = {{{STR("from"), STR("tomorrow")}, "'from' expects a time"},
		{{STR("from"), STR("now")}, "is not before"}, {{STR("query"), STR("host=a")}, "'query'"},
		{{STR("threads"), STR("2")}, "0 or 1"}, {{STR("step"), STR("0s")}, "'step'"},
		{{STR("step"), STR("1")}, "'step'"}, {{STR("colour"), STR("1")}, "colour"},
		{{STR("baseline_until"), STR("now")}, "baseline_from"},
		{{STR("baseline_from"), STR("x")}, "baseline_from"}, {{STR("from"), STR("0")}, NULL}};
	struct serve_arguments a;
	struct tally_error err;
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		enum tally_status expected = wrong[i].word ? TALLY_INVALID : TALLY_OK;
		assert_int_equal(read_pairs(&wrong[i].pair, 1, ALL, &a, &err), expected);
		if (wrong[i].word && !strstr(err.text, wrong[i].word))
			fail_msg("%s", err.text);
	}
	serve_arguments_deinit(&a);
	const struct http_pair twice[] = {{STR("event"), STR("a")}, {STR("event"), STR("a")}};
	assert_int_equal(read_pairs(twice, 2, ALL, &a, &err), TALLY_INVALID);
	assert_int_equal(read_pairs(twice, 1, SERVE_ARGUMENT_QUERY, &a, &err), TALLY_INVALID);
	const struct http_pair points[] = {{STR("from"), STR("0")}, {STR("step"), STR("1s")}};
	assert_int_equal(read_pairs(points, 2, ALL, &a, &err), TALLY_INVALID);
	assert_non_null(strstr(err.text, "points"));
}

/* The body is not NUL-terminated. */
static bool body_has(const struct http_response *response, const char *part)
{
	return response->body.len && memmem(response->body.data, response->body.len, part, strlen(part)) != NULL;
}

static unsigned admitted(struct serve_api *api, const char *method, const char *path, const char *token)
{
	char shown[64];
	struct http_response response = HTTP_RESPONSE_EMPTY;
	snprintf(shown, sizeof(shown), "Bearer %s", token ? token : "");
	const struct http_pair headers[] = {{STR("Host"), STR("localhost:7779")},
		{STR("Content-Type"), STR("application/x-protobuf")}, {STR("Authorization"), str_from(shown)}};
	const struct http_request request = {
		.method = str_from(method), .path = str_from(path), .headers = headers, .header_count = token ? 3 : 2};
	serve_api_admit(api, &request, &response);
	unsigned status = response.status;
	if (status != 0)
		assert_true(body_has(&response, "\"error\""));
	http_response_deinit(&response);
	return status;
}

static void test_admission(void **state)
{
	static struct serve_tokens writers = {.items = {TOKEN}, .count = 1}, readers = {.items = {OTHER}, .count = 1};
	struct serve_api api = {.program = "tally", .is_local = true};
	(void)state;
	assert_int_equal(admitted(&api, "POST", "/api/v1/batches", NULL), 0);
	assert_int_equal(admitted(&api, "GET", "/api/v1/profile", NULL), 0);
	assert_int_equal(admitted(&api, "HEAD", "/metrics", NULL), 0);
	assert_int_equal(admitted(&api, "GET", "/api/v1/batches", NULL), 405);
	assert_int_equal(admitted(&api, "HEAD", "/api/v1/batches", NULL), 405);
	assert_int_equal(admitted(&api, "GET", "/api/v1/profile/", NULL), 404);
	assert_int_equal(admitted(&api, "GET", "//", NULL), 404);
	api.writers = &writers;
	assert_int_equal(admitted(&api, "POST", "/api/v1/batches", NULL), 401);
	assert_int_equal(admitted(&api, "POST", "/api/v1/batches", TOKEN), 0);
	assert_int_equal(admitted(&api, "GET", "/metrics", NULL), 0);
	api.readers = &readers;
	assert_int_equal(admitted(&api, "POST", "/api/v1/batches", OTHER), 403);
	assert_int_equal(admitted(&api, "GET", "/api/v1/labels/host", TOKEN), 403);
	assert_int_equal(admitted(&api, "GET", "/api/v1/labels/host", OTHER), 0);
	assert_int_equal(admitted(&api, "GET", "/metrics", "something-else-entirely"), 401);
	assert_int_equal(admitted(&api, "GET", "/healthz", NULL), 0);
	assert_int_equal(admitted(&api, "GET", "/", NULL), 0);
}

static struct http_response answer_of(struct serve_api *api, const char *method, const char *path, const char *body)
{
	struct http_response response = HTTP_RESPONSE_EMPTY;
	const struct http_request request = {
		.method = str_from(method), .path = str_from(path), .body = {(const uint8_t *)body, strlen(body)}};
	serve_api_answer(api, &request, &response);
	text_char(&response.body, '\0');
	return response;
}

static void check_answer(struct serve_api *api, const char *method, const char *path, unsigned status, const char *part)
{
	struct http_response response = answer_of(api, method, path, method[0] == 'P' ? "no batch" : "");
	if (response.status != status || !body_has(&response, part))
		fail_msg("%s: %u %.*s", path, response.status, (int)response.body.len, response.body.data);
	http_response_deinit(&response);
}

static void test_answers_of_an_empty_store(void **state)
{
	char folder[] = "/tmp/tally-serve-XXXXXX", url[64], command[64];
	struct serve_api api = {.program = "tally", .query_ns = NS_PER_S};
	struct tally_error err;
	(void)state;
	if (!HAVE_SQLITE)
		skip_because("this build has no SQLite");
	assert_non_null(mkdtemp(folder));
	snprintf(url, sizeof(url), "sqlite:%s/store.db", folder);
	assert_int_equal(store_open(url, true, &api.writer.store, &err), TALLY_OK);
	assert_int_equal(store_open(url, false, &api.reader.store, &err), TALLY_OK);
	assert_true(serve_api_init(&api));
	check_answer(&api, "POST", "/api/v1/batches", 400, "\"error\": \"the batch is refused: ");
	check_answer(&api, "GET", "/api/v1/profile", 200, "\"samples\": 0");
	check_answer(&api, "GET", "/api/v1/labels", 200, "{\"labels\": []}");
	check_answer(&api, "GET", "/api/v1/labels/host", 200, "{\"label\": \"host\",\"values\": []}");
	check_answer(&api, "GET", "/api/v1/labels/9", 400, "begins with no digit");
	check_answer(&api, "GET", "/api/v1/events", 200, "{\"events\": []}");
	check_answer(&api, "GET", "/api/v1/load", 200, "\"step_ns\": 36000000000,\"points\": [{\"begin_ns\": ");
	check_answer(&api, "GET", "/metrics", 200, "tally_batches_total{result=\"refused\"} 1\n");
	check_answer(&api, "GET", "/healthz", 200, "ok\n");
	serve_api_deinit(&api);
	store_close(api.reader.store);
	store_close(api.writer.store);
	snprintf(command, sizeof(command), "rm -r %s", folder);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_usual_arguments),
		cmocka_unit_test(test_all_arguments),
		cmocka_unit_test(test_wrong_arguments),
		cmocka_unit_test(test_admission),
		cmocka_unit_test(test_answers_of_an_empty_store),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
