/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/live/live_profile.h"

#include <stdio.h>

#include "base/limits.h"
#include "perfdata_builder.h"
#include "unit_test.h"

/* Processes start, are named, map files and end; none of the files exists. */

static const struct perf_attr attr = {
	.type = EVENT_SOFTWARE,
	.sample_type = SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_PERIOD | SAMPLE_CALLCHAIN,
	.flags = ATTR_FLAG(ATTR_BIT_FREQ) | ATTR_FLAG(ATTR_BIT_SAMPLE_ID_ALL) | ATTR_FLAG(ATTR_BIT_MMAP) |
		 ATTR_FLAG(ATTR_BIT_TASK),
};

struct fixture {
	struct perfdata_builder start, records;
	struct live_profile *live;
	struct text text;
};

static void open_live_with(
	struct fixture *f, size_t event_count, const struct replay_options *replay, uint64_t more_fields)
{
	const struct binary_store_options store = {
		.system_root = "/nowhere", .build_id_dir = "/nowhere", .index_dir = ""};
	*f = (struct fixture){0};
	struct perf_attr of_several = attr;
	of_several.sample_type |= more_fields;
	if (event_count > 1)
		of_several.sample_type |= SAMPLE_IDENTIFIER;
	perfdata_builder_init(&f->start, false);
	perfdata_builder_init(&f->records, false);
	for (size_t i = 0; i < event_count; i++) {
		perfdata_builder_event(&f->start, &of_several, i + 1);
		perfdata_builder_event(&f->records, &of_several, i + 1);
	}
	const struct live_profile_config config = {.description = perfdata_builder_pipe(&f->start),
		.replay = replay,
		.store = &store,
		.kernel_name = STR("[kernel]")};
	assert_int_equal(live_profile_create(&config, &f->live, NULL), TALLY_OK);
}

static void open_live_of(struct fixture *f, size_t event_count, const struct replay_switches *switches)
{
	open_live_with(
		f, event_count, &(struct replay_options){.with_stacks = true, .threads = 1, .switches = switches}, 0);
}

static void open_live(struct fixture *f)
{
	open_live_of(f, 1, NULL);
}

static void close_live(struct fixture *f)
{
	live_profile_destroy(f->live);
	perfdata_builder_deinit(&f->start);
	perfdata_builder_deinit(&f->records);
	text_deinit(&f->text);
}

static void put_comm(struct fixture *f, uint32_t pid, const char *name, bool is_exec, uint64_t time)
{
	struct record_fields comm = {.type = RECORD_COMM, .comm = {.pid = pid, .tid = pid, .comm = str_from(name)}};
	perfdata_builder_record(&f->records, &comm, is_exec ? MISC_COMM_EXEC : 0, time);
}

static void put_map(struct fixture *f, uint32_t pid, uint64_t start, const char *name, uint64_t time)
{
	struct record_fields map = {.type = RECORD_MMAP2,
		.mmap = {.pid = pid, .tid = pid, .start = start, .len = 0x1000, .prot = 5, .filename = str_from(name)}};
	perfdata_builder_record(&f->records, &map, MISC_CPUMODE_USER, time);
}

static void put_task(struct fixture *f, uint32_t type, uint32_t pid, uint32_t ppid, uint64_t time)
{
	struct record_fields task = {
		.type = type, .task = {.pid = pid, .tid = pid, .ppid = ppid, .ptid = ppid, .time = time}};
	perfdata_builder_record(&f->records, &task, 0, time);
}

static void put_samples_of(struct fixture *f, size_t event, uint32_t pid, uint64_t ip, unsigned count, uint64_t time)
{
	const uint64_t chain[] = {CONTEXT_USER, ip, ip + 0x100};
	for (unsigned i = 0; i < count; i++) {
		struct sample s = {.ip = ip,
			.pid = pid,
			.tid = pid,
			.time = time + i,
			.period = 1000,
			.callchain = {(const uint8_t *)chain, 3}};
		perfdata_builder_sample(&f->records, event, MISC_CPUMODE_USER, &s);
	}
}

static void put_samples(struct fixture *f, uint32_t pid, uint64_t ip, unsigned count, uint64_t time)
{
	put_samples_of(f, 0, pid, ip, count, time);
}

static void feed(struct fixture *f)
{
	struct tally_bytes bytes = writer_view(&f->records.records);
	assert_int_equal(live_profile_feed(f->live, &bytes, 1, NULL), TALLY_OK);
	writer_clear(&f->records.records);
}

