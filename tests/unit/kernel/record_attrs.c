/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/recording/record_attrs.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/array.h"
#include "unit_test.h"

/* Returns an event as the parser makes it: guests are excluded, and there is no period. */
static struct event_list one_event(uint32_t type, uint64_t config)
{
	struct event_list list = {.len = 1, .cap = 1};
	list.specs = calloc(1, sizeof(*list.specs));
	assert_non_null(list.specs);
	list.specs[0] = (struct event_spec){.name = "event", .member_count = 1, .scale = 1, .unit = ""};
	list.specs[0].attr.type = type;
	list.specs[0].attr.config = config;
	list.specs[0].attr.flags = ATTR_FLAG(ATTR_BIT_EXCLUDE_GUEST);
	return list;
}

static void add_event(struct event_list *list, uint32_t type, uint64_t config)
{
	struct event_list other = one_event(type, config);
	list->specs = realloc(list->specs, (list->len + 1) * sizeof(*list->specs));
	assert_non_null(list->specs);
	other.specs[0].leader = (uint32_t)list->len;
	list->specs[list->len++] = other.specs[0];
	list->cap = list->len;
	free(other.specs);
}

static struct record_attr_options of_command(void)
{
	return (struct record_attr_options){.has_command = true, .rate.freq = 4000};
}

/* Compares the set flags and the sample type with the output of perf evlist -v. */
static void check_attr(const struct perf_attr *attr, const char *expected)
{
	struct text t = {0};
	attr_print(&t, attr);
	text_char(&t, '\0');
	if (strcmp(t.data, expected) != 0)
		fail_msg("\n  have %s\n  want %s", t.data, expected);
	text_deinit(&t);
}

#define CLOCK                                                                                                         \
	"type: 1 (PERF_TYPE_SOFTWARE), size: 128, config: 0 (PERF_COUNT_SW_CPU_CLOCK), { sample_period, sample_freq " \
	"}: 4000, "
#define TRACKING "mmap2: 1, comm_exec: 1, ksymbol: 1, bpf_event: 1"

static void apply(struct event_list *list, const struct record_attr_options *options)
{
	assert_int_equal(record_attrs_apply(list, options, NULL), TALLY_OK);
}

static void test_command(void **state)
{
	struct event_list list = one_event(EVENT_SOFTWARE, SW_CPU_CLOCK);
	struct record_attr_options o = of_command();
	apply(&list, &o);
	check_attr(&list.specs[0].attr, CLOCK
		"sample_type: IP|TID|TIME|PERIOD, read_format: ID|LOST, disabled: 1, inherit: 1, mmap: 1, comm: 1, "
		"freq: 1, enable_on_exec: 1, task: 1, sample_id_all: 1, exclude_guest: 1, " TRACKING);
	assert_int_equal(list.len, 1);
	free(list.specs);
}

static void test_best_precision(void **state)
{
	struct event_list list = one_event(EVENT_HARDWARE, HW_CPU_CYCLES);
	struct record_attr_options o = of_command();
	list.specs[0].is_precise_max = true;
	apply(&list, &o);
	assert_int_equal(attr_precise_ip(&list.specs[0].attr), 3);
	free(list.specs);
}

/* If only one of two events has PERIOD, samples can be distinguished only by IDENTIFIER. */
static void test_system_wide(void **state)
{
	struct event_list list = one_event(EVENT_SOFTWARE, SW_CPU_CLOCK);
	struct record_attr_options o = {.is_system_wide = true, .rate.freq = 4000};
	apply(&list, &o);
	assert_int_equal(list.len, 2);
	assert_string_equal(list.specs[1].name, "dummy:HG");
	check_attr(&list.specs[0].attr,
		CLOCK "sample_type: IP|TID|TIME|CPU|PERIOD|IDENTIFIER, read_format: ID|LOST, disabled: 1, inherit: 1, "
		      "freq: 1, sample_id_all: 1, exclude_guest: 1");
	check_attr(&list.specs[1].attr,
		"type: 1 (PERF_TYPE_SOFTWARE), size: 128, config: 0x9 (PERF_COUNT_SW_DUMMY), { sample_period, "
		"sample_freq }: 1, sample_type: "
		"IP|TID|TIME|CPU|IDENTIFIER, read_format: ID|LOST, inherit: 1, mmap: 1, comm: 1, task: 1, "
		"sample_id_all: 1, " TRACKING);
	assert_int_equal(record_attrs_tracking(&list), 1);
	free(list.specs);
}

