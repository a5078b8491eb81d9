/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/counts/stat_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "kernel/metrics/metric_set.h"
#include "unit_test.h"

#define EVENTS_MAX 12

struct measured {
	const char *name;
	uint32_t type;
	uint64_t config;
	double value, running, enabled;
	bool is_missing;
};

struct fixture {
	struct event_spec specs[EVENTS_MAX];
	struct event_list events;
	bool supported[EVENTS_MAX];
	struct stat_cell cells[EVENTS_MAX * 2];
	struct aggregation aggregation;
	struct cpu_place places[2];
	struct stat_report report;
};

static void fixture_init(struct fixture *f, const struct measured *events, size_t len)
{
	memset(f, 0, sizeof(*f));
	f->aggregation.len = 1;
	for (size_t i = 0; i < len; i++) {
		const struct measured *m = &events[i];
		f->specs[i] = (struct event_spec){.attr = {.type = m->type, .config = m->config},
			.name = m->name,
			.unit = "",
			.scale = 1,
			.leader = (uint32_t)i,
			.member_count = 1};
		f->supported[i] = !m->is_missing;
		running_mean_add(&f->cells[i].value, m->value);
		running_mean_add(&f->cells[i].running_ns, m->running);
		running_mean_add(&f->cells[i].enabled_ns, m->enabled);
		f->cells[i].cpu_count = 1;
	}
	f->events.specs = f->specs;
	f->events.len = len;
	f->report = (struct stat_report){.events = &f->events,
		.supported = f->supported,
		.aggregation = &f->aggregation,
		.cells = f->cells,
		.runs = 1,
		.heading = "'x'",
		.interval_s = -1,
		.merges_pmus = true};
	running_mean_add(&f->report.wall_ns, 2e9);
}

static char *printed(const struct fixture *f, struct stat_style style)
{
	struct text t = {0};
	style.thousands = style.thousands ? style.thousands : "";
	stat_rows_print(&t, &f->report, &style);
	text_char(&t, '\0');
	return t.data;
}

static void expect(const struct fixture *f, struct stat_style style, const char *line)
{
	char *text = printed(f, style);
	if (!strstr(text, line))
		fail_msg("no line '%s' in\n%s", line, text);
	free(text);
}

static const struct measured hardware[] = {
	{"task-clock", EVENT_SOFTWARE, SW_TASK_CLOCK, 1e9, 1e9, 1e9, false},
	{"cycles", EVENT_HARDWARE, HW_CPU_CYCLES, 3.1e9, 1e9, 1e9, false},
	{"stalled-cycles-frontend", EVENT_HARDWARE, HW_STALLED_CYCLES_FRONTEND, 1.55e9, 1e9, 1e9, false},
	{"instructions", EVENT_HARDWARE, HW_INSTRUCTIONS, 6.2e9, 5e8, 1e9, false},
	{"branches", EVENT_HARDWARE, HW_BRANCH_INSTRUCTIONS, 1e9, 1e9, 1e9, false},
	{"branch-misses", EVENT_HARDWARE, HW_BRANCH_MISSES, 23400000, 1e9, 1e9, false},
	{"LLC-load-misses", EVENT_HW_CACHE, CACHE_LL | CACHE_RESULT_MISS << 16, 5, 1e9, 1e9, false},
	{"LLC-loads", EVENT_HW_CACHE, CACHE_LL, 10, 1e9, 1e9, false},
	{"cache-misses", EVENT_HARDWARE, HW_CACHE_MISSES, 1234567, 1e9, 1e9, false},
	{"ref-cycles", EVENT_HARDWARE, HW_REF_CPU_CYCLES, 0, 0, 0, true},
	{"bus-cycles", EVENT_HARDWARE, HW_BUS_CYCLES, 0, 0, 1e9, false},
};