/* Returns "comm binary count" of each sample, sorted by binary and comm. */
static const char *shown(struct fixture *f)
{
	const struct profile *p = live_profile_get(f->live);
	text_clear(&f->text);
	for (size_t i = 0; i < p->sample_count; i++) {
		const struct profile_sample *s = &p->samples[i];
		uint32_t binary = p->frames[s->leaf].binary;
		text_printf(&f->text, "%s %s %llu\n", profile_string(p, p->threads[s->thread].comm).data,
			binary == PROFILE_NONE ? "?" : profile_string(p, p->binaries[binary].name).data,
			(unsigned long long)s->count);
	}
	text_char(&f->text, 0);
	return f->text.data;
}

static const char *refreshed(struct fixture *f, bool fades)
{
	feed(f);
	struct tally_error err = {0};
	if (live_profile_refresh(f->live, fades, &err) != TALLY_OK)
		fail_msg("%s", err.text);
	return shown(f);
}

static void test_nothing(void **state)
{
	struct fixture f;
	open_live(&f);
	assert_string_equal(shown(&f), "");
	assert_string_equal(refreshed(&f, true), "");
	assert_int_equal(live_profile_get(f.live)->event_count, 1);
	close_live(&f);
}

/* State from before a refresh remains known. */
static void test_state_stays(void **state)
{
	struct fixture f;
	open_live(&f);
	put_comm(&f, 7, "one", false, 0);
	put_map(&f, 7, 0x1000, "/bin/one", 0);
	assert_string_equal(refreshed(&f, true), "");
	assert_true(live_profile_knows(f.live, 7));
	put_samples(&f, 7, 0x1010, 8, 100);
	assert_string_equal(refreshed(&f, true), "one one 8\n");
	assert_int_equal(live_profile_figures(f.live).samples, 8);
	put_samples(&f, 7, 0x1010, 8, 200);
	assert_string_equal(refreshed(&f, false), "one one 16\n");
	assert_int_equal(live_profile_get(f.live)->events[0].sample_count, 16);
	assert_int_equal(live_profile_get(f.live)->events[0].total_period, 16000);
	assert_int_equal(list_table_len(&live_profile_get(f.live)->stacks), 1);
	close_live(&f);
}

/* The kernel stores the initial period of a frequency in samples, whatever the frequency is now. */
static void test_clock_period(void **state)
{
	struct fixture f;
	open_live(&f);
	put_comm(&f, 7, "one", false, 0);
	put_map(&f, 7, 0x1000, "/bin/one", 0);
	put_samples(&f, 7, 0x1010, 2, 100);
	feed(&f); /* Samples before the change are read in the same round. */
	live_profile_set_clock_period(f.live, 500000);
	put_samples(&f, 7, 0x1010, 3, 200);
	assert_string_equal(refreshed(&f, false), "one one 5\n");
	assert_int_equal(live_profile_get(f.live)->events[0].total_period, 2 * 1000 + 3 * 500000);
	live_profile_set_clock_period(f.live, 0);
	put_samples(&f, 7, 0x1010, 1, 300);
	assert_string_equal(refreshed(&f, false), "one one 6\n");
	assert_int_equal(live_profile_get(f.live)->events[0].total_period, 3 * 1000 + 3 * 500000);
	close_live(&f);
}

static void test_fades_and_is_forgotten(void **state)
{
	struct fixture f;
	open_live(&f);
	put_comm(&f, 7, "one", false, 0);
	put_map(&f, 7, 0x1000, "/bin/one", 0);
	put_samples(&f, 7, 0x1010, 64, 100);
	assert_string_equal(refreshed(&f, true), "one one 64\n");
	assert_string_equal(refreshed(&f, true), "one one 56\n");
	assert_string_equal(refreshed(&f, true), "one one 49\n");
	for (int i = 0; i < 60; i++)
		refreshed(&f, true);
	assert_string_equal(shown(&f), "");
	assert_int_equal(list_table_len(&live_profile_get(f.live)->stacks), 0);
	assert_int_equal(live_profile_get(f.live)->frame_count, 0);
	assert_int_equal(live_profile_get(f.live)->thread_count, 0);
	close_live(&f);
}

