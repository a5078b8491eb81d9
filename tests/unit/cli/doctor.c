/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "fake_kernel.h"
#include "fake_root.h"
#include "tasks/doctor/doctor_plan.h"
#include "unit_test.h"

#define PMUS                                          \
	"/sys/bus/event_source/devices/cpu/type: 4\n" \
	"/sys/bus/event_source/devices/software/type: 1\n"
#define USER "/proc/self/status: Name: x\\nCapEff: 0\\nSeccomp: 0\n/proc/self/uid_map: 0 0 4294967295\n"
#define ROOT "/proc/self/status: Name: x\\nCapEff: 1ffffffffff\\nSeccomp: 0\n/proc/self/uid_map: 0 0 4294967295\n"

#define MS 1000000

struct machine {
	char *root;
	struct fake_kernel fake;
	struct machine_checks checks;
	struct machine_gates gates;
};

static void machine_look(struct machine *m)
{
	assert_int_equal(machine_checks_make(&m->fake.seam, &m->checks, NULL), TALLY_OK);
	assert_int_equal(machine_gates_make(&m->fake.seam, &m->checks, &m->gates, NULL), TALLY_OK);
}

/* Initialises in place, because the seam points to the fake. */
static void machine_init(struct machine *m, const char *files)
{
	memset(m, 0, sizeof(*m));
	m->root = fake_root_make(files);
	fake_kernel_init(&m->fake, m->root);
	m->fake.ring_head = 64;
	fake_kernel_count(&m->fake, EVENT_SOFTWARE, SW_PAGE_FAULTS, 40, MS, MS);
	fake_kernel_count(&m->fake, EVENT_SOFTWARE, SW_TASK_CLOCK, 2 * MS, 2 * MS, 2 * MS);
	fake_kernel_count(&m->fake, EVENT_HARDWARE, HW_INSTRUCTIONS, 300000, MS, MS);
	fake_kernel_count(&m->fake, EVENT_HARDWARE, HW_CPU_CYCLES, 3 * MS, MS, MS);
}

static void machine_end(struct machine *m)
{
	machine_gates_deinit(&m->gates);
	machine_checks_deinit(&m->checks);
	fake_kernel_deinit(&m->fake);
	fake_root_remove(m->root);
}

static const struct machine_gate *gate_of(const struct machine *m, const char *name)
{
	for (size_t i = 0; i < m->gates.items.len; i++)
		if (strcmp(m->gates.items.items[i].name, name) == 0)
			return &m->gates.items.items[i];
	fail_msg("no gate %s", name);
	return NULL;
}

/* An event that can be opened but does not count is refused like one that cannot be opened. */
static void what_counts_nothing_is_refused(void **state)
{
	static const struct {
		enum machine_check_id id;
		uint32_t type;
		uint64_t config, value;
		const char *words;
	} cases[] = {
		{CHECK_SOFTWARE, EVENT_SOFTWARE, SW_PAGE_FAULTS, 0, "page-faults:u counted 0"},
		{CHECK_SOFTWARE, EVENT_SOFTWARE, SW_TASK_CLOCK, 0, "task-clock:u counted 0"},
		{CHECK_SOFTWARE, EVENT_SOFTWARE, SW_TASK_CLOCK, 9 * MS, "in a microsecond counted 9000"},
		{CHECK_KERNEL_MODE, EVENT_SOFTWARE, SW_CONTEXT_SWITCHES, 0, "slept"},
		{CHECK_HARDWARE, EVENT_HARDWARE, HW_INSTRUCTIONS, 0, "instructions:u counted 0"},
		{CHECK_HARDWARE, EVENT_HARDWARE, HW_INSTRUCTIONS, UINT64_MAX / 2, "a loop of"},
		{CHECK_HARDWARE, EVENT_HARDWARE, HW_CPU_CYCLES, 0, "cycles:u in a microsecond counted 0"},
		{CHECK_HARDWARE, EVENT_HARDWARE, HW_CPU_CYCLES, 300 * (uint64_t)MS, "20 GHz"},
		{CHECK_BREAKPOINT, EVENT_BREAKPOINT, FAKE_ANY, 0, "never fire"},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct machine m;
		machine_init(&m, ROOT PMUS "/proc/sys/kernel/perf_event_paranoid: 2\n");
		fake_kernel_count(&m.fake, cases[i].type, cases[i].config, cases[i].value, MS, MS);
		machine_look(&m);
		for (enum machine_check_id id = 0; id <= CHECK_HARDWARE; id++)
			assert_int_equal(machine_checks_allow(&m.checks, id), id != cases[i].id);
		const char *reason = m.checks.items[cases[i].id].reason;
		if (!reason || !strstr(reason, cases[i].words))
			fail_msg("case %zu: %s", i, reason ? reason : "allowed");
		assert_int_equal(m.fake.open_count, 0);
		machine_end(&m);
	}
}

