/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/kvm/kvm_stat.h"

#include <stdio.h>

#include "base/array.h"
#include "tracing_builder.h"
#include "unit_test.h"

enum { ENTRY = 115, EXIT = 103, MMIO = 38, PIO = 110 };
enum { CPUID = 10, HLT = 12 };
#define FIELD(name, offset, size) "\tfield:u" #size " " name ";\toffset:" #offset ";\tsize:" #size ";\tsigned:0;\n"

struct kvm_fixture {
	struct kvm_stat_settings settings;
	struct kvm_stat_job job;
	struct writer tracing, raw;
};

static void kvm_init(struct kvm_fixture *f, enum kvm_kind kind)
{
	static char texts[4][2048];
	struct tally_error err;
	*f = (struct kvm_fixture){.settings = {.kind = kind, .vcpu = UINT64_MAX}};
	f->job.settings = &f->settings;
	tracing_format(
		texts[0], sizeof(texts[0]), "kvm_entry", ENTRY, FIELD("vcpu_id", 8, 4), "\"vcpu %u\", REC->vcpu_id");
	tracing_format(texts[1], sizeof(texts[1]), "kvm_exit", EXIT,
		FIELD("exit_reason", 8, 4) FIELD("isa", 12, 4) FIELD("guest_rip", 16, 8),
		"\"reason %s rip 0x%llx\", __print_symbolic(REC->exit_reason, { 10, \"CPUID\" }, { 12, \"HLT\" }), "
		"REC->guest_rip");
	tracing_format(texts[2], sizeof(texts[2]), "kvm_mmio", MMIO, FIELD("type", 8, 4) FIELD("gpa", 16, 8), "\"x\"");
	tracing_format(texts[3], sizeof(texts[3]), "kvm_pio", PIO, FIELD("rw", 8, 4) FIELD("port", 12, 4), "\"x\"");
	const struct tracing_source source = {.system = "kvm", .formats = {texts[0], texts[1], texts[2], texts[3]}};
	tracing_build(&f->tracing, &source);
	assert_int_equal(
		tracepoint_printer_create(writer_view(&f->tracing), &f->job.source.tracepoints, &err), TALLY_OK);
}

static void kvm_deinit(struct kvm_fixture *f)
{
	kvm_stat_close(&f->job);
	writer_deinit(&f->tracing);
	writer_deinit(&f->raw);
}

/* Adds an event at that microsecond in the only thread; the fields follow the common fields. */
static void kvm_take(struct kvm_fixture *f, unsigned us, uint16_t id, uint32_t first, uint32_t second, uint64_t third)
{
	const struct perfdata_event event = {.name = id == ENTRY  ? STR("kvm:kvm_entry")
						     : id == EXIT ? STR("kvm:kvm_exit")
						     : id == MMIO ? STR("kvm:kvm_mmio")
								  : STR("kvm:kvm_pio")};
	writer_clear(&f->raw);
	writer_u16(&f->raw, id);
	writer_u16(&f->raw, 0);
	writer_u32(&f->raw, 77);
	writer_u32(&f->raw, first);
	writer_u32(&f->raw, second);
	writer_u64(&f->raw, third);
	const struct data_sample sample = {
		.event = &event, .sample = {.pid = 70, .tid = 77, .raw = writer_view(&f->raw)}, .clock = 1000u * us};
	assert_true(kvm_stat_take(&f->job, &sample));
}

static void kvm_exit_for(struct kvm_fixture *f, unsigned us, unsigned long_us, uint32_t reason)
{
	kvm_take(f, us, EXIT, reason, 1, 0);
	kvm_take(f, us + long_us, ENTRY, 3, 0, 0);
}

static void kvm_assert_shown(struct kvm_fixture *f, const char *part, bool is_shown)
{
	struct text t = {0};
	kvm_stat_print(&f->job, &t);
	text_char(&t, '\0');
	assert_false(t.failed);
	if ((strstr(t.data, part) != NULL) != is_shown)
		fail_msg("\"%s\" is %s\n%s", part, is_shown ? "missing" : "shown", t.data);
	text_deinit(&t);
}

