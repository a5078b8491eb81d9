/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/live/live_unwind.h"

#include <stdlib.h>
#include <string.h>

#include "abi/encode.h"
#include "base/text.h"
#include "unit_test.h"

#define REGISTERS (UINT64_C(1) << 6 | UINT64_C(1) << 7 | UINT64_C(1) << 8) /* bp, sp and ip of x86-64. */
#define CODE	  UINT64_C(0x400000)
#define STACK	  UINT64_C(0x7ff000)

static const struct perf_attr attr = {
	.type = EVENT_SOFTWARE,
	.sample_type = SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_CALLCHAIN | SAMPLE_RAW | SAMPLE_REGS_USER |
		       SAMPLE_STACK_USER | SAMPLE_WEIGHT,
	.flags = ATTR_FLAG(ATTR_BIT_SAMPLE_ID_ALL),
	.sample_regs_user = REGISTERS,
	.sample_stack_user = 256,
};

struct fixture {
	struct live_unwind *live;
	struct writer in, out;
	uint64_t stack[32];
};

static void start(struct fixture *f, uint64_t kept)
{
	struct live_unwind_config config = {.arch = &arch_x86_64, .kept_registers = kept};
	uint64_t id = 5;
	*f = (struct fixture){0};
	assert_int_equal(live_unwind_create(&config, &f->live, NULL), TALLY_OK);
	assert_int_equal(live_unwind_add_event(f->live, &attr, &id, 1, NULL), TALLY_OK);
}

static void stop(struct fixture *f)
{
	live_unwind_destroy(f->live);
	writer_deinit(&f->in);
	writer_deinit(&f->out);
}

static enum tally_status feed(struct fixture *f)
{
	struct record record;
	assert_int_equal(record_at(writer_view(&f->in), false, 0, &record, NULL), TALLY_OK);
	return live_unwind_feed(f->live, &record, &f->out, NULL);
}

/* Maps generated code: it has no file, and frames are found by frame pointer. */
static void map_code(struct fixture *f)
{
	struct record_layout layout = record_layout_make(&attr, false);
	struct record_fields map = {.type = RECORD_MMAP2,
		.mmap = {.pid = 1, .tid = 1, .start = CODE, .len = 0x10000, .prot = 5, .filename = STR("//anon")}};
	struct sample_id id = {.pid = 1, .tid = 1, .time = 1};
	writer_clear(&f->in);
	assert_true(record_encode(&f->in, &map, MISC_CPUMODE_USER, &layout, &id));
	assert_int_equal(feed(f), TALLY_OK);
	assert_int_equal(f->out.len, f->in.len); /* The record is forwarded. */
	writer_clear(&f->out);
}

static void map_file(struct fixture *f, const char *path)
{
	struct record_layout layout = record_layout_make(&attr, false);
	struct record_fields map = {.type = RECORD_MMAP2,
		.mmap = {.pid = 1, .tid = 1, .start = CODE, .len = 0x10000, .prot = 5, .filename = str_from(path)}};
	struct sample_id id = {.pid = 1, .tid = 1, .time = 1};
	writer_clear(&f->in);
	assert_true(record_encode(&f->in, &map, MISC_CPUMODE_USER, &layout, &id));
	assert_int_equal(feed(f), TALLY_OK);
	writer_clear(&f->out);
}

static void put_sample(struct fixture *f, const uint64_t *chain, uint32_t chain_len, uint64_t abi, size_t copied)
{
	struct record_layout layout = record_layout_make(&attr, false);
	const uint64_t registers[] = {STACK + 8, STACK, CODE + 0x10}; /* bp, sp, ip */
	struct sample s = {.ip = CODE + 0x10, .pid = 1, .tid = 1, .time = 2, .weight = 77};
	s.callchain = (struct sample_array){(const uint8_t *)chain, chain_len};
	s.raw = (struct tally_bytes){(const uint8_t *)"rawbytes1234", 12};
	s.regs_user = (struct sample_regs){abi, REGISTERS, {(const uint8_t *)registers, abi ? 3 : 0}};
	/* Two callers, each with {saved bp, return address}. */
	f->stack[1] = STACK + 32;
	f->stack[2] = CODE + 0x21;
	f->stack[4] = STACK + 64;
	f->stack[5] = CODE + 0x31;
	s.stack_user.bytes = (struct tally_bytes){(const uint8_t *)f->stack, copied ? sizeof(f->stack) : 0};
	s.stack_user.dyn_size = copied;
	writer_clear(&f->in);
	assert_true(sample_encode(&f->in, &layout, MISC_CPUMODE_USER, &s));
}

