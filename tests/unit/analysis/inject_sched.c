/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/inject/inject_sched.h"

#include <stdio.h>

#include "perfdata/feature_encode.h"
#include "perfdata_builder.h"
#include "unit_test.h"

enum { SWITCH, STAT, END, OTHER, EVENTS };

static const char *const names[EVENTS] = {
	"sched:sched_switch", "sched:sched_stat_sleep", "sched:sched_process_exit", "sched:sched_wakeup"};
static const char *const formats[] = {
	"name: sched_stat_sleep\nID: 11\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	"\tfield:u64 delay;\toffset:32;\tsize:8;\tsigned:0;\n\n"
	"print fmt: \"comm=%s pid=%d delay=%Lu [ns]\", REC->comm, REC->pid, (unsigned long long)REC->delay\n",
};

static void put_tracing_data(struct writer *w)
{
	bool host_is_little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
	writer_bytes(w, "\027\010\104tracing0.6", 14);
	writer_u8(w, w->swap == host_is_little);
	writer_u8(w, 8);
	writer_u32(w, 4096);
	writer_bytes(w, "header_page", 12);
	writer_u64(w, 0);
	writer_bytes(w, "header_event", 13);
	writer_u64(w, 0);
	writer_u32(w, 0);
	writer_u32(w, 1);
	writer_bytes(w, "sched", 6);
	writer_u32(w, 1);
	writer_u64(w, strlen(formats[0]));
	writer_bytes(w, formats[0], strlen(formats[0]));
	writer_u32(w, 0);
	writer_u32(w, 0);
}

static void build(struct perfdata_builder *b, bool swap, uint64_t sample_type)
{
	struct perfdata_features f = {.event_count = EVENTS};
	struct perfdata_event_desc events[EVENTS];
	struct writer section = {.swap = swap};
	perfdata_builder_init(b, swap);
	for (uint64_t i = 0; i < EVENTS; i++) {
		struct perf_attr attr = {
			.type = EVENT_TRACEPOINT, .size = ATTR_SIZE_VER7, .config = 10 + i, .sample_type = sample_type};
		perfdata_builder_event(b, &attr, 100 + i);
		events[i] = (struct perfdata_event_desc){&b->attrs[i], str_from(names[i]), &b->ids[i], 1};
	}
	put_tracing_data(&section);
	perfdata_builder_feature(b, FEATURE_TRACING_DATA, section.data, section.len);
	writer_clear(&section);
	f.events = events;
	feature_encode(&section, FEATURE_EVENT_DESC, &f);
	perfdata_builder_feature(b, FEATURE_EVENT_DESC, section.data, section.len);
	writer_deinit(&section);
}

#define ALL (SAMPLE_IDENTIFIER | SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_PERIOD | SAMPLE_RAW)

/* Adds a sample with a payload of the event number, the comm, and the PID at the offset of sched_stat_sleep. */
static void put_sample(struct perfdata_builder *b, size_t event, uint32_t tid, uint64_t time, uint32_t stat_pid)
{
	struct writer raw = {.swap = b->swap};
	writer_u16(&raw, (uint16_t)(10 + event));
	writer_zeros(&raw, 22);
	writer_u32(&raw, stat_pid);
	writer_zeros(&raw, 12);
	struct sample s = {.ip = 0x1000 + event,
		.pid = tid,
		.tid = tid,
		.time = time,
		.period = time * 10,
		.raw = writer_view(&raw)};
	perfdata_builder_sample(b, event, MISC_CPUMODE_KERNEL, &s);
	writer_deinit(&raw);
}

struct outcome {
	enum inject_sched_result results[16];
	size_t count;
	struct writer merged;
	const struct perfdata_event *event; /* Event of the merged sample. */
};

static void run(struct perfdata_reader *r, struct inject_sched *sched, struct outcome *out)
{
	struct record record;
	*out = (struct outcome){0};
	while (perfdata_reader_next(r, &record, NULL) == TALLY_OK)
		out->results[out->count++] = inject_sched_sample(sched, &record, &out->merged);
}

