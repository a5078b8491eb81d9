/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/events/event_parser.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/text.h"
#include "fake_root.h"
#include "unit_test.h"

struct machine {
	char *root;
	struct kernel_seam seam;
	struct event_catalogue *catalogue;
};

static struct machine machine_make(const char *name)
{
	struct machine m = {.root = fake_root_load(name)};
	return m;
}

static struct event_catalogue *catalogue_of(struct machine *m)
{
	struct tally_error err;
	m->seam.root = m->root;
	assert_int_equal(event_catalogue_create(&m->seam, &m->catalogue, &err), TALLY_OK);
	return m->catalogue;
}

static void machine_end(struct machine *m)
{
	event_catalogue_destroy(m->catalogue);
	fake_root_remove(m->root);
}

/* Returns "NAME type config [config1 config2] flags" per event, with letters for the excluded modes, and
 * p for precise. */
static char *describe(const struct event_list *list)
{
	struct text t = {0};
	for (size_t i = 0; i < list->len; i++) {
		const struct event_spec *s = &list->specs[i];
		text_printf(&t, "%s%s %u 0x%" PRIx64, i ? "; " : "", s->name, s->attr.type, s->attr.config);
		if (s->attr.config1 || s->attr.config2)
			text_printf(&t, " %" PRIx64 " %" PRIx64, s->attr.config1, s->attr.config2);
		text_str(&t, " -");
		text_str(&t, ATTR_HAS(&s->attr, EXCLUDE_USER) ? "u" : "");
		text_str(&t, ATTR_HAS(&s->attr, EXCLUDE_KERNEL) ? "k" : "");
		text_str(&t, ATTR_HAS(&s->attr, EXCLUDE_HV) ? "h" : "");
		text_str(&t, ATTR_HAS(&s->attr, EXCLUDE_GUEST) ? "G" : "");
		text_str(&t, ATTR_HAS(&s->attr, EXCLUDE_HOST) ? "H" : "");
		text_str(&t, ATTR_HAS(&s->attr, EXCLUDE_IDLE) ? "I" : "");
		text_str(&t, ATTR_HAS(&s->attr, PINNED) ? "D" : "");
		text_repeat(&t, 'p', attr_precise_ip(&s->attr));
		if (s->leader != i || s->member_count > 1)
			text_printf(&t, " of %u(%u)", s->leader, list->specs[s->leader].member_count);
		if (s->is_merged)
			text_str(&t, " merged");
	}
	text_char(&t, '\0');
	return t.data;
}

struct good {
	const char *text, *expected;
};

static void check_good(const char *root, const struct good *cases, size_t count)
{
	struct machine m = machine_make(root);
	struct event_catalogue *catalogue = catalogue_of(&m);
	for (size_t i = 0; i < count; i++) {
		struct event_list list = {0};
		struct tally_error err = {0};
		if (event_parse(catalogue, cases[i].text, &list, &err) != TALLY_OK)
			fail_msg("%s: %s", cases[i].text, err.text);
		char *found = describe(&list);
		assert_string_equal(found, cases[i].expected);
		free(found);
		event_list_deinit(&list);
	}
	machine_end(&m);
}

