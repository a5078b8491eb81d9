/* SPDX-License-Identifier: Apache-2.0 */
#include "perfdata/origin.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "perfdata/feature_encode.h"
#include "perfdata/feature_table.h"
#include "unit_test.h"

#define MODEL	    "valgrind 3.19, model d1=32768,8,64"
#define UNSEEN	    "the kernel's code"
#define BYTES(text) ((struct tally_bytes){(const uint8_t *)(text), sizeof(text)}) /* With the terminating NUL. */

/* The memory has exactly that size, so that the sanitizer detects a read past the end. */
static struct perfdata_features read_section(struct tally_bytes section, uint8_t **memory)
{
	struct perfdata_features f = {0};
	struct arena arena;
	arena_init(&arena);
	*memory = malloc(section.len ? section.len : 1);
	memcpy(*memory, section.data, section.len);
	struct feature_input input = {{*memory, section.len}, false, &arena, &f};
	origin_set(&f, (struct perfdata_origin){0});
	assert_int_equal(feature_decode(FEATURE_ORIGIN, &input, NULL), TALLY_OK);
	arena_deinit(&arena);
	return f;
}

static void assert_text(const struct perfdata_origin *origin, const char *want)
{
	struct text t = {0};
	origin_text(&t, origin);
	assert_int_equal(t.len, strlen(want));
	assert_memory_equal(text_view(&t).data, want, t.len);
	text_deinit(&t);
}

static void test_what_is_written_comes_back(void **state)
{
	static const enum perfdata_origin_kind kinds[] = {ORIGIN_TIMER, ORIGIN_SIMULATED, ORIGIN_RUSAGE};
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		struct perfdata_features f = {0};
		struct writer w = {0}, again = {0};
		uint8_t *memory;
		origin_set(&f, (struct perfdata_origin){
				       kinds[i], STR(MODEL), STR(UNSEEN), i == 0 ? STR("it was traced") : STR("")});
		assert_true(feature_is_present(&f, FEATURE_ORIGIN));
		feature_encode(&w, FEATURE_ORIGIN, &f);
		struct perfdata_features got = read_section(writer_view(&w), &memory);
		struct perfdata_origin origin = origin_of(&got);
		assert_int_equal(got.damaged, 0);
		assert_int_equal(origin.kind, kinds[i]);
		assert_true(str_equal(origin.by, STR(MODEL)));
		assert_true(str_equal(origin.not_seen, STR(UNSEEN)));
		assert_true(str_equal(origin.changed, i == 0 ? STR("it was traced") : STR("")));
		feature_encode(&again, FEATURE_ORIGIN, &got);
		assert_true(bytes_equal(writer_view(&w), writer_view(&again)));
		writer_deinit(&w);
		writer_deinit(&again);
		free(memory);
	}
}

static void test_texts_stay_in_their_lines(void **state)
{
	static char long_text[5000];
	struct perfdata_features f = {0};
	struct writer w = {0};
	uint8_t *memory;
	memset(long_text, 'x', sizeof(long_text));
	origin_set(&f, (struct perfdata_origin){ORIGIN_TIMER, STR("two\nlines\0"), {long_text, sizeof(long_text)},
			       {long_text, sizeof(long_text)}});
	feature_encode(&w, FEATURE_ORIGIN, &f);
	struct perfdata_features got = read_section(writer_view(&w), &memory);
	assert_int_equal(got.damaged, 0);
	assert_true(str_equal(got.origin.by, STR("two lines ")));
	assert_int_equal(got.origin.not_seen.len, 1300);
	assert_int_equal(got.origin.changed.len, 1300);
	writer_deinit(&w);
	free(memory);
}

static void test_a_section_that_ends_early(void **state)
{
	static const char whole[] = "simulated\n" MODEL "\n" UNSEEN;
	for (size_t cut = 0; cut < sizeof(whole); cut++) {
		uint8_t *memory;
		struct perfdata_features got = read_section((struct tally_bytes){(const uint8_t *)whole, cut}, &memory);
		assert_int_equal(got.damaged, 1);
		assert_int_equal(origin_of(&got).kind, ORIGIN_UNKNOWN);
		assert_int_equal(origin_of(&got).by.len, 0);
		free(memory);
	}
}

static void test_sections_of_others(void **state)
{
	static char too_long[4097] = "timer\n";
	static const struct {
		struct tally_bytes section;
		uint64_t damaged;
		enum perfdata_origin_kind kind;
		const char *by;
	} cases[] = {
		{BYTES("timer"), 0, ORIGIN_TIMER, ""},
		{BYTES("timer\nby"), 0, ORIGIN_TIMER, "by"},
		{BYTES("timer\nby\nunseen\nmore\nlines"), 0, ORIGIN_TIMER, "by"},
		{BYTES("guessed\nby dice"), 0, ORIGIN_UNKNOWN, "by dice"},
		{BYTES("Timer\nby"), 0, ORIGIN_UNKNOWN, "by"},
		{BYTES("events\nby"), 0, ORIGIN_UNKNOWN, "by"},
		{BYTES("timer\nby\0\0\0\0\0"), 0, ORIGIN_TIMER, "by"},
		{BYTES("\nby"), 1, ORIGIN_UNKNOWN, ""},
		{BYTES(""), 1, ORIGIN_UNKNOWN, ""},
		{BYTES(too_long), 1, ORIGIN_UNKNOWN, ""},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		uint8_t *memory;
		struct perfdata_features got = read_section(cases[i].section, &memory);
		struct perfdata_origin origin = origin_of(&got);
		assert_int_equal(got.damaged, cases[i].damaged);
		assert_int_equal(origin.kind, cases[i].kind);
		assert_true(str_equal(origin.by, str_from(cases[i].by)));
		free(memory);
	}
}