static void an_exit_counts_in_the_interval_in_which_it_ends(void **state)
{
	struct kvm_fixture f;
	kvm_init(&f, KVM_EXITS);
	kvm_take(&f, 1, ENTRY, 3, 0, 0);
	kvm_exit_for(&f, 10, 5, CPUID);
	kvm_exit_for(&f, 20, 7, CPUID);
	kvm_take(&f, 100, EXIT, HLT, 1, 0);
	kvm_assert_shown(&f, "CPUID          2   100.00%   100.00%      5.00us      7.00us      6.00us", true);
	kvm_assert_shown(&f, "HLT", false);
	kvm_assert_shown(&f, "Total Samples:2, Total events handled time:12.00us.", true);
	kvm_stat_clear(&f.job);
	kvm_assert_shown(&f, "Total Samples:0, Total events handled time:0.00us.", true);
	kvm_take(&f, 300, ENTRY, 3, 0, 0);
	kvm_exit_for(&f, 400, 9, CPUID);
	kvm_assert_shown(&f, "HLT          1    50.00%    95.69%    200.00us    200.00us    200.00us", true);
	kvm_assert_shown(&f, "CPUID          1    50.00%     4.31%      9.00us      9.00us      9.00us", true);
	assert_int_equal(f.job.exits, 4);
	kvm_deinit(&f);
}

static void what_may_have_ended_unseen_does_not_count(void **state)
{
	struct kvm_fixture f;
	kvm_init(&f, KVM_IOPORT);
	kvm_take(&f, 1, ENTRY, 0, 0, 0);
	kvm_take(&f, 10, PIO, 1, 0x70, 0);
	kvm_stat_give_up(&f.job);
	kvm_take(&f, 5000, ENTRY, 0, 0, 0);
	kvm_take(&f, 5010, PIO, 0, 0x71, 0);
	kvm_take(&f, 5013, ENTRY, 0, 0, 0);
	assert_int_equal(f.job.count, 1);
	kvm_assert_shown(&f, "0x71:PIN          1   100.00%   100.00%      3.00us", true);
	kvm_deinit(&f);
}

static void slow_events_are_lines(void **state)
{
	struct kvm_fixture f;
	kvm_init(&f, KVM_EXITS);
	f.settings.slow_us = 50;
	kvm_take(&f, 1, ENTRY, 3, 0, 0);
	kvm_exit_for(&f, 1000, 49, CPUID);
	kvm_exit_for(&f, 2000, 50, CPUID);
	kvm_exit_for(&f, 3000, 900, HLT); /* HLT means that the guest was idle. */
	text_char(&f.job.slow, '\0');
	assert_string_equal(f.job.slow.data, "0.002050 VM 70, vcpu 3: CPUID took 50.00us\n");
	kvm_deinit(&f);
}

/* A guest can access arbitrarily many addresses. */
static void rows_do_not_grow_with_time(void **state)
{
	struct kvm_fixture f;
	kvm_init(&f, KVM_MMIO);
	kvm_take(&f, 1, ENTRY, 0, 0, 0);
	for (unsigned i = 0; i < 70000; i++) {
		kvm_take(&f, 10 + 2 * i, MMIO, 2, 0, 16 * i);
		kvm_take(&f, 11 + 2 * i, ENTRY, 0, 0, 0);
	}
	kvm_take(&f, 200000, MMIO, 2, 0, 1);
	assert_int_equal(f.job.count, 70000);
	kvm_stat_clear(&f.job);
	assert_int_equal(f.job.rows.len, 0);
	kvm_take(&f, 200001, ENTRY, 0, 0, 0); /* Of an access that has been forgotten. */
	kvm_take(&f, 200010, MMIO, 2, 0, 0x20);
	kvm_take(&f, 200014, ENTRY, 0, 0, 0);
	kvm_assert_shown(&f, "0x20:W          1   100.00%   100.00%      4.00us", true);
	kvm_deinit(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(an_exit_counts_in_the_interval_in_which_it_ends),
		cmocka_unit_test(what_may_have_ended_unseen_does_not_count), cmocka_unit_test(slow_events_are_lines),
		cmocka_unit_test(rows_do_not_grow_with_time)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