static void ratios_stand_beside_counts(void **state)
{
	static const char *const lines[] = {
		"          1,000.00 msec task-clock                       #    0.500 CPUs utilized          \n",
		"     3,100,000,000      cycles                           #    3.100 GHz                    \n",
		"     1,550,000,000      stalled-cycles-frontend          #   50.00% frontend cycles idle   \n",
		"     6,200,000,000      instructions                     #    2.00  insn per cycle           (50",
		"                                                         #    0.25  stalled cycles per insn\n",
		"     1,000,000,000      branches                         #    1.000 G/sec                  \n",
		"        23,400,000      branch-misses                    #    2.34% of all branches        \n",
		"                 5      LLC-load-misses                  #   50.00% of all LL-cache accesses",
		"         1,234,567      cache-misses                     #    1.235 M/sec                  \n",
		"   <not supported>      ref-cycles ",
		"     <not counted>      bus-cycles ",
		"       2.000000000 seconds time elapsed\n",
	};
	struct fixture f;
	fixture_init(&f, hardware, ARRAY_LEN(hardware));
	for (size_t i = 0; i < ARRAY_LEN(lines); i++)
		expect(&f, (struct stat_style){.thousands = ","}, lines[i]);
}

/* Every number in the text has the thousands separator and decimal point of the locale. */
static void numbers_are_of_the_locale(void **state)
{
	static const char *const lines[] = {
		"     3.100.000.000      cycles                           #    3,100 GHz                    \n",
		("     6.200.000.000      instructions                     #    2,00  insn per cycle           "
		 "(50,00%)\n"),
		"       2,000000000 seconds time elapsed\n",
	};
	struct fixture f;
	(void)state;
	fixture_init(&f, hardware, ARRAY_LEN(hardware));
	for (size_t i = 0; i < ARRAY_LEN(lines); i++)
		expect(&f, (struct stat_style){.thousands = ".", .decimal = ","}, lines[i]);
}

static void csv_has_no_padding(void **state)
{
	struct fixture f;
	fixture_init(&f, hardware, ARRAY_LEN(hardware));
	struct stat_style csv = {.separator = ";"};
	expect(&f, csv, "1000.00;msec;task-clock;1000000000;100.00;0.500;CPUs utilized\n");
	expect(&f, csv, "\n6200000000;;instructions;500000000;50.00;2.00;insn per cycle\n");
	expect(&f, csv, "\n<not supported>;;ref-cycles;0;100.00;;\n");
	expect(&f, csv, "\n<not counted>;;bus-cycles;0;0.00;;\n");
}

static void json_is_escaped(void **state)
{
	struct measured odd = {"a\"b\\c", EVENT_RAW, 1, 7, 5, 5, false};
	struct fixture f;
	fixture_init(&f, &odd, 1);
	expect(&f, (struct stat_style){.is_json = true},
		"{\"counter-value\" : \"7.000000\", \"unit\" : \"\", \"event\" : \"a\\\"b\\\\c\", \"event-runtime\" : "
		"5, "
		"\"pcnt-running\" : 100.00, \"metric-value\" : 0.000000, \"metric-unit\" : \"\"}\n");
	/* Event names that are also keys. */
	static const struct measured named[] = {
		{"all", EVENT_HARDWARE, HW_BRANCH_INSTRUCTIONS, 100, 5, 5, false},
		{"a\"b\xff", EVENT_HARDWARE, HW_BRANCH_MISSES, 7, 5, 5, false},
	};
	fixture_init(&f, named, 2);
	expect(&f, (struct stat_style){.is_json = true, .has_metrics_only = true},
		"{\"a\\\"b\\ufffd of all branches\" : \"7.00\"}\n");
}

static void runs_give_mean_and_deviation(void **state)
{
	struct fixture f;
	fixture_init(&f, hardware, 1);
	running_mean_add(&f.cells[0].value, 3e9);
	running_mean_add(&f.report.wall_ns, 4e9);
	f.report.runs = 2;
	expect(&f, (struct stat_style){0}, "for 'x' (2 runs):\n");
	expect(&f, (struct stat_style){0}, "           2000.00 msec task-clock ");
	expect(&f, (struct stat_style){0}, "  ( +- 50.00% )\n");
	expect(&f, (struct stat_style){0}, "              3.00 +- 1.00 seconds time elapsed  ( +- 33.33% )\n");
}