static void an_event_without_time_decides_nothing(void **state)
{
	struct machine m;
	machine_init(&m, ROOT PMUS "/proc/sys/kernel/perf_event_paranoid: 2\n");
	fake_kernel_count(&m.fake, EVENT_HARDWARE, FAKE_ANY, 0, MS, 0);
	fake_kernel_count(&m.fake, EVENT_BREAKPOINT, FAKE_ANY, 0, MS, 0);
	machine_look(&m);
	assert_true(machine_checks_allow(&m.checks, CHECK_HARDWARE));
	assert_true(machine_checks_allow(&m.checks, CHECK_BREAKPOINT));
	machine_end(&m);
}

static void a_timer_that_never_ticks_is_found(void **state)
{
	struct machine m;
	machine_init(&m, ROOT PMUS "/proc/sys/kernel/perf_event_paranoid: 2\n");
	m.fake.ring_head = 0;
	machine_look(&m);
	assert_false(machine_checks_allow(&m.checks, CHECK_RING));
	assert_non_null(strstr(m.checks.items[CHECK_RING].reason, "no sample"));
	assert_false(doctor_plan_can_measure(&m.checks, NULL));
	machine_end(&m);
}

/* Each event that was opened is closed again. */
static void nothing_stays_open(void **state)
{
	struct machine m;
	machine_init(&m, ROOT PMUS "/proc/sys/kernel/perf_event_paranoid: 2\n");
	machine_look(&m);
	assert_int_equal(m.fake.open_count, 0);
	assert_true(m.fake.event_count > 5);
	for (size_t i = 0; i < m.fake.event_count; i++)
		assert_true(ATTR_HAS(&m.fake.events[i].attr, DISABLED));
	assert_true(machine_checks_allow(&m.checks, CHECK_HARDWARE));
	assert_false(gate_of(&m, "kernel.perf_event_paranoid")->is_in_the_way);
	machine_end(&m);
}

static void refusals_have_their_reasons(void **state)
{
	struct machine m;
	machine_init(&m, USER PMUS "/proc/sys/kernel/perf_event_paranoid: 2\n");
	fake_kernel_refuse(&m.fake, EVENT_HARDWARE, FAKE_ANY, ENOENT);
	fake_kernel_require(&m.fake, EVENT_SOFTWARE, ATTR_FLAG(ATTR_BIT_EXCLUDE_KERNEL));
	machine_look(&m);
	assert_true(machine_checks_allow(&m.checks, CHECK_SOFTWARE));
	assert_false(machine_checks_allow(&m.checks, CHECK_KERNEL_MODE));
	assert_false(machine_checks_allow(&m.checks, CHECK_HARDWARE));
	assert_non_null(strstr(m.checks.items[CHECK_KERNEL_MODE].reason, "perf_event_paranoid is 2"));
	assert_non_null(strstr(m.checks.items[CHECK_HARDWARE].reason, "no such event"));
	assert_non_null(strstr(m.checks.items[CHECK_KPROBE].reason, "CONFIG_KPROBE_EVENTS"));
	struct doctor_plan plans[PLAN_COUNT];
	doctor_plan_make(&m.checks, plans);
	assert_non_null(strstr(plans[PLAN_SAMPLES].text, "cpu-clock"));
	assert_non_null(strstr(plans[PLAN_SCOPE].text, "kernel mode and -a are refused"));
	assert_true(doctor_plan_can_measure(&m.checks, NULL));
	assert_false(doctor_plan_can_measure(&m.checks, &(struct target_checks){.refusal = "no"}));
	machine_end(&m);
}

