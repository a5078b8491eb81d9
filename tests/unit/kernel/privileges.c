/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/events/privileges.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/perf_constants.h"
#include "base/array.h"
#include "fake_kernel.h"
#include "fake_root.h"
#include "kernel/events/event_parser.h"
#include "kernel/system/surroundings.h"
#include "unit_test.h"

struct gate {
	const char *root; /* In the format of fake_root.h. */
	struct event_spec spec;
	pid_t pid;
	int cpu, errnum;
	enum refusal refusal;
	const char *words[3];
};

#define STATUS(capabilities, seccomp) "/proc/self/status: Name: x\\nCapEff: " capabilities "\\nSeccomp: " seccomp "\n"
#define NO_RIGHTS		      STATUS("0", "0")
#define PERFMON			      STATUS("4000000000", "0")
#define PARANOID		      "/proc/sys/kernel/perf_event_paranoid: "
#define UID_MAP			      "/proc/self/uid_map: "
#define CPU_PMU			      "/sys/bus/event_source/devices/cpu/type: 4\n"
#define SOFTWARE		      "/sys/bus/event_source/devices/software/type: 1\n"
#define DOCKER			      "/.dockerenv: x\n"
#define PODMAN			      "/run/.containerenv: x\n"
#define POD			      "/proc/1/cgroup: 0::/kubepods.slice/kubepods-pod12.slice/cri-containerd-3.scope\n"

/* clang-format off */
#define SPEC(text, event_type, ...) {.name = text, .attr = {.type = event_type, __VA_ARGS__}}
#define HW SPEC("cycles", EVENT_HARDWARE)
#define SW SPEC("cs", EVENT_SOFTWARE)
#define TRACEPOINT SPEC("irq_vectors:irq_work_exit", EVENT_TRACEPOINT, .sample_type = SAMPLE_RAW)
#define BREAKPOINT(address, size) SPEC("mem:0x1000", EVENT_BREAKPOINT, .config1 = address, .config2 = size)
#define OF_PMU(device, ...) {.name = device "/event/", .pmu = device, .attr = {.type = 20, __VA_ARGS__}}
/* clang-format on */

static const struct gate hardware_gates[] = {
	{SOFTWARE "/proc/cpuinfo: flags : fpu hypervisor\n", HW, 1, -1, ENOENT, REFUSAL_NO_HARDWARE,
		{"no PMU in this virtual machine", "cpu-clock"}},
	{SOFTWARE, HW, 1, -1, EINVAL, REFUSAL_NO_HARDWARE, {"found no PMU on this machine", "cpu-clock"}},
	{CPU_PMU, HW, 1, -1, ENOENT, REFUSAL_NO_HARDWARE, {"this CPU's PMU has no such event"}},
	{CPU_PMU, SW, 1, -1, ENOENT, REFUSAL_NO_HARDWARE, {"this kernel does not have the event"}},
	{CPU_PMU SOFTWARE, OF_PMU("uncore_imc", 0), -1, 0, ENOENT, REFUSAL_NO_HARDWARE,
		{"no such PMU on this machine: uncore_imc"}},
	{CPU_PMU SOFTWARE "/sys/bus/event_source/devices/msr/type: 20\n", OF_PMU("msr", 0), 1, -1, EOPNOTSUPP,
		REFUSAL_NO_HARDWARE, {"PMU msr cannot count this event"}},
	{CPU_PMU "/sys/devices/system/cpu/cpu3/online: 0\n", HW, -1, 3, ENODEV, REFUSAL_NO_HARDWARE,
		{"CPU 3 is offline", "leave it out of -C"}},
	{CPU_PMU, HW, 1, -1, ENODEV, REFUSAL_NO_HARDWARE, {"this CPU's PMU has no such event"}},
	{CPU_PMU, SPEC("cycles", EVENT_HARDWARE, .sample_period_or_freq = 1000), 1, -1, EOPNOTSUPP, REFUSAL_NO_HARDWARE,
		{"the PMU has no interrupt", "cpu-clock"}},
	{CPU_PMU, SPEC("cycles:pp", EVENT_HARDWARE, .flags = UINT64_C(2) << ATTR_BIT_PRECISE_IP), 1, -1, EOPNOTSUPP,
		REFUSAL_NO_HARDWARE, {"cannot sample as precisely as modifier pp asks", "fewer p"}},
	{CPU_PMU, SPEC("cs", EVENT_SOFTWARE, .sample_type = SAMPLE_BRANCH_STACK), 1, -1, EOPNOTSUPP,
		REFUSAL_NO_HARDWARE, {"branch stacks", "leave them out"}},
	{CPU_PMU, SPEC("cycles", EVENT_HARDWARE, .sample_type = SAMPLE_AUX), 1, -1, EOPNOTSUPP, REFUSAL_NO_HARDWARE,
		{"AUX area"}},
	{CPU_PMU, BREAKPOINT(0x1000, 4), 1, -1, ENODEV, REFUSAL_NO_HARDWARE, {"no hardware breakpoints"}},
};

