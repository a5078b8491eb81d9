/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/events/event_denial.h"

#include <errno.h>
#include <string.h>

#include "abi/perf_constants.h"
#include "base/array.h"
#include "fake_kernel.h"
#include "fake_root.h"
#include "unit_test.h"

struct denial {
	const char *root; /* In the format of fake_root.h. */
	int errnum, seccomp_errnum;
	const char *words; /* Part of the message; NULL if nothing is denied. */
};

#define DENIAL_STATUS(seccomp) "/proc/self/status: Name: x\\nCapEff: 0\\nSeccomp: " seccomp "\n"

static const struct denial denials[] = {
	{DENIAL_STATUS("0"), 0, 0, NULL},
	{DENIAL_STATUS("0"), EMFILE, 0, NULL},
	{DENIAL_STATUS("0") "/proc/sys/kernel/perf_event_paranoid: 3\n", EACCES, 0,
		"perf_event_paranoid is 3 and this event needs 2 or less: run as root"},
	{DENIAL_STATUS("0") "/proc/sys/kernel/perf_event_paranoid: 4\n", EACCES, 0, "perf_event_paranoid is 4"},
	{DENIAL_STATUS("2"), EPERM, EPERM, "a seccomp filter (a container's, most likely) forbids perf_event_open"},
	{DENIAL_STATUS("2"), ENOSYS, ENOSYS, "a seccomp filter hides perf_event_open"},
	{DENIAL_STATUS("0"), ENOSYS, ENOSYS, "built without perf events, or a sandbox hides them"},
};

static void explains_denials(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(denials); i++) {
		const struct denial *d = &denials[i];
		struct fake_kernel fake;
		struct text reason = {0};
		char *root = fake_root_make(d->root);
		fake_kernel_init(&fake, root);
		if (d->errnum)
			fake_kernel_refuse(&fake, EVENT_SOFTWARE, SW_CPU_CLOCK, d->errnum);
		fake.seccomp_errnum = d->seccomp_errnum;
		assert_int_equal(events_are_denied(&fake.seam, NULL), d->words != NULL);
		assert_int_equal(events_are_denied(&fake.seam, &reason), d->words != NULL);
		text_char(&reason, '\0');
		if (d->words)
			assert_non_null(strstr(reason.data, d->words));
		else
			assert_int_equal(reason.len, 1);
		assert_int_equal(fake.open_count, 0);
		text_deinit(&reason);
		fake_kernel_deinit(&fake);
		fake_root_remove(root);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(explains_denials)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