static void test_zero(void **state)
{
	struct fixture f;
	open_live(&f);
	put_comm(&f, 7, "one", false, 0);
	put_map(&f, 7, 0x1000, "/bin/one", 0);
	put_samples(&f, 7, 0x1010, 8, 100);
	refreshed(&f, true);
	assert_int_equal(live_profile_zero(f.live, NULL), TALLY_OK);
	assert_string_equal(shown(&f), "");
	put_samples(&f, 7, 0x1010, 3, 200);
	assert_string_equal(refreshed(&f, true), "one one 3\n");
	close_live(&f);
}

/* A child has the mappings and the name of its parent until it calls exec. */
static void test_fork_and_exec(void **state)
{
	struct fixture f;
	open_live(&f);
	put_comm(&f, 7, "sh", false, 0);
	put_map(&f, 7, 0x1000, "/bin/sh", 0);
	put_task(&f, RECORD_FORK, 8, 7, 10);
	refreshed(&f, true);
	put_samples(&f, 8, 0x1010, 2, 20);
	put_comm(&f, 8, "true", true, 30);
	put_map(&f, 8, 0x1000, "/bin/true", 31);
	put_samples(&f, 8, 0x1010, 4, 40);
	assert_string_equal(refreshed(&f, false), "sh sh 2\ntrue true 4\n");
	put_samples(&f, 8, 0x1010, 1, 60); /* The old image is replaced. */
	assert_string_equal(refreshed(&f, false), "sh sh 2\ntrue true 5\n");
	close_live(&f);
}

/* PIDs are reused. */
static void test_exit(void **state)
{
	struct fixture f;
	open_live(&f);
	put_comm(&f, 7, "one", false, 0);
	put_map(&f, 7, 0x1000, "/bin/one", 0);
	put_task(&f, RECORD_EXIT, 7, 1, 50);
	put_samples(&f, 7, 0x1010, 1, 40);
	assert_string_equal(refreshed(&f, false), "one one 1\n");
	assert_false(live_profile_knows(f.live, 7));
	put_samples(&f, 7, 0x1010, 1, 60);
	assert_string_equal(refreshed(&f, false), "one one 1\n:7 ? 1\n");
	put_comm(&f, 7, "two", false, 70);
	put_map(&f, 7, 0x1000, "/bin/two", 71);
	put_samples(&f, 7, 0x1010, 1, 80);
	assert_string_equal(refreshed(&f, false), "one one 1\n:7 ? 1\ntwo two 1\n");
	close_live(&f);
}

/* A sample newer than the last read of other rings is delayed, because its mappings may still be unread there. */
static void test_mark(void **state)
{
	struct fixture f;
	open_live(&f);
	put_comm(&f, 7, "one", false, 0);
	put_samples(&f, 7, 0x1010, 1, 100);
	feed(&f);
	live_profile_mark(f.live);
	put_map(&f, 7, 0x1000, "/bin/one", 90);
	put_samples(&f, 7, 0x2010, 1, 120); /* Its mapping is in a ring that was read before. */
	assert_string_equal(refreshed(&f, false), "one one 1\n");
	put_map(&f, 7, 0x2000, "/bin/two", 110);
	assert_string_equal(refreshed(&f, false), "one one 1\none two 1\n");
	close_live(&f);
}

static void test_lost_and_hidden(void **state)
{
	struct fixture f;
	struct record_fields lost = {.type = RECORD_LOST, .lost = {.id = 1, .lost = 5}};
	struct sample kernel = {.ip = UINT64_C(0xffffffff81000010), .pid = 7, .tid = 7, .time = 10, .period = 1000};
	open_live(&f);
	put_comm(&f, 7, "one", false, 0);
	put_map(&f, 7, 0x1000, "/bin/one", 0);
	put_samples(&f, 7, 0x1010, 3, 100);
	perfdata_builder_sample(&f.records, 0, MISC_CPUMODE_KERNEL, &kernel);
	perfdata_builder_record(&f.records, &lost, 0, 50);
	assert_string_equal(refreshed(&f, true), "one ? 1\none one 3\n");
	assert_int_equal(live_profile_figures(f.live).lost, 5);
	assert_int_equal(live_profile_figures(f.live).kernel_samples, 1);
	assert_int_equal(live_profile_hide(f.live, true, false, NULL), TALLY_OK);
	assert_string_equal(shown(&f), "one one 3\n");
	assert_int_equal(live_profile_get(f.live)->events[0].total_period, 3000);
	assert_int_equal(live_profile_hide(f.live, false, true, NULL), TALLY_OK);
	assert_string_equal(shown(&f), "one ? 1\n");
	refreshed(&f, true);
	assert_int_equal(live_profile_figures(f.live).lost, 0);
	close_live(&f);
}

