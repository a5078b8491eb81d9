/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/fleet/destinations.h"

#include <stdio.h>

#include "base/array.h"
#include "base/protobuf_reader.h"
#include "batch_example.h"
#include "unit_test.h"

static void urls_say_the_kind(void **state)
{
	static const struct {
		const char *text;
		enum destination_kind kind;
		const char *url;
	} cases[] = {
		{"http://host:7779", DESTINATION_SERVE, "http://host:7779"},
		{"https://host", DESTINATION_SERVE, "https://host"},
		{"otlp+http://host:4318/base", DESTINATION_OTLP, "http://host:4318/base"},
		{"otlp+https://host", DESTINATION_OTLP, "https://host"},
		{"pyroscope+http://host:4040", DESTINATION_PYROSCOPE, "http://host:4040"},
		{"pyroscope+https://host", DESTINATION_PYROSCOPE, "https://host"},
		{"parca+http://host:7070", DESTINATION_PARCA, "http://host:7070"},
	};
	static const char *const others[] = {
		"", "folder", "otlp+folder", "otlp+ftp://host", "otlp://host", "otlp+otlp+http://host", "sqlite:x"};
	struct destination found = {0};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		assert_true(destination_find(cases[i].text, &found));
		assert_int_equal(found.kind, cases[i].kind);
		assert_string_equal(found.url, cases[i].url);
	}
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		assert_false(destination_find(others[i], &found));
}

static struct batch_receipt judge(enum destination_kind kind, unsigned status, const char *body, size_t len)
{
	struct http_answer answer = {.status = status, .retry_after_s = 7};
	struct batch_receipt receipt = {0};
	text_bytes(&answer.body, body, len);
	destination_judge(kind, &answer, &receipt);
	assert_int_equal(receipt.status, status);
	assert_int_equal(receipt.retry_after_s, 7);
	text_deinit(&answer.body);
	return receipt;
}

static void statuses_say_what_to_do(void **state)
{
	static const struct {
		unsigned status;
		enum batch_outcome otlp, pyroscope;
	} cases[] = {
		{200, BATCH_STORED, BATCH_STORED},
		{204, BATCH_STORED, BATCH_STORED},
		{301, BATCH_LATER, BATCH_LATER},
		{400, BATCH_REFUSED, BATCH_REFUSED},
		{401, BATCH_DENIED, BATCH_DENIED},
		{403, BATCH_DENIED, BATCH_DENIED},
		{404, BATCH_LATER, BATCH_LATER},
		{405, BATCH_LATER, BATCH_LATER},
		{408, BATCH_LATER, BATCH_LATER},
		{413, BATCH_REFUSED, BATCH_REFUSED},
		{415, BATCH_REFUSED, BATCH_REFUSED},
		{422, BATCH_REFUSED, BATCH_REFUSED},
		{429, BATCH_LATER, BATCH_LATER},
		{500, BATCH_LATER, BATCH_LATER},
		{501, BATCH_LATER, BATCH_LATER},
		{502, BATCH_LATER, BATCH_LATER},
		{503, BATCH_LATER, BATCH_LATER},
		{504, BATCH_LATER, BATCH_LATER},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		assert_int_equal(judge(DESTINATION_OTLP, cases[i].status, "", 0).outcome, cases[i].otlp);
		assert_int_equal(judge(DESTINATION_PYROSCOPE, cases[i].status, "", 0).outcome, cases[i].pyroscope);
	}
}

/* Responses of a server are not trusted. */
static void answers_are_explained(void **state)
{
	static const char status[] = "\x08\x03\x12\x0a"
				     "bad\x1bsample";
	static const char partial[] = "\x0a\x08\x08\x02\x12\x04"
				      "size";
	static const char broken[] = "\x0a\x7f";
	struct batch_receipt receipt = judge(DESTINATION_OTLP, 400, status, sizeof(status) - 1);
	assert_string_equal(receipt.sentence, "the server answered 400: bad\\x1bsample");
	receipt = judge(DESTINATION_OTLP, 503, "{\"message\":\"come later\"}", 24);
	assert_string_equal(receipt.sentence, "the server answered 503: come later");
	receipt = judge(DESTINATION_OTLP, 400, broken, sizeof(broken) - 1);
	assert_string_equal(receipt.sentence, "the server answered 400");
	receipt = judge(DESTINATION_PYROSCOPE, 400, "{\"code\":\"invalid_argument\",\"message\":\"no labels\"}", 49);
	assert_string_equal(receipt.sentence, "the server answered 400: no labels");
	receipt = judge(DESTINATION_PYROSCOPE, 502, "<html>", 6);
	assert_string_equal(receipt.sentence, "the server answered 502");
	receipt = judge(DESTINATION_OTLP, 200, partial, sizeof(partial) - 1);
	assert_int_equal(receipt.outcome, BATCH_STORED);
	assert_string_equal(receipt.sentence, "the server rejected 2 profiles: size");
	receipt = judge(DESTINATION_OTLP, 200, broken, sizeof(broken) - 1);
	assert_string_equal(receipt.sentence, "");
}