static struct sample result(struct fixture *f, uint64_t kept)
{
	struct perf_attr written = attr;
	struct record record;
	struct sample sample;
	written.sample_type &= ~(uint64_t)SAMPLE_STACK_USER;
	if (!kept)
		written.sample_type &= ~(uint64_t)SAMPLE_REGS_USER;
	written.sample_regs_user = kept;
	struct record_layout layout = record_layout_make(&written, false);
	assert_int_equal(record_at(writer_view(&f->out), false, 0, &record, NULL), TALLY_OK);
	assert_int_equal(record.bytes.len, f->out.len);
	assert_int_equal(sample_decode(&layout, &record, &sample, NULL), TALLY_OK);
	return sample;
}

static void expect_chain(const struct sample *s, const uint64_t *wanted, uint32_t count)
{
	assert_true(s->callchain.count >= count);
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(sample_u64_at(s->callchain.data, i, false), wanted[i]);
}

static void test_a_stack_becomes_a_chain_behind_the_kernels(void **state)
{
	const uint64_t chain[] = {CONTEXT_KERNEL, UINT64_C(0xffffffff81000000)};
	const uint64_t wanted[] = {
		CONTEXT_KERNEL, UINT64_C(0xffffffff81000000), CONTEXT_USER, CODE + 0x10, CODE + 0x20, CODE + 0x30};
	struct fixture f;
	start(&f, 0);
	map_code(&f);
	put_sample(&f, chain, 2, REGS_ABI_64, sizeof(f.stack));
	assert_int_equal(feed(&f), TALLY_OK);
	struct sample s = result(&f, 0);
	expect_chain(&s, wanted, 6);
	assert_int_equal(s.weight, 77);
	assert_int_equal(s.raw.len, 12);
	assert_memory_equal(s.raw.data, "rawbytes1234", 12);
	assert_int_equal(s.time, 2);
	assert_int_equal(live_unwind_totals(f.live).samples, 1);
	stop(&f);
}

static void test_registers_that_were_asked_for_stay(void **state)
{
	const uint64_t kept = UINT64_C(1) << 7;
	struct fixture f;
	start(&f, kept);
	map_code(&f);
	put_sample(&f, NULL, 0, REGS_ABI_64, sizeof(f.stack));
	assert_int_equal(feed(&f), TALLY_OK);
	struct sample s = result(&f, kept);
	assert_int_equal(s.regs_user.values.count, 1);
	assert_int_equal(sample_u64_at(s.regs_user.values.data, 0, false), STACK);
	stop(&f);
}

static void test_the_kernels_chain_stays_where_nothing_can_be_unwound(void **state)
{
	const uint64_t chain[] = {CONTEXT_KERNEL, 1, CONTEXT_USER, 2, 3};
	const uint64_t wanted[] = {/* Addresses of callers are moved into their calls, as in unwound stacks. */
		CONTEXT_KERNEL, 1, CONTEXT_USER, 2, 2};
	struct fixture f;
	start(&f, 0);
	put_sample(&f, chain, 5, REGS_ABI_NONE, 0); /* A kernel thread. */
	assert_int_equal(feed(&f), TALLY_OK);
	struct sample s = result(&f, 0);
	assert_int_equal(s.callchain.count, 5);
	expect_chain(&s, wanted, 5);
	writer_clear(&f.out);
	map_code(&f);
	put_sample(&f, chain, 5, REGS_ABI_64 + 1, 64); /* Registers of an unknown ABI. */
	assert_int_equal(feed(&f), TALLY_OK);
	s = result(&f, 0);
	expect_chain(&s, wanted, 5);
	assert_int_equal(live_unwind_totals(f.live).ends.ends[UNWIND_NO_REGISTERS], 1);
	stop(&f);
}

