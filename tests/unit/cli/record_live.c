/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/recording/record_live.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "abi/encode.h"
#include "base/array.h"
#include "kernel/recording/record_attrs.h"
#include "unit_test.h"

/* The rings are in memory, one per CPU; the tests write to them like the kernel. */
#define RINGS	   2
#define RING_BYTES (64u << 10)
#define CODE	   UINT64_C(0x400000)
#define STACK	   UINT64_C(0x7ff000)

struct fixture {
	struct kernel_seam seam;
	struct event_list events;
	struct diag diag;
	struct recorder *recorder;
	struct record_live *live;
	uint8_t *rings[RINGS];
	size_t ring_count;
	int next_fd;
	struct writer out;
};

static int fake_open(void *context, const struct perf_attr *attr, pid_t pid, int cpu, int group_fd, unsigned long flags)
{
	return ((struct fixture *)context)->next_fd++;
}

static int fake_ioctl(void *context, int fd, unsigned long request, void *argument)
{
	if (request == PERF_EVENT_IOC_ID)
		*(uint64_t *)argument = (uint64_t)fd;
	return 0;
}

static ssize_t fake_read(void *context, int fd, void *buffer, size_t size)
{
	return 0;
}

static void *fake_mmap(void *context, size_t size, int protection, int fd, off_t offset)
{
	struct fixture *f = context;
	void *ring = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(ring != MAP_FAILED && f->ring_count < RINGS);
	return f->rings[f->ring_count++] = ring;
}

static int fake_munmap(void *context, void *address, size_t size)
{
	return munmap(address, size);
}

static int fake_close(void *context, int fd)
{
	return 0;
}

static int fake_poll(void *context, void *pollfds, size_t count, int timeout_ms)
{
	return 0;
}

static void start(struct fixture *f)
{
	static const int cpus[] = {0, 1};
	static const pid_t any_thread[] = {-1};
	const struct arch *arch = record_host_arch();
	if (!arch || strcmp(arch->name, "x86_64") != 0)
		skip_because("the registers of the test are x86-64's");
	*f = (struct fixture){.next_fd = 10};
	f->seam = (struct kernel_seam){f, "/nonexistent-root", fake_open, fake_ioctl, fake_read, fake_mmap, fake_munmap,
		fake_close, fake_poll, NULL};
	f->events = (struct event_list){.len = 1, .cap = 1, .specs = calloc(1, sizeof(*f->events.specs))};
	assert_non_null(f->events.specs);
	f->events.specs[0] = (struct event_spec){.name = "cpu-clock", .member_count = 1, .scale = 1, .unit = ""};
	f->events.specs[0].attr.type = EVENT_SOFTWARE;
	static const struct record_attr_options options = {.has_command = true,
		.rate.freq = 4000,
		.chains = {.mode = CALLGRAPH_DWARF, .stack_bytes = 8192},
		.unwinds_live = true};
	assert_int_equal(record_attrs_apply(&f->events, &options, NULL), TALLY_OK);
	diag_init(&f->diag);
	const struct recorder_config config = {.kernel = &f->seam,
		.events = &f->events,
		.cpus = cpus,
		.cpu_count = RINGS,
		.threads = any_thread,
		.thread_count = 1,
		.ring_bytes = RING_BYTES,
		.diag = &f->diag};
	assert_int_equal(recorder_create(&config, &f->recorder, NULL), TALLY_OK);
	const struct record_live_config live = {.events = &f->events, .attrs = &options, .recorder = f->recorder};
	assert_int_equal(record_live_create(&live, &f->live, NULL), TALLY_OK);
}

static void stop(struct fixture *f)
{
	record_live_destroy(f->live);
	recorder_destroy(f->recorder);
	event_list_deinit(&f->events);
	diag_deinit(&f->diag);
	writer_deinit(&f->out);
}

static struct perf_event_mmap_page *page(const struct fixture *f, size_t ring)
{
	return (struct perf_event_mmap_page *)(void *)f->rings[ring];
}

static void kernel_writes(struct fixture *f, size_t ring, const void *data, size_t len)
{
	uint8_t *bytes = f->rings[ring] + sysconf(_SC_PAGESIZE);
	for (size_t i = 0; i < len; i++)
		bytes[(page(f, ring)->data_head + i) % RING_BYTES] = ((const uint8_t *)data)[i];
	page(f, ring)->data_head += len;
}

static void put_map(struct fixture *f, size_t ring, uint64_t time)
{
	struct writer w = {0};
	struct record_layout layout = record_layout_make(&f->events.specs[0].attr, false);
	struct record_fields map = {.type = RECORD_MMAP2,
		.mmap = {.pid = 1, .tid = 1, .start = CODE, .len = 0x10000, .prot = 5, .filename = STR("//anon")}};
	struct sample_id id = {.pid = 1, .tid = 1, .time = time};
	assert_true(record_encode(&w, &map, MISC_CPUMODE_USER, &layout, &id));
	kernel_writes(f, ring, w.data, w.len);
	writer_deinit(&w);
}

