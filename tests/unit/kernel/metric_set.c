/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/metrics/metric_set.h"

#include <errno.h>
#include <string.h>

#include "fake_kernel.h"
#include "fake_root.h"
#include "kernel/events/event_format.h"
#include "kernel/events/event_parser.h"
#include "unit_test.h"

#define CPU	"/sys/bus/event_source/devices/cpu/"
#define CORE	"/sys/bus/event_source/devices/cpu_core/"
#define ATOM	"/sys/bus/event_source/devices/cpu_atom/"
#define MSR	"/sys/bus/event_source/devices/msr/"
#define ARM	"/sys/bus/event_source/devices/armv8_pmuv3_0/"
#define TOPDOWN "event=0x00,umask=0x80\n"

static const char plain_machine[] = CPU "type: 4\n" CPU "format/event: config:0-7\n" CPU "format/umask: config:8-15\n";
static const char ice_lake[] =
	CPU "type: 4\n" CPU "format/event: config:0-7\n" CPU "format/umask: config:8-15\n" CPU
	    "events/slots: event=0x00,umask=0x4\n" CPU "events/topdown-retiring: " TOPDOWN CPU
	    "events/topdown-bad-spec: " TOPDOWN CPU "events/topdown-fe-bound: " TOPDOWN CPU
	    "events/topdown-be-bound: " TOPDOWN MSR "type: 9\n" MSR "format/event: config:0-63\n" MSR
	    "events/aperf: event=0x01\n" MSR "events/smi: event=0x04\n" CPU "events/cycles-t: event=0x3c\n" CPU
	    "events/cycles-ct: event=0x3c\n" CPU "events/tx-start: event=0xc9\n";
static const char hybrid[] = CORE "type: 4\n" CORE "cpus: 0-1\n" CORE "format/event: config:0-7\n" ATOM
				  "type: 10\n" ATOM "cpus: 2-3\n" ATOM "format/event: config:0-7\n";
static const char arm[] =
	ARM "type: 8\n" ARM "cpus: 0-1\n" ARM "format/event: config:0-15\n" ARM "caps/slots: 0x00000005\n" ARM
	    "events/cpu_cycles: event=0x11\n" ARM "events/stall_slot_backend: event=0x3d\n"
	    "/sys/devices/system/cpu/online: 0-1\n";

struct fixture {
	char *root;
	struct fake_kernel fake;
	struct event_catalogue *catalogue;
	struct metric_machine machine;
	struct metric_set set;
	struct event_list events;
};

static void begin(struct fixture *f, const char *tree)
{
	*f = (struct fixture){.root = fake_root_make(tree)};
	fake_kernel_init(&f->fake, f->root);
	assert_int_equal(event_catalogue_create(&f->fake.seam, &f->catalogue, NULL), TALLY_OK);
	f->machine.catalogue = f->catalogue;
}

static void end(struct fixture *f)
{
	metric_set_deinit(&f->set);
	event_list_deinit(&f->events);
	event_catalogue_destroy(f->catalogue);
	fake_kernel_deinit(&f->fake);
	fake_root_remove(f->root);
}

/* Checks the event list of the words, and the events and the leader of each metric by index. */
static void expect(const char *tree, const char *words, struct metric_options options, const char *expected)
{
	struct fixture f;
	struct tally_error err = {0};
	struct text t = {0};
	begin(&f, tree);
	if (metric_set_add(&f.set, &f.machine, words, &options, &f.events, &err) != TALLY_OK)
		fail_msg("%s: %s", words, err.text);
	event_format(&t, &f.events);
	for (size_t i = 0; i < f.set.uses.len; i++) {
		const struct metric_use *use = &f.set.uses.items[i];
		text_printf(&t, "; %s", use->label);
		for (size_t n = 0; n < use->expr->name_count; n++)
			text_printf(&t, " %u", (unsigned)use->events[n]);
		text_printf(&t, " at %u", (unsigned)use->lead);
	}
	text_char(&t, '\0');
	assert_string_equal(t.data, expected);
	text_deinit(&t);
	end(&f);
}

static const struct metric_options usual;
static const struct metric_options apart = {.no_group = true};

static void test_events_are_weak_groups(void **state)
{
	expect(plain_machine, "IPC", usual, "{instructions:HW,cycles:HW}; IPC 0 1 at 0");
	expect(plain_machine, "ipc,IPC", usual, "{instructions:HW,cycles:HW}; IPC 0 1 at 0");
	expect(plain_machine, " GHz ", usual, "{cycles:HW,task-clock:HW}; GHz  cycles_frequency 0 1 at 0");
	expect(plain_machine, "CPUs_utilized", usual, "duration_time,task-clock; CPUs  CPUs_utilized 1 0 at 1");
}

static void test_groups_are_shared(void **state)
{
	expect(plain_machine, "IPC,CPI", usual, "{instructions:HW,cycles:HW}; IPC 0 1 at 0; CPI 1 0 at 1");
	expect(plain_machine, "IPC,CPI", (struct metric_options){.no_merge = true},
		"{instructions:HW,cycles:HW},{cycles:HW,instructions:HW}; IPC 0 1 at 0; CPI 2 3 at 2");
	expect(plain_machine, "IPC,GHz", apart,
		"instructions,cycles,task-clock; IPC 0 1 at 0; GHz  cycles_frequency 1 2 at 1");
	expect(plain_machine, "IPC,GHz", (struct metric_options){.no_group = true, .no_merge = true},
		"instructions,cycles,cycles,task-clock; IPC 0 1 at 0; GHz  cycles_frequency 2 3 at 2");
}

