/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests encoding and decoding of batches. With TALLY_TEST_BATCH_CODEC in the environment, this is a program for
 * tests/e2e/test_fleet_format.py: "encode" writes the example to stdout; "describe" reads a batch from stdin and
 * prints it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/protobuf_writer.h"
#include "batch_example.h"
#include "fleet/batch.h"
#include "fleet/batch_format.h"
#include "profile_text.h"
#include "unit_test.h"

static struct text encoded(const struct fleet_batch *batch, const bool *leaves_out)
{
	struct text bytes = {0};
	assert_int_equal(fleet_batch_write(batch, leaves_out, &bytes, NULL), TALLY_OK);
	return bytes;
}

static struct tally_bytes bytes_of(const struct text *t)
{
	return (struct tally_bytes){(const uint8_t *)t->data, t->len};
}

static struct fleet_batch *decoded(const struct text *bytes)
{
	struct fleet_batch *batch = NULL;
	struct tally_error err = {.text = ""};
	if (fleet_batch_read(bytes_of(bytes), &batch, &err) != TALLY_OK)
		fail_msg("%s", err.text);
	return batch;
}

static void assert_same(const struct fleet_batch *a, const struct fleet_batch *b)
{
	struct text one = {0}, other = {0};
	batch_print(a, &one);
	batch_print(b, &other);
	text_char(&one, '\0');
	text_char(&other, '\0');
	assert_string_equal(one.data, other.data);
	text_deinit(&one);
	text_deinit(&other);
}

static void everything_comes_back(void **state)
{
	struct fleet_batch *batch = batch_example();
	struct text bytes = encoded(batch, NULL);
	struct fleet_batch *again = decoded(&bytes);
	struct text second = encoded(again, NULL);
	assert_same(batch, again);
	assert_int_equal(fleet_batch_sample_count(again), fleet_batch_sample_count(batch));
	assert_null(again->symbols_left_out);
	struct fleet_batch *third = decoded(&second);
	assert_same(batch, third);
	fleet_batch_destroy(third);
	fleet_batch_destroy(again);
	fleet_batch_destroy(batch);
	text_deinit(&bytes);
	text_deinit(&second);
}

static void an_empty_batch_comes_back(void **state)
{
	struct profile *p;
	struct fleet_batch *batch;
	assert_int_equal(profile_builder_finish(profile_builder_create(), &p, NULL), TALLY_OK);
	assert_int_equal(fleet_batch_make(&(struct fleet_batch){.end_ns = 1}, p, &batch, NULL), TALLY_OK);
	struct text bytes = encoded(batch, NULL), nothing = {0};
	struct fleet_batch *again = decoded(&bytes), *none = decoded(&nothing);
	assert_same(batch, again);
	assert_int_equal(none->set_count, 1);
	assert_int_equal(fleet_batch_sample_count(none), 0);
	fleet_batch_destroy(batch);
	fleet_batch_destroy(again);
	fleet_batch_destroy(none);
	text_deinit(&bytes);
}

/* Symbols are omitted only for locations in a binary with a build ID that is not a kernel; decoding marks those
 * locations. */
static void symbols_that_are_left_out(void **state)
{
	struct fleet_batch *batch = batch_example();
	bool *leaves_out = test_calloc(batch->profile->frame_count, sizeof(bool));
	memset(leaves_out, 1, batch->profile->frame_count * sizeof(bool));
	struct text all = encoded(batch, NULL), few = encoded(batch, leaves_out);
	assert_true(few.len < all.len);
	struct fleet_batch *again = decoded(&few);
	const struct profile *p = again->profile;
	size_t count = 0;
	assert_non_null(again->symbols_left_out);
	for (size_t i = 0; i < p->frame_count; i++) {
		uint32_t binary = p->frames[i].binary;
		bool may_be = binary != PROFILE_NONE && !p->binaries[binary].is_kernel &&
			      profile_string(p, p->binaries[binary].build_id).len > 0;
		assert_int_equal(again->symbols_left_out[i], may_be);
		assert_true(!may_be || p->frames[i].function == PROFILE_NONE);
		count += may_be;
	}
	assert_int_equal(count, 3);
	struct text second = encoded(again, NULL);
	struct fleet_batch *third = decoded(&second);
	assert_same(again, third);
	fleet_batch_destroy(third);
	fleet_batch_destroy(again);
	fleet_batch_destroy(batch);
	test_free(leaves_out);
	text_deinit(&all);
	text_deinit(&few);
	text_deinit(&second);
}

