/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/events/breakpoint_probe.h"

#include <errno.h>

#include "fake_kernel.h"
#include "kernel/events/event_parser.h"
#include "kernel/events/privileges.h"
#include "unit_test.h"

static const struct perf_attr on_write = {.type = EVENT_BREAKPOINT, .bp_type = BREAKPOINT_W, .config1 = 0x1000};
static const struct perf_attr on_call = {.type = EVENT_BREAKPOINT, .bp_type = BREAKPOINT_X, .config1 = 0x1000};

static void one_that_counts_fires(void **state)
{
	struct fake_kernel fake;
	fake_kernel_init(&fake, "");
	fake_kernel_count(&fake, EVENT_BREAKPOINT, FAKE_ANY, 8, 1000, 1000);
	assert_int_equal(breakpoint_probe(&fake.seam, &on_write), BREAKPOINT_FIRES);
	assert_int_equal(breakpoint_probe(&fake.seam, &on_call), BREAKPOINT_FIRES);
	assert_int_equal(fake.events[0].attr.bp_type, BREAKPOINT_W);
	assert_int_equal(fake.events[1].attr.bp_type, BREAKPOINT_X);
	/* The probes watch the user mode of this process, which any user may do. */
	for (size_t i = 0; i < fake.event_count; i++) {
		assert_true(ATTR_HAS(&fake.events[i].attr, DISABLED) && ATTR_HAS(&fake.events[i].attr, EXCLUDE_KERNEL));
		assert_int_not_equal(fake.events[i].attr.config1, 0x1000);
	}
	assert_int_equal(fake.open_count, 0);
	fake_kernel_log(&fake);
	assert_int_equal(event_open(&fake.seam, &on_write, 7, -1, -1, 0), FAKE_FD + 2);
	assert_non_null(strstr(fake_kernel_log(&fake), "open cpu=-1 pid=7 group=-1 breakpoint/0x0"));
	fake_kernel_deinit(&fake);
}

static void a_silent_one_is_refused(void **state)
{
	struct fake_kernel fake;
	struct text reason = {0};
	const struct perf_attr page_faults = {.type = EVENT_SOFTWARE, .config = SW_PAGE_FAULTS};
	fake_kernel_init(&fake, "");
	fake_kernel_count(&fake, EVENT_BREAKPOINT, FAKE_ANY, 0, 1000, 1000);
	assert_int_equal(breakpoint_probe(&fake.seam, &on_write), BREAKPOINT_SILENT);
	assert_int_equal(event_open(&fake.seam, &on_call, 7, -1, -1, 0), -1);
	assert_int_equal(errno, ENODEV);
	assert_int_equal(fake.open_count, 0);
	struct event_spec spec = {.name = "mem:0x1000:x", .attr = on_call};
	assert_int_equal(refusal_of(&fake.seam, &spec, ENODEV), REFUSAL_NO_HARDWARE);
	refusal_reason(&fake.seam, &spec, 7, -1, ENODEV, &reason);
	text_char(&reason, '\0');
	assert_non_null(strstr(reason.data, "can be opened on this machine but never fire"));
	assert_non_null(strstr(reason.data, "uprobe"));
	text_deinit(&reason);
	fake_kernel_log(&fake);
	/* Other events are opened without a probe. */
	assert_true(event_open(&fake.seam, &page_faults, 7, -1, -1, 0) >= 0);
	assert_null(strstr(fake_kernel_log(&fake), "breakpoint"));
	fake_kernel_deinit(&fake);
}

/* The error of the event itself is more specific than that of the probe. */
static void a_refused_probe_decides_nothing(void **state)
{
	struct fake_kernel fake;
	fake_kernel_init(&fake, "");
	fake_kernel_refuse(&fake, EVENT_BREAKPOINT, FAKE_ANY, ENOSPC);
	assert_int_equal(breakpoint_probe(&fake.seam, &on_write), BREAKPOINT_UNKNOWN);
	assert_int_equal(event_open(&fake.seam, &on_write, 7, -1, -1, 0), -1);
	assert_int_equal(errno, ENOSPC);
	assert_non_null(strstr(fake_kernel_log(&fake), "pid=7"));
	fake_kernel_deinit(&fake);
}

static void one_that_never_had_a_register_decides_nothing(void **state)
{
	struct fake_kernel fake;
	fake_kernel_init(&fake, "");
	fake_kernel_count(&fake, EVENT_BREAKPOINT, FAKE_ANY, 0, 1000, 0);
	assert_int_equal(breakpoint_probe(&fake.seam, &on_write), BREAKPOINT_UNKNOWN);
	assert_true(event_open(&fake.seam, &on_write, 7, -1, -1, 0) >= 0);
	fake_kernel_deinit(&fake);
}

/* The result for the running kernel is the same each time. */
static void the_running_kernel_answers_once(void **state)
{
	const struct kernel_seam *kernel = kernel_seam_linux();
	enum breakpoint_answer first = breakpoint_probe(kernel, &on_write);
	assert_int_equal(breakpoint_probe(kernel, &on_write), first);
	struct perf_attr attr = on_write;
	attr.config1 = (uint64_t)(uintptr_t)&attr;
	attr.config2 = 8;
	attr.flags = ATTR_FLAG(ATTR_BIT_EXCLUDE_KERNEL) | ATTR_FLAG(ATTR_BIT_DISABLED);
	int fd = event_open(kernel, &attr, 0, -1, -1, 0);
	if (first == BREAKPOINT_SILENT)
		assert_int_equal(fd, -1);
	if (first == BREAKPOINT_FIRES)
		assert_true(fd >= 0);
	if (fd >= 0)
		kernel->close(kernel->context, fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_that_counts_fires),
		cmocka_unit_test(a_silent_one_is_refused),
		cmocka_unit_test(a_refused_probe_decides_nothing),
		cmocka_unit_test(one_that_never_had_a_register_decides_nothing),
		cmocka_unit_test(the_running_kernel_answers_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