static const struct gate permission_gates[] = {
	{CPU_PMU NO_RIGHTS PARANOID "2\n", HW, 1, -1, EACCES, REFUSAL_PERMISSION,
		{"perf_event_paranoid is 2 and measuring kernel mode needs 1 or less",
			"'sudo sysctl kernel.perf_event_paranoid=1'", ":u"}},
	{NO_RIGHTS PARANOID "4\n", SPEC("cs:u", EVENT_SOFTWARE, .flags = ATTR_FLAG(ATTR_BIT_EXCLUDE_KERNEL)), 1, -1,
		EACCES, REFUSAL_PERMISSION,
		{"perf_event_paranoid is 4 and this event needs 2 or less", "run as root", "CAP_PERFMON"}},
	{NO_RIGHTS PARANOID "1\n", SW, -1, 0, EACCES, REFUSAL_PERMISSION,
		{"all processes of a CPU needs 0 or less", "perf_event_paranoid=0'"}},
	{NO_RIGHTS PARANOID "0\n", TRACEPOINT, 1, -1, EPERM, REFUSAL_PERMISSION,
		{"a tracepoint's fields needs -1 or less"}},
	{NO_RIGHTS PARANOID "2\n/proc/sys/kernel/cap_last_cap: 37\n", HW, 1, -1, EACCES, REFUSAL_PERMISSION,
		{"CAP_SYS_ADMIN"}},
	{NO_RIGHTS PARANOID "-1\n", OF_PMU("kprobe", 0), 1, -1, EACCES, REFUSAL_PERMISSION,
		{"kprobes need a capability, whatever perf_event_paranoid is", "CAP_PERFMON"}},
	{NO_RIGHTS PARANOID "-1\n", BREAKPOINT(0xffffffff81000000, 8), 1, -1, EPERM, REFUSAL_PERMISSION,
		{"a breakpoint on an address of the kernel", "CAP_SYS_ADMIN"}},
	{PERFMON, TRACEPOINT, 1, -1, EPERM, REFUSAL_PERMISSION,
		{"the kernel does not allow events of this kind on this tracepoint", "leave it out of -e"}},
	{PERFMON "/sys/kernel/security/lockdown: none integrity [confidentiality]\n", SW, 1, -1, EPERM,
		REFUSAL_PERMISSION, {"kernel lockdown", "lockdown=integrity"}},
	{NO_RIGHTS PARANOID "1\n", SW, 9, -1, EACCES, REFUSAL_PERMISSION,
		{"process 9 belongs to another user", "CAP_PERFMON", "CAP_SYS_PTRACE"}},
	{PERFMON CPU_PMU, {.name = "cycles:u", .has_exclude = true, .attr = {.type = EVENT_HARDWARE}}, 0, -1, EPERM,
		REFUSAL_PERMISSION, {"cannot exclude a mode", "omit the modifier"}},
	{PERFMON "/sys/kernel/security/lsm: lockdown,yama,selinux\n", SW, 0, -1, EACCES, REFUSAL_PERMISSION,
		{"a security module (lockdown,yama,selinux)", "its log"}},
};

