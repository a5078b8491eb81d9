/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/fleet/thread_labels.h"

#include <stdio.h>

#include "fake_root.h"
#include "profile/profile_builder.h"
#include "unit_test.h"

#define STAT " 1 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 "

struct thread_spec {
	int32_t pid;
	const char *comm, *process, *cgroup;
	uint64_t count;
};

static struct profile *profile_of(const struct thread_spec *specs, size_t count)
{
	struct profile_builder *b = profile_builder_create();
	struct profile_event event = {.name = profile_builder_string(b, STR("cpu-clock"))};
	struct profile_frame code = {.function = PROFILE_NONE, .binary = PROFILE_NONE, .address = 1};
	struct profile *p;
	profile_builder_keep_facets(b, 1ull << FACET_CGROUP);
	profile_builder_event(b, &event);
	uint32_t frame = profile_builder_frame(b, &code);
	for (size_t i = 0; i < count; i++) {
		const struct profile_value value = {
			.text = profile_builder_string(b, str_from(specs[i].cgroup)), .frame = PROFILE_NONE};
		const struct profile_thread thread = {.pid = specs[i].pid,
			.tid = specs[i].pid,
			.comm = profile_builder_string(b, str_from(specs[i].comm)),
			.process_comm = profile_builder_string(b, str_from(specs[i].process))};
		const struct profile_sample sample = {.thread = profile_builder_thread(b, &thread),
			.leaf = frame,
			.stack = PROFILE_NONE,
			.facets = profile_builder_facets(b, &value),
			.count = specs[i].count,
			.period = 1,
			.first_order = i};
		profile_builder_sample(b, &sample);
	}
	assert_int_equal(profile_builder_finish(b, &p, NULL), TALLY_OK);
	return p;
}

static void expect_label(const struct thread_label_sets *sets, size_t thread, const char *name, const char *value)
{
	const struct fleet_label *label = fleet_labels_find(&sets->sets[sets->of_thread[thread]], str_from(name));
	struct tally_str found = label ? label->value : (struct tally_str){"", 0};
	if (!str_equal(found, str_from(value)))
		fail_msg("thread %zu has %s=%.*s", thread, name, (int)found.len, found.data);
}

static void threads_have_labels(void **state)
{
	static const struct thread_spec specs[] = {
		{10, "worker", "nginx", "/system.slice/nginx.service", 5},
		/* The thread has moved: the cgroup with the larger weight is used. */
		{10, "worker", "nginx", "/system.slice/other.service", 2},
		{11, "sh", "sh", "/", 1}, /* /proc has more information. */
		{12, "gone", "gone", "N/A", 1},
		{13, "kworker/0:1", "kworker/0:1", "/", 1}, /* The cgroup is unknown to /proc, too. */
		{14, "b\x01x", "b\x01x", "unknown", 1},
		{15, "gone", "gone", "unknown", 1},
		{16, ":16", ":16", "N/A", 1},
	};
	char *root = fake_root_make("/proc/11/stat: 11 (a) b) S" STAT "777 0\n"
				    "/proc/11/cgroup: 0::/user.slice/session-2.scope\\n\n"
				    "/proc/13/stat: 13 (kworker/0:1) S" STAT "5 0\n"
				    "/proc/13/cgroup: 0::/\\n\n");
	struct profile *p = profile_of(specs, ARRAY_LEN(specs));
	struct thread_labels *labels;
	struct thread_label_sets sets;
	assert_int_equal(thread_labels_create(root, false, &labels, NULL), TALLY_OK);
	for (unsigned round = 0; round < 2; round++) {
		assert_int_equal(thread_labels_apply(labels, p, &sets, NULL), TALLY_OK);
		assert_int_equal(p->thread_count, 7);
		assert_int_equal(sets.sets[0].count, 0);
		expect_label(&sets, 0, "service", "nginx");
		expect_label(&sets, 0, "unit", "nginx.service");
		expect_label(&sets, 0, "process", "nginx");
		expect_label(&sets, 1, "service", "session-2.scope");
		expect_label(&sets, 1, "cgroup", "/user.slice/session-2.scope");
		expect_label(&sets, 2, "service", "gone");
		expect_label(&sets, 2, "cgroup", "");
		expect_label(&sets, 3, "service", "kworker/0:1");
		expect_label(&sets, 3, "cgroup", "/");
		expect_label(&sets, 4, "service", "b\\x01x");
		assert_int_equal(sets.of_thread[2], sets.of_thread[5]);
		assert_int_equal(p->threads[5].label_set, sets.of_thread[5]);
		expect_label(&sets, 6, "service", "[unknown]");
		expect_label(&sets, 6, "process", "[unknown]");
		assert_int_equal(sets.count, 7);
	}
	thread_labels_destroy(labels);
	assert_int_equal(thread_labels_create(root, true, &labels, NULL), TALLY_OK);
	assert_int_equal(thread_labels_apply(labels, p, &sets, NULL), TALLY_OK);
	expect_label(&sets, 0, "service", "");
	thread_labels_destroy(labels);
	profile_destroy(p);
	fake_root_remove(root);
}

static void a_pid_that_was_taken_again(void **state)
{
	static const struct thread_spec specs[] = {{11, "sh", "sh", "N/A", 1}};
	char *first = fake_root_make("/proc/11/stat: 11 (a) S" STAT "777 0\n/proc/11/cgroup: 0::/a.service\\n\n");
	char *second = fake_root_make("/proc/11/stat: 11 (a) S" STAT "778 0\n/proc/11/cgroup: 0::/b.service\\n\n");
	char path[4096];
	struct profile *p = profile_of(specs, 1);
	struct thread_labels *labels;
	struct thread_label_sets sets;
	snprintf(path, sizeof(path), "%s", first); /* The directory changes later. */
	assert_int_equal(thread_labels_create(path, false, &labels, NULL), TALLY_OK);
	assert_int_equal(thread_labels_apply(labels, p, &sets, NULL), TALLY_OK);
	expect_label(&sets, 0, "service", "a");
	snprintf(path, sizeof(path), "%s", second);
	assert_int_equal(thread_labels_apply(labels, p, &sets, NULL), TALLY_OK);
	expect_label(&sets, 0, "service", "b");
	thread_labels_destroy(labels);
	profile_destroy(p);
	fake_root_remove(first);
	fake_root_remove(second);
}

static void values_are_cut(void **state)
{
	struct arena arena;
	char longest[3 * LABEL_VALUE_BYTES];
	arena_init(&arena);
	for (size_t i = 0; i < sizeof(longest); i += 3)
		memcpy(longest + i, "\xe2\x82\xac", 3);
	struct tally_str value = thread_labels_value(&arena, (struct tally_str){longest, sizeof(longest)});
	assert_int_equal(value.len, LABEL_VALUE_BYTES / 3 * 3);
	assert_true(label_value_is_valid(value));
	value = thread_labels_value(&arena, STR("a\n\xff"));
	assert_true(label_value_is_valid(value));
	assert_true(str_equal(value, STR("a\\x0a\\xff")));
	arena_deinit(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_have_labels),
		cmocka_unit_test(a_pid_that_was_taken_again),
		cmocka_unit_test(values_are_cut),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
