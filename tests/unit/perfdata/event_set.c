/* SPDX-License-Identifier: Apache-2.0 */
#include "perfdata/event_set.h"

#include "base/array.h"
#include "tracing_builder.h"
#include "unit_test.h"

#define COUNT(array) (ARRAY_LEN(array))

static const struct perf_attr with_identifier = {
	.type = EVENT_SOFTWARE,
	.sample_type = SAMPLE_IDENTIFIER | SAMPLE_IP | SAMPLE_ID,
	.flags = UINT64_C(1) << ATTR_BIT_SAMPLE_ID_ALL,
};
static const struct perf_attr with_id = {
	.type = EVENT_SOFTWARE,
	.config = 1,
	.sample_type = SAMPLE_IP | SAMPLE_TID | SAMPLE_ID,
	.flags = UINT64_C(1) << ATTR_BIT_SAMPLE_ID_ALL,
};

static void add(struct event_set *set, const struct perf_attr *attr, const uint64_t *ids, size_t count, bool swap)
{
	uint64_t stored[8];
	assert_true(count <= COUNT(stored));
	for (size_t i = 0; i < count; i++)
		stored[i] = swap ? __builtin_bswap64(ids[i]) : ids[i];
	struct tally_bytes bytes = {(const uint8_t *)stored, count * sizeof(*stored)};
	struct tally_bytes attr_bytes = {(const uint8_t *)"", 0};
	assert_int_equal(event_set_add(set, attr, attr_bytes, bytes, swap, NULL), TALLY_OK);
}

/* Makes a record of the type with three words after its header. */
static struct record make_record(uint8_t buffer[32], uint32_t type, const uint64_t words[3], bool swap)
{
	memset(buffer, 0, 32);
	for (size_t i = 0; i < 3; i++) {
		uint64_t word = swap ? __builtin_bswap64(words[i]) : words[i];
		memcpy(buffer + 8 + i * 8, &word, 8);
	}
	return (struct record){.type = type, .swap = swap, .bytes = {buffer, 32}};
}

static void check_ids(bool swap)
{
	struct event_set set;
	uint8_t buffer[32];
	const uint64_t first[] = {11, 12}, second[] = {21};
	event_set_init(&set);
	struct record sample = make_record(buffer, RECORD_SAMPLE, (const uint64_t[]){12, 0, 0}, swap);
	assert_null(event_set_of(&set, &sample)); /* There are no events yet. */
	add(&set, &with_identifier, first, 2, swap);
	struct record other = make_record(buffer, RECORD_SAMPLE, (const uint64_t[]){99, 0, 0}, swap);
	assert_int_equal(event_set_of(&set, &other)->index, 0); /* There is only one event. */
	add(&set, &with_identifier, second, 1, swap);
	assert_null(event_set_of(&set, &other));
	sample = make_record(buffer, RECORD_SAMPLE, (const uint64_t[]){12, 0, 0}, swap);
	assert_int_equal(event_set_of(&set, &sample)->index, 0);
	sample = make_record(buffer, RECORD_SAMPLE, (const uint64_t[]){21, 0, 0}, swap);
	assert_int_equal(event_set_of(&set, &sample)->index, 1);
	struct record comm = make_record(buffer, RECORD_COMM, (const uint64_t[]){0, 0, 21}, swap);
	assert_int_equal(event_set_of(&set, &comm)->index, 1);
	comm = make_record(buffer, RECORD_COMM, (const uint64_t[]){0, 0, 0}, swap);
	assert_int_equal(event_set_of(&set, &comm)->index, 0); /* Synthesised records have ID 0. */
	comm = make_record(buffer, RECORD_COMM, (const uint64_t[]){0, 0, 77}, swap);
	assert_null(event_set_of(&set, &comm));
	sample.bytes.len = 12; /* The record is too short for its ID. */
	sample.type = RECORD_SAMPLE;
	assert_null(event_set_of(&set, &sample));
	assert_int_equal(event_set_by_id(&set, 11)->index, 0);
	assert_null(event_set_by_id(&set, 0));
	event_set_deinit(&set);
}

static void test_an_id_finds_its_event(void **state)
{
	check_ids(false);
	check_ids(true);
}

static void test_events_that_disagree_cannot_be_told_apart(void **state)
{
	struct event_set set;
	uint8_t buffer[32];
	const uint64_t first[] = {1}, second[] = {2};
	event_set_init(&set);
	add(&set, &with_identifier, first, 1, false);
	add(&set, &with_id, second, 1, false);
	struct record sample = make_record(buffer, RECORD_SAMPLE, (const uint64_t[]){2, 2, 2}, false);
	assert_int_equal(event_set_of(&set, &sample)->index, 0);
	event_set_deinit(&set);
}

static void update(struct event_set *set, uint64_t type, uint64_t id, const void *data, size_t len, bool swap)
{
	struct record_event_update update = {.update_type = type, .id = id, .payload = {data, len}};
	assert_int_equal(event_set_update(set, &update, swap, NULL), TALLY_OK);
}