static struct batch_receipt judge_grpc(const char *header, const char *body, size_t len)
{
	struct http_answer answer = {.status = 200};
	struct batch_receipt receipt = {0};
	text_str(&answer.grpc, header);
	text_bytes(&answer.body, body, len);
	destination_judge(DESTINATION_PARCA, &answer, &receipt);
	http_answer_deinit(&answer);
	return receipt;
}

/* The status is in the last frame, or in the header if there is no frame. */
static void grpc_has_a_status_of_its_own(void **state)
{
	static const char good[] = "\0\0\0\0\0\x80\0\0\0\x10grpc-status: 0\r\n";
	static const char bad[] = "\x80\0\0\0\x28Grpc-Status:3\r\ngrpc-message:no%20name%\r\n";
	static const char cut[] = "\0\0\0\0\0\x80\0\0\1\x10grpc-status: 0\r\n";
	static const struct {
		const char *status;
		enum batch_outcome outcome;
	} cases[] = {{"1", BATCH_LATER}, {"2", BATCH_LATER}, {"3", BATCH_REFUSED}, {"4", BATCH_LATER},
		{"5", BATCH_LATER}, {"7", BATCH_DENIED}, {"8", BATCH_LATER}, {"11", BATCH_REFUSED}, {"12", BATCH_LATER},
		{"13", BATCH_LATER}, {"14", BATCH_LATER}, {"16", BATCH_DENIED}, {"99", BATCH_LATER}};
	struct batch_receipt receipt = judge_grpc("", good, sizeof(good) - 1);
	assert_int_equal(receipt.outcome, BATCH_STORED);
	assert_string_equal(receipt.sentence, "");
	receipt = judge_grpc("", bad, sizeof(bad) - 1);
	assert_int_equal(receipt.outcome, BATCH_REFUSED);
	assert_string_equal(receipt.sentence, "the server answered status 3 of gRPC: no name%");
	receipt = judge_grpc("", cut, sizeof(cut) - 1);
	assert_int_equal(receipt.outcome, BATCH_LATER);
	assert_string_equal(receipt.sentence, "the server does not answer as gRPC-Web does");
	assert_int_equal(judge_grpc("", "<html></html>", 13).outcome, BATCH_LATER);
	assert_int_equal(judge_grpc("grpc-status: x\r\n", "", 0).outcome, BATCH_LATER);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char header[64];
		snprintf(header, sizeof(header), "Grpc-Message: a%%0ab\r\nGrpc-Status: %s\r\n", cases[i].status);
		receipt = judge_grpc(header, "", 0);
		assert_int_equal(receipt.outcome, cases[i].outcome);
		assert_non_null(strstr(receipt.sentence, ": a\\x0ab"));
	}
}

static bool is_gzip(struct tally_bytes bytes)
{
	return bytes.len > 18 && bytes.data[0] == 0x1f && bytes.data[1] == 0x8b;
}

/* Prints "name=value" of each label, then the format of the bytes and the ID. */
static void print_series(struct protobuf_reader series, struct text *out, char *id)
{
	struct protobuf_field field, member;
	while (protobuf_next(&series, &field)) {
		struct protobuf_reader inner = protobuf_nested(&series, &field);
		while (protobuf_next(&inner, &member)) {
			struct tally_str value = protobuf_text(&member);
			if (field.number == 1) {
				text_bytes(out, value.data, value.len);
				text_char(out, member.number == 1 ? '=' : ' ');
			} else if (member.number == 1) {
				assert_true(is_gzip(member.bytes));
			} else {
				assert_int_equal(value.len, 36);
				memcpy(id, value.data, value.len);
			}
		}
		assert_int_equal(protobuf_check(&inner, NULL), TALLY_OK);
	}
	assert_int_equal(protobuf_check(&series, NULL), TALLY_OK);
	text_char(out, '\n');
}