static void test_frequency_holds_for_the_sideband_event_too(void **state)
{
	struct event_list list = one_event(EVENT_SOFTWARE, SW_CPU_CLOCK);
	struct record_attr_options o = {.is_system_wide = true, .rate = {.freq = 99, .is_freq_given = true}};
	o.chains.mode = CALLGRAPH_FP;
	apply(&list, &o);
	check_attr(&list.specs[1].attr,
		"type: 1 (PERF_TYPE_SOFTWARE), size: 128, config: 0x9 (PERF_COUNT_SW_DUMMY), { sample_period, "
		"sample_freq }: 99, sample_type: "
		"IP|TID|TIME|CALLCHAIN|ID|CPU|PERIOD, read_format: ID|LOST, inherit: 1, mmap: 1, comm: 1, freq: 1, "
		"task: 1, "
		"sample_id_all: 1, " TRACKING);
	free(list.specs);
}

static void test_several_events(void **state)
{
	struct event_list list = one_event(EVENT_SOFTWARE, SW_CPU_CLOCK);
	struct record_attr_options o = of_command();
	add_event(&list, EVENT_SOFTWARE, SW_PAGE_FAULTS);
	apply(&list, &o);
	assert_true(list.specs[0].attr.sample_type & SAMPLE_ID);
	check_attr(&list.specs[1].attr,
		"type: 1 (PERF_TYPE_SOFTWARE), size: 128, config: 0x2 (PERF_COUNT_SW_PAGE_FAULTS), { sample_period, "
		"sample_freq }: 4000, sample_type: "
		"IP|TID|TIME|ID|PERIOD, "
		"read_format: ID|LOST, disabled: 1, inherit: 1, freq: 1, enable_on_exec: 1, sample_id_all: 1, "
		"exclude_guest: 1");
	free(list.specs);
}

static void test_sampling_group(void **state)
{
	struct event_list list = one_event(EVENT_SOFTWARE, SW_CPU_CLOCK);
	struct record_attr_options o = of_command();
	add_event(&list, EVENT_SOFTWARE, SW_PAGE_FAULTS);
	list.specs[1].leader = 0;
	list.specs[0].member_count = 2;
	list.specs[0].is_sampling_leader = true;
	apply(&list, &o);
	check_attr(&list.specs[0].attr,
		CLOCK "sample_type: IP|TID|TIME|READ|ID|PERIOD, read_format: ID|GROUP|LOST, disabled: 1, inherit: 1, "
		      "mmap: 1, "
		      "comm: 1, freq: 1, enable_on_exec: 1, task: 1, sample_id_all: 1, exclude_guest: 1, " TRACKING);
	check_attr(&list.specs[1].attr,
		"type: 1 (PERF_TYPE_SOFTWARE), size: 128, config: 0x2 (PERF_COUNT_SW_PAGE_FAULTS), sample_type: "
		"IP|TID|TIME|READ|ID|PERIOD, read_format: ID|GROUP|LOST, "
		"inherit: 1, sample_id_all: 1, exclude_guest: 1");
	unsigned step = 0;
	assert_true(record_attrs_drop_children(&list));
	assert_false(record_attrs_drop_children(&list));
	assert_false(ATTR_HAS(&list.specs[0].attr, INHERIT) || ATTR_HAS(&list.specs[1].attr, INHERIT));
	assert_string_equal(record_attrs_drop(&list, &step), "lost counts per event");
	o.is_system_wide = true;
	list.specs[0].attr.flags = list.specs[1].attr.flags = 0;
	apply(&list, &o);
	assert_false(ATTR_HAS(&list.specs[0].attr, INHERIT) || ATTR_HAS(&list.specs[1].attr, INHERIT));
	free(list.specs);
}

/* A rate that the user gives for a group member is retained: the member has samples of its own. */
static void test_member_with_a_rate_of_its_own(void **state)
{
	for (int is_freq = 0; is_freq < 2; is_freq++) {
		struct event_list list = one_event(EVENT_SOFTWARE, SW_CPU_CLOCK);
		struct record_attr_options o = of_command();
		add_event(&list, EVENT_SOFTWARE, SW_PAGE_FAULTS);
		add_event(&list, EVENT_SOFTWARE, SW_CONTEXT_SWITCHES);
		list.specs[1].leader = list.specs[2].leader = 0;
		list.specs[0].member_count = 3;
		list.specs[0].is_sampling_leader = true;
		list.specs[1].has_period = !is_freq;
		list.specs[1].has_freq = is_freq;
		list.specs[1].attr.sample_period_or_freq = 5;
		apply(&list, &o);
		assert_int_equal(list.specs[1].attr.sample_period_or_freq, 5);
		assert_int_equal(ATTR_HAS(&list.specs[1].attr, FREQ), is_freq);
		assert_int_equal(list.specs[2].attr.sample_period_or_freq, 0);
		assert_true(list.specs[1].attr.sample_type & SAMPLE_READ);
		free(list.specs);
	}
}