/* Compares the complete CSV output. */
static void expect_only(const struct fixture *f, const char *expected)
{
	char *text = printed(f, (struct stat_style){.separator = ","});
	assert_string_equal(text, expected);
	free(text);
}

static void places_lead_the_line(void **state)
{
	struct fixture f;
	fixture_init(&f, hardware, 1);
	f.aggregation = (struct aggregation){.mode = AGGREGATE_CORE, .len = 1, .places = f.places};
	f.places[0] = (struct cpu_place){.cpu = -1, .core = 3, .die = 0, .socket = 1, .node = -1};
	expect(&f, (struct stat_style){0}, "\nS1-D0-C3           1            1000.00 msec task-clock ");
	expect(&f, (struct stat_style){.separator = ","}, "S1-D0-C3,1,1000.00,msec,task-clock,");
	expect(&f, (struct stat_style){.is_json = true}, "{\"core\" : \"S1-D0-C3\", \"counters\" : 1, ");
	f.aggregation.mode = AGGREGATE_CPU;
	f.places[0].cpu = 12;
	expect(&f, (struct stat_style){0}, "\nCPU12                 1000.00 msec task-clock ");
	f.report.interval_s = 1.5;
	expect(&f, (struct stat_style){.has_interval_header = true},
		"#           time CPU                    counts unit events\n");
	expect(&f, (struct stat_style){.separator = ","}, "     1.500000000,CPU12,1000.00,msec,");
}

static void threads_of_a_core_add_up(void **state)
{
	static const struct measured one[] = {{"cs/percore/", EVENT_SOFTWARE, SW_CONTEXT_SWITCHES, 30, 5, 5, false}};
	struct fixture f;
	fixture_init(&f, one, 1);
	f.specs[0].is_per_core = true;
	f.aggregation = (struct aggregation){.mode = AGGREGATE_CPU, .len = 2, .places = f.places};
	f.places[0] = (struct cpu_place){.cpu = 0, .core = 7};
	f.places[1] = (struct cpu_place){.cpu = 1, .core = 7};
	f.cells[1] = f.cells[0];
	expect_only(&f, "S0-D0-C7,60,,cs/percore/,10,100.00,,\n");
	f.report.shows_core_threads = true;
	expect_only(&f, "CPU0,60,,cs/percore/,10,100.00,,\nCPU1,60,,cs/percore/,10,100.00,,\n");
	f.places[1].core = 8;
	f.report.shows_core_threads = false;
	expect_only(&f, "S0-D0-C7,30,,cs/percore/,5,100.00,,\nS0-D0-C8,30,,cs/percore/,5,100.00,,\n");
	f.specs[0].is_per_core = false;
	expect_only(&f, "CPU0,30,,cs/percore/,5,100.00,,\nCPU1,30,,cs/percore/,5,100.00,,\n");
}

/* Unsupported events remain, because they have no count of 0. */
static void counts_of_0_are_hidden(void **state)
{
	static const struct measured events[] = {{"page-faults", EVENT_SOFTWARE, SW_PAGE_FAULTS, 7, 1e9, 1e9, false},
		{"major-faults", EVENT_SOFTWARE, SW_PAGE_FAULTS_MAJ, 0, 1e9, 1e9, false},
		{"cs", EVENT_SOFTWARE, SW_CONTEXT_SWITCHES, 0, 0, 0, false},
		{"cycles", EVENT_HARDWARE, HW_CPU_CYCLES, 0, 0, 0, true}};
	static const struct stat_style styles[] = {
		{.hides_zeros = true}, {.hides_zeros = true, .separator = ","}, {.hides_zeros = true, .is_json = true}};
	struct fixture f;
	fixture_init(&f, events, 4);
	for (size_t i = 0; i < ARRAY_LEN(styles); i++) {
		char *text = printed(&f, styles[i]);
		assert_non_null(strstr(text, "page-faults"));
		assert_non_null(strstr(text, "<not supported>"));
		assert_null(strstr(text, "major-faults"));
		assert_null(strstr(text, "<not counted>"));
		free(text);
	}
	expect(&f, (struct stat_style){.separator = ","}, "<not counted>,,cs,");
}

