#include "unit_test.h"

#include "perfdata/event_set.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

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

/* A record of that type with three words behind its header. */
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
	assert_null(event_set_of(&set, &sample)); /* there are no events yet */
	add(&set, &with_identifier, first, 2, swap);
	struct record other = make_record(buffer, RECORD_SAMPLE, (const uint64_t[]){99, 0, 0}, swap);
	assert_int_equal(event_set_of(&set, &other)->index, 0); /* it can only be that one's */
	add(&set, &with_identifier, second, 1, swap);
	assert_null(event_set_of(&set, &other));
	sample = make_record(buffer, RECORD_SAMPLE, (const uint64_t[]){12, 0, 0}, swap);
	assert_int_equal(event_set_of(&set, &sample)->index, 0);
	sample = make_record(buffer, RECORD_SAMPLE, (const uint64_t[]){21, 0, 0}, swap);
	assert_int_equal(event_set_of(&set, &sample)->index, 1);
	struct record comm = make_record(buffer, RECORD_COMM, (const uint64_t[]){0, 0, 21}, swap);
	assert_int_equal(event_set_of(&set, &comm)->index, 1);
	comm = make_record(buffer, RECORD_COMM, (const uint64_t[]){0, 0, 0}, swap);
	assert_int_equal(event_set_of(&set, &comm)->index, 0); /* synthesised ones are of id 0 */
	comm = make_record(buffer, RECORD_COMM, (const uint64_t[]){0, 0, 77}, swap);
	assert_null(event_set_of(&set, &comm));
	sample.bytes.len = 12; /* too short for its id */
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
	update(&set, EVENT_UPDATE_NAME, 6, "other", 6, swap); /* of no event */
	update(&set, EVENT_UPDATE_NAME, 5, "", 0, swap);
	update(&set, EVENT_UPDATE_CPUS, 5, "\1\0\0\0", 4, swap);
	update(&set, 77, 5, "x", 1, swap);
	assert_true(event->name.data == name.data);
	update(&set, EVENT_UPDATE_NAME, 5, "mine\0\0\0\0", 8, swap);
	assert_int_equal(event->name.len, 4);
	assert_memory_equal(event->name.data, "mine", 5);
	update(&set, EVENT_UPDATE_UNIT, 5, "Joules", 6, swap); /* without its zero */
	assert_memory_equal(event->unit.data, "Joules", 7);
	memcpy(&bits, &scale, sizeof(bits));
	bits = swap ? __builtin_bswap64(bits) : bits;
	update(&set, EVENT_UPDATE_SCALE, 5, &bits, 4, swap); /* cut */
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
		{.leader_index = 1, .member_count = UINT32_MAX}, /* more than there are */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_id_finds_its_event),
		cmocka_unit_test(test_events_that_disagree_cannot_be_told_apart),
		cmocka_unit_test(test_updates_change_their_event),
		cmocka_unit_test(test_features_name_and_group_by_position),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
