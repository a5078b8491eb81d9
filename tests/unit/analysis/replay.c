/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/replay/replay.h"

#include <stdio.h>
#include <stdlib.h>

#include "analysis/plain/plain_gather.h"
#include "analysis/tracepoint_fields.h"
#include "base/array.h"
#include "perfdata_builder.h"
#include "unit_test.h"

#define SAMPLES 30000 /* Enough for several chunks: about 4 MB. */

static const struct perf_attr attr = {
	.type = EVENT_SOFTWARE,
	.sample_type = SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_CALLCHAIN | SAMPLE_CPU | SAMPLE_PERIOD,
	.flags = ATTR_FLAG(ATTR_BIT_SAMPLE_ID_ALL),
};

/* Builds a recording of several chunks: processes, mappings and samples that repeat with small differences. */
static void build(struct perfdata_builder *b, size_t samples)
{
	perfdata_builder_init(b, false);
	perfdata_builder_event(b, &attr, 1);
	for (uint32_t pid = 1; pid <= 5; pid++) {
		char name[16];
		snprintf(name, sizeof(name), "proc%u", pid % 3);
		struct record_fields comm = {
			.type = RECORD_COMM, .comm = {.pid = pid, .tid = pid, .comm = str_from(name)}};
		perfdata_builder_record(b, &comm, 0, 0);
		struct record_fields map = {.type = RECORD_MMAP2,
			.mmap = {.pid = pid,
				.tid = pid,
				.start = 0x400000,
				.len = 0x100000,
				.prot = 5,
				.filename = pid % 2 ? STR("/nonexistent/a") : STR("/nonexistent/b")}};
		perfdata_builder_record(b, &map, MISC_CPUMODE_USER, 0);
	}
	for (size_t i = 0; i < samples; i++) {
		uint64_t chain[6] = {CONTEXT_KERNEL, 0xffffffff81000000 + i % 7, CONTEXT_USER, 0x400000 + i % 11,
			0x401000 + i % 3, 0x402000};
		uint32_t pid = 1 + (uint32_t)(i % 5);
		struct sample s = {.ip = 0xffffffff81000000 + i % 7,
			.pid = pid,
			.tid = pid,
			.time = 10 + i,
			.cpu = (uint32_t)(i % 4),
			.period = 1 + i % 2,
			.callchain = {(const uint8_t *)chain, 6}};
		perfdata_builder_sample(b, 0, MISC_CPUMODE_KERNEL, &s);
	}
	struct record_fields lost = {.type = RECORD_LOST, .lost = {1, 42}};
	perfdata_builder_record(b, &lost, 0, 5);
}

static void replay(struct perfdata_builder *b, const struct replay_options *options, struct replay_result *result,
	enum tally_status expected)
{
	struct perfdata_reader *reader;
	struct binary_store *store;
	assert_int_equal(perfdata_reader_open_bytes(writer_view(&b->out), &reader, NULL), TALLY_OK);
	assert_int_equal(binary_store_create(&(struct binary_store_options){0}, &store, NULL), TALLY_OK);
	assert_int_equal(replay_profile(reader, store, options, result, NULL), expected);
	binary_store_destroy(store);
	perfdata_reader_destroy(reader);
}

/* Returns the whole profile as text, with indexes: profiles are equal if their texts are equal. */
static char *dump(const struct profile *p)
{
	struct text t = {0};
	for (size_t i = 0; i < p->sample_count; i++) {
		const struct profile_sample *s = &p->samples[i];
		text_printf(&t, "%u %u %u %u %d %lu %lu\n", s->event, s->thread, s->leaf, s->stack, s->cpu, s->count,
			s->period);
	}
	for (size_t i = 0; i < list_table_len(&p->stacks); i++) {
		struct list stack = profile_stack(p, (uint32_t)i);
		for (uint32_t k = 0; k < stack.count; k++)
			text_printf(&t, "%u%c", stack.items[k], k + 1 < stack.count ? ' ' : '\n');
	}
	for (size_t i = 0; i < p->frame_count; i++)
		text_printf(&t, "%u %u %lx %c\n", p->frames[i].function, p->frames[i].binary, p->frames[i].address,
			p->frames[i].level);
	for (size_t i = 0; i < p->thread_count; i++)
		text_printf(&t, "%d %d %s\n", p->threads[i].pid, p->threads[i].tid,
			profile_string(p, p->threads[i].comm).data);
	text_char(&t, '\0');
	return t.data;
}