static void metrics_stand_alone(void **state)
{
	static const struct measured events[] = {
		{"cycles", EVENT_HARDWARE, HW_CPU_CYCLES, 3000, 5, 5, false},
		{"instructions", EVENT_HARDWARE, HW_INSTRUCTIONS, 2490, 5, 5, false},
		{"branches", EVENT_HARDWARE, HW_BRANCH_INSTRUCTIONS, 400, 5, 5, false},
		{"branch-misses", EVENT_HARDWARE, HW_BRANCH_MISSES, 30, 5, 5, false},
		{"task-clock", EVENT_SOFTWARE, SW_TASK_CLOCK, 2000, 5, 5, false},
	};
	const struct stat_style text = {.has_metrics_only = true};
	const struct stat_style csv = {.has_metrics_only = true, .separator = ",", .has_interval_header = true};
	const struct stat_style object = {.has_metrics_only = true, .is_json = true};
	struct fixture f;
	fixture_init(&f, events, 5);
	expect(&f, text, "\n                 GHz       insn per cycle branch-misses of all branches \n");
	expect(&f, text, "\n               1.500                 0.83                         7.50% \n");
	expect(&f, csv, "GHz,insn per cycle,branch-misses of all branches,\n1.500,0.83,7.50,\n");
	expect(&f, object,
		"{\"GHz\" : \"1.500\", \"insn per cycle\" : \"0.83\", \"branch-misses of all branches\" : \"7.50\"}");
	for (size_t i = 0; i < 5; i++) /* An interval in which nothing ran has the same columns. */
		f.cells[i] = (struct stat_cell){.cpu_count = 1};
	f.report.interval_s = 1.5;
	expect(&f, csv, " time,GHz,insn per cycle,branch-misses of all branches,\n     1.500000000,,,,\n");
	expect(&f, object, "{\"interval\" : 1.500000000, \"metric-value\" : \"none\"}\n");
}

/* instructions / cycles is shown beside both events, and a metric of a clock beside the first. */
static void metrics_that_were_asked_for(void **state)
{
	static const struct measured events[] = {
		{"instructions", EVENT_HARDWARE, HW_INSTRUCTIONS, 3000, 5, 5, false},
		{"cycles", EVENT_HARDWARE, HW_CPU_CYCLES, 2000, 5, 5, false},
	};
	static const char *const names[] = {"instructions", "cycles"};
	const struct metric share = {.name = "share", .scale = 100, .unit = "%", .threshold_sign = '>', .threshold = 1};
	const struct metric plain = {.name = "plain", .scale = 1, .unit = ""};
	struct metric_node nodes[] = {
		{METRIC_EVENT, 0, 0, 0, 0}, {METRIC_EVENT, 1, 0, 0, 0}, {METRIC_DIVIDE, 0, 1, 0, 0}};
	const struct metric_expr expr = {
		.nodes = nodes, .len = 3, .root = 2, .names = (const char **)names, .name_count = 2};
	const uint32_t indexes[] = {0, 1};
	struct metric_use uses[] = {
		{&share, &expr, indexes, 0, "%  share"},
		{&plain, &expr, indexes, 0, "plain"},
	};
	const struct metric_set set = {.uses = {.items = uses, .len = 2}};
	struct fixture f;
	fixture_init(&f, events, 2);
	f.report.metrics = &set;
	f.report.has_thresholds = true;
	expect(&f, (struct stat_style){0},
		"\n              3000      instructions                     #    150.0 %  share ");
	expect(&f, (struct stat_style){0},
		"\n                                                         #    1.50 plain ");
	expect_only(&f, "3000,,instructions,5,100.00,150.0,%  share\n,,,,,1.50,plain\n2000,,cycles,5,100.00,,\n");
	expect(&f, (struct stat_style){.is_json = true},
		"\"metric-value\" : 150.000000, \"metric-unit\" : \"%  share\", \"metric-threshold\" : \"bad\"}\n"
		"{\"metric-value\" : 1.500000, \"metric-unit\" : \"plain\"}\n");
	expect(&f, (struct stat_style){.has_metrics_only = true}, "\n            %  share                plain \n");
	expect(&f, (struct stat_style){.has_metrics_only = true}, "\n               150.0                 1.50 \n");
	f.cells[1] = (struct stat_cell){.cpu_count = 1}; /* Cycles were never counted. */
	expect(&f, (struct stat_style){0}, " #      nan %  share ");
	expect_only(&f, "3000,,instructions,5,100.00,,%  share\n,,,,,,plain\n<not counted>,,cycles,0,100.00,,\n");
	expect(&f, (struct stat_style){.is_json = true},
		"\"metric-value\" : \"nan\", \"metric-unit\" : \"%  share\"}\n");
	expect(&f, (struct stat_style){.has_metrics_only = true, .is_json = true},
		"{\"%  share\" : \"none\", \"plain\" : \"none\"}");
	f.report.has_thresholds = false;
	running_mean_add(&f.cells[1].running_ns, 5);
	running_mean_add(&f.cells[1].value, 1000);
	expect(&f, (struct stat_style){.is_json = true},
		"\"metric-value\" : 300.000000, \"metric-unit\" : \"%  share\"}");
}