static const struct gate other_gates[] = {
	{SOFTWARE, SW, 1, -1, EMFILE, REFUSAL_FDS, {"too many open files", "ulimit -n"}},
	{DOCKER, SW, 1, -1, EMFILE, REFUSAL_FDS, {"docker run --ulimit nofile="}},
	{PODMAN, SW, 1, -1, EMFILE, REFUSAL_FDS, {"podman run --ulimit nofile="}},
	{POD, SW, 1, -1, EMFILE, REFUSAL_FDS, {"LimitNOFILE of the node's container runtime"}},
	{SOFTWARE, SW, 1, -1, ENFILE, REFUSAL_FDS, {"fs.file-max"}},
	{SOFTWARE, SW, 1, -1, ENOMEM, REFUSAL_MEMORY, {"the kernel is out of memory"}},
	{SOFTWARE, SW, 5, -1, ESRCH, REFUSAL_GONE, {"thread 5 has ended"}},
	{SOFTWARE, SW, 5, -1, EBUSY, REFUSAL_BUSY, {"held by another user", "exclusive use"}},
	{CPU_PMU "/proc/sys/kernel/nmi_watchdog: 1\n", HW, 5, -1, EBUSY, REFUSAL_BUSY,
		{"the NMI watchdog holds a counter", "kernel.nmi_watchdog=0"}},
	{CPU_PMU, OF_PMU("intel_pt", 0), 5, -1, EBUSY, REFUSAL_BUSY, {"PMU intel_pt serves one user at a time"}},
	{CPU_PMU, BREAKPOINT(0x1000, 4), 5, -1, ENOSPC, REFUSAL_BUSY, {"breakpoint registers", "fewer mem: events"}},
	{CPU_PMU, HW, 1, -1, EINVAL, REFUSAL_OLD_KERNEL, {"does not take the combination", "event constraints"}},
	{CPU_PMU, SPEC("cycles:D", EVENT_HARDWARE, .flags = ATTR_FLAG(ATTR_BIT_PINNED)), 1, -1, EINVAL,
		REFUSAL_OLD_KERNEL, {"for the first event of a group"}},
	{CPU_PMU "/proc/sys/kernel/perf_event_max_sample_rate: 1000\n",
		SPEC("cycles", EVENT_HARDWARE, .flags = ATTR_FLAG(ATTR_BIT_FREQ), .sample_period_or_freq = 5000), 1, -1,
		EINVAL, REFUSAL_OLD_KERNEL, {"allows, 1000", "-F max", "perf_event_max_sample_rate=5000"}},
	{CPU_PMU "/sys/devices/system/cpu/cpu0/uevent: x\n", HW, -1, 9, EINVAL, REFUSAL_OLD_KERNEL,
		{"there is no CPU 9 on this machine"}},
	{CPU_PMU, BREAKPOINT(0x1001, 4), 1, -1, EINVAL, REFUSAL_OLD_KERNEL,
		{"no breakpoint like this: 4 bytes at 0x1001"}},
	{CPU_PMU, SW, 1, -1, E2BIG, REFUSAL_OLD_KERNEL, {"this kernel is too old for a requested feature"}},
	{SOFTWARE, SW, 5, -1, EBADF, REFUSAL_OTHER, {"leads the group is no longer open"}},
	{SOFTWARE, {.name = "cs", .cgroup = "a", .attr = {.type = EVENT_SOFTWARE}}, -1, 0, EBADF, REFUSAL_OTHER,
		{"the cgroup"}},
	{SOFTWARE, SW, 5, -1, EFAULT, REFUSAL_OTHER, {"could not read the request's memory"}},
	{SOFTWARE, OF_PMU("uprobe", 0), 5, -1, EINTR, REFUSAL_OTHER, {"ftrace has a uprobe", "uprobe_events"}},
	{"/proc/sys/kernel/perf_event_max_stack: 127\n",
		SPEC("cs", EVENT_SOFTWARE, .sample_type = SAMPLE_CALLCHAIN, .sample_max_stack = 500), 5, -1, EOVERFLOW,
		REFUSAL_OTHER, {"call chains of 500 frames", "--max-stack 127", "perf_event_max_stack=500"}},
	{SOFTWARE, SPEC("cs", EVENT_SOFTWARE, .sample_type = SAMPLE_STACK_USER), 5, -1, ENOSYS, REFUSAL_OTHER,
		{"cannot copy user stacks", "--call-graph fp"}},
	{SOFTWARE, SW, 5, -1, ENOSYS, REFUSAL_OTHER, {"built without perf events"}},
	{SOFTWARE, SW, 5, -1, EIO, REFUSAL_OTHER, {"Input/output error"}},
};

