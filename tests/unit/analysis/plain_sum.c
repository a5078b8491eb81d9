/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that the fast path for flat profiles gives the same result as the full path: with functions inside others,
 * addresses without mapping, and addresses that use all 64 bits. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/replay/replay.h"
#include "perfdata_builder.h"
#include "unit_test.h"

#define SAMPLES 40000 /* Some megabytes, so that there are several parts. */
#define PIDS	3

static const struct perf_attr attr = {
	.type = EVENT_SOFTWARE,
	.sample_type = SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_CALLCHAIN | SAMPLE_PERIOD,
	.flags = ATTR_FLAG(ATTR_BIT_SAMPLE_ID_ALL),
};

/* Functions inside functions, and gaps. */
static const char map_text[] = "400000 1000 outer\n400100 10 inner\n400108 4 innermost\n400200 100 other\n"
			       "402000 800 next\n402100 100 within\n";

static void write_map(const char *root, uint32_t pid)
{
	char path[256];
	snprintf(path, sizeof(path), "%s/tmp/perf-%u.map", root, pid);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	assert_true(fputs(map_text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static uint64_t next_number(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *state ^ *state >> 29;
}

/* With is_far, the addresses use all 64 bits and are in no mapping. */
static void build(struct perfdata_builder *b, bool is_far)
{
	uint64_t state = 1;
	static const uint64_t chain[40]; /* Makes the recording larger, without an effect on the result. */
	perfdata_builder_init(b, false);
	perfdata_builder_event(b, &attr, 1);
	for (uint32_t pid = 1; pid <= PIDS; pid++) {
		struct record_fields comm = {.type = RECORD_COMM,
			.comm = {.pid = pid, .tid = pid, .comm = pid == 2 ? STR("two") : STR("odd")}};
		perfdata_builder_record(b, &comm, 0, 0);
		struct record_fields map = {.type = RECORD_MMAP2,
			.mmap = {.pid = pid,
				.tid = pid,
				.start = 0x400000,
				.len = 0x3000,
				.prot = 4,
				.filename = STR("//anon")}};
		perfdata_builder_record(b, &map, MISC_CPUMODE_USER, 0);
	}
	for (size_t i = 0; i < SAMPLES; i++) {
		uint64_t any = next_number(&state), kind = any % 8;
		struct sample s = {.ip = 0x400000 + (any >> 8) % 0x3000,
			.pid = 1 + (uint32_t)(any >> 40) % PIDS,
			.time = 10 + i,
			.period = 1 + any % 3,
			.callchain = {(const uint8_t *)chain, 40}};
		s.tid = s.pid;
		if (kind == 0)
			s.ip = is_far ? next_number(&state) % 7 * (UINT64_MAX / 6) : 0x10 + any % 5;
		perfdata_builder_sample(b, 0, kind == 1 ? MISC_CPUMODE_KERNEL : MISC_CPUMODE_USER, &s);
	}
	(void)perfdata_builder_file(b);
}

static char *dump(const struct profile *p)
{
	struct text t = {0};
	for (size_t i = 0; i < p->sample_count; i++) {
		const struct profile_sample *s = &p->samples[i];
		text_printf(&t, "%u %u %lu %lu %lu\n", s->thread, s->leaf, s->count, s->period, s->first_order);
	}
	for (size_t i = 0; i < p->frame_count; i++) {
		const struct profile_frame *f = &p->frames[i];
		bool is_named = f->function != PROFILE_NONE;
		text_printf(&t, "%s %u %lx %lx %c\n",
			is_named ? profile_string(p, p->functions[f->function].name).data : "-", f->binary, f->address,
			f->raw_address, f->level);
	}
	for (size_t i = 0; i < p->thread_count; i++)
		text_printf(&t, "%d %s\n", p->threads[i].pid, profile_string(p, p->threads[i].comm).data);
	text_char(&t, '\0');
	return t.data;
}

static char *replay(struct perfdata_builder *b, const char *root, const struct replay_options *options)
{
	struct perfdata_reader *reader;
	struct binary_store *store;
	struct replay_result result;
	const struct binary_store_options store_options = {.symfs = root, .threads = options->threads};
	assert_int_equal(perfdata_reader_open_bytes(writer_view(&b->out), &reader, NULL), TALLY_OK);
	assert_int_equal(binary_store_create(&store_options, &store, NULL), TALLY_OK);
	assert_int_equal(replay_profile(reader, store, options, &result, NULL), TALLY_OK);
	char *text = dump(result.profile);
	replay_result_deinit(&result);
	binary_store_destroy(store);
	perfdata_reader_destroy(reader);
	return text;
}

/* The fast path does not support --time. */
static void compare(const char *root, bool is_far, bool with_threads)
{
	struct time_span whole = {0, UINT64_MAX};
	const struct time_spans all = {.items = {&whole, 1, 1}};
	static const unsigned threads[] = {1, 2, 5};
	static const size_t kept[] = {0, 0, 1000};
	struct perfdata_builder b;
	build(&b, is_far);
	const struct replay_options long_way = {.spans = &all, .threads = 1, .with_threads = with_threads};
	char *expected = replay(&b, root, &long_way);
	assert_non_null(strstr(expected, "innermost"));
	assert_non_null(strstr(expected, "within"));
	for (size_t i = 0; i < 3; i++) {
		char *text = replay(&b, root,
			&(struct replay_options){
				.threads = threads[i], .kept_samples = kept[i], .with_threads = with_threads});
		assert_string_equal(text, expected);
		free(text);
	}
	free(expected);
	perfdata_builder_deinit(&b);
}

static void functions_in_functions_are_one_each(void **state)
{
	compare(*state, false, false);
	compare(*state, false, true);
}

static void addresses_of_all_bits(void **state)
{
	compare(*state, true, false);
	compare(*state, true, true);
}

static char root[] = "/tmp/tally-plain-sum-XXXXXX";

static int make_maps(void **state)
{
	char path[256];
	assert_non_null(mkdtemp(root));
	snprintf(path, sizeof(path), "%s/tmp", root);
	assert_int_equal(mkdir(path, 0700), 0);
	for (uint32_t pid = 1; pid <= PIDS; pid++)
		write_map(root, pid);
	*state = root;
	return 0;
}

static int remove_maps(void **state)
{
	char path[256];
	for (uint32_t pid = 1; pid <= PIDS; pid++) {
		snprintf(path, sizeof(path), "%s/tmp/perf-%u.map", root, pid);
		unlink(path);
	}
	snprintf(path, sizeof(path), "%s/tmp", root);
	rmdir(path);
	return rmdir(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_in_functions_are_one_each),
		cmocka_unit_test(addresses_of_all_bits),
	};
	return cmocka_run_group_tests(tests, make_maps, remove_maps);
}