/* Also with an end in the middle of a record. */
static void test_the_beginning_of_a_recording(void **state)
{
	struct perfdata_builder b;
	struct replay_result whole, part, plain;
	build(&b, 1000);
	(void)perfdata_builder_file(&b);
	replay(&b, &(struct replay_options){.with_stacks = true, .max_bytes = 1 << 30}, &whole, TALLY_OK);
	replay(&b, &(struct replay_options){.with_stacks = true, .max_bytes = 20000}, &part, TALLY_CORRUPT);
	replay(&b, &(struct replay_options){.max_bytes = 20000, .without_names = true}, &plain, TALLY_CORRUPT);
	assert_int_equal(whole.profile->events[0].sample_count, 1000);
	assert_in_range(part.profile->events[0].sample_count, 100, 300);
	assert_int_equal(plain.profile->events[0].sample_count, part.profile->events[0].sample_count);
	assert_int_equal(plain.profile->function_count, 0);
	replay_result_deinit(&whole);
	replay_result_deinit(&part);
	replay_result_deinit(&plain);
	perfdata_builder_deinit(&b);
}

static void test_the_same_profile_with_any_number_of_threads(void **state)
{
	struct perfdata_builder b;
	build(&b, SAMPLES);
	(void)perfdata_builder_file(&b);
	char *first = NULL;
	static const unsigned threads[] = {1, 2, 7};
	for (size_t i = 0; i < 3; i++) {
		struct replay_result result;
		struct replay_options options = {
			.with_threads = true, .with_cpu = true, .with_stacks = true, .threads = threads[i]};
		replay(&b, &options, &result, TALLY_OK);
		char *text = dump(result.profile);
		if (first)
			assert_string_equal(first, text);
		else
			first = text;
		if (text != first)
			free(text);
		assert_int_equal(result.profile->events[0].sample_count, SAMPLES);
		assert_int_equal(result.profile->events[0].total_period, SAMPLES + SAMPLES / 2);
		replay_result_deinit(&result);
	}
	free(first);
	perfdata_builder_deinit(&b);
}

static void test_threads_merge_by_name_unless_asked_for(void **state)
{
	struct perfdata_builder b;
	build(&b, 100);
	(void)perfdata_builder_file(&b);
	struct replay_result result;
	replay(&b, &(struct replay_options){.threads = 1}, &result, TALLY_OK);
	assert_int_equal(result.profile->thread_count, 3);
	assert_int_equal(list_table_len(&result.profile->stacks), 0);
	replay_result_deinit(&result);
	replay(&b, &(struct replay_options){.threads = 1, .with_threads = true}, &result, TALLY_OK);
	assert_int_equal(result.profile->thread_count, 5);
	replay_result_deinit(&result);
	perfdata_builder_deinit(&b);
}

static void test_losses_are_counted(void **state)
{
	struct perfdata_builder b;
	build(&b, 10);
	(void)perfdata_builder_file(&b);
	struct replay_result result;
	replay(&b, &(struct replay_options){.threads = 1}, &result, TALLY_OK);
	assert_int_equal(result.health.lost_events, 42);
	assert_int_equal(result.health.lost_records, 1);
	assert_int_equal(result.health.samples, 10);
	assert_false(result.health.is_cut);
	replay_result_deinit(&result);
	perfdata_builder_deinit(&b);
}

static void test_chains_end_where_they_cannot_be_understood(void **state)
{
	struct perfdata_builder b;
	perfdata_builder_init(&b, false);
	perfdata_builder_event(&b, &attr, 1);
	uint64_t unknown[3] = {CONTEXT_USER, 0x1000, (uint64_t)-100}; /* An unknown context marker. */
	struct sample s = {.ip = 0x1000, .pid = 1, .tid = 1, .time = 1, .callchain = {(const uint8_t *)unknown, 3}};
	perfdata_builder_sample(&b, 0, MISC_CPUMODE_USER, &s);
	(void)perfdata_builder_file(&b);
	struct replay_result result;
	replay(&b, &(struct replay_options){.threads = 1, .with_stacks = true}, &result, TALLY_OK);
	assert_int_equal(result.profile->samples[0].stack, PROFILE_NONE);
	const struct profile_frame *leaf = &result.profile->frames[result.profile->samples[0].leaf];
	assert_int_equal(leaf->binary, PROFILE_NONE);
	assert_int_equal(leaf->address, 0x1000);
	assert_true(str_equal(profile_string(result.profile, result.profile->threads[0].comm), STR(":1")));
	replay_result_deinit(&result);
	perfdata_builder_deinit(&b);
}