static void test_merge(void **state)
{
	for (int swap = 0; swap < 2; swap++) {
		struct perfdata_builder b;
		struct perfdata_reader *r;
		struct inject_sched *sched;
		struct outcome out;
		struct record record;
		struct sample s;
		build(&b, swap, ALL);
		put_sample(&b, STAT, 1, 5, 7); /* There is no switch before. */
		put_sample(&b, SWITCH, 7, 10, 0);
		put_sample(&b, OTHER, 7, 15, 0);
		put_sample(&b, STAT, 1, 20, 7); /* Reported by another thread: thread 7 slept. */
		put_sample(&b, END, 7, 30, 0);
		put_sample(&b, STAT, 1, 40, 7); /* After the end of thread 7. */
		assert_int_equal(perfdata_reader_open_bytes(perfdata_builder_file(&b), &r, NULL), TALLY_OK);
		assert_int_equal(inject_sched_create(r, &sched, NULL), TALLY_OK);
		run(r, sched, &out);
		static const enum inject_sched_result expected[] = {INJECT_SCHED_DROPPED, INJECT_SCHED_DROPPED,
			INJECT_SCHED_OTHER, INJECT_SCHED_MERGED, INJECT_SCHED_DROPPED, INJECT_SCHED_DROPPED};
		assert_int_equal(out.count, 6);
		assert_memory_equal(out.results, expected, sizeof(expected));
		assert_int_equal(record_at(writer_view(&out.merged), swap, 0, &record, NULL), TALLY_OK);
		assert_int_equal(record.bytes.len, out.merged.len);
		const struct perfdata_event *event = perfdata_reader_event_of(r, &record);
		assert_int_equal(event->index, SWITCH);
		assert_int_equal(sample_decode(&event->layout, &record, &s, NULL), TALLY_OK);
		assert_int_equal(s.tid, 7);
		assert_int_equal(s.ip, 0x1000 + SWITCH);
		assert_int_equal(s.time, 20);
		assert_int_equal(s.period, 200);
		writer_deinit(&out.merged);
		inject_sched_destroy(sched);
		perfdata_reader_destroy(r);
		perfdata_builder_deinit(&b);
	}
}

static void test_samples_without_threads(void **state)
{
	struct perfdata_builder b;
	struct perfdata_reader *r;
	struct inject_sched *sched;
	build(&b, false, ALL & ~SAMPLE_TID);
	put_sample(&b, SWITCH, 7, 10, 0);
	assert_int_equal(perfdata_reader_open_bytes(perfdata_builder_file(&b), &r, NULL), TALLY_OK);
	assert_int_equal(inject_sched_create(r, &sched, NULL), TALLY_INVALID);
	perfdata_reader_destroy(r);
	perfdata_builder_deinit(&b);
}

/* Damaged samples are copied unchanged; without complete formats, no event is merged. */
static void test_damage(void **state)
{
	struct perfdata_builder b;
	build(&b, false, ALL);
	put_sample(&b, SWITCH, 7, 10, 0);
	put_sample(&b, STAT, 1, 20, 7);
	struct tally_bytes whole = perfdata_builder_file(&b);
	for (size_t len = 0; len < whole.len; len += 3) {
		struct perfdata_reader *r;
		struct inject_sched *sched;
		struct outcome out;
		if (perfdata_reader_open_bytes((struct tally_bytes){whole.data, len}, &r, NULL) != TALLY_OK)
			continue;
		if (inject_sched_create(r, &sched, NULL) == TALLY_OK) {
			run(r, sched, &out);
			writer_deinit(&out.merged);
			inject_sched_destroy(sched);
		}
		perfdata_reader_destroy(r);
	}
	perfdata_builder_deinit(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_merge),
		cmocka_unit_test(test_samples_without_threads),
		cmocka_unit_test(test_damage),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
