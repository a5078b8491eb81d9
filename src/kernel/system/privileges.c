#include "kernel/system/privileges.h"

#include "base/error.h"
#include "kernel/system/kernel_files.h"

#include <errno.h>
#include <sys/resource.h>
#include <unistd.h>

#define CAPABILITY_SYS_PTRACE 19
#define CAPABILITY_SYS_ADMIN  21
#define CAPABILITY_PERFMON    38

static bool is_hardware(const struct event_spec *spec)
{
	return !spec->pmu &&
	       (spec->attr.type == EVENT_HARDWARE || spec->attr.type == EVENT_HW_CACHE || spec->attr.type == EVENT_RAW);
}

/* A core PMU is called cpu, or has the list of its cores in "cpus". */
static bool has_core_pmu(const struct kernel_seam *kernel)
{
	struct name_list names = {0};
	bool found = false;
	const char *devices = "/sys/bus/event_source/devices";
	if (kernel_names(kernel, &names, NULL, "%s", devices) != TALLY_OK)
		return true; /* no sysfs: nothing is known */
	for (size_t i = 0; i < names.len && !found; i++)
		found = strcmp(names.items[i], "cpu") == 0 || kernel_has(kernel, "%s/%s/cpus", devices, names.items[i]);
	name_list_deinit(&names);
	return found;
}

static bool file_has(const struct kernel_seam *kernel, const char *path, const char *word)
{
	char *text;
	if (kernel_text(kernel, &text, NULL, "%s", path) != TALLY_OK)
		return false;
	bool found = strstr(text, word) != NULL;
	free(text);
	return found;
}

bool machine_is_virtual(const struct kernel_seam *kernel)
{
	return file_has(kernel, "/proc/cpuinfo", " hypervisor") || kernel_has(kernel, "/sys/hypervisor/type") ||
	       kernel_has(kernel, "/proc/device-tree/hypervisor") ||
	       file_has(kernel, "/sys/class/dmi/id/sys_vendor", "QEMU");
}

static uint64_t status_number(const struct kernel_seam *kernel, const char *field, int base)
{
	char *text;
	uint64_t value = 0;
	if (kernel_text(kernel, &text, NULL, "/proc/self/status") != TALLY_OK)
		return 0;
	char *line = strstr(text, field);
	if (line)
		value = strtoull(line + strlen(field), NULL, base);
	free(text);
	return value;
}

static bool has_capability(const struct kernel_seam *kernel, unsigned capability)
{
	return (status_number(kernel, "\nCapEff:", 16) >> capability & 1) != 0;
}

enum refusal refusal_of(const struct kernel_seam *kernel, const struct event_spec *spec, int errnum)
{
	switch (errnum) {
	case EACCES:
	case EPERM:
		return REFUSAL_PERMISSION;
	case EMFILE:
	case ENFILE:
		return REFUSAL_FDS;
	case ENOMEM:
		return REFUSAL_MEMORY;
	case EBUSY:
	case ENOSPC:
		return REFUSAL_BUSY;
	case ESRCH:
		return REFUSAL_GONE;
	case E2BIG:
		return REFUSAL_OLD_KERNEL;
	case ENOENT:
	case ENODEV:
	case ENXIO:
	case EOPNOTSUPP:
		return REFUSAL_NO_HARDWARE;
	case EINVAL:
		return is_hardware(spec) && !has_core_pmu(kernel) ? REFUSAL_NO_HARDWARE : REFUSAL_OLD_KERNEL;
	default:
		return REFUSAL_OTHER;
	}
}

/* The highest perf_event_paranoid at which an unprivileged user may do this; 3 and above (distributions) forbid all. */
static int paranoid_needed(const struct event_spec *spec, pid_t pid, int cpu)
{
	if (spec->attr.type == EVENT_TRACEPOINT && (spec->attr.sample_type & SAMPLE_RAW))
		return -1;
	if (pid == -1 && cpu >= 0)
		return 0;
	return ATTR_HAS(&spec->attr, EXCLUDE_KERNEL) ? 2 : 1;
}

static void permission_reason(const struct kernel_seam *kernel, const struct event_spec *spec, pid_t pid, int cpu,
	int errnum, struct text *reason)
{
	int64_t paranoid = kernel_number(kernel, 2, "/proc/sys/kernel/perf_event_paranoid");
	int needed = paranoid_needed(spec, pid, cpu);
	bool is_capable = has_capability(kernel, CAPABILITY_PERFMON) || has_capability(kernel, CAPABILITY_SYS_ADMIN);
	if (!is_capable && paranoid > needed) {
		const char *what = needed == 0	 ? "measuring all processes of a CPU"
				   : needed == 1 ? "measuring kernel mode"
						 : "this event";
		text_printf(reason,
			"perf_event_paranoid is %lld and %s needs %d or less: run as root, give CAP_PERFMON, or "
			"'sudo sysctl kernel.perf_event_paranoid=%d'",
			(long long)paranoid, what, needed, needed);
		if (needed == 1)
			text_str(reason, "; user mode alone (modifier :u) is allowed");
	} else if (errnum == EPERM && status_number(kernel, "\nSeccomp:", 10) == 2) {
		text_str(reason,
			"a seccomp filter (a container's, most likely) forbids perf_event_open: allow it in the "
			"container's seccomp profile and add the capability PERFMON");
	} else if (errnum == EPERM && is_capable && spec->attr.type == EVENT_TRACEPOINT) {
		text_str(reason,
			"the kernel keeps this tracepoint from events of this kind, whatever one's privileges "
			"(sampling "
			"irq_work would raise irq_work, and ftrace:function would trace its own tracing): leave it out "
			"of -e");
	} else if (file_has(kernel, "/sys/kernel/security/lockdown", "[confidentiality]")) {
		text_str(reason, "kernel lockdown (confidentiality) forbids it: boot with lockdown=integrity or none");
	} else if (pid > 0 && !has_capability(kernel, CAPABILITY_SYS_PTRACE)) {
		text_printf(reason,
			"process %d belongs to another user or is not dumpable: run as its user or root, or give "
			"CAP_PERFMON "
			"and CAP_SYS_PTRACE",
			(int)pid);
	} else {
		text_str(reason,
			"a security module or policy forbids perf_event_open; its log (dmesg, auditd) names the rule");
	}
}