/* Samples of several CPUs are merged in the batch. */
static void samples_are_added_up(void **state)
{
	struct profile *p = profile_from_text("event cycles\n"
					      "a 1/1 0 0 10 main@x;f@x\n"
					      "a 1/1 1 0 20 main@x;f@x\n");
	struct fleet_batch *batch;
	assert_int_equal(p->sample_count, 2);
	assert_int_equal(fleet_batch_make(&(struct fleet_batch){0}, p, &batch, NULL), TALLY_OK);
	struct text bytes = encoded(batch, NULL);
	struct fleet_batch *again = decoded(&bytes);
	assert_int_equal(again->profile->sample_count, 1);
	assert_int_equal(again->profile->samples[0].count, 2);
	assert_int_equal(again->profile->samples[0].period, 30);
	fleet_batch_destroy(batch);
	fleet_batch_destroy(again);
	text_deinit(&bytes);
}

static void try_bytes(const uint8_t *data, size_t len)
{
	struct fleet_batch *batch = NULL;
	struct tally_error err = {.offset = TALLY_NO_OFFSET};
	uint8_t *copy = malloc(len ? len : 1);
	assert_non_null(copy);
	memcpy(copy, data, len);
	enum tally_status status = fleet_batch_read((struct tally_bytes){copy, len}, &batch, &err);
	assert_true(status == TALLY_OK || status == TALLY_CORRUPT || status == TALLY_LIMIT);
	assert_int_equal(batch != NULL, status == TALLY_OK);
	if (status == TALLY_OK) { /* A batch that was decoded can be encoded and decoded again. */
		struct text bytes = encoded(batch, NULL), out = {0};
		struct fleet_batch *again = decoded(&bytes);
		assert_int_equal(fleet_batch_sample_count(again), fleet_batch_sample_count(batch));
		batch_print(again, &out);
		fleet_batch_destroy(again);
		text_deinit(&bytes);
		text_deinit(&out);
	} else {
		assert_true(err.offset == TALLY_NO_OFFSET || err.offset <= len);
	}
	fleet_batch_destroy(batch);
	free(copy);
}

static void every_prefix(void **state)
{
	struct fleet_batch *batch = batch_example();
	struct text bytes = encoded(batch, NULL);
	for (size_t len = 0; len < bytes.len; len++)
		try_bytes((const uint8_t *)bytes.data, len);
	fleet_batch_destroy(batch);
	text_deinit(&bytes);
}

static void changed_bytes(void **state)
{
	struct fleet_batch *batch = batch_example();
	struct text bytes = encoded(batch, NULL);
	for (size_t i = 0; i < bytes.len; i++)
		for (size_t value = 0; value < 256; value += i % 37 + 17) {
			char before = bytes.data[i];
			bytes.data[i] = (char)value;
			try_bytes((const uint8_t *)bytes.data, bytes.len);
			bytes.data[i] = before;
		}
	fleet_batch_destroy(batch);
	text_deinit(&bytes);
}

static void add_string(struct text *t, const char *text)
{
	protobuf_bytes(t, BATCH_STRING, text, strlen(text));
}

static void add_pair(struct text *t, unsigned field, unsigned a, uint64_t a_value, unsigned b, uint64_t b_value)
{
	size_t begin = protobuf_open(t);
	protobuf_u64(t, a, a_value);
	protobuf_u64(t, b, b_value);
	protobuf_close(t, field, begin);
}

