/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/events/memory_events.h"

#include "fake_kernel.h"
#include "fake_root.h"
#include "kernel/events/event_parser.h"
#include "unit_test.h"

#define DEVICES "/sys/bus/event_source/devices/"

/* Checks that the listed events are accepted by -e. */
static void expect_taken(struct fake_kernel *fake, const char *events)
{
	struct event_catalogue *catalogue;
	struct event_list list = {0};
	struct tally_error err = {0};
	assert_int_equal(event_catalogue_create(&fake->seam, &catalogue, &err), TALLY_OK);
	if (event_parse(catalogue, events, &list, &err) != TALLY_OK)
		fail_msg("%s: %s", events, err.text);
	event_list_deinit(&list);
	event_catalogue_destroy(catalogue);
}

static void expect(const char *files, struct memory_event_request request, const char *events)
{
	struct fake_kernel fake;
	struct tally_error err = {0};
	struct text t = {0};
	char *root = fake_root_make(files);
	fake_kernel_init(&fake, root);
	enum tally_status status = memory_events_find(&fake.seam, &request, &t, &err);
	assert_int_equal(status, events ? TALLY_OK : TALLY_NOT_FOUND);
	if (events) {
		assert_string_equal(t.data, events);
		expect_taken(&fake, t.data);
	}
	text_deinit(&t);
	fake_kernel_deinit(&fake);
	fake_root_remove(root);
}

#define INTEL                                                                                        \
	DEVICES "cpu/type: 4\n" DEVICES "cpu/format/event: config:0-7\n" DEVICES                     \
		"cpu/format/umask: config:8-15\n" DEVICES "cpu/format/ldlat: config1:0-15\n" DEVICES \
		"cpu/events/mem-loads: event=0xcd,umask=0x1,ldlat=3\n" DEVICES                       \
		"cpu/events/mem-stores: event=0xd0,umask=0x82\n"

static void intel_has_loads_and_stores(void **state)
{
	expect(INTEL, (struct memory_event_request){true, true, 30}, "cpu/mem-loads,ldlat=30/P,cpu/mem-stores/P");
	expect(INTEL, (struct memory_event_request){true, false, 50}, "cpu/mem-loads,ldlat=50/P");
	expect(INTEL, (struct memory_event_request){false, true, 30}, "cpu/mem-stores/P");
	expect(INTEL DEVICES "cpu/events/mem-loads-aux: event=0x3,umask=0x82\n",
		(struct memory_event_request){true, false, 30}, "{cpu/mem-loads-aux/P,cpu/mem-loads,ldlat=30/P}");
}

static void others_have_one_event_or_none(void **state)
{
	expect(DEVICES "cpu/type: 4\n" DEVICES "ibs_op/type: 11\n", (struct memory_event_request){true, true, 30},
		"ibs_op//");
	expect(DEVICES "software/type: 1\n", (struct memory_event_request){true, true, 30}, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(intel_has_loads_and_stores),
		cmocka_unit_test(others_have_one_event_or_none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