static void test_names_and_modifiers(void **state)
{
	static const struct good cases[] = {
		{"cycles", "cycles 0 0x0 -G"},
		{"cpu-cycles:u", "cpu-cycles:u 0 0x0 -khG"},
		{"cpu-clock:k", "cpu-clock:k 1 0x0 -uh"},
		{"cpu-clock:uk,cs", "cpu-clock:uk 1 0x0 -hG; cs 1 0x3 -G"},
		{"cpu-clock:G", "cpu-clock:G 1 0x0 -H"},
		{"cpu-clock:GH", "cpu-clock:GH 1 0x0 -"},
		{"cpu-clock:uG", "cpu-clock:uG 1 0x0 -khH"},
		{"cycles:pp", "cycles:pp 0 0x0 -Gpp"},
		{"faults:ID", "faults:ID 1 0x2 -ID"},
		{"{cpu-clock:u,cs}:k", "cpu-clock:u 1 0x0 -hG of 0(2); cs 1 0x3 -uhG of 0(2)"},
		{"{cpu-clock,cs:G}:u", "cpu-clock 1 0x0 -khG of 0(2); cs:G 1 0x3 -khH of 0(2)"},
		{"{cs},faults", "cs 1 0x3 -G; faults 1 0x2 -G"},
		{"L1-dcache-loads", "L1-dcache-loads 3 0x0 -G"},
		{"l1d-load-misses", "l1d-load-misses 3 0x10000 -G"},
		{"dTLB-load-miss", "dTLB-load-miss 3 0x10003 -G"},
		{"Data-TLB-stores", "Data-TLB-stores 3 0x103 -G"},
		{"node-speculative-load", "node-speculative-load 3 0x206 -G"},
		{"LLC-misses", "LLC-misses 3 0x10002 -G"},
		{"branch", "branch 3 0x5 -G"},
		{"branch-misses", "branch-misses 0 0x5 -G"},
		{"r1A8", "r1A8 4 0x1a8 -G"},
		{"r1a8:u", "r1a8:u 4 0x1a8 -khG"},
		{"1:2", "1:2 1 0x2 -G"},
		{"0x1:0x2", "0x1:0x2 1 0x2 -G"},
		{"mem:0x1000", "mem:0x1000 5 0x0 1000 4 -G"},
		{"mem:0x1000:x", "mem:0x1000:x 5 0x0 1000 8 -G"},
		{"mem:0x1000/2:w:u", "mem:0x1000/2:w:u 5 0x0 1000 2 -khG"},
		{"sched:sched_switch", "sched:sched_switch 2 0x174 -G"},
		{"sched:sched_*:k", "sched:sched_switch 2 0x174 -uh; sched:sched_wakeup 2 0x177 -uh"},
		{"s*:*write", "syscalls:sys_enter_write 2 0x2bc -G"},
		{"msr/tsc/", "msr/tsc/ 10 0x0 -G"},
		{"msr/event=7/u", "msr/event=7/u 10 0x7 -khG"},
		{"software/config=2,name=foo/u", "foo 1 0x2 -khG"},
		{"page-faults/name=bar/", "bar 1 0x2 -G"},
		{"cpu-clock/period=100/uk", "cpu-clock/period=100/uk 1 0x0 -hG"},
		{"duration_time", "duration_time 1 0x9 -G"},
	};
	check_good("vm-without-pmu", cases, ARRAY_LEN(cases));
}

static void test_hybrid_and_uncore(void **state)
{
	static const struct good cases[] = {
		{"cycles", "cpu_atom/cycles/ 0 0xa00000000 -G; cpu_core/cycles/ 0 0x400000000 -G"},
		{"cpu_core/cycles/u", "cpu_core/cycles/u 0 0x400000000 -khG"},
		{"cpu_atom/LLC-loads/", "cpu_atom/LLC-loads/ 3 0xa00000002 -G"},
		{"cpu_core/event=0xcd,umask=0x1,cmask=2/", "cpu_core/event=0xcd,umask=0x1,cmask=2/ 4 0x20001cd -G"},
		{"cpu_core/mem-loads,ldlat=30/", "cpu_core/mem-loads,ldlat=30/ 4 0x1cd 1e 0 -G"},
		{"uncore_imc_0/data_reads/", "uncore_imc_0/data_reads/ 20 0x201 -G"},
		{"imc/data_reads/", "imc/data_reads/ 20 0x201 -G; imc/data_reads/ 21 0x201 -G merged"},
		{"{cycles,instructions}:u",
			"cpu_atom/cycles/ 0 0xa00000000 -khG of 0(2); cpu_core/cycles/ 0 0x400000000 -khG of 1(2); "
			"cpu_atom/instructions/ 0 0xa00000001 -khG of 0(2); cpu_core/instructions/ 0 0x400000001 -khG "
			"of 1(2)"},
		{"uncore_imc_0/split=0x5a/", "uncore_imc_0/split=0x5a/ 20 0x50000000a -G"},
	};
	check_good("hybrid", cases, ARRAY_LEN(cases));
}

static char *names_of(const struct event_list *list)
{
	struct text t = {0};
	for (size_t i = 0; i < list->len; i++)
		text_printf(&t, "%s%s%s", i ? " " : "", list->specs[i].name, list->specs[i].is_merged ? "+" : "");
	text_char(&t, '\0');
	return t.data;
}