static void hardware_reason(const struct kernel_seam *kernel, const struct event_spec *spec, struct text *reason)
{
	if (is_hardware(spec) && !has_core_pmu(kernel)) {
		text_str(reason,
			machine_is_virtual(kernel)
				? "no PMU in this virtual machine (its host must give it one); software events such as "
				  "cpu-clock and page-faults work"
				: "the kernel found no PMU on this machine ('dmesg | grep -i perf' says why); software "
				  "events such as cpu-clock and page-faults work");
	} else if (spec->pmu && spec->is_uncore) {
		text_printf(reason, "PMU %s counts whole CPUs (%s), not processes, and takes no modifiers: use -a",
			spec->pmu, spec->cpus ? spec->cpus : "any");
	} else if (spec->pmu) {
		text_printf(reason, "PMU %s cannot count this event with these modifiers, or not for one process",
			spec->pmu);
	} else if (is_hardware(spec)) {
		text_str(reason, "this CPU's PMU has no such event, or not with these modifiers");
	} else {
		text_str(reason, "this kernel does not have the event, or not with these modifiers");
	}
}

static void fds_reason(int errnum, struct text *reason)
{
	struct rlimit limit;
	if (errnum == ENFILE)
		text_str(reason, "the system's limit of open files is reached: raise 'sysctl fs.file-max'");
	else if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
		text_printf(reason,
			"too many open files: the limit is %llu; raise it with 'ulimit -n', or measure fewer "
			"events, CPUs or threads",
			(unsigned long long)limit.rlim_cur);
	else
		text_str(reason, "too many open files: raise the limit with 'ulimit -n'");
}

void refusal_reason(const struct kernel_seam *kernel, const struct event_spec *spec, pid_t pid, int cpu, int errnum,
	struct text *reason)
{
	char detail[128];
	switch (refusal_of(kernel, spec, errnum)) {
	case REFUSAL_NO_HARDWARE:
		hardware_reason(kernel, spec, reason);
		break;
	case REFUSAL_PERMISSION:
		permission_reason(kernel, spec, pid, cpu, errnum, reason);
		break;
	case REFUSAL_FDS:
		fds_reason(errnum, reason);
		break;
	case REFUSAL_MEMORY:
		text_str(reason, "the kernel is out of memory for it");
		break;
	case REFUSAL_BUSY:
		text_str(reason, spec->attr.type == EVENT_BREAKPOINT
					 ? "all breakpoint registers of the CPU are in use"
					 : "the PMU is held by another user (another profiler, or the NMI watchdog)");
		break;
	case REFUSAL_GONE:
		text_printf(reason, "thread %d has ended", (int)pid);
		break;
	case REFUSAL_OLD_KERNEL:
		text_str(reason, "this kernel or PMU does not take the combination of event, modifiers and target");
		break;
	case REFUSAL_OTHER:
		if (errnum == ENOSYS)
			text_str(reason, "this kernel is built without perf events, or a sandbox hides them");
		else
			text_str(reason, strerror_r(errnum, detail, sizeof(detail)));
		break;
	}
}

enum tally_status refusal_explain(const struct kernel_seam *kernel, const struct event_spec *spec, pid_t pid, int cpu,
	int errnum, struct tally_error *err)
{
	static const enum tally_status statuses[] = {
		[REFUSAL_NO_HARDWARE] = TALLY_UNSUPPORTED,
		[REFUSAL_PERMISSION] = TALLY_DENIED,
		[REFUSAL_FDS] = TALLY_LIMIT,
		[REFUSAL_MEMORY] = TALLY_NOMEM,
		[REFUSAL_BUSY] = TALLY_UNSUPPORTED,
		[REFUSAL_GONE] = TALLY_NOT_FOUND,
		[REFUSAL_OLD_KERNEL] = TALLY_UNSUPPORTED,
		[REFUSAL_OTHER] = TALLY_IO,
	};
	struct text reason = {0};
	refusal_reason(kernel, spec, pid, cpu, errnum, &reason);
	enum tally_status status = error_set(err, statuses[refusal_of(kernel, spec, errnum)], "cannot open '%s': %.*s",
		spec->name, (int)reason.len, reason.data ? reason.data : "");
	text_deinit(&reason);
	if (err)
		err->errnum = errnum;
	return status;
}