/* A dummy of the user that is the first event and alone records side-band records instead of an added one; it must be
 * enabled from the start. */
static void test_dummy_of_the_user(void **state)
{
	struct record_attr_options o = {.is_system_wide = true, .rate.freq = 4000};
	struct event_list list = one_event(EVENT_SOFTWARE, SW_DUMMY);
	apply(&list, &o);
	assert_int_equal(list.len, 1);
	assert_true(ATTR_HAS(&list.specs[0].attr, COMM));
	assert_false(ATTR_HAS(&list.specs[0].attr, DISABLED));
	assert_int_equal(
		list.specs[0].attr.sample_type, SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_CPU | SAMPLE_PERIOD);
	free(list.specs);
	/* If the dummy leads a group, enabling it would start the others. */
	list = one_event(EVENT_SOFTWARE, SW_DUMMY);
	add_event(&list, EVENT_SOFTWARE, SW_CPU_CLOCK);
	list.specs[1].leader = 0;
	list.specs[0].member_count = 2;
	apply(&list, &o);
	assert_int_equal(list.len, 3);
	assert_true(list.specs[2].is_everywhere);
	free(list.specs);
}

/* Events of the kprobe and uprobe PMUs are single occurrences, like tracepoints. */
static void test_probes(void **state)
{
	static const char *const pmus[] = {"kprobe", "uprobe", "cpu"};
	for (size_t i = 0; i < ARRAY_LEN(pmus); i++) {
		struct event_list list = one_event(8, 0);
		struct record_attr_options o = of_command();
		list.specs[0].pmu = pmus[i];
		apply(&list, &o);
		assert_int_equal(list.specs[0].attr.sample_period_or_freq, i < 2 ? 1 : 4000);
		assert_int_equal(ATTR_HAS(&list.specs[0].attr, FREQ), i == 2);
		free(list.specs);
	}
}

static void test_tracepoint(void **state)
{
	struct event_list list = one_event(EVENT_TRACEPOINT, 0x174);
	struct record_attr_options o = of_command();
	apply(&list, &o);
	check_attr(&list.specs[0].attr,
		"type: 2 (PERF_TYPE_TRACEPOINT), size: 128, config: 0x174, { sample_period, sample_freq }: 1, "
		"sample_type: "
		"IP|TID|TIME|CPU|PERIOD|RAW, read_format: ID|LOST, disabled: 1, inherit: 1, mmap: 1, comm: 1, "
		"enable_on_exec: 1, task: 1, sample_id_all: 1, exclude_guest: 1, " TRACKING);
	free(list.specs);
}

static void test_delay(void **state)
{
	struct event_list list = one_event(EVENT_SOFTWARE, SW_CPU_CLOCK);
	struct record_attr_options o = of_command();
	o.starts_disabled = true;
	apply(&list, &o);
	check_attr(&list.specs[0].attr, CLOCK
		"sample_type: IP|TID|TIME|PERIOD|IDENTIFIER, read_format: ID|LOST, disabled: 1, inherit: 1, freq: 1, "
		"sample_id_all: 1, exclude_guest: 1");
	check_attr(&list.specs[1].attr,
		"type: 1 (PERF_TYPE_SOFTWARE), size: 128, config: 0x9 (PERF_COUNT_SW_DUMMY), { sample_period, "
		"sample_freq }: 1, sample_type: "
		"IP|TID|TIME|IDENTIFIER, "
		"read_format: ID|LOST, disabled: 1, inherit: 1, mmap: 1, comm: 1, enable_on_exec: 1, task: 1, "
		"sample_id_all: 1, " TRACKING);
	free(list.specs);
}

static void test_period_of_a_term_wins(void **state)
{
	struct event_list list = one_event(EVENT_SOFTWARE, SW_PAGE_FAULTS);
	struct record_attr_options o = of_command();
	list.specs[0].attr.sample_period_or_freq = 3;
	list.specs[0].has_period = true;
	o.rate.freq = 99;
	o.rate.is_freq_given = true;
	apply(&list, &o);
	assert_int_equal(list.specs[0].attr.sample_period_or_freq, 3);
	assert_false(ATTR_HAS(&list.specs[0].attr, FREQ));
	free(list.specs);
}