/* Frees the text. */
static void check_refused(struct text t, enum tally_status want, const char *words)
{
	struct fleet_batch *batch = NULL;
	struct tally_error err = {.text = ""};
	assert_int_equal(fleet_batch_read(bytes_of(&t), &batch, &err), want);
	assert_int_equal(err.status, want);
	if (!strstr(err.text, words))
		fail_msg("'%s' lacks '%s'", err.text, words);
	assert_null(batch);
	text_deinit(&t);
}

static void wrong_indexes_are_refused(void **state)
{
	struct text t = {0};
	add_pair(&t, BATCH_LABEL, LABEL_NAME, 1, LABEL_VALUE, 0);
	check_refused(t, TALLY_CORRUPT, "the batch refers to string 1, and has 1 of them");
	t = (struct text){0};
	add_pair(&t, BATCH_LOCATION, LOCATION_BINARY, 1, LOCATION_ADDRESS, 1);
	check_refused(t, TALLY_CORRUPT, "refers to binary 1, and has 1 of them");
	t = (struct text){0};
	add_pair(&t, BATCH_STACK, STACK_LOCATION, 0, 2, 0);
	check_refused(t, TALLY_CORRUPT, "refers to location 0, and has 0 of them");
	t = (struct text){0};
	add_pair(&t, BATCH_THREAD, THREAD_PID, 1, THREAD_LABEL_SET, 1);
	check_refused(t, TALLY_CORRUPT, "refers to label set 1");
	t = (struct text){0};
	add_pair(&t, BATCH_SAMPLE, SAMPLE_COUNT, 1, SAMPLE_VALUE, 1);
	check_refused(t, TALLY_CORRUPT, "has samples, and no event or no thread");
	t = (struct text){0};
	add_pair(&t, BATCH_SAMPLE, SAMPLE_COUNT, 1, SAMPLE_STACK, 1);
	check_refused(t, TALLY_CORRUPT, "refers to stack 1");
}

static void wrong_values_are_refused(void **state)
{
	struct text t = {0};
	protobuf_bytes(&t, BATCH_ID, "short", 5);
	check_refused(t, TALLY_CORRUPT, "the ID of the batch has not 16 bytes");
	t = (struct text){0};
	add_string(&t, "not empty");
	check_refused(t, TALLY_CORRUPT, "the first string of the batch is not empty");
	t = (struct text){0};
	add_string(&t, "");
	add_string(&t, "no name");
	add_pair(&t, BATCH_LABEL, LABEL_NAME, 1, LABEL_VALUE, 0);
	check_refused(t, TALLY_CORRUPT, "'no name' cannot be the name of a label");
	t = (struct text){0};
	add_string(&t, "");
	add_string(&t, "name");
	add_string(&t, "<b>\n</b>");
	add_pair(&t, BATCH_LABEL, LABEL_NAME, 1, LABEL_VALUE, 2);
	check_refused(t, TALLY_CORRUPT, "the value of label 'name' is not valid");
	t = (struct text){0};
	protobuf_u64(&t, BATCH_BEGIN, 2);
	protobuf_u64(&t, BATCH_END, 1);
	check_refused(t, TALLY_CORRUPT, "ends before it begins");
	t = (struct text){0};
	protobuf_bytes(&t, BATCH_STACK, "", 0);
	check_refused(t, TALLY_CORRUPT, "a stack of the batch has no locations");
	t = (struct text){0};
	protobuf_u64(&t, BATCH_STACK, 1);
	check_refused(t, TALLY_CORRUPT, "field 10 of the batch has the wrong type");
	t = (struct text){0};
	add_pair(&t, BATCH_LOSSES, LOSSES_LOST_SAMPLES, UINT64_MAX, LOSSES_FREQUENCY, 1);
	check_refused(t, TALLY_CORRUPT, "more than 63 bits");
}