/* Opens the event on a kernel that refuses it that way, and checks the explanation for the words. */
static void gate_check(const struct gate *g, int seccomp_errnum, const char *prefix)
{
	char *root = fake_root_make(g->root);
	struct fake_kernel *fake = malloc(sizeof(*fake));
	assert_non_null(fake);
	fake_kernel_init(fake, root);
	fake_kernel_refuse(fake, g->spec.attr.type, FAKE_ANY, g->errnum);
	fake->seccomp_errnum = seccomp_errnum;
	const struct kernel_seam *kernel = &fake->seam;
	assert_int_equal(kernel->perf_event_open(kernel->context, &g->spec.attr, g->pid, g->cpu, -1, 0), -1);
	int errnum = errno;
	struct tally_error err = {0};
	assert_int_equal(errnum, g->errnum);
	assert_int_equal(refusal_of(kernel, &g->spec, errnum), g->refusal);
	assert_int_not_equal(refusal_explain(kernel, &g->spec, g->pid, g->cpu, errnum, &err), TALLY_OK);
	assert_int_equal(err.errnum, g->errnum);
	if (!strstr(err.text, g->spec.name))
		fail_msg("%s: no '%s' in: %s", prefix, g->spec.name, err.text);
	for (size_t i = 0; i < ARRAY_LEN(g->words) && g->words[i]; i++)
		if (!strstr(err.text, g->words[i]))
			fail_msg("%s: no '%s' in: %s", prefix, g->words[i], err.text);
	if (strlen(err.text) + 1 >= sizeof(err.text))
		fail_msg("%s: cut: %s", prefix, err.text);
	fake_kernel_deinit(fake);
	free(fake);
	fake_root_remove(root);
}

static void gates_check(const struct gate *gates, size_t count, const char *prefix)
{
	for (size_t i = 0; i < count; i++)
		gate_check(&gates[i], 0, prefix);
}

static void what_the_machine_lacks_is_named(void **state)
{
	gates_check(hardware_gates, ARRAY_LEN(hardware_gates), "hardware");
}

static void what_forbids_is_named(void **state)
{
	gates_check(permission_gates, ARRAY_LEN(permission_gates), "permission");
}

static void limits_and_combinations_are_named(void **state)
{
	gates_check(other_gates, ARRAY_LEN(other_gates), "other");
}

/* The same refusal has different explanations in different environments. */
static void the_key_is_that_of_the_surroundings(void **state)
{
	static const struct {
		const char *place, *capability, *seccomp, *sysctl;
	} places[] = {
		{"", "run as root", "SystemCallFilter=perf_event_open", "perf_event_paranoid=1'; user"},
		{DOCKER, "docker run --cap-add PERFMON", "docker run --cap-add PERFMON",
			"perf_event_paranoid=1' on the host"},
		{PODMAN, "podman run --cap-add PERFMON", "podman run --cap-add PERFMON",
			"perf_event_paranoid=1' on the host"},
		{POD DOCKER, "securityContext: {capabilities: {add: [PERFMON]}}", "Localhost seccompProfile",
			"perf_event_paranoid=1' on the node"},
		{"/proc/1/cgroup: 0::/lxc/box\n", "give the container CAP_PERFMON", "the container's seccomp profile",
			"perf_event_paranoid=1' on the host"},
	};
	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		char root[512];
		struct gate gate = {
			root, HW, 1, -1, EACCES, REFUSAL_PERMISSION, {places[i].capability, places[i].sysctl}};
		snprintf(root, sizeof(root), "%s" CPU_PMU NO_RIGHTS PARANOID "2\n", places[i].place);
		gate_check(&gate, 0, "capability");
		gate.errnum = EPERM;
		gate.words[0] = "a seccomp filter";
		gate.words[1] = places[i].seccomp;
		snprintf(root, sizeof(root), "%s" CPU_PMU STATUS("0", "2") PARANOID "2\n", places[i].place);
		gate_check(&gate, EPERM, "seccomp");
	}
}

