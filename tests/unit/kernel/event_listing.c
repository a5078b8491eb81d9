/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/events/event_listing.h"

#include <errno.h>
#include <stdlib.h>

#include "fake_kernel.h"
#include "fake_root.h"
#include "unit_test.h"

struct machine {
	char *root;
	struct fake_kernel fake;
	struct event_catalogue *catalogue;
	struct event_listing listing;
};

static void machine_start(struct machine *m, const char *name)
{
	struct tally_error err;
	m->root = fake_root_load(name);
	fake_kernel_init(&m->fake, m->root);
	assert_int_equal(event_catalogue_create(&m->fake.seam, &m->catalogue, &err), TALLY_OK);
	event_listing_init(&m->listing, m->catalogue);
}

static void machine_end(struct machine *m)
{
	event_listing_deinit(&m->listing);
	event_catalogue_destroy(m->catalogue);
	fake_kernel_deinit(&m->fake);
	fake_root_remove(m->root);
}

static const struct listed_event *find(const struct machine *m, const char *name)
{
	for (size_t i = 0; i < m->listing.events.len; i++)
		if (strcmp(m->listing.events.items[i].name, name) == 0)
			return &m->listing.events.items[i];
	return NULL;
}

static void test_kinds_and_patterns(void **state)
{
	(void)state;
	struct machine m;
	struct tally_error err;
	machine_start(&m, "arm64");
	assert_int_equal(event_listing_add(&m.listing, 1u << LISTED_PMU, "*", &err), TALLY_OK);
	assert_int_equal(m.listing.events.len, 2);
	assert_string_equal(m.listing.events.items[0].name, "arm_cmn_0/hnf_cache_miss/");
	assert_string_equal(m.listing.events.items[0].terms, "type=0x5,eventid=0x1");
	assert_string_equal(m.listing.events.items[1].pmu, "armv8_pmuv3_0");
	m.listing.events.len = 0;
	/* The longer name is listed first; the alias matches as well, ignoring case. */
	assert_int_equal(
		event_listing_add(&m.listing, 1u << LISTED_SOFTWARE | 1u << LISTED_HARDWARE, "CS", &err), TALLY_OK);
	assert_int_equal(m.listing.events.len, 1);
	assert_string_equal(m.listing.events.items[0].name, "context-switches");
	assert_string_equal(m.listing.events.items[0].alias, "cs");
	/* Without tracefs, the error is stored, and the other events are listed. */
	assert_int_equal(event_listing_add(&m.listing, LISTED_ALL, "*", &err), TALLY_OK);
	assert_int_not_equal(m.listing.tracefs_error.status, TALLY_OK);
	assert_non_null(find(&m, "cpu-cycles"));
	assert_non_null(find(&m, "L1-dcache-load-misses"));
	assert_non_null(find(&m, "rNNN"));
	machine_end(&m);
}

static void try_it(struct machine *m, const char *name, bool opens, const char *encoding)
{
	struct event_opening opening;
	struct tally_error err;
	assert_int_equal(event_opening_try(&m->listing, find(m, name), true, &opening, &err), TALLY_OK);
	assert_int_equal(opening.opens, opens);
	assert_int_equal(opening.reason.len > 0, !opens);
	assert_int_equal(opening.encoding.len, strlen(encoding));
	if (opening.encoding.len > 0)
		assert_memory_equal(opening.encoding.data, encoding, opening.encoding.len);
	event_opening_deinit(&opening);
}

static void test_opening(void **state)
{
	(void)state;
	struct machine m;
	struct tally_error err;
	machine_start(&m, "arm64");
	fake_kernel_refuse(&m.fake, EVENT_HW_CACHE, FAKE_ANY, ENOENT);
	assert_int_equal(event_listing_add(&m.listing, LISTED_ALL, "*", &err), TALLY_OK);
	try_it(&m, "page-faults", true, "software/config=0x2/");
	try_it(&m, "arm_cmn_0/hnf_cache_miss/", true, "arm_cmn_0/config=0x10005/");
	try_it(&m, "LLC-loads", false, "hw-cache/config=0x2/");
	try_it(&m, "duration_time", true, "");
	machine_end(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds_and_patterns),
		cmocka_unit_test(test_opening),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
