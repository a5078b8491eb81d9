/* SPDX-License-Identifier: Apache-2.0 */
#include <sys/mman.h>
#include <unistd.h>

#include "base/array.h"
#include "base/protobuf_reader.h"
#include "profile/profile_builder.h"
#include "unit_test.h"
#include "view/export/export_formats.h"
#include "view/export/otlp_dictionary.h"
#include "view/export/otlp_resource.h"

#define ROOM_BYTES 8192

/* Makes two processes; the second one has more samples. */
static struct profile *make(void)
{
	struct profile *profile;
	struct profile_builder *b = profile_builder_create();
	uint32_t cycles = profile_builder_string(b, STR("cycles")), work = profile_builder_string(b, STR("work"));
	profile_builder_event(b, &(struct profile_event){.name = cycles});
	uint32_t frame = profile_builder_frame(
		b, &(struct profile_frame){.function = PROFILE_NONE, .binary = PROFILE_NONE, .address = 16});
	for (int32_t i = 0; i < 5; i++) {
		int32_t pid = i < 2 ? 10 : 20;
		struct profile_sample sample = {
			.thread = profile_builder_thread(b, &(struct profile_thread){pid, pid, work, work, work, 0}),
			.leaf = frame,
			.stack = PROFILE_NONE,
			.cpu = -1,
			.count = 1,
			.period = 100,
			.first_order = (uint64_t)i + 1};
		uint32_t id = profile_builder_sample(b, &sample);
		profile_builder_row(b, &(struct profile_row){1000 + (uint64_t)i, 100, id, 0});
	}
	assert_int_equal(profile_builder_finish(b, &profile, NULL), TALLY_OK);
	return profile;
}

static struct tally_bytes write_message(const struct export_view *view, uint8_t room[ROOM_BYTES])
{
	int fd = memfd_create("otlp", MFD_CLOEXEC);
	struct byte_sink sink;
	byte_sink_init(&sink, fd, false);
	export_otlp(&sink, view);
	assert_int_equal(byte_sink_finish(&sink, "memory", NULL), TALLY_OK);
	ssize_t len = pread(fd, room, ROOM_BYTES, 0);
	assert_in_range(len, 1, ROOM_BYTES - 1);
	close(fd);
	return (struct tally_bytes){room, (size_t)len};
}

/* Returns the contents of the index-th field with that number in the message. */
static struct protobuf_reader find(struct protobuf_reader message, uint32_t number, size_t index)
{
	struct protobuf_field field;
	while (protobuf_next(&message, &field))
		if (field.number == number && index-- == 0)
			return protobuf_nested(&message, &field);
	fail_msg("field %u is missing", number);
	return message;
}

static uint64_t number_of(struct protobuf_reader message, uint32_t number)
{
	struct protobuf_field field;
	while (protobuf_next(&message, &field))
		if (field.number == number)
			return field.value;
	return 0;
}

static struct tally_str text_of(struct protobuf_reader message, uint32_t number)
{
	struct protobuf_field field;
	while (protobuf_next(&message, &field))
		if (field.number == number)
			return protobuf_text(&field);
	return STR("");
}

/* Returns the number of attributes of the resource with the key, and the value of the last one. */
static size_t find_attribute(struct protobuf_reader resource, struct tally_str key, struct tally_str *value)
{
	struct protobuf_field field;
	size_t count = 0;
	while (protobuf_next(&resource, &field)) {
		struct protobuf_reader pair = protobuf_nested(&resource, &field);
		if (!str_equal(text_of(pair, 1), key))
			continue;
		*value = text_of(find(pair, 2, 0), 1);
		count++;
	}
	assert_int_equal(protobuf_check(&resource, NULL), TALLY_OK);
	return count;
}

static void expect(struct protobuf_reader resource, const char *key, const char *wanted)
{
	struct tally_str value = STR("");
	assert_int_equal(find_attribute(resource, str_from(key), &value), wanted ? 1 : 0);
	assert_true(!wanted || str_equal(value, str_from(wanted)));
}