static void test_terms_hold_for_their_event_alone(void **state)
{
	struct event_list list = one_event(EVENT_SOFTWARE, SW_CPU_CLOCK);
	struct record_attr_options o = of_command();
	add_event(&list, EVENT_SOFTWARE, SW_CPU_CLOCK);
	add_event(&list, EVENT_SOFTWARE, SW_CPU_CLOCK);
	list.specs[0].recording = (struct recording_terms){.has_callgraph = true, .callgraph = CALLGRAPH_FP};
	list.specs[1].recording = (struct recording_terms){.time = TERM_NO, .inherit = TERM_NO};
	list.specs[2].recording = (struct recording_terms){.has_callgraph = true, .callgraph = CALLGRAPH_DWARF};
	apply(&list, &o);
	assert_true(list.specs[0].attr.sample_type & SAMPLE_CALLCHAIN);
	assert_true(list.specs[0].attr.sample_type & SAMPLE_TIME);
	assert_false(list.specs[1].attr.sample_type & (SAMPLE_CALLCHAIN | SAMPLE_TIME));
	assert_false(ATTR_HAS(&list.specs[1].attr, INHERIT));
	assert_true(ATTR_HAS(&list.specs[0].attr, INHERIT));
	assert_true(list.specs[2].attr.sample_type & SAMPLE_STACK_USER);
	assert_int_equal(list.specs[2].attr.sample_stack_user, 8192);
	event_list_deinit(&list);
}

static void test_dwarf_call_graph(void **state)
{
	struct event_list list = one_event(EVENT_SOFTWARE, SW_CPU_CLOCK);
	struct record_attr_options o = of_command();
	o.chains.mode = CALLGRAPH_DWARF;
	o.chains.stack_bytes = 4096;
	apply(&list, &o);
	const struct perf_attr *attr = &list.specs[0].attr;
	assert_int_equal(attr->sample_stack_user, 4096);
	assert_int_equal(attr->sample_regs_user, record_attrs_all_user_regs());
	assert_true(ATTR_HAS(attr, EXCLUDE_CALLCHAIN_USER));
	assert_int_equal(attr->sample_type & (SAMPLE_CALLCHAIN | SAMPLE_REGS_USER | SAMPLE_STACK_USER),
		SAMPLE_CALLCHAIN | SAMPLE_REGS_USER | SAMPLE_STACK_USER);
	free(list.specs);
}

static void test_dwarf_call_graph_for_live_unwinding(void **state)
{
	const uint64_t both = SAMPLE_REGS_USER | SAMPLE_STACK_USER;
	struct event_list list = one_event(EVENT_SOFTWARE, SW_CPU_CLOCK);
	struct record_attr_options o = of_command();
	o.chains.mode = CALLGRAPH_DWARF;
	o.unwinds_live = o.per_thread = true;
	o.chains.stack_bytes = 65528;
	apply(&list, &o);
	const struct perf_attr *attr = &list.specs[0].attr;
	assert_int_equal(attr->sample_stack_user, 65528);
	assert_int_equal(attr->sample_type & (SAMPLE_CALLCHAIN | both), SAMPLE_CALLCHAIN | both);
	assert_int_equal(attr->sample_type & (SAMPLE_ADDR | SAMPLE_DATA_SRC | SAMPLE_TIME), SAMPLE_TIME);
	assert_false(ATTR_HAS(attr, EXCLUDE_CALLCHAIN_USER));
	assert_false(ATTR_HAS(attr, MMAP_DATA));
	struct perf_attr written = record_attrs_written(attr, &o);
	assert_int_equal(written.sample_type, attr->sample_type & ~both);
	assert_int_equal(written.sample_regs_user, 0);
	assert_int_equal(written.sample_stack_user, 65528);
	o.fields.user_regs = 3;
	written = record_attrs_written(attr, &o);
	assert_int_equal(written.sample_type, attr->sample_type & ~(uint64_t)SAMPLE_STACK_USER);
	assert_int_equal(written.sample_regs_user, 3);
	free(list.specs);
	/* The fields after the stack dump must fit too. */
	list = one_event(EVENT_SOFTWARE, SW_CPU_CLOCK);
	o.fields.weight = true;
	apply(&list, &o);
	assert_int_equal(list.specs[0].attr.sample_stack_user, 61440);
	o.unwinds_live = false;
	written = record_attrs_written(&list.specs[0].attr, &o);
	assert_int_equal(written.sample_type, list.specs[0].attr.sample_type);
	free(list.specs);
}