/* A seccomp filter exists, but the kernel itself refuses: it checks the flags first. */
static void a_filter_that_lets_through_is_not_blamed(void **state)
{
	struct gate gate = {CPU_PMU STATUS("0", "2") PARANOID "2\n", HW, 1, -1, EACCES, REFUSAL_PERMISSION,
		{"perf_event_paranoid is 2"}};
	gate_check(&gate, 0, "paranoid behind a filter");
	gate.errnum = ENOSYS;
	gate.refusal = REFUSAL_OTHER;
	gate.words[0] = "a seccomp filter hides perf_event_open";
	gate_check(&gate, ENOSYS, "hidden by a filter");
	gate.words[0] = "built without perf events";
	gate_check(&gate, 0, "no such call");
}

/* Root of a user namespace (a rootless container) has all capabilities, but they do not apply to perf events. */
static void capabilities_of_a_user_namespace_do_not_count(void **state)
{
	static const struct {
		const char *place, *remedy;
	} places[] = {
		{"", "run outside of it as root"},
		{DOCKER, "sudo docker run --userns=host --cap-add PERFMON"},
		{PODMAN, "sudo podman run --cap-add PERFMON"},
		{POD, "hostUsers: true"},
		{"/proc/1/cgroup: 0::/lxc/box\n", "run the container privileged"},
	};
	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		char root[512];
		struct gate gate = {root, SW, -1, 0, EACCES, REFUSAL_PERMISSION,
			{"perf_event_paranoid is 2", "user namespace do not count", places[i].remedy}};
		snprintf(root, sizeof(root), "%s" STATUS("1ffffffffff", "0") PARANOID "2\n" UID_MAP "0 1000 1\n",
			places[i].place);
		gate_check(&gate, 0, "user namespace");
	}
	struct gate first = {PERFMON "/sys/kernel/security/lsm: selinux\n" PARANOID "2\n" UID_MAP "0 0 4294967295\n",
		SW, -1, 0, EACCES, REFUSAL_PERMISSION, {"a security module (selinux)"}};
	gate_check(&first, 0, "first user namespace");
}

/* A seccomp filter that refuses in spite of CAP_PERFMON belongs to an older profile, which requires
 * another capability. */
static void an_older_profile_wants_another_capability(void **state)
{
	static const struct {
		const char *place, *before, *after;
	} places[] = {
		{DOCKER, "--cap-add PERFMON' (before Docker 23.0: --cap-add SYS_ADMIN)",
			"not enough for its profile: "
			"'docker run --cap-add SYS_ADMIN'"},
		{PODMAN, "--cap-add PERFMON,SYS_ADMIN)", "podman run --cap-add PERFMON,SYS_ADMIN'"},
		{POD, "want SYS_ADMIN too", "add: [PERFMON, SYS_ADMIN]"},
		{"/proc/1/cgroup: 0::/lxc/box\n", "and add the capability PERFMON", "the container's seccomp profile"},
	};
	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		char root[512];
		struct gate gate = {root, SW, -1, 0, EPERM, REFUSAL_PERMISSION, {"a seccomp filter", places[i].before}};
		snprintf(root, sizeof(root), "%s" STATUS("0", "2") PARANOID "2\n", places[i].place);
		gate_check(&gate, EPERM, "no capability");
		gate.words[1] = places[i].after;
		snprintf(root, sizeof(root), "%s" STATUS("4000000000", "2") PARANOID "2\n", places[i].place);
		gate_check(&gate, EPERM, "CAP_PERFMON");
	}
}

static void kubernetes_is_known_by_its_environment(void **state)
{
	char *root = fake_root_make(DOCKER);
	struct kernel_seam seam = {.root = root};
	assert_int_equal(surroundings_find(&seam), SURROUNDINGS_DOCKER);
	setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1", 1);
	assert_int_equal(surroundings_find(&seam), SURROUNDINGS_KUBERNETES);
	unsetenv("KUBERNETES_SERVICE_HOST");
	fake_root_remove(root);
}

int main(void)
{
	unsetenv("KUBERNETES_SERVICE_HOST");
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_the_machine_lacks_is_named),
		cmocka_unit_test(what_forbids_is_named),
		cmocka_unit_test(limits_and_combinations_are_named),
		cmocka_unit_test(the_key_is_that_of_the_surroundings),
		cmocka_unit_test(a_filter_that_lets_through_is_not_blamed),
		cmocka_unit_test(capabilities_of_a_user_namespace_do_not_count),
		cmocka_unit_test(an_older_profile_wants_another_capability),
		cmocka_unit_test(kubernetes_is_known_by_its_environment),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
