/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/stat/stat_rung.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "fake_kernel.h"
#include "fake_root.h"
#include "kernel/events/event_parser.h"
#include "unit_test.h"

#define USER(paranoid)                                          \
	"/proc/self/status: Name: x\\nCapEff: 0\\nSeccomp: 0\n" \
	"/proc/sys/kernel/perf_event_paranoid: " paranoid "\n"
#define SANDBOX "/proc/self/status: Name: x\\nCapEff: 0\\nSeccomp: 0\n"

struct rung_case {
	const char *root; /* In the format of fake_root.h. */
	int errnum; /* Error of every software event; 0 if they can be opened. */
	const char *events;
	struct stat_counting counting;
	enum tally_status status;
	const char *words; /* Part of the label or of the error message; NULL if perf events count or refuse. */
};

static const struct rung_case cases[] = {
	{USER("2"), 0, "task-clock", {.rung = STAT_RUNG_AUTO}, TALLY_OK, NULL},
	{USER("3"), EACCES, "task-clock,cycles", {.rung = STAT_RUNG_AUTO}, TALLY_OK,
		"denied here: perf_event_paranoid is 3 and this event needs 2"},
	{USER("4"), EACCES, "cs", {.rung = STAT_RUNG_AUTO}, TALLY_OK, "perf_event_paranoid is 4"},
	{SANDBOX, ENOSYS, "page-faults", {.rung = STAT_RUNG_AUTO}, TALLY_OK,
		"built without perf events, or a sandbox hides them"},
	{USER("4"), EACCES, "task-clock", {.requires_event = true}, TALLY_DENIED,
		"--require-event forbids to count without: perf_event_paranoid is 4"},
	{USER("2"), 0, "task-clock", {.requires_event = true}, TALLY_OK, NULL},
	{SANDBOX, ENOSYS, "cycles", {.requires_event = true, .rung = STAT_RUNG_EVENTS}, TALLY_DENIED,
		"--require-event"},
	{USER("2"), 0, "task-clock", {.requires_event = true, .rung = STAT_RUNG_RUSAGE}, TALLY_INVALID,
		"--rung rusage and --require-event cannot be used together"},
	{USER("4"), EACCES, "task-clock", {.rung = STAT_RUNG_EVENTS}, TALLY_OK, NULL},
	{USER("2"), 0, "task-clock", {.rung = STAT_RUNG_RUSAGE}, TALLY_OK, "descendants that nobody waits for"},
	{USER("2"), 0, "task-clock", {.rung = STAT_RUNG_RUSAGE, .target = {.pids = "1"}}, TALLY_OK,
		"children that the processes start"},
	/* Events that cannot be counted without perf events fail as perf events do, unless the rung was requested
	 * explicitly. */
	{USER("4"), EACCES, "cycles,page-faults:u", {.rung = STAT_RUNG_AUTO}, TALLY_OK, NULL},
	{USER("4"), EACCES, "user_time,duration_time", {.rung = STAT_RUNG_AUTO}, TALLY_OK, NULL},
	{USER("4"), EACCES, "task-clock", {.target = {.system_wide = true}}, TALLY_OK, NULL},
	{USER("4"), EACCES, "task-clock", {.target = {.system_wide = true}, .requires_event = true}, TALLY_DENIED,
		"--require-event"},
	{USER("4"), EACCES, "task-clock", {.target = {.cpus = "0"}, .rung = STAT_RUNG_RUSAGE}, TALLY_UNSUPPORTED,
		"--rung rusage: counting single CPUs (-C) needs perf events"},
};

static void rung_case_check(const struct rung_case *c)
{
	struct fake_kernel fake;
	struct event_catalogue *catalogue;
	struct event_list events = {0};
	struct stat_rung rung = {0};
	struct tally_error err = {0};
	struct stat_job job = {.settings.counting = c->counting, .command = (char *[]){"true", NULL}};
	char *root = fake_root_make(c->root);
	fake_kernel_init(&fake, root);
	if (c->errnum)
		fake_kernel_refuse(&fake, EVENT_SOFTWARE, SW_CPU_CLOCK, c->errnum);
	assert_int_equal(event_catalogue_create(&fake.seam, &catalogue, &err), TALLY_OK);
	assert_int_equal(event_parse(catalogue, c->events, &events, &err), TALLY_OK);
	assert_int_equal(stat_rung_choose(&rung, &fake.seam, &job, &events, &err), c->status);
	assert_int_equal(job.rung != NULL, c->status == TALLY_OK && c->words);
	text_char(&rung.label, '\0');
	if (c->words && !strstr(c->status == TALLY_OK ? rung.label.data : err.text, c->words))
		fail_msg("'%s' does not have '%s'", c->status == TALLY_OK ? rung.label.data : err.text, c->words);
	assert_int_equal(fake.open_count, 0);
	stat_rung_deinit(&rung);
	event_list_deinit(&events);
	event_catalogue_destroy(catalogue);
	fake_kernel_deinit(&fake);
	fake_root_remove(root);
}

static void chooses(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		rung_case_check(&cases[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(chooses)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