static void test_kinds_of_core(void **state)
{
	static const struct {
		const char *type, *text, *names, *merged;
	} cases[] = {
		{NULL, "cycles,cs", "cpu_atom/cycles/ cpu_core/cycles/ cs", "cycles cpu_core/cycles/+ cs"},
		{NULL, "cycles:pu", "cpu_atom/cycles/pu cpu_core/cycles/pu", "cycles:pu cpu_core/cycles/pu+"},
		{NULL, "{cycles,branches}", "cpu_atom/cycles/ cpu_core/cycles/ cpu_atom/branches/ cpu_core/branches/",
			"cycles cpu_core/cycles/+ branches cpu_core/branches/+"},
		{NULL, "cpu_core/cycles/,cpu_atom/cycles/", "cpu_core/cycles/ cpu_atom/cycles/",
			"cpu_core/cycles/ cpu_atom/cycles/"},
		{NULL, "r1a", "cpu_atom/r1a/ cpu_core/r1a/", "r1a cpu_core/r1a/+"},
		{"core", "cycles,cs", "cpu_core/cycles/ cs", "cpu_core/cycles/ cs"},
		{"cpu_atom", "cycles,r1a", "cpu_atom/cycles/ cpu_atom/r1a/", "cpu_atom/cycles/ cpu_atom/r1a/"},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct machine m = machine_make("hybrid");
		struct event_list list = {0};
		struct event_catalogue *catalogue = catalogue_of(&m);
		assert_false(event_catalogue_limit_cores(catalogue, "lowpower"));
		assert_true(!cases[i].type || event_catalogue_limit_cores(catalogue, cases[i].type));
		assert_int_equal(event_parse(catalogue, cases[i].text, &list, NULL), TALLY_OK);
		char *names = names_of(&list);
		assert_string_equal(names, cases[i].names);
		free(names);
		assert_int_equal(event_list_merge_cores(&list, NULL), TALLY_OK);
		names = names_of(&list);
		assert_string_equal(names, cases[i].merged);
		free(names);
		event_list_deinit(&list);
		machine_end(&m);
	}
}

static void test_arm64(void **state)
{
	static const struct good cases[] = {
		{"cycles", "cycles 0 0x0 -G"},
		{"armv8_pmuv3_0/cpu_cycles/", "armv8_pmuv3_0/cpu_cycles/ 8 0x11 -G"},
		{"armv8_pmuv3/event=0x8,long/", "armv8_pmuv3/event=0x8,long/ 8 0x8 1 0 -G"},
		{"arm_cmn/hnf_cache_miss/", "arm_cmn/hnf_cache_miss/ 12 0x10005 -G"},
	};
	check_good("arm64", cases, ARRAY_LEN(cases));
}

struct bad {
	const char *text;
	unsigned column;
	enum tally_status status;
	const char *words; /* Part of the error message. */
};

static void test_errors(void **state)
{
	static const struct bad cases[] = {
		{"", 0, TALLY_INVALID, "name is missing"},
		{"cycels", 0, TALLY_NOT_FOUND, "did you mean 'cycles'?"},
		{"cs,page-fautls", 3, TALLY_NOT_FOUND, "did you mean 'page-faults'?"},
		{"CPU-CLOCK2", 0, TALLY_NOT_FOUND, "no event 'CPU-CLOCK2'"},
		{"cpu-clock:x", 10, TALLY_INVALID, "'x' is not a modifier"},
		{"cpu-clock:uu", 10, TALLY_INVALID, "Bad modifier"},
		{"cpu-clock:pppp", 10, TALLY_INVALID, "Bad modifier"},
		{"cs,,cs", 3, TALLY_INVALID, "name is missing"},
		{"cs,", 3, TALLY_INVALID, "name is missing"},
		{"cpu-clock cs", 10, TALLY_INVALID, "unexpected 'c'"},
		{"{cs,faults", 0, TALLY_INVALID, "'}' is missing"},
		{"cs}", 2, TALLY_INVALID, "unexpected '}'"},
		{"{{cs}}", 1, TALLY_INVALID, "name is missing"},
		{"sched:nosuch", 0, TALLY_NOT_FOUND, "unknown tracepoint"},
		{"sched:sched_swich", 0, TALLY_NOT_FOUND, "did you mean 'sched_switch'?"},
		{"foo:bar", 0, TALLY_NOT_FOUND, "no tracepoint system 'foo'"},
		{"zz*:*", 0, TALLY_NOT_FOUND, "no tracepoint matches"},
		{"..:id", 0, TALLY_INVALID, "SYSTEM:NAME"},
		{"nopmu/config=1/", 0, TALLY_NOT_FOUND, "Cannot find PMU `nopmu'"},
		{"msr/foo=1/", 4, TALLY_NOT_FOUND, "valid terms: event,config"},
		{"msr/event=/", 4, TALLY_INVALID, "value is missing"},
		{"msr/event=zz/", 10, TALLY_INVALID, "expected a number"},
		{"msr/tsc", 3, TALLY_INVALID, "closing '/'"},
		{"cpu-clock/percore=3/", 18, TALLY_INVALID, "expected 0 or 1"},
		{"mem:", 4, TALLY_INVALID, "takes an address"},
		{"mem:0x10/0", 9, TALLY_INVALID, "length"},
		{"r12345678901234567", 0, TALLY_NOT_FOUND, "no event"},
	};
	struct machine m = machine_make("vm-without-pmu");
	struct event_catalogue *catalogue = catalogue_of(&m);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct event_list list = {0};
		struct tally_error err = {0};
		assert_int_equal(event_parse(catalogue, "cs", &list, &err), TALLY_OK);
		enum tally_status status = event_parse(catalogue, cases[i].text, &list, &err);
		if (status != cases[i].status || err.offset != cases[i].column || !strstr(err.text, cases[i].words))
			fail_msg("'%s': %d at %d: %s", cases[i].text, (int)status, (int)err.offset, err.text);
		assert_int_equal(list.len, 1); /* The list is unchanged. */
		event_list_deinit(&list);
	}
	machine_end(&m);
}

