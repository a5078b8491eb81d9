/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/events/pfm_events.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_root.h"
#include "kernel/events/event_format.h"
#include "kernel/events/event_parser.h"
#include "unit_test.h"

struct fixture {
	char *root;
	struct kernel_seam seam;
	struct event_catalogue *catalogue;
	struct event_list events;
};

static void begin(struct fixture *f, const char *model)
{
	*f = (struct fixture){.root = fake_root_load("intel-server")};
	f->seam.root = f->root;
	setenv("LIBPFM_FORCE_PMU", model, 1);
	assert_int_equal(event_catalogue_create(&f->seam, &f->catalogue, NULL), TALLY_OK);
}

static void end(struct fixture *f)
{
	event_list_deinit(&f->events);
	event_catalogue_destroy(f->catalogue);
	fake_root_remove(f->root);
}

static void expect(const char *text, const char *expected)
{
	struct fixture f;
	struct tally_error err = {0};
	struct text t = {0};
	begin(&f, "skl");
	if (pfm_events_parse(f.catalogue, text, &f.events, &err) != TALLY_OK)
		fail_msg("%s: %s", text, err.text);
	event_format(&t, &f.events);
	text_char(&t, '\0');
	assert_string_equal(t.data, expected);
	text_deinit(&t);
	end(&f);
}

static void test_names_become_codes(void **state)
{
	expect("unhalted_core_cycles", "r3c/name='unhalted_core_cycles'/");
	expect("skl::INST_RETIRED:ANY_P", "rc0/name='skl::INST_RETIRED:ANY_P'/");
	expect("INST_RETIRED:ANY_P:u:c=1:i", "r18000c0/name='INST_RETIRED:ANY_P:u:c=1:i'/uh");
	expect("INST_RETIRED:k", "rc0/name='INST_RETIRED:k'/khH");
	expect("INST_RETIRED:precise=2", "rc0/name='INST_RETIRED:precise=2'/pp");
	expect("INST_RETIRED:period=1000", "rc0/name='INST_RETIRED:period=1000',period=1000/");
	expect("INST_RETIRED:freq=99", "rc0/name='INST_RETIRED:freq=99',freq=99/");
}

static void test_user_mode_alone_is_said_in_the_vendors_way(void **state)
{
	struct fixture f;
	begin(&f, "skl");
	assert_int_equal(pfm_events_parse(f.catalogue, "INST_RETIRED:ANY_P", &f.events, NULL), TALLY_OK);
	assert_int_equal(event_spec_restrict_to_user(&f.events, 0, NULL), TALLY_OK);
	assert_string_equal(f.events.specs[0].name, "INST_RETIRED:ANY_P:u");
	end(&f);
}

static void test_lists_and_groups(void **state)
{
	expect("INST_RETIRED,unhalted_core_cycles", "rc0/name='INST_RETIRED'/,r3c/name='unhalted_core_cycles'/");
	expect(" { INST_RETIRED , unhalted_core_cycles } , INST_RETIRED",
		"{rc0/name='INST_RETIRED'/,r3c/name='unhalted_core_cycles'/},rc0/name='INST_RETIRED'/");
}

static void expect_error(
	const char *model, const char *text, enum tally_status status, size_t column, const char *words)
{
	struct fixture f;
	struct tally_error err = {0};
	begin(&f, model);
	assert_int_equal(event_parse(f.catalogue, "cs", &f.events, NULL), TALLY_OK);
	assert_int_equal(pfm_events_parse(f.catalogue, text, &f.events, &err), status);
	if (err.offset != column || !strstr(err.text, words))
		fail_msg("'%s': column %d: %s", text, (int)err.offset, err.text);
	assert_int_equal(f.events.len, 1);
	end(&f);
}

static void test_errors(void **state)
{
	expect_error("skl", "", TALLY_INVALID, 0, "name is missing");
	expect_error("skl", "INST_RETIRED,", TALLY_INVALID, 13, "name is missing");
	expect_error("skl", "INST_RETIRED,nothing", TALLY_NOT_FOUND, 13, "'nothing': event not found");
	expect_error("skl", "INST_RETIRED:NOTHING", TALLY_INVALID, 0, "invalid event attribute");
	expect_error("skl", "{INST_RETIRED", TALLY_INVALID, 13, "'}' is missing");
	expect_error("skl", "INST_RETIRED}", TALLY_INVALID, 12, "unexpected '}'");
	expect_error("skl", "{{INST_RETIRED}}", TALLY_INVALID, 1, "name is missing");
	expect_error("skl", "{INST_RETIRED}x", TALLY_INVALID, 14, "unexpected 'x'");
	expect_error("icl", "skl::INST_RETIRED", TALLY_NOT_FOUND, 0, "event not found");
	expect_error("perf", "INST_RETIRED", TALLY_NOT_FOUND, 0, "no events for this model of CPU");
	char longest[2000];
	memset(longest, 'A', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	expect_error("skl", longest, TALLY_LIMIT, 0, "longer than");
}

static bool count_names(void *context, const struct pfm_name *name)
{
	unsigned *counts = context;
	assert_string_equal(name->pmu, "skl");
	counts[name->mask != NULL]++;
	if (strcmp(name->event, "INST_RETIRED") == 0 && strcmp(name->mask, "ANY_P") == 0)
		counts[2]++;
	return true;
}

static void test_names_are_listed(void **state)
{
	struct pfm_library *library;
	unsigned counts[3] = {0};
	setenv("LIBPFM_FORCE_PMU", "skl", 1);
	assert_int_equal(pfm_library_open(&library, NULL), TALLY_OK);
	assert_int_equal(pfm_library_names(library, count_names, counts, NULL), TALLY_OK);
	assert_true(counts[0] > 5 && counts[1] > 100);
	assert_int_equal(counts[2], 1);
	pfm_library_close(library);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_become_codes),
		cmocka_unit_test(test_user_mode_alone_is_said_in_the_vendors_way),
		cmocka_unit_test(test_lists_and_groups),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_names_are_listed),
	};
	struct pfm_library *library;
	struct tally_error why = {0};
	setenv("LIBPFM_FORCE_PMU", "skl", 1);
	if (pfm_library_open(&library, &why) != TALLY_OK) {
		printf("skipped: %s\n", why.text);
		return 77;
	}
	pfm_library_close(library);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