static void test_cores_of_several_kinds(void **state)
{
	expect(hybrid, "IPC", usual,
		"{cpu_atom/instructions/HW,cpu_core/instructions/HW,cpu_atom/cycles/HW,cpu_core/cycles/HW}"
		"; IPC (cpu_atom) 0 2 at 0; IPC (cpu_core) 1 3 at 1");
	expect(hybrid, "IPC", (struct metric_options){.no_group = true, .merges_cores = true},
		"cpu_atom/instructions/,cpu_core/instructions/,cpu_atom/cycles/,cpu_core/cycles/; IPC 0 2 at 0");
}

static void test_events_that_sysfs_names(void **state)
{
	expect(ice_lake, "tma_retiring,tma_bad_speculation", usual,
		"{cpu/slots/HW,cpu/topdown-fe-bound/HW,cpu/topdown-bad-spec/HW,cpu/topdown-be-bound/HW,"
		"cpu/topdown-retiring/HW}; %  tma_retiring 4 1 2 3 0 at 4; %  tma_bad_speculation 2 1 4 3 0 at 2");
	expect(ice_lake, "smi", apart, "msr/aperf/,cycles,msr/smi/; SMI#  smi_num 2 at 2; %  smi_cycles 0 1 2 at 0");
	expect(ice_lake, "transaction", apart,
		"cpu/cycles-t/,cpu/cycles-ct/,cycles,cpu/tx-start/; %  tsx_transactional_cycles 0 2 at 0; "
		"%  tsx_aborted_cycles 0 1 2 at 0; cycles / transaction  tsx_cycles_per_transaction 0 3 at 0");
	expect(arm, "TopdownL1", apart,
		"armv8_pmuv3_0/stall_slot_backend/,armv8_pmuv3_0/cpu_cycles/; %  tma_backend_bound 0 1 at 0");
}

static void expect_failure(const char *tree, const char *words, const char *why)
{
	struct fixture f;
	struct tally_error err = {0};
	begin(&f, tree);
	assert_int_equal(metric_set_add(&f.set, &f.machine, words, &usual, &f.events, &err), TALLY_NOT_FOUND);
	if (!strstr(err.text, why))
		fail_msg("%s: %s", words, err.text);
	end(&f);
}

static void test_what_is_lacking_is_named(void **state)
{
	expect_failure(plain_machine, "IPC,nothing", "Cannot find metric or group `nothing'");
	expect_failure(plain_machine, "insn_per_cycl", "did you mean 'insn_per_cycle'?");
	expect_failure(plain_machine, "", "Cannot find metric or group `'");
	expect_failure(plain_machine, "TopdownL1", "has the event 'topdown-");
	expect_failure(plain_machine, "smi_num", "has the event 'msr/smi/'");
	expect_failure(ice_lake, "TopdownL2", "has the event 'topdown-");
}

static void test_stalls_are_of_the_end_that_is_counted(void **state)
{
	struct fixture f;
	struct metric_expr expr;
	begin(&f, plain_machine);
	fake_kernel_refuse(&f.fake, EVENT_HARDWARE, HW_STALLED_CYCLES_BACKEND, ENOENT);
	assert_non_null(metric_machine_find(&f.machine, "stalled_cycles_per_instruction", &expr, NULL));
	assert_int_equal(expr.name_count, 2);
	assert_string_equal(expr.names[0], "stalled-cycles-frontend");
	metric_expr_deinit(&expr);
	end(&f);
}

/* Every row can be parsed, and counts its events on a machine that has all of them. */
static void test_every_row_reads(void **state)
{
	struct fixture f;
	begin(&f, plain_machine);
	for (size_t i = 0; i < metric_table_len; i++) {
		struct metric_expr expr;
		struct tally_error err = {0};
		enum tally_status status = metric_machine_expr(&f.machine, &metric_table[i], &expr, &err);
		if (status == TALLY_OK)
			metric_expr_deinit(&expr);
		else
			assert_int_equal(status, TALLY_NOT_FOUND);
	}
	end(&f);
}

static void test_copies_refer_to_copied_events(void **state)
{
	struct fixture f;
	begin(&f, plain_machine);
	assert_int_equal(metric_set_add(&f.set, &f.machine, "IPC", &usual, &f.events, NULL), TALLY_OK);
	assert_int_equal(metric_set_repeat(&f.set, 1, 2, NULL), TALLY_OK);
	assert_int_equal(f.set.uses.len, 2);
	assert_int_equal(f.set.uses.items[1].events[1], 3);
	assert_int_equal(f.set.uses.items[1].lead, 2);
	end(&f);
}

static void test_events_may_be_left_out_before(void **state)
{
	struct fixture f;
	begin(&f, plain_machine);
	assert_int_equal(event_parse(f.catalogue, "cs,faults,migrations", &f.events, NULL), TALLY_OK);
	assert_int_equal(metric_set_add(&f.set, &f.machine, "CPI", &usual, &f.events, NULL), TALLY_OK);
	assert_int_equal(f.set.uses.items[0].lead, 3);
	event_list_drop(&f.events, (const bool[]){true, false, true, false, false});
	assert_int_equal(metric_set_follow(&f.set, &f.events, NULL), TALLY_OK);
	assert_int_equal(f.set.uses.items[0].lead, 1);
	assert_int_equal(f.set.uses.items[0].events[0], 1);
	assert_int_equal(f.set.uses.items[0].events[1], 2);
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_events_are_weak_groups),
		cmocka_unit_test(test_groups_are_shared),
		cmocka_unit_test(test_cores_of_several_kinds),
		cmocka_unit_test(test_events_that_sysfs_names),
		cmocka_unit_test(test_what_is_lacking_is_named),
		cmocka_unit_test(test_stalls_are_of_the_end_that_is_counted),
		cmocka_unit_test(test_every_row_reads),
		cmocka_unit_test(test_events_may_be_left_out_before),
		cmocka_unit_test(test_copies_refer_to_copied_events),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