/* Samples of 32-bit programs from a 64-bit kernel have the same register numbers, and words of half the size. */
static void test_programs_of_32_bits(void **state)
{
	const uint64_t wanted[] = {CONTEXT_USER, CODE + 0x10, CODE + 0x20, CODE + 0x30};
	struct fixture f;
	start(&f, 0);
	map_code(&f);
	put_sample(&f, NULL, 0, REGS_ABI_32, sizeof(f.stack));
	const uint32_t words[] = {0, 0, STACK + 24, CODE + 0x21, 0, 0, 0, CODE + 0x31};
	const uint8_t *at = memmem(f.in.data, f.in.len, f.stack, sizeof(f.stack));
	assert_non_null(at);
	memcpy(f.in.data + (at - f.in.data), words, sizeof(words));
	assert_int_equal(feed(&f), TALLY_OK);
	struct sample s = result(&f, 0);
	assert_int_equal(s.callchain.count, 4);
	expect_chain(&s, wanted, 4);
	/* A sample of a native program follows. */
	writer_clear(&f.out);
	put_sample(&f, NULL, 0, REGS_ABI_64, sizeof(f.stack));
	assert_int_equal(feed(&f), TALLY_OK);
	s = result(&f, 0);
	expect_chain(&s, wanted, 4);
	assert_int_equal(live_unwind_totals(f.live).ends.ends[UNWIND_NO_REGISTERS], 0);
	stop(&f);
}

static void test_frame_pointers_go_on_where_the_copy_ends(void **state)
{
	const uint64_t chain[] = {CONTEXT_USER, CODE + 0x10, CODE + 0x21, CODE + 0x31, CODE + 0x41, CODE + 0x51};
	const uint64_t wanted[] = {CONTEXT_USER, CODE + 0x10, CODE + 0x20, CODE + 0x30, CODE + 0x40, CODE + 0x50};
	struct fixture f;
	start(&f, 0);
	map_code(&f);
	put_sample(&f, chain, 6, REGS_ABI_64, 48); /* The stack dump ends after the second return address. */
	assert_int_equal(feed(&f), TALLY_OK);
	struct sample s = result(&f, 0);
	assert_int_equal(s.callchain.count, 6);
	expect_chain(&s, wanted, 6);
	assert_int_equal(live_unwind_totals(f.live).joined, 1);
	assert_int_equal(live_unwind_totals(f.live).ends.ends[UNWIND_ROOT], 0);
	stop(&f);
}

static void test_less_is_read_when_told(void **state)
{
	struct fixture f;
	start(&f, 0);
	map_code(&f);
	live_unwind_shorten(f.live, 32);
	put_sample(&f, NULL, 0, REGS_ABI_64, sizeof(f.stack));
	assert_int_equal(feed(&f), TALLY_OK);
	assert_int_equal(result(&f, 0).callchain.count, 3);
	assert_int_equal(live_unwind_totals(f.live).shortened, 1);
	stop(&f);
}

/* Samples wait while the file is opened; beyond the memory limit they get the call chain of the kernel. */
static void test_stacks_are_given_up_before_samples(void **state)
{
	(void)state;
	const uint64_t chain[] = {CONTEXT_USER, CODE + 0x10, CODE + 0x99};
	const uint64_t given_up[] = {CONTEXT_USER, CODE + 0x10, CODE + 0x98};
	struct perf_attr written = attr;
	struct fixture f;
	size_t samples = 0, recorded = 0;
	start(&f, 0);
	live_unwind_limit(f.live, 0);
	map_file(&f, "/proc/self/exe");
	for (int i = 0; i < 100; i++) {
		put_sample(&f, chain, 3, REGS_ABI_64, sizeof(f.stack));
		assert_int_equal(feed(&f), TALLY_OK);
	}
	assert_int_equal(live_unwind_finish(f.live, &f.out, NULL), TALLY_OK);
	written.sample_type &= ~(uint64_t)(SAMPLE_STACK_USER | SAMPLE_REGS_USER);
	struct record_layout layout = record_layout_make(&written, false);
	struct record record;
	struct sample s;
	for (size_t at = 0; at < f.out.len; at += record.bytes.len, samples++) {
		assert_int_equal(record_at(writer_view(&f.out), false, at, &record, NULL), TALLY_OK);
		assert_int_equal(sample_decode(&layout, &record, &s, NULL), TALLY_OK);
		bool is_kernels = s.callchain.count == 3 && sample_u64_at(s.callchain.data, 2, false) == given_up[2];
		recorded += is_kernels;
	}
	assert_int_equal(samples, 100);
	/* A waiting sample is given up if the next one comes before the thread is done. */
	assert_true(live_unwind_totals(f.live).given_up <= recorded);
	assert_int_equal(live_unwind_totals(f.live).refused, 1); /* The unwind information of the file was too large. */
	stop(&f);
}