static void check_updates(bool swap)
{
	struct event_set set;
	const uint64_t ids[] = {5};
	double scale = 0.25;
	uint64_t bits;
	event_set_init(&set);
	add(&set, &with_id, ids, 1, swap);
	const struct perfdata_event *event = &set.events.items[0];
	assert_int_equal(event->unit.len, 0);
	assert_true(event->scale > 0.9 && event->scale < 1.1);
	struct tally_str name = event->name;
	update(&set, EVENT_UPDATE_NAME, 6, "other", 6, swap); /* No event has this ID. */
	update(&set, EVENT_UPDATE_NAME, 5, "", 0, swap);
	update(&set, EVENT_UPDATE_CPUS, 5, "\1\0\0\0", 4, swap);
	update(&set, 77, 5, "x", 1, swap);
	assert_true(event->name.data == name.data);
	update(&set, EVENT_UPDATE_NAME, 5, "mine\0\0\0\0", 8, swap);
	assert_int_equal(event->name.len, 4);
	assert_memory_equal(event->name.data, "mine", 5);
	update(&set, EVENT_UPDATE_UNIT, 5, "Joules", 6, swap); /* The terminating NUL is missing. */
	assert_memory_equal(event->unit.data, "Joules", 7);
	memcpy(&bits, &scale, sizeof(bits));
	bits = swap ? __builtin_bswap64(bits) : bits;
	update(&set, EVENT_UPDATE_SCALE, 5, &bits, 4, swap); /* The value is truncated. */
	assert_true(event->scale > 0.9);
	update(&set, EVENT_UPDATE_SCALE, 5, &bits, 8, swap);
	assert_true(event->scale > 0.24 && event->scale < 0.26);
	event_set_deinit(&set);
}

static void test_updates_change_their_event(void **state)
{
	check_updates(false);
	check_updates(true);
}

static void test_features_name_and_group_by_position(void **state)
{
	struct event_set set;
	struct perf_attr same = with_id, other = with_id;
	uint64_t ids[] = {31, 32};
	other.config = 9;
	struct perfdata_event_desc descs[] = {
		{.attr = &same, .name = STR("first"), .ids = ids, .id_count = 2},
		{.attr = &other, .name = STR("not this one")},
	};
	struct perfdata_group groups[] = {
		{.leader_index = 0, .member_count = 2},
		{.leader_index = 1, .member_count = UINT32_MAX}, /* More members than there are events. */
		{.leader_index = 7, .member_count = 1},
	};
	struct perfdata_features features = {
		.events = descs, .event_count = 2, .groups = groups, .group_count = COUNT(groups)};
	event_set_init(&set);
	add(&set, &with_id, NULL, 0, false);
	add(&set, &with_id, NULL, 0, false);
	assert_int_equal(event_set_apply_features(&set, &features, NULL), TALLY_OK);
	assert_memory_equal(set.events.items[0].name.data, "first", 5);
	assert_memory_not_equal(set.events.items[1].name.data, "not", 3);
	assert_int_equal(event_set_by_id(&set, 32)->index, 0);
	assert_int_equal(set.events.items[1].leader_index, 0);
	assert_int_equal(set.events.items[0].member_count, 2);
	event_set_deinit(&set);
}

static const char *name_of(const struct event_set *set, size_t event)
{
	return set->events.items[event].name.data;
}

/* Tracepoints are named by their IDs; one that the data does not list, and events that have a name, are
 * left unchanged. */
static void test_tracing_data_names_tracepoints(void **state)
{
	char first[512], second[512];
	tracing_format(first, sizeof(first), "sched_switch", 300, "", "\"\"");
	tracing_format(second, sizeof(second), "sched_wakeup", 301, "", "\"\"");
	for (int swap = 0; swap < 2; swap++) {
		struct tracing_source source = {.swap = swap, .system = "sched", .formats = {first, second}};
		struct perf_attr tracepoint = {.type = EVENT_TRACEPOINT, .config = 301}, other = tracepoint;
		struct event_set set;
		struct writer w = {0};
		const uint64_t ids[] = {1, 2, 3};
		other.config = 999;
		tracing_build(&w, &source);
		event_set_init(&set);
		add(&set, &tracepoint, ids, 1, swap);
		add(&set, &other, ids + 1, 1, swap);
		add(&set, &tracepoint, ids + 2, 1, swap);
		update(&set, EVENT_UPDATE_NAME, 3, "mine", 5, false);
		assert_int_equal(event_set_name_tracepoints(&set, writer_view(&w), NULL), TALLY_OK);
		assert_string_equal(name_of(&set, 0), "sched:sched_wakeup");
		assert_int_equal(set.events.items[0].name.len, strlen("sched:sched_wakeup"));
		assert_string_equal(name_of(&set, 1), "unknown tracepoint");
		assert_string_equal(name_of(&set, 2), "mine");
		event_set_deinit(&set);
		writer_deinit(&w);
	}
}

