/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/batch.h"

#include "profile_text.h"
#include "unit_test.h"

static struct profile *two_threads(void)
{
	return profile_from_text("event cycles\n"
				 "a 1/1 0 0 10 main@x;f@x\n"
				 "b 2/2 0 0 20 main@x;g@x\n"
				 "b 2/2 0 0 30 main@x;g@x\n");
}

static void parts_are_copied(void **state)
{
	char name[] = "host", value[] = "h1";
	struct fleet_label label = {str_from(name), str_from(value)}, unit = {STR("unit"), STR("u")};
	struct fleet_labels sets[] = {{0}, {&unit, 1}};
	uint32_t set_of_thread[] = {1, 0};
	bool left_out[8] = {true};
	struct profile *p = two_threads();
	struct fleet_batch *batch;
	struct fleet_batch parts = {.id = "0123456789abcde",
		.begin_ns = 5,
		.end_ns = 6,
		.labels = {&label, 1},
		.sets = sets,
		.set_count = 2,
		.set_of_thread = set_of_thread,
		.symbols_left_out = left_out,
		.losses = {.lost_samples = 7}};
	assert_int_equal(fleet_batch_make(&parts, p, &batch, NULL), TALLY_OK);
	memset(name, 'x', 4);
	memset(value, 'x', 2);
	set_of_thread[0] = left_out[0] = 0;
	sets[1].count = 0;
	assert_true(str_equal(fleet_labels_find(&batch->labels, STR("host"))->value, STR("h1")));
	assert_true(str_equal(fleet_labels_find(&batch->sets[1], STR("unit"))->value, STR("u")));
	assert_int_equal(batch->set_of_thread[0], 1);
	assert_true(batch->symbols_left_out[0]);
	assert_ptr_equal(batch->profile, p);
	assert_memory_equal(batch->id, parts.id, 16);
	assert_int_equal(batch->begin_ns, 5);
	assert_int_equal(batch->end_ns, 6);
	assert_int_equal(batch->losses.lost_samples, 7);
	assert_int_equal(fleet_batch_sample_count(batch), 3);
	fleet_batch_destroy(batch);
	fleet_batch_destroy(NULL);
}

static void missing_parts(void **state)
{
	struct fleet_batch *batch;
	assert_int_equal(fleet_batch_make(&(struct fleet_batch){0}, two_threads(), &batch, NULL), TALLY_OK);
	assert_int_equal(batch->set_count, 1);
	assert_int_equal(batch->sets[0].count, 0);
	assert_int_equal(batch->set_of_thread[1], 0);
	assert_null(batch->symbols_left_out);
	fleet_batch_destroy(batch);
}

static void check_refused(struct fleet_batch parts, struct profile *p, const char *words)
{
	struct fleet_batch *batch = NULL;
	struct tally_error err;
	assert_int_equal(fleet_batch_make(&parts, p, &batch, &err), TALLY_INVALID);
	assert_non_null(strstr(err.text, words));
	assert_null(batch);
}

static void parts_that_make_no_batch(void **state)
{
	struct fleet_label bad = {STR("no name"), STR("")}, good = {STR("a"), STR("")};
	struct fleet_labels sets[] = {{0}, {&bad, 1}}, full[] = {{&good, 1}};
	uint32_t set_of_thread[] = {0, 2};
	struct profile *p = two_threads();
	check_refused((struct fleet_batch){.begin_ns = 2, .end_ns = 1}, p, "ends before it begins");
	check_refused((struct fleet_batch){.end_ns = UINT64_MAX}, p, "after the year 2262");
	check_refused((struct fleet_batch){.labels = {&bad, 1}}, p, "'no name' cannot be");
	check_refused((struct fleet_batch){.sets = sets, .set_count = 2}, p, "'no name' cannot be");
	check_refused((struct fleet_batch){.sets = full, .set_count = 1}, p, "is not empty");
	check_refused((struct fleet_batch){.set_of_thread = set_of_thread}, p, "has label set 2");
	profile_destroy(p);
}

static const char *lacks(uint8_t id, uint64_t begin_ns, uint64_t end_ns, const char *event)
{
	struct text text = {0};
	struct fleet_batch *batch;
	struct fleet_batch parts = {.id = {id}, .begin_ns = begin_ns, .end_ns = end_ns};
	text_printf(&text, "event %s\na 1/1 0 0 10 main@x\n", event);
	text_char(&text, '\0');
	assert_int_equal(fleet_batch_make(&parts, profile_from_text(text.data), &batch, NULL), TALLY_OK);
	const char *why = fleet_batch_lacks(batch);
	fleet_batch_destroy(batch);
	text_deinit(&text);
	return why;
}

/* Absent fields are decoded as zero. */
static void required_fields(void **state)
{
	assert_null(lacks(1, 5, 5, "cycles"));
	assert_non_null(strstr(lacks(0, 5, 6, "cycles"), "no ID"));
	assert_non_null(strstr(lacks(1, 0, 6, "cycles"), "window"));
	assert_non_null(strstr(lacks(1, 0, 0, "cycles"), "window"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_are_copied),
		cmocka_unit_test(missing_parts),
		cmocka_unit_test(parts_that_make_no_batch),
		cmocka_unit_test(required_fields),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