static void pyroscope_gets_a_series_for_each_set_and_event(void **state)
{
	struct fleet_batch *batch = batch_example();
	struct text body = {0}, again = {0}, found = {0};
	char ids[6][37] = {0};
	size_t count = 0;
	assert_int_equal(destination_encode(DESTINATION_PYROSCOPE, batch, &body, NULL), TALLY_OK);
	struct protobuf_reader push = protobuf_reader_make((struct tally_bytes){(const uint8_t *)body.data, body.len});
	struct protobuf_field field;
	while (protobuf_next(&push, &field) && count < ARRAY_LEN(ids)) {
		assert_int_equal(field.number, 1);
		print_series(protobuf_nested(&push, &field), &found, ids[count++]);
	}
	assert_int_equal(protobuf_check(&push, NULL), TALLY_OK);
	text_char(&found, '\0');
	assert_string_equal(found.data,
		"__name__=process_cpu tally_event=cpu-clock:u host=h\xc3\xb6st \"1\" region=eu \n"
		"__name__=cycles tally_event=cycles host=h\xc3\xb6st \"1\" region=eu \n"
		"__name__=process_cpu tally_event=cpu-clock:u service_name=api host=h\xc3\xb6st \"1\" region=eu \n"
		"__name__=off_cpu tally_event=offcpu-time service_name=api host=h\xc3\xb6st \"1\" region=eu \n"
		"__name__=process_cpu tally_event=cpu-clock:u service_name=db host=h\xc3\xb6st \"1\" region=eu \n");
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(ids[i], ids[k]);
	assert_int_equal(destination_encode(DESTINATION_PYROSCOPE, batch, &again, NULL), TALLY_OK);
	assert_int_equal(again.len, body.len);
	assert_memory_equal(again.data, body.data, body.len); /* A retry sends the same request. */
	text_deinit(&body);
	text_deinit(&again);
	text_deinit(&found);
	fleet_batch_destroy(batch);
}

/* Parca gets the same series in one frame, with the labels in a separate message. */
static void parca_gets_the_same_series(void **state)
{
	struct fleet_batch *batch = batch_example();
	struct text body = {0};
	struct protobuf_field field;
	size_t series = 0;
	uint64_t is_normalized = 0;
	assert_int_equal(destination_encode(DESTINATION_PARCA, batch, &body, NULL), TALLY_OK);
	const uint8_t *head = (const uint8_t *)body.data;
	assert_int_equal(head[0], 0);
	assert_int_equal((size_t)head[1] << 24 | (size_t)head[2] << 16 | (size_t)head[3] << 8 | head[4], body.len - 5);
	struct protobuf_reader write = protobuf_reader_make((struct tally_bytes){head + 5, body.len - 5});
	while (protobuf_next(&write, &field)) {
		series += field.number == 2;
		is_normalized = field.number == 3 ? field.value : is_normalized;
	}
	assert_int_equal(protobuf_check(&write, NULL), TALLY_OK);
	assert_int_equal(series, 5);
	assert_int_equal(is_normalized, 1);
	text_deinit(&body);
	fleet_batch_destroy(batch);
}

static void otlp_is_packed(void **state)
{
	struct fleet_batch *batch = batch_example();
	struct text body = {0};
	assert_int_equal(destination_encode(DESTINATION_OTLP, batch, &body, NULL), TALLY_OK);
	assert_true(is_gzip((struct tally_bytes){(const uint8_t *)body.data, body.len}));
	text_deinit(&body);
	fleet_batch_destroy(batch);
}

/* These batches need no request, and so no client. */
static void bad_batches_are_refused_and_empty_ones_are_done(void **state)
{
	const struct destination otlp = {DESTINATION_OTLP, "http://host"};
	struct batch_receipt receipt;
	assert_int_equal(
		destination_post(&otlp, NULL, (struct tally_bytes){(const uint8_t *)"\xff\xff", 2}, &receipt, NULL),
		TALLY_OK);
	assert_int_equal(receipt.outcome, BATCH_REFUSED);
	assert_true(strlen(receipt.sentence) > 10);
	struct fleet_batch *batch = batch_example();
	struct text bytes = {0};
	((struct profile *)batch->profile)->sample_count = 0;
	assert_int_equal(fleet_batch_write(batch, NULL, &bytes, NULL), TALLY_OK);
	assert_int_equal(destination_post(&otlp, NULL, (struct tally_bytes){(const uint8_t *)bytes.data, bytes.len},
				 &receipt, NULL),
		TALLY_OK);
	assert_int_equal(receipt.outcome, BATCH_STORED);
	assert_int_equal(receipt.samples, 0);
	text_deinit(&bytes);
	fleet_batch_destroy(batch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(urls_say_the_kind),
		cmocka_unit_test(statuses_say_what_to_do),
		cmocka_unit_test(answers_are_explained),
		cmocka_unit_test(pyroscope_gets_a_series_for_each_set_and_event),
		cmocka_unit_test(grpc_has_a_status_of_its_own),
		cmocka_unit_test(parca_gets_the_same_series),
		cmocka_unit_test(otlp_is_packed),
		cmocka_unit_test(bad_batches_are_refused_and_empty_ones_are_done),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
