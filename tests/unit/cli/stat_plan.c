/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/stat/stat_plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fake_kernel.h"
#include "fake_root.h"
#include "unit_test.h"

#define ROOT                                                                \
	"/sys/bus/event_source/devices/software/type: 1\n"                  \
	"/sys/bus/event_source/devices/cpu/type: 4\n"                       \
	"/sys/bus/event_source/devices/cpu/format/event: config:0-7\n"      \
	"/sys/bus/event_source/devices/cpu/events/cpu-cycles: event=0x3c\n" \
	"/proc/sys/kernel/nmi_watchdog: 1\n"

struct plan_case {
	const char *events;
	size_t counters;
	bool is_json;
};

/* Returns the output of --plan on a machine with that many counters, where cache-misses cannot be opened. The caller
 * frees it. */
static char *planned(const struct plan_case *c)
{
	char *root = fake_root_make(ROOT);
	struct fake_kernel *fake = calloc(1, sizeof(*fake));
	fake_kernel_init(fake, root);
	fake->counters = c->counters;
	fake_kernel_refuse(fake, EVENT_HARDWARE, HW_CACHE_MISSES, ENOENT);
	struct event_catalogue *catalogue;
	struct event_list events = {0};
	struct target target = {0};
	struct tally_error err = {0};
	const struct target_request request = {.has_command = true};
	struct text t = {0};
	assert_int_equal(event_catalogue_create(&fake->seam, &catalogue, &err), TALLY_OK);
	if (event_parse(catalogue, c->events, &events, &err) != TALLY_OK)
		fail_msg("%s", err.text);
	assert_int_equal(target_resolve(&fake->seam, &request, &target, &err), TALLY_OK);
	assert_int_equal(stat_plan_make(&fake->seam, &events, &target, &t, c->is_json, &err), TALLY_OK);
	assert_int_equal(fake->open_count, 0);
	text_char(&t, '\0');
	assert_false(t.failed);
	event_list_deinit(&events);
	event_catalogue_destroy(catalogue);
	target_deinit(&target);
	fake_kernel_deinit(fake);
	free(fake);
	fake_root_remove(root);
	return t.data;
}

static void expect(struct plan_case c, const char *const *parts)
{
	char *text = planned(&c);
	for (; *parts; parts++)
		if (!strstr(text, *parts))
			fail_msg("no '%s' in\n%s", *parts, text);
	free(text);
}

#define PARTS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void codes_and_the_watchdog(void **state)
{
	(void)state;
	expect((struct plan_case){"cycles,cpu/event=0x2e/,page-faults", 2, false},
		PARTS("type 0    config 0          (event=0x3c)  opens\n", "type 4    config 0x2e", "needs no counter",
			"All 2 events with a counter fit", "NMI watchdog on: it may hold"));
}

static void rounds(void **state)
{
	(void)state;
	expect((struct plan_case){"cycles,instructions,branches", 2, false},
		PARTS("Multiplexed: 3 events need 2 rounds", "about 1/2", "round 1:  opens", "round 2:  opens"));
}

static void what_would_not_count(void **state)
{
	(void)state;
	expect((struct plan_case){"{cycles,instructions},cache-misses", 1, false},
		PARTS("got no counter even alone", "2 events would show <not counted>"));
}

static void as_json(void **state)
{
	(void)state;
	expect((struct plan_case){"cycles,instructions,cache-misses", 1, true},
		PARTS("\"code\": \"event=0x3c\"", "\"round\": 2", "\"state\": \"refused\"", "\"reason\": \"",
			"\"multiplexes\": true", "\"nmi-watchdog\": \"on\""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(codes_and_the_watchdog),
		cmocka_unit_test(rounds),
		cmocka_unit_test(what_would_not_count),
		cmocka_unit_test(as_json),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