static void test_data_that_names_nothing(void **state)
{
	struct perf_attr tracepoint = {.type = EVENT_TRACEPOINT, .config = 301};
	struct event_set set;
	event_set_init(&set);
	assert_int_equal(event_set_name_tracepoints(&set, (struct tally_bytes){NULL, 0}, NULL), TALLY_OK);
	add(&set, &tracepoint, NULL, 0, false);
	assert_int_equal(event_set_name_tracepoints(&set, (struct tally_bytes){NULL, 0}, NULL), TALLY_OK);
	assert_int_equal(
		event_set_name_tracepoints(&set, (struct tally_bytes){(const uint8_t *)"tracing", 7}, NULL), TALLY_OK);
	assert_string_equal(name_of(&set, 0), "unknown tracepoint");
	event_set_deinit(&set);
}

/* IDs far apart, and below the first one, find their events; IDs in between find none. */
static void test_ids_anywhere(void **state)
{
	static const uint64_t ids[] = {1000, 1001, 999, 0, UINT64_MAX, UINT64_C(1) << 40, 1005, 1000 + (1 << 16)};
	static const uint64_t none[] = {1, 998, 1002, 1004, 1006, UINT64_MAX - 1, (UINT64_C(1) << 40) + 1};
	struct event_set set;
	event_set_init(&set);
	for (size_t i = 0; i < COUNT(ids); i++)
		add(&set, &with_identifier, ids + i, 1, false);
	for (size_t i = 0; i < COUNT(ids); i++)
		assert_int_equal(event_set_by_id(&set, ids[i])->index, i);
	for (size_t i = 0; i < COUNT(none); i++)
		assert_null(event_set_by_id(&set, none[i]));
	event_set_deinit(&set);
}

/* An ID at the very end of its record is read; one that would begin before the end of the header is ignored. */
static void test_records_that_just_hold_an_id(void **state)
{
	struct event_set set;
	uint8_t buffer[32];
	const uint64_t ids[] = {11, 12};
	event_set_init(&set);
	add(&set, &with_identifier, ids, 1, false);
	add(&set, &with_identifier, ids + 1, 1, false);
	struct record record = make_record(buffer, RECORD_SAMPLE, (const uint64_t[]){12, 0, 0}, false);
	record.bytes.len = 16;
	assert_int_equal(event_set_of(&set, &record)->index, 1);
	record.bytes.len = 15;
	assert_null(event_set_of(&set, &record));
	record = make_record(buffer, RECORD_COMM, (const uint64_t[]){12, 0, 0}, false);
	record.bytes.len = 16;
	assert_int_equal(event_set_of(&set, &record)->index, 1);
	record.bytes.len = 15;
	assert_null(event_set_of(&set, &record));
	record = make_record(buffer, RECORD_SAMPLE, (const uint64_t[]){0, 0, 0}, false);
	assert_null(event_set_of(&set, &record)); /* ID 0 matches only side-band records. */
	event_set_deinit(&set);
}

/* More groups and names than events: only the matching ones are used. */
static void test_features_of_more_events(void **state)
{
	struct event_set set;
	struct perf_attr same = with_id;
	struct perfdata_event_desc descs[3] = {{.attr = &same, .name = STR("a\nb")}, {.attr = &same}, {.attr = &same}};
	struct perfdata_group groups[] = {
		{.leader_index = 1, .member_count = 1}, {.leader_index = 2, .member_count = 0}};
	struct perfdata_features features = {
		.events = descs, .event_count = 3, .groups = groups, .group_count = COUNT(groups)};
	uint64_t ids[] = {5, 6};
	event_set_init(&set);
	add(&set, &with_id, ids, 2, false);
	add(&set, &with_id, NULL, 0, false);
	descs[0].ids = ids + 1; /* This event has an ID of its own already. */
	descs[0].id_count = 1;
	assert_int_equal(event_set_apply_features(&set, &features, NULL), TALLY_OK);
	assert_int_equal(set.events.items[0].id_count, 2);
	assert_null(memchr(name_of(&set, 0), '\n', set.events.items[0].name.len)); /* Control characters are escaped. */
	assert_int_equal(set.events.items[1].member_count, 1);
	assert_int_equal(set.events.items[1].leader_index, 1);
	assert_int_equal(set.events.items[0].leader_index, 0);
	event_set_deinit(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_id_finds_its_event),
		cmocka_unit_test(test_events_that_disagree_cannot_be_told_apart),
		cmocka_unit_test(test_updates_change_their_event),
		cmocka_unit_test(test_features_name_and_group_by_position),
		cmocka_unit_test(test_tracing_data_names_tracepoints),
		cmocka_unit_test(test_data_that_names_nothing),
		cmocka_unit_test(test_ids_anywhere),
		cmocka_unit_test(test_records_that_just_hold_an_id),
		cmocka_unit_test(test_features_of_more_events),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
