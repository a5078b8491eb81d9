#include "unit_test.h"

#include "fake_root.h"
#include "kernel/events/event_parser.h"
#include "kernel/system/privileges.h"

#include <errno.h>
#include <string.h>

struct gate {
	const char *root; /* lines of fake_root */
	struct event_spec spec;
	pid_t pid;
	int cpu, errnum;
	enum refusal refusal;
	const char *words;
};

#define NO_RIGHTS "/proc/self/status: Name: x\\nCapEff: 0\\nSeccomp: 0\n"
#define CPU_PMU	  "/sys/bus/event_source/devices/cpu/type: 4\n"
#define SOFTWARE  "/sys/bus/event_source/devices/software/type: 1\n"
#define HW                                                         \
	{                                                          \
		.attr = {.type = EVENT_HARDWARE}, .name = "cycles" \
	}
#define SW                                                     \
	{                                                      \
		.attr = {.type = EVENT_SOFTWARE}, .name = "cs" \
	}

static void each_gate_is_named(void **state)
{
	static const struct gate gates[] = {
		{SOFTWARE "/proc/cpuinfo: flags : fpu hypervisor\n", HW, 1, -1, ENOENT, REFUSAL_NO_HARDWARE,
			"no PMU in this virtual machine"},
		{SOFTWARE, HW, 1, -1, EINVAL, REFUSAL_NO_HARDWARE, "found no PMU on this machine"},
		{CPU_PMU, HW, 1, -1, ENOENT, REFUSAL_NO_HARDWARE, "this CPU's PMU has no such event"},
		{CPU_PMU, HW, 1, -1, EINVAL, REFUSAL_OLD_KERNEL, "does not take the combination"},
		{CPU_PMU NO_RIGHTS "/proc/sys/kernel/perf_event_paranoid: 2\n", HW, 1, -1, EACCES, REFUSAL_PERMISSION,
			"perf_event_paranoid is 2 and measuring kernel mode needs 1 or less"},
		{NO_RIGHTS "/proc/sys/kernel/perf_event_paranoid: 4\n",
			{.attr = {.type = EVENT_SOFTWARE, .flags = ATTR_FLAG(ATTR_BIT_EXCLUDE_KERNEL)}, .name = "cs:u"},
			1, -1, EACCES, REFUSAL_PERMISSION, "perf_event_paranoid is 4 and this event needs 2 or less"},
		{NO_RIGHTS "/proc/sys/kernel/perf_event_paranoid: 1\n", SW, -1, 0, EACCES, REFUSAL_PERMISSION,
			"needs 0 or less"},
		{"/proc/self/status: Name: x\\nCapEff: 0\\nSeccomp: 2\n/proc/sys/kernel/perf_event_paranoid: 1\n", SW,
			1, -1, EPERM, REFUSAL_PERMISSION, "a seccomp filter"},
		{"/proc/self/status: Name: x\\nCapEff: 4000000000\\nSeccomp: 0\n"
		 "/sys/kernel/security/lockdown: none integrity [confidentiality]\n",
			SW, 1, -1, EPERM, REFUSAL_PERMISSION, "kernel lockdown"},
		{NO_RIGHTS "/proc/sys/kernel/perf_event_paranoid: 1\n", SW, 9, -1, EACCES, REFUSAL_PERMISSION,
			"process 9 belongs to another user"},
		{SOFTWARE, SW, 1, -1, EMFILE, REFUSAL_FDS, "ulimit -n"},
		{SOFTWARE, SW, 1, -1, ENFILE, REFUSAL_FDS, "fs.file-max"},
		{SOFTWARE, SW, 5, -1, ESRCH, REFUSAL_GONE, "thread 5 has ended"},
		{SOFTWARE, SW, 5, -1, EBUSY, REFUSAL_BUSY, "held by another user"},
		{SOFTWARE, SW, 5, -1, ENOSYS, REFUSAL_OTHER, "built without perf events"},
	};
	for (size_t i = 0; i < sizeof(gates) / sizeof(gates[0]); i++) {
		const struct gate *g = &gates[i];
		char *root = fake_root_make(g->root);
		struct kernel_seam seam = {.root = root};
		struct tally_error err = {0};
		assert_int_equal(refusal_of(&seam, &g->spec, g->errnum), g->refusal);
		assert_int_not_equal(refusal_explain(&seam, &g->spec, g->pid, g->cpu, g->errnum, &err), TALLY_OK);
		assert_int_equal(err.errnum, g->errnum);
		if (!strstr(err.text, g->words) || !strstr(err.text, g->spec.name))
			fail_msg("gate %zu: %s", i, err.text);
		fake_root_remove(root);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(each_gate_is_named)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