static void test_what_is_not_known_is_kept(void **state)
{
	struct writer w = {0}, without = {0};
	uint8_t *memory;
	struct perfdata_features got = read_section(BYTES("guessed\nby dice"), &memory);
	feature_encode(&w, FEATURE_ORIGIN, &got);
	assert_true(bytes_equal(writer_view(&w), BYTES("guessed\nby dice")));
	got.raw[FEATURE_ORIGIN].len = 0; /* pack --scrub clears it. */
	feature_encode(&without, FEATURE_ORIGIN, &got);
	assert_true(bytes_equal(writer_view(&without), BYTES("unknown\n\n")));
	writer_deinit(&w);
	writer_deinit(&without);
	free(memory);
}

static void test_words(void **state)
{
	struct perfdata_origin origin = {ORIGIN_SIMULATED, STR("valgrind 3.19"), STR(UNSEEN), STR("")};
	assert_text(&origin, "samples are simulated, not measured (valgrind 3.19); they do not show the kernel's code");
	origin = (struct perfdata_origin){.kind = ORIGIN_TIMER, .not_seen = STR("\x1b[2J")};
	assert_text(&origin, "samples are from timers of CPU time, not from perf events; they do not show \\x1b[2J");
	origin = (struct perfdata_origin){.kind = ORIGIN_TIMER, .changed = STR("it was traced")};
	assert_text(&origin, "samples are from timers of CPU time, not from perf events; it was traced");
	origin = (struct perfdata_origin){.kind = ORIGIN_UNKNOWN};
	assert_text(&origin, "samples are not from perf events, but from a source that this version does not know");
	origin = (struct perfdata_origin){.by = STR("perf")};
	assert_text(&origin, "");
}

static void test_json(void **state)
{
	static const char want[] = "{\"origin\":{\"kind\":\"simulated\",\"by\":\"a "
				   "\\\"model\\\"\",\"not_seen\":\"\",\"changed\":\"x\"}}\n";
	struct perfdata_features f = {0}, none = {0};
	struct text t = {0};
	struct json j = {.out = &t, .is_compact = true, .colon = ":", .comma = ","};
	origin_set(&f, (struct perfdata_origin){ORIGIN_SIMULATED, STR("a \"model\""), STR(""), STR("x")});
	json_object(&j, NULL);
	origin_json(&j, &f);
	origin_json(&j, &none);
	json_object_end(&j);
	assert_int_equal(t.len, sizeof(want) - 1);
	assert_memory_equal(t.data, want, t.len);
	text_deinit(&t);
}

static void test_a_recording_of_events_has_none(void **state)
{
	struct perfdata_features f = {.origin = {.kind = ORIGIN_TIMER}};
	struct writer w = {0};
	assert_int_equal(origin_of(&f).kind, ORIGIN_EVENTS);
	f.origin.kind = ORIGIN_EVENTS;
	feature_encode(&w, FEATURE_ORIGIN, &f);
	assert_int_equal(w.len, 0);
	writer_deinit(&w);
}

/* The record size is never a multiple of 16, as that of a feature table is. */
static void test_the_record_of_a_stream(void **state)
{
	static const char long_text[5000] = "timer\n";
	for (size_t len = 0; len < sizeof(long_text); len += len < 40 ? 1 : 620) {
		struct writer w = {0};
		struct record record;
		struct tally_bytes section;
		origin_put_record(&w, (struct tally_bytes){(const uint8_t *)long_text, len});
		assert_int_equal(w.len % 16, 8);
		assert_int_equal(record_at(writer_view(&w), false, 0, &record, NULL), TALLY_OK);
		assert_int_equal(record.bytes.len, w.len);
		assert_true(origin_record_section(&record, &section));
		assert_in_range(section.len, MIN(len, 4096), MIN(len, 4096) + 15);
		assert_memory_equal(section.data, long_text, MIN(len, 4096));
		w.data[8] ^= 1;
		assert_false(origin_record_section(&record, &section));
		writer_deinit(&w);
	}
}

static void test_records_that_are_none(void **state)
{
	static const uint8_t round[] = {RECORD_FINISHED_ROUND, 0, 0, 0, 0, 0, 8, 0};
	static const uint8_t cut[] = {RECORD_FINISHED_ROUND, 0, 0, 0, 0, 0, 12, 0, 't', 'a', 'l', 'l'};
	const struct tally_bytes none[] = {{round, sizeof(round)}, {cut, sizeof(cut)}};
	for (size_t i = 0; i < ARRAY_LEN(none); i++) {
		struct record record = {.type = RECORD_FINISHED_ROUND, .bytes = none[i]};
		struct tally_bytes section;
		assert_false(origin_record_section(&record, &section));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_written_comes_back),
		cmocka_unit_test(test_texts_stay_in_their_lines),
		cmocka_unit_test(test_a_section_that_ends_early),
		cmocka_unit_test(test_sections_of_others),
		cmocka_unit_test(test_what_is_not_known_is_kept),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_a_recording_of_events_has_none),
		cmocka_unit_test(test_the_record_of_a_stream),
		cmocka_unit_test(test_records_that_are_none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