static void test_damage(void **state)
{
	struct fixture f;
	open_live(&f);
	put_comm(&f, 7, "one", false, 0);
	put_map(&f, 7, 0x1000, "/bin/one", 0);
	put_samples(&f, 7, 0x1010, 2, 100);
	feed(&f);
	const uint8_t bad[] = {9, 0, 0, 0, 0, 0, 3, 0};
	struct tally_bytes bytes = {bad, sizeof(bad)};
	assert_int_equal(live_profile_feed(f.live, &bytes, 1, NULL), TALLY_OK);
	assert_string_equal(refreshed(&f, true), "one one 2\n");
	assert_int_equal(live_profile_figures(f.live).damaged, 1);
	put_samples(&f, 7, 0x1010, 2, 200);
	assert_string_equal(refreshed(&f, false), "one one 4\n");
	close_live(&f);
}

/* Thousands of processes that start and end leave no state behind. */
static void test_many_processes(void **state)
{
	struct fixture f;
	open_live(&f);
	put_comm(&f, 7, "sh", false, 0);
	put_map(&f, 7, 0x1000, "/bin/sh", 0);
	for (uint32_t round = 0; round < 40; round++) {
		for (uint32_t i = 0; i < 500; i++) {
			uint32_t pid = 1000 + round * 500 + i;
			uint64_t time = 1000 * (uint64_t)pid;
			put_task(&f, RECORD_FORK, pid, 7, time);
			put_samples(&f, pid, 0x1010, 1, time + 1);
			put_task(&f, RECORD_EXIT, pid, 7, time + 2);
		}
		refreshed(&f, true);
	}
	const struct profile *p = live_profile_get(f.live);
	assert_int_equal(p->sample_count, 1); /* Threads with the same name are merged. */
	assert_int_equal(p->threads[p->samples[0].thread].pid, 0);
	assert_true(p->samples[0].count > 3900 && p->samples[0].count <= 4000);
	assert_false(live_profile_knows(f.live, 1000));
	close_live(&f);
}

static bool is_one(void *context, int32_t tid)
{
	return tid == *(const int32_t *)context;
}

/* The EXIT record was lost. */
static void test_lost_ends(void **state)
{
	(void)state;
	struct fixture f;
	int32_t one = 7;
	open_live(&f);
	put_comm(&f, 7, "one", false, 0);
	put_map(&f, 7, 0x1000, "/bin/one", 0);
	put_comm(&f, 8, "two", false, 0);
	put_map(&f, 8, 0x1000, "/bin/two", 0);
	put_samples(&f, 8, 0x1010, 1, 10);
	assert_string_equal(refreshed(&f, false), "two two 1\n");
	assert_int_equal(live_profile_sweep(f.live, is_one, &one, NULL), TALLY_OK);
	assert_true(live_profile_knows(f.live, 7));
	assert_false(live_profile_knows(f.live, 8));
	put_samples(&f, 7, 0x1010, 1, 20);
	put_comm(&f, 8, "new", true, 30); /* The PID is reused. */
	put_samples(&f, 8, 0x1010, 1, 40);
	assert_string_equal(refreshed(&f, false), "two two 1\none one 1\nnew ? 1\n");
	close_live(&f);
}

/* Switches in one refresh apply to later ones too. */
static void test_switches(void **state)
{
	(void)state;
	struct fixture f;
	open_live_of(&f, 3, &(struct replay_switches){.on = 1, .off = 2});
	put_comm(&f, 7, "one", false, 0);
	put_map(&f, 7, 0x1000, "/bin/one", 0);
	put_samples(&f, 7, 0x1010, 4, 100);
	assert_string_equal(refreshed(&f, false), "");
	put_samples(&f, 7, 0x1010, 1, 200);
	put_samples_of(&f, 1, 7, 0x1010, 1, 300);
	assert_string_equal(refreshed(&f, false), "");
	put_samples(&f, 7, 0x1010, 8, 400);
	assert_string_equal(refreshed(&f, false), "one one 8\n");
	put_samples(&f, 7, 0x1010, 2, 500);
	put_samples_of(&f, 2, 7, 0x1010, 1, 600);
	put_samples(&f, 7, 0x1010, 16, 700);
	assert_string_equal(refreshed(&f, false), "one one 10\n");
	put_samples(&f, 7, 0x1010, 32, 800);
	assert_string_equal(refreshed(&f, false), "one one 10\n");
	close_live(&f);
}