static void test_every_prefix_ends(void **state)
{
	const char *text = "{cycles:u,sched:sched_*}:k,msr/event=1,name=x/u,mem:0x10/4:rw,r1a8,[a-z]:[";
	struct machine m = machine_make("vm-without-pmu");
	struct event_catalogue *catalogue = catalogue_of(&m);
	char *prefix = strdup(text);
	for (size_t len = strlen(text); len > 0; len--) {
		prefix[len] = '\0';
		struct event_list list = {0};
		struct tally_error err = {0};
		enum tally_status status = event_parse(catalogue, prefix, &list, &err);
		assert_true(status == TALLY_OK || err.offset <= len);
		assert_true(status != TALLY_OK || list.len > 0);
		event_list_deinit(&list);
	}
	free(prefix);
	machine_end(&m);
}

static void test_unit_and_scale(void **state)
{
	struct machine m = machine_make("hybrid");
	struct event_list list = {0};
	struct tally_error err = {0};
	assert_int_equal(event_parse(catalogue_of(&m), "uncore_imc_1/data_reads/", &list, &err), TALLY_OK);
	assert_string_equal(list.specs[0].unit, "MiB");
	assert_string_equal(list.specs[0].cpus, "0");
	assert_true(list.specs[0].is_uncore);
	assert_true(list.specs[0].scale > 6.1035e-5 && list.specs[0].scale < 6.1036e-5);
	event_list_deinit(&list);
	machine_end(&m);
}

static void test_restrict_to_user(void **state)
{
	static const struct good cases[] = {
		{"cycles", "cycles:u"},
		{"cycles:pp", "cycles:ppu"},
		{"msr/tsc/", "msr/tsc/u"},
		{"sched:sched_switch", "sched:sched_switch:u"},
		{"software/config=1,name=z/", "z"},
	};
	struct machine m = machine_make("vm-without-pmu");
	struct event_catalogue *catalogue = catalogue_of(&m);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct event_list list = {0};
		assert_int_equal(event_parse(catalogue, cases[i].text, &list, NULL), TALLY_OK);
		assert_int_equal(event_spec_restrict_to_user(&list, 0, NULL), TALLY_OK);
		assert_string_equal(list.specs[0].name, cases[i].expected);
		assert_true(ATTR_HAS(&list.specs[0].attr, EXCLUDE_KERNEL));
		event_list_deinit(&list);
	}
	machine_end(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_and_modifiers),
		cmocka_unit_test(test_hybrid_and_uncore),
		cmocka_unit_test(test_kinds_of_core),
		cmocka_unit_test(test_arm64),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_every_prefix_ends),
		cmocka_unit_test(test_unit_and_scale),
		cmocka_unit_test(test_restrict_to_user),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