/* Attributes that an agent sets for all processes, for one process, and for other sets of labels. */
static void given_attributes(void **state)
{
	const struct export_attribute attributes[] = {
		{EXPORT_EVERY_PROCESS, STR("region"), STR("eu"), EXPORT_EVERY_SET},
		{EXPORT_EVERY_PROCESS, STR("service.name"), STR("all"), EXPORT_EVERY_SET},
		{10, STR("service.name"), STR("ten"), 0},
		{10, STR("process.executable.name"), STR("worker"), 0},
		{20, STR("region"), STR("us"), 0},
		{30, STR("other"), STR("x"), 0},
		{EXPORT_EVERY_PROCESS, STR("other"), STR("y"), 1},
		{EXPORT_EVERY_PROCESS, STR("region"), STR("nowhere"), 7},
	};
	struct profile *profile = make();
	struct export_view view = {.profile = profile,
		.event = PROFILE_NONE,
		.attributes = attributes,
		.attribute_count = ARRAY_LEN(attributes)};
	view.about.arch = STR("x86_64");
	uint8_t room[ROOM_BYTES];
	struct protobuf_reader message = protobuf_reader_make(write_message(&view, room));
	struct protobuf_reader twenty = find(find(message, 1, 0), 1, 0), ten = find(find(message, 1, 1), 1, 0);
	expect(twenty, "region", "us");
	expect(twenty, "service.name", "all");
	expect(twenty, "process.executable.name", "work");
	expect(twenty, "host.arch", "amd64");
	expect(ten, "region", "eu");
	expect(ten, "service.name", "ten");
	expect(ten, "process.executable.name", "worker");
	expect(ten, "other", NULL);
	profile_destroy(profile);
}

/* Counts are converted to times if the unit is known, otherwise they are sums. */
static void times_and_sums(void **state)
{
	struct profile *profile = make();
	struct export_view view = {
		.profile = profile, .event = PROFILE_NONE, .has_times = true, .first_time = 1000, .last_time = 1004};
	uint8_t room[ROOM_BYTES];
	struct protobuf_reader scope = find(find(protobuf_reader_make(write_message(&view, room)), 1, 0), 2, 0);
	struct protobuf_reader weights = find(scope, 2, 0), counts = find(scope, 2, 1);
	assert_int_equal(number_of(counts, 3), 0);
	assert_int_equal(number_of(counts, 4), 5);
	uint64_t value;
	struct protobuf_reader values = find(find(weights, 2, 0), 4, 0);
	assert_true(protobuf_next_varint(&values, &value));
	assert_int_equal(value, 300);
	values = find(find(counts, 2, 0), 4, 0);
	assert_true(protobuf_next_varint(&values, &value));
	assert_int_equal(value, 3);
	assert_false(protobuf_next_varint(&values, &value));

	view.about.has_wall_clock = true;
	view.about.wall_clock_offset_ns = 5000;
	counts = find(find(find(protobuf_reader_make(write_message(&view, room)), 1, 0), 2, 0), 2, 1);
	assert_int_equal(number_of(counts, 3), 6000);
	struct protobuf_reader times = find(find(counts, 2, 0), 5, 0);
	for (uint64_t wanted = 6002; wanted <= 6004; wanted++) {
		assert_true(protobuf_next_fixed64(&times, &value));
		assert_int_equal(value, wanted);
	}
	assert_false(protobuf_next_fixed64(&times, &value));
	profile_destroy(profile);
}

/* Equal entries are merged, and the first one of each table is empty. */
static void tables(void **state)
{
	struct profile *profile = make();
	struct otlp_dictionary d;
	otlp_dictionary_init(&d, profile);
	assert_int_equal(otlp_string(&d, STR("")), 0);
	assert_int_equal(otlp_string(&d, STR("\xff")), 1);
	assert_int_equal(otlp_string(&d, STR("\xef\xbf\xbd")), 1);
	uint32_t one = otlp_number_attribute(&d, "k", -1), two = otlp_text_attribute(&d, "k", STR("-1"));
	assert_int_equal(one, 1);
	assert_int_equal(two, 2);
	assert_int_equal(otlp_number_attribute(&d, "k", -1), one);
	assert_int_equal(otlp_list_attribute(&d, "k", (const struct tally_str[]){STR("-1")}, 1), 3);
	assert_int_equal(otlp_stack(&d, &profile->samples[0]), 1);
	assert_int_equal(otlp_stack(&d, &profile->samples[1]), 1);
	for (unsigned table = 1; table < OTLP_TABLES; table++)
		assert_int_equal(intern_get(&d.tables[table], 0).len, 0);
	assert_false(d.failed);
	otlp_dictionary_deinit(&d);
	profile_destroy(profile);
}

static void containers(void **state)
{
#define ID "0123456789abcdef0123456789ABCDEF0123456789abcdef0123456789abcdef"
	assert_true(str_equal(otlp_container_id(STR("/docker/" ID)), STR(ID)));
	assert_true(str_equal(otlp_container_id(STR("/a.slice/docker-" ID ".scope/x")), STR(ID)));
	assert_int_equal(otlp_container_id(STR("/docker/" ID "0")).len, 0);
	assert_int_equal(otlp_container_id(STR("/system.slice/cafe.service")).len, 0);
	assert_int_equal(otlp_container_id(STR("")).len, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(given_attributes),
		cmocka_unit_test(times_and_sums),
		cmocka_unit_test(tables),
		cmocka_unit_test(containers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