static void test_lines_of_frames_without_debug_information(void **state)
{
	struct perfdata_builder b;
	build(&b, 1);
	(void)perfdata_builder_file(&b);
	struct replay_result result;
	replay(&b, &(struct replay_options){.threads = 1, .with_stacks = true, .with_lines = true}, &result, TALLY_OK);
	const struct profile *p = result.profile;
	const char *const lines[] = {"a[2000]", "a[1000]", "a[0]"}; /* Outermost first. */
	struct list stack = profile_stack(p, p->samples[0].stack);
	uint32_t at = 0;
	for (size_t i = 3; i-- > 0;) {
		while (p->frames[stack.items[at]].level != PROFILE_LEVEL_USER)
			at++;
		const struct profile_frame *frame = &p->frames[stack.items[at++]];
		assert_string_equal(profile_string(p, frame->own_line.line).data, lines[i]);
		assert_string_equal(profile_string(p, frame->own_line.file).data, "");
	}
	replay_result_deinit(&result);
	perfdata_builder_deinit(&b);
}

/* Two samples share a kernel chain; the user chain of their callers comes later, and for a third sample never. */
static void test_user_chains_that_come_later(void **state)
{
	struct perfdata_builder b;
	perfdata_builder_init(&b, false);
	perfdata_builder_event(&b, &attr, 1);
	for (uint64_t i = 0; i < 3; i++) {
		uint64_t chain[] = {CONTEXT_KERNEL, 0xffffffff81000000, CONTEXT_USER_DEFERRED, i < 2 ? 5 : 6};
		struct sample s = {.ip = 0xffffffff81000000,
			.pid = 1,
			.tid = 1,
			.time = 10 + i,
			.period = 1,
			.callchain = {(const uint8_t *)chain, 4}};
		perfdata_builder_sample(&b, 0, MISC_CPUMODE_KERNEL, &s);
	}
	uint64_t later[] = {5, 3, CONTEXT_USER, 0x400010, 0x400020};
	writer_u32(&b.records, RECORD_CALLCHAIN_DEFERRED);
	writer_u16(&b.records, MISC_CPUMODE_USER);
	writer_u16(&b.records, RECORD_HEADER_BYTES + sizeof(later) + 24); /* The trailer: PID and TID, time, CPU. */
	for (size_t i = 0; i < 5; i++)
		writer_u64(&b.records, later[i]);
	writer_zeros(&b.records, 24);
	(void)perfdata_builder_file(&b);
	struct replay_result result;
	replay(&b, &(struct replay_options){.with_stacks = true, .threads = 1}, &result, TALLY_OK);
	const struct profile *p = result.profile;
	assert_int_equal(list_table_len(&p->stacks), 2);
	assert_int_equal(p->sample_count, 2);
	assert_int_equal(p->samples[0].count, 2);
	struct list stack = profile_stack(p, p->samples[0].stack);
	assert_int_equal(stack.count, 3);
	assert_int_equal(p->frames[stack.items[0]].level, 'k');
	assert_int_equal(p->frames[stack.items[1]].address, 0x400010);
	assert_int_equal(p->frames[stack.items[2]].address, 0x400020);
	assert_int_equal(profile_stack(p, p->samples[1].stack).count, 1); /* Only the kernel part. */
	replay_result_deinit(&result);
	perfdata_builder_deinit(&b);
}

static void test_a_cut_file_gives_what_is_whole(void **state)
{
	struct perfdata_builder b;
	build(&b, 100);
	(void)perfdata_builder_file(&b);
	b.out.len -= 120; /* Truncates the last records. */
	struct replay_result result;
	replay(&b, &(struct replay_options){.threads = 2}, &result, TALLY_CORRUPT);
	assert_true(result.health.is_cut);
	assert_true(result.health.samples > 90 && result.health.samples <= 100);
	assert_int_equal(result.profile->events[0].sample_count, result.health.samples);
	replay_result_deinit(&result);
	perfdata_builder_deinit(&b);
}