static void like_pmus_add_up(void **state)
{
	static const struct measured pmus[] = {
		{"imc/reads/", 20, 1, 10, 5, 5, false},
		{"imc/reads/", 21, 1, 32, 5, 5, false},
	};
	struct fixture f;
	fixture_init(&f, pmus, 2);
	f.specs[1].is_merged = true;
	expect(&f, (struct stat_style){.separator = ","}, "42,,imc/reads/,10,100.00,,\n");
	f.report.merges_pmus = false;
	expect(&f, (struct stat_style){.separator = ","}, "10,,imc/reads/,5,100.00,,\n32,,imc/reads/");
}

/* instructions and cycles on two types of core: the ratio is that of the sums. */
static void kinds_of_core_add_up(void **state)
{
	static const struct measured events[] = {
		{"cycles", EVENT_HARDWARE, HW_CPU_CYCLES, 1000, 5, 10, false},
		{"cpu_core/cycles/", EVENT_HARDWARE, HW_CPU_CYCLES, 3000, 5, 10, false},
		{"instructions", EVENT_HARDWARE, HW_INSTRUCTIONS, 2000, 5, 10, false},
		{"cpu_core/instructions/", EVENT_HARDWARE, HW_INSTRUCTIONS, 10000, 5, 10, false},
	};
	struct fixture f;
	fixture_init(&f, events, 4);
	for (size_t i = 0; i < 4; i++) {
		f.specs[i].pmu = i % 2 ? "cpu_core" : "cpu_atom";
		f.specs[i].is_merged = i % 2;
	}
	expect_only(&f, "4000,,cycles,10,50.00,,\n12000,,instructions,10,50.00,3.00,insn per cycle\n");
}