static void test_one_bit_options(void **state)
{
	static const struct {
		struct record_attr_options options;
		uint64_t sample_type, flags;
	} cases[] = {
		{{.modes.thread_counts = true}, 0, ATTR_FLAG(ATTR_BIT_INHERIT_STAT)},
		{{.fields.data_address = true}, SAMPLE_ADDR | SAMPLE_DATA_SRC, ATTR_FLAG(ATTR_BIT_MMAP_DATA)},
		{{.fields.raw = true}, SAMPLE_RAW | SAMPLE_CPU, 0},
		{{.fields.weight = true}, SAMPLE_WEIGHT_STRUCT, 0},
		{{.fields.phys_addr = true}, SAMPLE_PHYS_ADDR, 0},
		{{.fields.data_page_size = true}, SAMPLE_DATA_PAGE_SIZE, 0},
		{{.fields.code_page_size = true}, SAMPLE_CODE_PAGE_SIZE, 0},
		{{.fields.transaction = true}, SAMPLE_TRANSACTION, 0},
		{{.fields.cpu = true}, SAMPLE_CPU, 0},
		{{.fields.switch_events = true}, 0, ATTR_FLAG(ATTR_BIT_CONTEXT_SWITCH)},
		{{.fields.namespaces = true}, 0, ATTR_FLAG(ATTR_BIT_NAMESPACES)},
		{{.fields.cgroups = true}, SAMPLE_CGROUP, ATTR_FLAG(ATTR_BIT_CGROUP)},
		{{.fields.build_id_mmap = true}, 0, ATTR_FLAG(ATTR_BIT_BUILD_ID)},
		{{.modes.all_user = true}, 0, ATTR_FLAG(ATTR_BIT_EXCLUDE_KERNEL)},
		{{.modes.all_kernel = true}, 0, ATTR_FLAG(ATTR_BIT_EXCLUDE_USER)},
		{{.modes = {.use_clockid = true, .clockid = 1}}, 0, ATTR_FLAG(ATTR_BIT_USE_CLOCKID)},
		{{.fields.branch_sample_type = BRANCH_ANY}, SAMPLE_BRANCH_STACK, 0},
		{{.fields.user_regs = 0x180}, SAMPLE_REGS_USER, 0},
		{{.fields.intr_regs = 0x180}, SAMPLE_REGS_INTR, 0},
	};
	struct event_list plain = one_event(EVENT_SOFTWARE, SW_CPU_CLOCK);
	struct record_attr_options without = of_command();
	apply(&plain, &without);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct event_list list = one_event(EVENT_SOFTWARE, SW_CPU_CLOCK);
		struct record_attr_options o = cases[i].options;
		o.has_command = true;
		o.rate.freq = 4000;
		apply(&list, &o);
		assert_int_equal(
			list.specs[0].attr.sample_type, plain.specs[0].attr.sample_type | cases[i].sample_type);
		assert_int_equal(list.specs[0].attr.flags, plain.specs[0].attr.flags | cases[i].flags);
		free(list.specs);
	}
	free(plain.specs);
}

/* Each field is dropped once, the newest first, until none can be dropped. */
static void test_drop(void **state)
{
	struct event_list list = one_event(EVENT_SOFTWARE, SW_CPU_CLOCK);
	struct record_attr_options o = of_command();
	const char *const expected[] = {"lost counts per event", "bpf records", "ksymbol records",
		"exec marks in comm records", "mmap2 records", "exclusion of guests"};
	unsigned step = 0;
	apply(&list, &o);
	for (size_t i = 0; i < ARRAY_LEN(expected); i++)
		assert_string_equal(record_attrs_drop(&list, &step), expected[i]);
	assert_null(record_attrs_drop(&list, &step));
	check_attr(&list.specs[0].attr, CLOCK
		"sample_type: IP|TID|TIME|PERIOD, read_format: ID, disabled: 1, inherit: 1, mmap: 1, comm: 1, freq: 1, "
		"enable_on_exec: 1, task: 1, sample_id_all: 1");
	free(list.specs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_command),
		cmocka_unit_test(test_best_precision),
		cmocka_unit_test(test_system_wide),
		cmocka_unit_test(test_frequency_holds_for_the_sideband_event_too),
		cmocka_unit_test(test_several_events),
		cmocka_unit_test(test_sampling_group),
		cmocka_unit_test(test_member_with_a_rate_of_its_own),
		cmocka_unit_test(test_dummy_of_the_user),
		cmocka_unit_test(test_probes),
		cmocka_unit_test(test_tracepoint),
		cmocka_unit_test(test_delay),
		cmocka_unit_test(test_period_of_a_term_wins),
		cmocka_unit_test(test_terms_hold_for_their_event_alone),
		cmocka_unit_test(test_dwarf_call_graph),
		cmocka_unit_test(test_dwarf_call_graph_for_live_unwinding),
		cmocka_unit_test(test_one_bit_options),
		cmocka_unit_test(test_drop),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