/* Compares the fast path with the full path, which --time forces. */
static void test_plain_profiles_are_the_same_made_either_way(void **state)
{
	struct time_span whole = {0, UINT64_MAX};
	const struct time_spans all = {.items = {&whole, 1, 1}};
	static const unsigned threads[] = {1, 2, 7};
	for (size_t cut = 0; cut <= 240; cut += 120) {
		struct perfdata_builder b;
		build(&b, SAMPLES);
		(void)perfdata_builder_file(&b);
		b.out.len -= cut;
		enum tally_status expected = cut ? TALLY_CORRUPT : TALLY_OK;
		struct replay_result result;
		replay(&b, &(struct replay_options){.spans = &all, .threads = 1}, &result, expected);
		char *text = dump(result.profile);
		struct input_health health = result.health;
		replay_result_deinit(&result);
		for (size_t i = 0; i < 3; i++) {
			replay(&b, &(struct replay_options){.threads = threads[i]}, &result, expected);
			char *short_text = dump(result.profile);
			assert_string_equal(short_text, text);
			assert_memory_equal(&result.health, &health, sizeof(health));
			free(short_text);
			replay_result_deinit(&result);
		}
		for (size_t kept = cut ? 12 : 1; kept < SAMPLES; kept = kept * 7 + 5) {
			struct replay_options few = {.threads = threads[kept % 3], .kept_samples = kept};
			replay(&b, &few, &result, expected);
			char *few_text = dump(result.profile);
			assert_string_equal(few_text, text);
			assert_memory_equal(&result.health, &health, sizeof(health));
			free(few_text);
			replay_result_deinit(&result);
		}
		free(text);
		perfdata_builder_deinit(&b);
	}
}

static void test_what_the_short_way_serves(void **state)
{
	struct perfdata_builder b;
	build(&b, 1);
	(void)perfdata_builder_file(&b);
	struct perfdata_reader *reader;
	assert_int_equal(perfdata_reader_open_bytes(writer_view(&b.out), &reader, NULL), TALLY_OK);
	static const struct time_spans all;
	static const struct replay_switches switches = {.on = -1, .off = -1};
	static const struct replay_options other[] = {
		{.with_stacks = true},
		{.with_addresses = true},
		{.with_exact_frames = true},
		{.with_lines = true},
		{.with_cpu = true},
		{.with_rows = true},
		{.history = HISTORY_OLDEST_FIRST},
		{.by_branch = true},
		{.weight_is_period = true},
		{.facets = 1},
		{.field_count = 1},
		{.spans = &all},
		{.switches = &switches},
	};
	assert_true(plain_path_supports(reader, &(struct replay_options){0}));
	assert_true(plain_path_supports(reader, &(struct replay_options){.with_threads = true, .with_inlines = true}));
	for (size_t i = 0; i < ARRAY_LEN(other); i++)
		assert_false(plain_path_supports(reader, &other[i]));
	perfdata_reader_destroy(reader);
	perfdata_builder_deinit(&b);
}

/* For the fast path, every event must have times in all records, and its own counts. */
static void test_events_that_the_short_way_does_not_serve(void **state)
{
	struct perf_attr attrs[3] = {attr, attr, attr};
	attrs[0].sample_type &= ~SAMPLE_TIME;
	attrs[1].sample_type |= SAMPLE_READ;
	attrs[2].flags = 0;
	for (size_t i = 0; i < 3; i++) {
		struct perfdata_builder b;
		perfdata_builder_init(&b, false);
		perfdata_builder_event(&b, &attrs[i], 1);
		(void)perfdata_builder_file(&b);
		struct perfdata_reader *reader;
		assert_int_equal(perfdata_reader_open_bytes(writer_view(&b.out), &reader, NULL), TALLY_OK);
		assert_false(plain_path_supports(reader, &(struct replay_options){0}));
		perfdata_reader_destroy(reader);
		perfdata_builder_deinit(&b);
	}
}

static void test_tracing_data_that_is_none(void **state)
{
	struct tracepoint_printer *printer;
	static const uint8_t junk[64] = {23, 8, 68, 't', 'r', 'a', 'c', 'i', 'n', 'g', '0', 0, 0, 8};
	for (size_t len = 0; len <= sizeof(junk); len++)
		if (tracepoint_printer_create((struct tally_bytes){junk, len}, &printer, NULL) == TALLY_OK)
			tracepoint_printer_destroy(printer);
	assert_int_not_equal(tracepoint_printer_create((struct tally_bytes){junk, 5}, &printer, NULL), TALLY_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_beginning_of_a_recording),
		cmocka_unit_test(test_the_same_profile_with_any_number_of_threads),
		cmocka_unit_test(test_threads_merge_by_name_unless_asked_for),
		cmocka_unit_test(test_losses_are_counted),
		cmocka_unit_test(test_chains_end_where_they_cannot_be_understood),
		cmocka_unit_test(test_lines_of_frames_without_debug_information),
		cmocka_unit_test(test_user_chains_that_come_later),
		cmocka_unit_test(test_a_cut_file_gives_what_is_whole),
		cmocka_unit_test(test_plain_profiles_are_the_same_made_either_way),
		cmocka_unit_test(test_what_the_short_way_serves),
		cmocka_unit_test(test_events_that_the_short_way_does_not_serve),
		cmocka_unit_test(test_tracing_data_that_is_none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
