/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/events/tracepoint_hold.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fake_kernel.h"
#include "fake_root.h"
#include "kernel/events/event_parser.h"
#include "unit_test.h"

#define EVENT(name, id) "/sys/kernel/tracing/events/" name "/id: " #id "\n"

struct bench {
	char *root;
	struct fake_kernel fake;
	struct event_catalogue *catalogue;
	struct event_list events;
	struct tracepoint_hold hold;
	struct text left_out;
};

static int bench_setup(void **state)
{
	struct bench *b = calloc(1, sizeof(*b));
	struct tally_error err;
	b->root = fake_root_make("/sys/bus/event_source/devices/software/type: 1\n" EVENT("a/one", 1) EVENT("a/two", 2)
			EVENT("a/three", 3) EVENT("b/four", 4) EVENT("b/five", 5));
	fake_kernel_init(&b->fake, b->root);
	assert_int_equal(event_catalogue_create(&b->fake.seam, &b->catalogue, &err), TALLY_OK);
	*state = b;
	return 0;
}

static int bench_teardown(void **state)
{
	struct bench *b = *state;
	tracepoint_hold_release(&b->hold);
	assert_int_equal(b->fake.open_count, 0);
	text_deinit(&b->left_out);
	event_list_deinit(&b->events);
	event_catalogue_destroy(b->catalogue);
	fake_kernel_deinit(&b->fake);
	fake_root_remove(b->root);
	free(b);
	return 0;
}

/* Checks the names of the remaining events, and the messages about the others. */
static void expect(struct bench *b, const char *events, bool is_sampling, const char *names, const char *lines)
{
	struct tally_error err = {0};
	struct text left = {0};
	if (event_parse(b->catalogue, events, &b->events, &err) != TALLY_OK)
		fail_msg("%s", err.text);
	enum tally_status status =
		tracepoint_hold_open(&b->hold, &b->fake.seam, is_sampling, &b->events, &b->left_out, &err);
	assert_int_equal(status, TALLY_OK);
	for (size_t i = 0; i < b->events.len; i++) {
		const struct event_spec *spec = &b->events.specs[i];
		text_printf(&left, "%s%s<%s", i ? " " : "", spec->name, b->events.specs[spec->leader].name);
	}
	text_char(&left, '\0');
	text_char(&b->left_out, '\0');
	assert_string_equal(left.data, names);
	assert_string_equal(b->left_out.data, lines);
	text_deinit(&left);
}

static void what_a_pattern_names_and_is_refused_goes(void **state)
{
	struct bench *b = *state;
	fake_kernel_refuse(&b->fake, EVENT_TRACEPOINT, 3, ENOSYS);
	fake_kernel_refuse(&b->fake, EVENT_TRACEPOINT, 2, ENOSYS);
	fake_kernel_refuse(&b->fake, EVENT_TRACEPOINT, 5, ENOMEM);
	expect(b, "a:*,cs,{b:four,faults},b:*", false,
		"a:one<a:one cs<cs b:four<b:four faults<b:four b:five<b:five b:four<b:four",
		"2 of the 3 events of 'a:*' left out: a:three, a:two: this kernel is built without perf events, or a "
		"sandbox hides them\n");
	assert_int_equal(b->hold.len, 3); /* a:one, and b:four twice; b:five is refused only when it is opened. */
}

static void each_reason_has_its_line(void **state)
{
	struct bench *b = *state;
	fake_kernel_refuse(&b->fake, EVENT_TRACEPOINT, 3, EBADF);
	fake_kernel_refuse(&b->fake, EVENT_TRACEPOINT, 2, EFAULT);
	expect(b, "*:*", true, "a:one<a:one b:five<b:five b:four<b:four",
		"1 of the 5 events of '*:*' left out: a:three: the event that leads the group is no longer open\n"
		"1 of the 5 events of '*:*' left out: a:two: the kernel could not read the request's memory (a fault "
		"of "
		"the program)\n");
}

static void what_is_refused_altogether_stays_for_the_opening_to_refuse(void **state)
{
	struct bench *b = *state;
	fake_kernel_refuse(&b->fake, EVENT_TRACEPOINT, FAKE_ANY, EACCES);
	expect(b, "b:*", false, "b:five<b:five b:four<b:four", "");
	assert_int_equal(b->hold.len, 0);
}

static void names_and_groups_are_not_touched(void **state)
{
	struct bench *b = *state;
	fake_kernel_refuse(&b->fake, EVENT_TRACEPOINT, 5, ENOSYS);
	expect(b, "{b:*},b:five", false, "b:five<b:five b:four<b:five b:five<b:five", "");
}

static void a_few_names_are_not_held(void **state)
{
	struct bench *b = *state;
	expect(b, "a:one,a:two,cs", true, "a:one<a:one a:two<a:two cs<cs", "");
	assert_string_equal(fake_kernel_log(&b->fake), "");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, bench_setup, bench_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_a_pattern_names_and_is_refused_goes),
		TEST(each_reason_has_its_line),
		TEST(what_is_refused_altogether_stays_for_the_opening_to_refuse),
		TEST(names_and_groups_are_not_touched),
		TEST(a_few_names_are_not_held),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
