/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/recording/wait_filter.h"

#include "base/array.h"
#include "kernel/events/sample_filter.h"
#include "unit_test.h"

static enum tally_status init_with(
	const char *text, bool is_wall, struct wait_filter *filter, struct sample_filter_list *list)
{
	struct tally_error err;
	struct event_spec specs[2] = {{.name = "cpu-clock"}, {.name = "cycles", .sample_filter = list}};
	const struct event_list events = {.specs = specs, .len = ARRAY_LEN(specs)};
	struct diag diag = {0};
	*list = (struct sample_filter_list){0};
	assert_int_equal(sample_filter_parse(text, kernel_seam_linux(), list, &err), TALLY_OK);
	enum tally_status status = wait_filter_init(filter, &events, is_wall, &diag, &err);
	diag_deinit(&diag);
	return status;
}

static void waits_pass_by_thread_and_process(void **state)
{
	struct wait_filter filter;
	struct sample_filter_list list;
	assert_int_equal(init_with("tid == 7 || tid == 8, pid > 3", true, &filter, &list), TALLY_OK);
	assert_true(wait_filter_passes(&filter, 4, 7));
	assert_true(wait_filter_passes(&filter, 4, 8));
	assert_false(wait_filter_passes(&filter, 4, 9));
	assert_false(wait_filter_passes(&filter, 3, 7));
	assert_int_equal(init_with("tid != 7", true, &filter, &list), TALLY_OK);
	assert_true(wait_filter_passes(&filter, 1, 8));
	assert_false(wait_filter_passes(&filter, 1, 7));
	filter = (struct wait_filter){0};
	assert_true(wait_filter_passes(&filter, 1, 7));
}

/* Such a filter is refused, because a partial recording would mislead. */
static void what_waits_do_not_have_is_refused(void **state)
{
	static const char *const texts[] = {"cpu == 1", "tid == 7, period > 1", "tid == 7 || uid == 0", "ip > 0x1000"};
	struct wait_filter filter;
	struct sample_filter_list list;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		assert_int_equal(init_with(texts[i], true, &filter, &list), TALLY_INVALID);
	/* Beside other events, waits are a separate event. */
	assert_int_equal(init_with("ip > 0x1000", false, &filter, &list), TALLY_OK);
	assert_true(wait_filter_passes(&filter, 1, 7));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waits_pass_by_thread_and_process),
		cmocka_unit_test(what_waits_do_not_have_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