/* Adds a sample of generated code that maintains frame pointers, with one caller. */
static void put_sample(struct fixture *f, size_t ring, uint64_t time)
{
	struct writer w = {0};
	const struct perf_attr *attr = &f->events.specs[0].attr;
	struct record_layout layout = record_layout_make(attr, false);
	static uint64_t registers[64], stack[1024];
	uint32_t count = (uint32_t)__builtin_popcountll(attr->sample_regs_user);
	registers[6] = STACK + 8; /* bp, sp and ip: the general registers begin at bit 0. */
	registers[7] = STACK;
	registers[8] = CODE + 0x10;
	stack[2] = CODE + 0x21;
	struct sample s = {.ip = CODE + 0x10, .pid = 1, .tid = 1, .time = time, .period = 1};
	s.regs_user = (struct sample_regs){REGS_ABI_64, attr->sample_regs_user, {(const uint8_t *)registers, count}};
	s.stack_user.bytes = (struct tally_bytes){(const uint8_t *)stack, sizeof(stack)};
	s.stack_user.dyn_size = 512;
	assert_true(sample_encode(&w, &layout, MISC_CPUMODE_USER, &s));
	kernel_writes(f, ring, w.data, w.len);
	writer_deinit(&w);
}

static enum tally_status take(
	void *context, const struct tally_bytes *slices, size_t slice_count, struct tally_error *err)
{
	for (size_t i = 0; i < slice_count; i++)
		writer_bytes(&((struct fixture *)context)->out, slices[i].data, slices[i].len);
	return TALLY_OK;
}

static uint64_t drain(struct fixture *f, bool is_last)
{
	const struct record_sink sink = {take, f};
	uint64_t bytes;
	assert_int_equal(record_live_drain(f->live, &sink, is_last, &bytes, NULL), TALLY_OK);
	return bytes;
}

/* Compares the types and chain lengths of the written records. */
static void expect(struct fixture *f, const char *wanted)
{
	const struct record_attr_options options = {.unwinds_live = true};
	struct perf_attr written = record_attrs_written(&f->events.specs[0].attr, &options);
	struct record_layout layout = record_layout_make(&written, false);
	struct text text = {0};
	struct record record;
	struct sample s;
	for (size_t at = 0; at < f->out.len; at += record.bytes.len) {
		assert_int_equal(record_at(writer_view(&f->out), false, at, &record, NULL), TALLY_OK);
		text_printf(&text, "%s", record_type_name(record.type));
		if (record.type != RECORD_SAMPLE)
			continue;
		assert_int_equal(sample_decode(&layout, &record, &s, NULL), TALLY_OK);
		text_printf(&text, "@%llu:", (unsigned long long)s.time);
		for (uint32_t i = 0; i < s.callchain.count; i++) {
			uint64_t ip = sample_u64_at(s.callchain.data, i, false);
			if (ip < CONTEXT_MAX)
				text_printf(&text, " %llx", (unsigned long long)ip);
		}
		text_str(&text, ";");
	}
	text_char(&text, '\0');
	assert_string_equal(text.data, wanted);
	text_deinit(&text);
	writer_clear(&f->out);
}

static void test_a_sample_finds_the_mapping_of_another_ring(void **state)
{
	struct fixture f;
	start(&f);
	put_sample(&f, 0, 20);
	put_map(&f, 1, 10);
	put_sample(&f, 1, 30);
	assert_true(drain(&f, false) > 0);
	expect(&f, "MMAP2SAMPLE@20: 400010 400020;SAMPLE@30: 400010 400020;");
	for (size_t i = 0; i < RINGS; i++)
		assert_int_equal(page(&f, i)->data_tail, page(&f, i)->data_head);
	assert_int_equal(drain(&f, false), 0);
	struct record_live_summary summary = record_live_summary(f.live);
	assert_int_equal(summary.totals.samples, 2);
	assert_int_equal(stack_ends_unwound(&summary.totals.ends), 2);
	stop(&f);
}

static void test_rings_go_round(void **state)
{
	struct fixture f;
	start(&f);
	put_map(&f, 0, 1);
	for (uint64_t time = 2; time < 40; time++) {
		put_sample(&f, time % RINGS, time);
		(void)drain(&f, false);
	}
	(void)drain(&f, true);
	struct record_live_summary summary = record_live_summary(f.live);
	assert_int_equal(summary.totals.samples, 38);
	assert_int_equal(summary.totals.damaged, 0);
	stop(&f);
}

static void test_what_cannot_be_a_record_is_left_out(void **state)
{
	static const uint16_t sizes[] = {0, 4, 65535};
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		const uint16_t header[] = {9, 0, 0, sizes[i]};
		struct fixture f;
		start(&f);
		put_map(&f, 1, 10);
		put_sample(&f, 0, 20);
		kernel_writes(&f, 0, header, sizeof(header));
		put_sample(&f, 1, 30);
		(void)drain(&f, true);
		expect(&f, "MMAP2SAMPLE@20: 400010 400020;SAMPLE@30: 400010 400020;");
		assert_int_equal(page(&f, 0)->data_tail, page(&f, 0)->data_head);
		struct record_live_summary summary = record_live_summary(f.live);
		assert_int_equal(summary.totals.damaged, 1);
		struct text text = {0};
		record_live_print(&text, &summary);
		text_char(&text, '\0');
		assert_non_null(strstr(text.data, "1 damaged records were left out"));
		text_deinit(&text);
		stop(&f);
	}
}

static void test_sizes_of_stacks_and_rings(void **state)
{
	assert_int_equal(record_live_stack_bytes(512 << 10), RECORD_STACK_BYTES_DEFAULT);
	assert_int_equal(record_live_stack_bytes(1 << 20), 16384);
	assert_int_equal(record_live_stack_bytes(16 << 20), RECORD_STACK_BYTES_MAX);
	assert_true(record_live_ring_bytes() >= 512 << 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_sample_finds_the_mapping_of_another_ring),
		cmocka_unit_test(test_rings_go_round),
		cmocka_unit_test(test_what_cannot_be_a_record_is_left_out),
		cmocka_unit_test(test_sizes_of_stacks_and_rings),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