static void sums_that_overflow_are_refused(void **state)
{
	struct text t = {0};
	protobuf_bytes(&t, BATCH_EVENT, "", 0);
	protobuf_bytes(&t, BATCH_THREAD, "", 0);
	add_pair(&t, BATCH_SAMPLE, SAMPLE_COUNT, INT64_MAX, SAMPLE_VALUE, 1);
	struct fleet_batch *batch = decoded(&t);
	assert_int_equal(fleet_batch_sample_count(batch), INT64_MAX);
	assert_int_equal(batch->profile->samples[0].stack, PROFILE_NONE);
	fleet_batch_destroy(batch);
	add_pair(&t, BATCH_SAMPLE, SAMPLE_COUNT, 1, SAMPLE_VALUE, 1);
	check_refused(t, TALLY_CORRUPT, "add up to more than 63 bits");
}

/* Control characters in strings are made visible, and invalid UTF-8 is replaced. */
static void names_are_repaired(void **state)
{
	struct text t = {0};
	add_string(&t, "");
	add_string(&t, "a\x1b[2J\xff");
	add_pair(&t, BATCH_EVENT, EVENT_NAME, 1, EVENT_IS_TIME, 0);
	struct fleet_batch *batch = decoded(&t);
	assert_string_equal(profile_string(batch->profile, batch->profile->events[0].name).data, "a\\x1b[2J\\xff");
	fleet_batch_destroy(batch);
	text_deinit(&t);
}

/* A location with many inlined calls in deep stacks: each byte of the stacks would become 257 frames. */
static void stacks_that_grow_too_much_are_refused(void **state)
{
	struct text t = {0};
	add_string(&t, "");
	add_string(&t, "f");
	size_t location = protobuf_open(&t);
	for (unsigned i = 0; i < 257; i++)
		add_pair(&t, LOCATION_FRAME, FRAME_FUNCTION, 1, FRAME_LINE, i);
	protobuf_close(&t, BATCH_LOCATION, location);
	for (unsigned i = 0; i < 100; i++) {
		size_t stack = protobuf_open(&t), packed = protobuf_open(&t);
		for (unsigned j = 0; j < 1000 + i; j++)
			protobuf_varint(&t, 0);
		protobuf_close(&t, STACK_LOCATION, packed);
		protobuf_close(&t, BATCH_STACK, stack);
	}
	check_refused(t, TALLY_LIMIT, "the stacks of the batch are too deep");
}

static void lines_that_grow_too_much_are_refused(void **state)
{
	struct text t = {0};
	char *file = test_malloc(100000);
	memset(file, 'f', 100000);
	add_string(&t, "");
	protobuf_bytes(&t, BATCH_STRING, file, 100000);
	for (unsigned i = 0; i < 100; i++) {
		size_t location = protobuf_open(&t);
		add_pair(&t, LOCATION_FRAME, FRAME_FILE, 1, FRAME_LINE, i);
		protobuf_close(&t, BATCH_LOCATION, location);
	}
	check_refused(t, TALLY_LIMIT, "lines of the batch need too much memory");
	test_free(file);
}

static void too_many_entries_are_refused(void **state)
{
	struct text t = {0};
	for (unsigned i = 0; i <= FLEET_EVENTS; i++)
		protobuf_bytes(&t, BATCH_EVENT, "", 0);
	check_refused(t, TALLY_LIMIT, "more than 1024 entries of its field 7");
	t = (struct text){0};
	for (unsigned i = 0; i <= FLEET_SAMPLES; i++)
		protobuf_bytes(&t, BATCH_SAMPLE, "", 0);
	check_refused(t, TALLY_LIMIT, "more than 2097152 entries of its field 12");
}