/* Counters that stand still or jump, as with some hypervisors. */
static void counts_that_cannot_be_are_marked(void **state)
{
	static const struct {
		struct measured event;
		bool is_of_cpus;
		const char *words; /* NULL if the count may be right. */
	} cases[] = {
		{{"instructions", EVENT_HARDWARE, HW_INSTRUCTIONS, 0, 1e9, 1e9, false}, false, "stands"},
		{{"instructions", EVENT_HARDWARE, HW_INSTRUCTIONS, 1, 1e9, 1e9, false}, false, NULL},
		{{"instructions", EVENT_HARDWARE, HW_INSTRUCTIONS, 0, 1e5, 1e5, false}, false, NULL},
		/* The CPU may have been idle. */
		{{"instructions", EVENT_HARDWARE, HW_INSTRUCTIONS, 0, 1e9, 1e9, false}, true, NULL},
		{{"instructions", EVENT_HARDWARE, HW_INSTRUCTIONS, 0, 1e9, 1e9, true}, false, NULL},
		{{"cycles", EVENT_HARDWARE, HW_CPU_CYCLES, 0, 1e9, 1e9, false}, false, "stands"},
		{{"cycles", EVENT_HARDWARE, HW_CPU_CYCLES, 5e9, 1e9, 1e9, false}, false, NULL},
		{{"cycles", EVENT_HARDWARE, HW_CPU_CYCLES, 9e9, 1e8, 2e9, false}, false, NULL}, /* Scaled. */
		{{"cycles", EVENT_HARDWARE, HW_CPU_CYCLES, 1e18, 1e9, 1e9, false}, true, "jumps"},
		{{"branch-misses", EVENT_HARDWARE, HW_BRANCH_MISSES, 0, 1e9, 1e9, false}, false, NULL},
		{{"task-clock", EVENT_SOFTWARE, SW_TASK_CLOCK, 7e9, 7e9, 7e9, false}, false, NULL},
		{{"task-clock", EVENT_SOFTWARE, SW_TASK_CLOCK, 9e9, 9e9, 9e9, false}, false, "clock jumps"},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct fixture f;
		fixture_init(&f, &cases[i].event, 1);
		f.report.is_of_tasks = !cases[i].is_of_cpus;
		f.report.cpu_limit = 4; /* Each of the CPUs has the 2 s of the report. */
		const char *doubt = stat_doubt_of(&f.report, 0, 0);
		if (!doubt != !cases[i].words || (doubt && !strstr(doubt, cases[i].words)))
			fail_msg("case %zu: %s", i, doubt ? doubt : "no doubt");
		char *text = printed(&f, (struct stat_style){0}),
		     *json = printed(&f, (struct stat_style){.is_json = true});
		assert_int_equal(strstr(text, "(implausible)\n") != NULL, doubt != NULL);
		assert_int_equal(strstr(json, "\"implausible\" : \"") != NULL, doubt != NULL);
		free(text);
		free(json);
	}
}

static void user_mode_of_a_part_may_stand_still(void **state)
{
	const struct measured event = {"instructions:u", EVENT_HARDWARE, HW_INSTRUCTIONS, 0, 1e9, 1e9, false};
	struct fixture f;
	fixture_init(&f, &event, 1);
	f.specs[0].attr.flags = ATTR_FLAG(ATTR_BIT_EXCLUDE_KERNEL);
	f.report.is_of_tasks = true;
	assert_null(stat_doubt_of(&f.report, 0, 0)); /* With -p, the thread may have been in a system call. */
	f.report.has_usage = true;
	assert_non_null(stat_doubt_of(&f.report, 0, 0)); /* A command has run code of its own. */
	f.report.interval_s = 1;
	assert_null(stat_doubt_of(&f.report, 0, 0));
}

static void json_says_why_there_is_no_count(void **state)
{
	const struct measured event = {"mem:0x10:w", EVENT_BREAKPOINT, 0, 0, 0, 0, true};
	char why[] = "they never fire", *reasons[] = {why};
	struct fixture f;
	fixture_init(&f, &event, 1);
	expect(&f, (struct stat_style){.is_json = true}, "\"event\" : \"mem:0x10:w\"");
	f.report.reasons = reasons;
	expect(&f, (struct stat_style){.is_json = true}, "\"counter-value\" : \"<not supported>\"");
	expect(&f, (struct stat_style){.is_json = true}, "\"reason\" : \"they never fire\"}");
	expect(&f, (struct stat_style){.separator = ","}, "<not supported>,,mem:0x10:w,0,100.00,,\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_that_cannot_be_are_marked),
		cmocka_unit_test(user_mode_of_a_part_may_stand_still),
		cmocka_unit_test(json_says_why_there_is_no_count),
		cmocka_unit_test(ratios_stand_beside_counts),
		cmocka_unit_test(numbers_are_of_the_locale),
		cmocka_unit_test(csv_has_no_padding),
		cmocka_unit_test(json_is_escaped),
		cmocka_unit_test(runs_give_mean_and_deviation),
		cmocka_unit_test(places_lead_the_line),
		cmocka_unit_test(threads_of_a_core_add_up),
		cmocka_unit_test(counts_of_0_are_hidden),
		cmocka_unit_test(metrics_stand_alone),
		cmocka_unit_test(metrics_that_were_asked_for),
		cmocka_unit_test(like_pmus_add_up),
		cmocka_unit_test(kinds_of_core_add_up),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