static void put_cgroup_sample(struct fixture *f, uint64_t cgroup, uint64_t time)
{
	struct sample s = {.ip = 0x1010, .pid = 7, .tid = 7, .time = time, .period = 1000, .cgroup = cgroup};
	perfdata_builder_sample(&f->records, 0, MISC_CPUMODE_USER, &s);
}

static void put_cgroup(struct fixture *f, uint64_t id, const char *path, uint64_t time)
{
	struct record_fields made = {.type = RECORD_CGROUP, .cgroup = {id, str_from(path)}};
	perfdata_builder_record(&f->records, &made, 0, time);
}

static bool names_cgroup(struct fixture *f, const char *path)
{
	const struct profile *p = live_profile_get(f->live);
	for (uint32_t row = 0; row < p->facet_rows; row++) {
		const struct profile_value *value = profile_facet(p, row, FACET_CGROUP);
		if (value && str_equal(profile_string(p, value->text), str_from(path)))
			return true;
	}
	return false;
}

/* Cgroups are created before or after a refresh; an ID may be reused. */
static void test_cgroups(void **state)
{
	struct fixture f;
	open_live_with(
		&f, 1, &(struct replay_options){.threads = 1, .facets = UINT64_C(1) << FACET_CGROUP}, SAMPLE_CGROUP);
	put_cgroup(&f, 11, "/old", 0);
	put_cgroup(&f, 12, "/first", 1);
	put_cgroup(&f, 11, "/second", 2);
	refreshed(&f, true);
	put_cgroup_sample(&f, 11, 100);
	refreshed(&f, true);
	assert_true(names_cgroup(&f, "/second"));
	assert_false(names_cgroup(&f, "/old"));
	assert_false(names_cgroup(&f, "/first"));
	for (uint64_t i = 0; i < LIMIT_LIVE_CGROUPS - 1; i++)
		put_cgroup(&f, 1000 + i, "/more", 200 + i);
	refreshed(&f, true);
	put_cgroup_sample(&f, 12, 100000);
	put_cgroup_sample(&f, 11, 100001);
	assert_int_equal(live_profile_zero(f.live, NULL), TALLY_OK);
	refreshed(&f, true);
	assert_true(names_cgroup(&f, "/second"));
	assert_false(names_cgroup(&f, "/first")); /* The oldest one was dropped. */
	close_live(&f);
}

/* Samples with an ID that was added later belong to the event of that ID. */
static void test_more_ids(void **state)
{
	(void)state;
	struct fixture f;
	struct perfdata_builder more;
	struct perf_attr with_id = attr;
	with_id.sample_type |= SAMPLE_IDENTIFIER;
	open_live_of(&f, 2, NULL);
	perfdata_builder_init(&more, false);
	perfdata_builder_event(&more, &with_id, 1);
	perfdata_builder_event(&more, &with_id, 77);
	f.records.ids[1] = 77;
	put_comm(&f, 7, "one", false, 0);
	put_map(&f, 7, 0x1000, "/bin/one", 0);
	put_samples_of(&f, 1, 7, 0x1010, 4, 100);
	assert_string_equal(refreshed(&f, false), "");
	assert_int_equal(live_profile_redescribe(f.live, perfdata_builder_pipe(&more), NULL), TALLY_OK);
	put_samples_of(&f, 1, 7, 0x1010, 4, 200);
	assert_string_equal(refreshed(&f, false), "one one 4\n");
	assert_int_not_equal(
		live_profile_redescribe(f.live, (struct tally_bytes){(const uint8_t *)"x", 1}, NULL), TALLY_OK);
	put_samples_of(&f, 1, 7, 0x1010, 4, 300);
	assert_string_equal(refreshed(&f, false), "one one 8\n");
	perfdata_builder_deinit(&more);
	close_live(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_state_stays),
		cmocka_unit_test(test_clock_period),
		cmocka_unit_test(test_fades_and_is_forgotten),
		cmocka_unit_test(test_zero),
		cmocka_unit_test(test_fork_and_exec),
		cmocka_unit_test(test_exit),
		cmocka_unit_test(test_mark),
		cmocka_unit_test(test_lost_and_hidden),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_many_processes),
		cmocka_unit_test(test_switches),
		cmocka_unit_test(test_more_ids),
		cmocka_unit_test(test_cgroups),
		cmocka_unit_test(test_lost_ends),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