/* Each label of 1,024 bytes needs 6 bytes in the batch: its text is stored once. */
static void equal_labels_share_their_text(void **state)
{
	struct text t = {0};
	char value[LABEL_VALUE_BYTES];
	memset(value, 'v', sizeof(value));
	add_string(&t, "");
	add_string(&t, "a");
	protobuf_bytes(&t, BATCH_STRING, value, sizeof(value));
	for (unsigned i = 0; i < 1000; i++) {
		size_t set = protobuf_open(&t);
		add_pair(&t, LABEL_SET_LABEL, LABEL_NAME, 1, LABEL_VALUE, 2);
		protobuf_close(&t, BATCH_LABEL_SET, set);
	}
	struct fleet_batch *batch = decoded(&t);
	assert_int_equal(batch->set_count, 1001);
	assert_int_equal(batch->sets[1000].items[0].value.len, LABEL_VALUE_BYTES);
	assert_ptr_equal(batch->sets[1].items[0].value.data, batch->sets[1000].items[0].value.data);
	fleet_batch_destroy(batch);
	text_deinit(&t);
}

/* A later version may add fields, levels and states. */
static void what_is_not_known_is_ignored(void **state)
{
	struct text t = {0};
	protobuf_u64(&t, 100, 5);
	protobuf_bytes(&t, BATCH_EVENT, "\x78\x05", 2);
	protobuf_bytes(&t, BATCH_THREAD, "", 0);
	add_pair(&t, BATCH_LOCATION, LOCATION_LEVEL, 9, 50, 1);
	add_pair(&t, BATCH_STACK, STACK_LOCATION, 0, 50, 1);
	add_pair(&t, BATCH_SAMPLE, SAMPLE_STATE, 99, SAMPLE_STACK, 1);
	struct fleet_batch *batch = decoded(&t);
	const struct profile *p = batch->profile;
	assert_int_equal(p->frames[p->samples[0].leaf].level, PROFILE_LEVEL_UNKNOWN);
	assert_int_equal(profile_facet(p, p->samples[0].facets, FACET_STATE)->number, PROFILE_STATE_NOT_TOLD);
	fleet_batch_destroy(batch);
	text_deinit(&t);
}

static int encode(void)
{
	struct fleet_batch *batch = batch_example();
	struct text bytes = encoded(batch, NULL);
	bool ok = fwrite(bytes.data, 1, bytes.len, stdout) == bytes.len;
	fleet_batch_destroy(batch);
	text_deinit(&bytes);
	return ok ? 0 : 1;
}

static int describe(void)
{
	struct tally_error err;
	struct fleet_batch *batch;
	struct text out = {0};
	char *data;
	size_t len;
	if (file_read_fd(0, FLEET_BATCH_BYTES, &data, &len, &err) != TALLY_OK ||
		fleet_batch_read((struct tally_bytes){(uint8_t *)data, len}, &batch, &err) != TALLY_OK) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	batch_print(batch, &out);
	fwrite(out.data, 1, out.len, stdout);
	fleet_batch_destroy(batch);
	text_deinit(&out);
	free(data);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_comes_back),
		cmocka_unit_test(an_empty_batch_comes_back),
		cmocka_unit_test(symbols_that_are_left_out),
		cmocka_unit_test(samples_are_added_up),
		cmocka_unit_test(every_prefix),
		cmocka_unit_test(changed_bytes),
		cmocka_unit_test(wrong_indexes_are_refused),
		cmocka_unit_test(wrong_values_are_refused),
		cmocka_unit_test(sums_that_overflow_are_refused),
		cmocka_unit_test(names_are_repaired),
		cmocka_unit_test(stacks_that_grow_too_much_are_refused),
		cmocka_unit_test(lines_that_grow_too_much_are_refused),
		cmocka_unit_test(too_many_entries_are_refused),
		cmocka_unit_test(equal_labels_share_their_text),
		cmocka_unit_test(what_is_not_known_is_ignored),
	};
	/* tests/e2e/test_fleet_format.py runs this program to convert between batches and text. */
	const char *conversion = getenv("TALLY_TEST_BATCH_CODEC");
	if (conversion && strcmp(conversion, "encode") == 0)
		return encode();
	if (conversion && strcmp(conversion, "describe") == 0)
		return describe();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