static void a_filter_that_answers_anything_is_found(void **state)
{
	static const int answers[] = {EPERM, ENOSYS};
	for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
		struct machine m;
		machine_init(&m, "/proc/self/status: Name: x\\nCapEff: 0\\nSeccomp: "
				 "2\n/proc/sys/kernel/perf_event_paranoid: -1\n" PMUS);
		m.fake.seccomp_errnum = answers[i];
		machine_look(&m);
		assert_false(machine_checks_allow(&m.checks, CHECK_SOFTWARE));
		assert_non_null(strstr(m.checks.items[CHECK_SOFTWARE].reason, "seccomp"));
		const struct machine_gate *gate = gate_of(&m, "seccomp");
		assert_true(gate->is_in_the_way && gate->remedy && gate->exposes);
		assert_false(gate_of(&m, "kernel.perf_event_paranoid")->is_in_the_way);
		assert_false(doctor_plan_can_measure(&m.checks, NULL));
		machine_end(&m);
	}
}

static void settings_by_their_values(void **state)
{
	static const struct {
		const char *files, *gate, *remedy;
		bool is_in_the_way;
	} cases[] = {
		{USER "/proc/sys/kernel/perf_event_paranoid: 4\n", "kernel.perf_event_paranoid",
			"perf_event_paranoid=2", true},
		{USER "/proc/sys/kernel/perf_event_paranoid: 2\n", "kernel.perf_event_paranoid",
			"perf_event_paranoid=1", true},
		{USER "/proc/sys/kernel/perf_event_paranoid: 1\n", "kernel.perf_event_paranoid",
			"perf_event_paranoid=-1", true},
		{USER "/proc/sys/kernel/perf_event_paranoid: -1\n", "kernel.perf_event_paranoid", NULL, false},
		{ROOT "/proc/sys/kernel/perf_event_paranoid: 4\n", "kernel.perf_event_paranoid", NULL, false},
		{USER, "kernel.perf_event_paranoid", NULL, false},
		{USER, "capabilities", "cap_perfmon", true},
		{USER "/.dockerenv: x\n", "capabilities",
			"'docker run --cap-add PERFMON --cap-add BPF --cap-add SYS_PTRACE --cap-add SYSLOG'", true},
		{USER "/run/.containerenv: x\n", "capabilities", "'sudo podman run --cap-add PERFMON", true},
		{USER "/proc/1/cgroup: 0::/kubepods/pod1\n", "capabilities",
			"{runAsUser: 0, capabilities: {add: [PERFMON, BPF, SYS_PTRACE, SYSLOG]}}", true},
		{USER "/proc/1/cgroup: 0::/lxc/a\n", "capabilities", "CAP_PERFMON, CAP_BPF", true},
		{"/.dockerenv: x\n/proc/self/status: Name: x\\nCapEff: 0\\nCapBnd: "
		 "1ffffffffff\n/proc/self/uid_map: 0 0 4294967295\n",
			"capabilities", "be root in the container", true},
		{USER "/proc/sys/kernel/cap_last_cap: 37\n", "capabilities",
			"setcap cap_sys_admin,cap_sys_ptrace,cap_syslog+ep", true},
		{"/.dockerenv: x\n/proc/self/status: Name: x\\nCapEff: 1ffffffffff\n/proc/self/uid_map: 0 1000 1\n",
			"user namespace", "--userns=host", true},
		{ROOT "/proc/cpuinfo: flags : fpu hypervisor\n/sys/bus/event_source/devices/software/type: 1\n"
		      "/sys/class/dmi/id/sys_vendor: Amazon EC2\n",
			"hypervisor", "bare metal", true},
		{ROOT "/proc/cpuinfo: flags : fpu hypervisor\n/sys/bus/event_source/devices/software/type: 1\n"
		      "/sys/class/dmi/id/sys_vendor: QEMU\n",
			"hypervisor", "pmu=on", true},
		{ROOT "/proc/cpuinfo: flags : fpu hypervisor\n/sys/bus/event_source/devices/software/type: 1\n",
			"hypervisor", "the host has to give", true},
		{ROOT "/proc/cpuinfo: flags : fpu hypervisor\n" PMUS, "hypervisor", NULL, false},
		{ROOT "/sys/bus/event_source/devices/software/type: 1\n", "hypervisor", NULL, false},
		{ROOT, "capabilities", NULL, false},
		{ROOT "/sys/kernel/security/lockdown: none integrity [confidentiality]\n", "lockdown",
			"lockdown=integrity", true},
		{ROOT "/sys/kernel/security/lockdown: none [integrity] confidentiality\n", "lockdown", NULL, false},
		{USER "/proc/kallsyms: 0000000000000000 T _text\\n0000000000000000 T "
		      "next\n/proc/sys/kernel/kptr_restrict: 2\n",
			"kernel.kptr_restrict", "kptr_restrict=0", true},
		{USER "/proc/kallsyms: 0000000000000000 A first\\nffffffff81000000 T "
		      "_text\n/proc/sys/kernel/kptr_restrict: 0\n",
			"kernel.kptr_restrict", NULL, false},
		{USER "/proc/sys/kernel/yama/ptrace_scope: 1\n", "kernel.yama.ptrace_scope", "ptrace_scope=0", true},
		{ROOT "/proc/sys/kernel/yama/ptrace_scope: 1\n", "kernel.yama.ptrace_scope", NULL, false},
		{ROOT "/proc/sys/kernel/yama/ptrace_scope: 3\n", "kernel.yama.ptrace_scope", "boot", true},
		{ROOT PMUS "/proc/sys/kernel/nmi_watchdog: 1\n", "kernel.nmi_watchdog", "nmi_watchdog=0", true},
		{ROOT "/proc/sys/kernel/perf_event_max_sample_rate: 250\n", "kernel.perf_event_max_sample_rate",
			"max_sample_rate=4000", true},
		{ROOT, "tracefs", "mount -t tracefs", true},
		{ROOT "/sys/kernel/tracing/events/sched/sched_switch/id: 3\n", "tracefs", NULL, false},
		{ROOT "/sys/kernel/debug/tracing/events/header_page: x\n", "tracefs",
			"'sudo mount -o remount,mode=755,gid=$(id -g) /sys/kernel/debug/tracing'", true},
		{ROOT "/.dockerenv: x\n", "tracefs", "-v /sys/kernel/tracing:/sys/kernel/tracing:ro", true},
		{ROOT "/proc/1/cgroup: 0::/kubepods/pod1\n", "tracefs", "hostPath", true},
		{ROOT, "BTF", "mount -t sysfs", true},
		{ROOT "/sys/kernel/btf/vmlinux: x\n", "BTF", NULL, false},
		{ROOT "/proc/1/comm: init\n", "/proc", NULL, false},
		{USER, "/proc", "hidepid=0", true},
		{PMUS, "/proc", "mount -t proc", true},
		{PMUS "/sys/kernel/uevent_seqnum: 1\n", "BTF", "CONFIG_DEBUG_INFO_BTF", true},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct machine m;
		machine_init(&m, cases[i].files);
		if (!strstr(cases[i].files, PMUS))
			fake_kernel_refuse(&m.fake, EVENT_HARDWARE, FAKE_ANY, ENOENT);
		machine_look(&m);
		const struct machine_gate *gate = gate_of(&m, cases[i].gate);
		if (gate->is_in_the_way != cases[i].is_in_the_way)
			fail_msg("case %zu: %s: %s", i, cases[i].gate, gate->value);
		if (cases[i].remedy && (!gate->remedy || !strstr(gate->remedy, cases[i].remedy)))
			fail_msg("case %zu: %s", i, gate->remedy ? gate->remedy : "no remedy");
		machine_end(&m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_stays_open),
		cmocka_unit_test(what_counts_nothing_is_refused),
		cmocka_unit_test(an_event_without_time_decides_nothing),
		cmocka_unit_test(a_timer_that_never_ticks_is_found),
		cmocka_unit_test(refusals_have_their_reasons),
		cmocka_unit_test(a_filter_that_answers_anything_is_found),
		cmocka_unit_test(settings_by_their_values),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