/* Tries every truncation of a sample, and changes every byte of it. */
static void test_damaged_samples_are_dropped(void **state)
{
	const uint64_t chain[] = {CONTEXT_KERNEL, 1, CONTEXT_USER, 2, 3};
	struct fixture f;
	start(&f, REGISTERS);
	map_code(&f);
	put_sample(&f, chain, 5, REGS_ABI_64, sizeof(f.stack));
	size_t len = f.in.len;
	for (size_t cut = RECORD_HEADER_BYTES; cut < len; cut++) {
		uint8_t *copy = malloc(cut);
		struct record record = {.type = RECORD_SAMPLE, .bytes = {copy, cut}};
		memcpy(copy, f.in.data, cut);
		assert_int_equal(live_unwind_feed(f.live, &record, &f.out, NULL), TALLY_OK);
		assert_int_equal(f.out.len, 0);
		free(copy);
	}
	assert_int_equal(live_unwind_totals(f.live).damaged, len - RECORD_HEADER_BYTES);
	for (size_t i = RECORD_HEADER_BYTES; i < len; i++) {
		f.in.data[i] ^= 0xff;
		assert_int_equal(feed(&f), TALLY_OK);
		if (f.out.len)
			(void)result(&f, REGISTERS);
		writer_clear(&f.out);
		f.in.data[i] ^= 0xff;
	}
	stop(&f);
}

static void test_events_are_told_apart_by_their_ids(void **state)
{
	struct live_unwind_config config = {.arch = &arch_x86_64};
	struct perf_attr with = attr, without = attr;
	struct live_unwind *live;
	struct writer in = {0}, out = {0};
	struct record record;
	uint64_t ids[] = {5, 6};
	with.sample_type |= SAMPLE_IDENTIFIER;
	without.sample_type = SAMPLE_IDENTIFIER | SAMPLE_IP | SAMPLE_TIME;
	assert_int_equal(live_unwind_create(&config, &live, NULL), TALLY_OK);
	assert_int_equal(live_unwind_add_event(live, &with, &ids[0], 1, NULL), TALLY_OK);
	assert_int_equal(live_unwind_add_event(live, &without, &ids[1], 1, NULL), TALLY_OK);
	struct record_layout layout = record_layout_make(&without, false);
	struct sample s = {.id = 6, .ip = 1, .time = 123};
	assert_true(sample_encode(&in, &layout, 2, &s));
	assert_int_equal(record_at(writer_view(&in), false, 0, &record, NULL), TALLY_OK);
	assert_int_equal(live_unwind_time(live, &record), 123);
	assert_int_equal(live_unwind_feed(live, &record, &out, NULL), TALLY_OK);
	assert_int_equal(out.len, in.len);
	assert_memory_equal(out.data, in.data, in.len);
	writer_patch_u64(&in, 8, 99); /* An unknown ID. */
	assert_int_equal(live_unwind_feed(live, &record, &out, NULL), TALLY_OK);
	assert_int_equal(out.len, in.len);
	assert_int_equal(live_unwind_totals(live).damaged, 1);
	writer_deinit(&in);
	writer_deinit(&out);
	live_unwind_destroy(live);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_stack_becomes_a_chain_behind_the_kernels),
		cmocka_unit_test(test_registers_that_were_asked_for_stay),
		cmocka_unit_test(test_the_kernels_chain_stays_where_nothing_can_be_unwound),
		cmocka_unit_test(test_programs_of_32_bits),
		cmocka_unit_test(test_frame_pointers_go_on_where_the_copy_ends),
		cmocka_unit_test(test_less_is_read_when_told),
		cmocka_unit_test(test_stacks_are_given_up_before_samples),
		cmocka_unit_test(test_damaged_samples_are_dropped),
		cmocka_unit_test(test_events_are_told_apart_by_their_ids),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
