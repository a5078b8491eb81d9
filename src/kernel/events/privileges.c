/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/events/privileges.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "kernel/events/event_gates.h"
#include "kernel/system/capabilities.h"
#include "kernel/system/kernel_files.h"

#define UNKNOWN_OPEN_FLAG (1UL << 31)

/* A capability that is held in a nested user namespace has no effect, and the remedy says so. */
static void remedy_held_capability(
	const struct kernel_seam *kernel, enum surroundings where, const char *capability, struct text *reason)
{
	if (user_namespace_is_nested(kernel))
		remedy_user_namespace(where, capability, reason);
	else
		remedy_capability(where, capability, reason);
}

/* Kernels without CAP_PERFMON require CAP_SYS_ADMIN. */
static void remedy_perfmon(const struct kernel_seam *kernel, enum surroundings where, struct text *reason)
{
	bool is_known =
		kernel_number(kernel, CAPABILITY_PERFMON, "/proc/sys/kernel/cap_last_cap") >= CAPABILITY_PERFMON;
	remedy_held_capability(kernel, where, is_known ? "PERFMON" : "SYS_ADMIN", reason);
}

bool may_measure_all(const struct kernel_seam *kernel)
{
	return capability_is_held(kernel, CAPABILITY_PERFMON) || capability_is_held(kernel, CAPABILITY_SYS_ADMIN);
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
		return event_is_hardware(spec) && !kernel_has_core_pmu(kernel) ? REFUSAL_NO_HARDWARE
									       : REFUSAL_OLD_KERNEL;
	default:
		return REFUSAL_OTHER;
	}
}

/*
 * True if a seccomp filter refuses the call: for flags that no kernel knows the kernel returns EINVAL before it checks
 * anything else, but a filter returns the same error for every call. refused_with is the error of the event in
 * question; 0 means any.
 */
static bool seccomp_answers(const struct kernel_seam *kernel, int refused_with)
{
	if (own_status_number(kernel, "\nSeccomp:", 10) != 2)
		return false;
	if (!kernel->perf_event_open)
		return true;
	struct perf_attr attr = {.type = EVENT_SOFTWARE};
	int fd = kernel->perf_event_open(kernel->context, &attr, 0, -1, -1, UNKNOWN_OPEN_FLAG);
	int errnum = errno;
	if (fd >= 0)
		kernel->close(kernel->context, fd);
	return fd < 0 && (refused_with ? errnum == refused_with : errnum != EINVAL);
}

bool seccomp_forbids_events(const struct kernel_seam *kernel)
{
	return seccomp_answers(kernel, 0);
}

static void remedy_filter(const struct kernel_seam *kernel, enum surroundings where, struct text *reason)
{
	remedy_seccomp(where, (own_status_number(kernel, "\nCapEff:", 16) >> CAPABILITY_PERFMON & 1) != 0, reason);
}

/* Highest perf_event_paranoid at which an unprivileged user may do this; 3 and above (distributions) forbid
 * everything. */
static int paranoid_needed(const struct event_request *request)
{
	const struct event_spec *spec = request->spec;
	if (spec->attr.type == EVENT_TRACEPOINT && (spec->attr.sample_type & SAMPLE_RAW))
		return -1;
	if (spec->cgroup || (request->pid == -1 && request->cpu >= 0))
		return 0;
	return ATTR_HAS(&spec->attr, EXCLUDE_KERNEL) && !(spec->attr.sample_type & SAMPLE_PHYS_ADDR) ? 2 : 1;
}

static void paranoid_gate(
	const struct event_request *request, enum surroundings where, int64_t paranoid, struct text *reason)
{
	int needed = paranoid_needed(request);
	const char *what = request->spec->cgroup ? "measuring a cgroup"
			   : needed == -1	 ? "reading a tracepoint's fields"
			   : needed == 0	 ? "measuring all processes of a CPU"
			   : needed == 1	 ? "measuring kernel mode"
						 : "this event";
	text_printf(reason, "perf_event_paranoid is %lld and %s needs %d or less: ", (long long)paranoid, what, needed);
	remedy_perfmon(request->kernel, where, reason);
	text_str(reason, ", or ");
	remedy_sysctl(where, "kernel.perf_event_paranoid", needed, reason);
	if (needed == 1 && !event_happens_in_kernel(request->spec))
		text_str(reason, "; user mode alone (modifier :u) is allowed");
}

/* Explains a refusal that no perf_event_paranoid lifts; false if the event has no such property. */
static bool capability_gate(const struct event_request *request, enum surroundings where, struct text *reason)
{
	if (event_is_probe(request->spec)) {
		text_printf(reason, "%ss need a capability, whatever perf_event_paranoid is: ", request->spec->pmu);
		remedy_perfmon(request->kernel, where, reason);
	} else if (request->spec->attr.type == EVENT_BREAKPOINT && request->spec->attr.config1 >> 63 != 0) {
		text_str(reason, "a breakpoint on an address of the kernel needs a capability: ");
		remedy_held_capability(request->kernel, where, "SYS_ADMIN", reason);
	} else {
		return false;
	}
	return true;
}

/* Explains a refusal by the kernel, a PMU or a policy that does not depend on perf_event_paranoid. */
static void policy_gate(
	const struct event_request *request, bool is_capable, enum surroundings where, struct text *reason)
{
	const struct kernel_seam *kernel = request->kernel;
	const struct event_spec *spec = request->spec;
	if (request->errnum == EPERM && is_capable && spec->attr.type == EVENT_TRACEPOINT) {
		text_str(reason, "the kernel does not allow events of this kind on this tracepoint, whatever the "
				 "privileges (measuring it would trigger it): leave it out of -e");
	} else if (kernel_file_has(kernel, "/sys/kernel/security/lockdown", "[confidentiality]")) {
		text_str(reason, "kernel lockdown (confidentiality) forbids it: boot with lockdown=integrity or none");
	} else if (request->pid > 0 && !capability_is_held(kernel, CAPABILITY_SYS_PTRACE)) {
		text_printf(reason, "process %d belongs to another user or is not dumpable: run as its user, or ",
			(int)request->pid);
		remedy_perfmon(request->kernel, where, reason);
		text_str(reason, ", and CAP_SYS_PTRACE too");
	} else if (request->errnum == EPERM && (spec->pmu || event_is_hardware(spec)) && spec->has_exclude) {
		text_str(reason, "this PMU cannot exclude a mode (modifiers u, k, h): omit the modifier");
	} else {
		char *modules = NULL;
		bool is_known = kernel_text(kernel, &modules, NULL, "/sys/kernel/security/lsm") == TALLY_OK;
		text_printf(reason,
			"a security module%s%.100s%s or policy forbids perf_event_open; its log (dmesg, auditd) names "
			"the rule",
			is_known ? " (" : "", is_known ? modules : "", is_known ? ")" : "");
		free(modules);
	}
}

static void gate_permission(const struct event_request *request, struct text *reason)
{
	const struct kernel_seam *kernel = request->kernel;
	enum surroundings where = surroundings_find(kernel);
	int64_t paranoid = kernel_number(kernel, 2, "/proc/sys/kernel/perf_event_paranoid");
	bool is_capable = may_measure_all(kernel);
	if (seccomp_answers(kernel, request->errnum)) {
		text_str(reason, "a seccomp filter (a container's, most likely) forbids perf_event_open: ");
		remedy_filter(kernel, where, reason);
	} else if (!is_capable && capability_gate(request, where, reason)) {
		return;
	} else if (!is_capable && paranoid > paranoid_needed(request)) {
		paranoid_gate(request, where, paranoid, reason);
	} else {
		policy_gate(request, is_capable, where, reason);
	}
}

void refusal_reason(const struct kernel_seam *kernel, const struct event_spec *spec, pid_t pid, int cpu, int errnum,
	struct text *reason)
{
	const struct event_request request = {.kernel = kernel, .spec = spec, .pid = pid, .cpu = cpu, .errnum = errnum};
	if (kernel->explain && kernel->explain(kernel->context, pid, errnum, reason))
		return;
	switch (refusal_of(kernel, spec, errnum)) {
	case REFUSAL_NO_HARDWARE:
		gate_hardware(&request, reason);
		break;
	case REFUSAL_PERMISSION:
		gate_permission(&request, reason);
		break;
	case REFUSAL_FDS:
		gate_files(&request, reason);
		break;
	case REFUSAL_MEMORY:
		text_str(reason, "the kernel is out of memory for it: measure fewer events, CPUs or threads");
		break;
	case REFUSAL_BUSY:
		gate_busy(&request, reason);
		break;
	case REFUSAL_GONE:
		text_printf(reason, "thread %d has ended", (int)pid);
		break;
	case REFUSAL_OLD_KERNEL:
		gate_combination(&request, reason);
		break;
	case REFUSAL_OTHER:
		if (errnum == ENOSYS && seccomp_answers(kernel, errnum)) {
			text_str(reason, "a seccomp filter hides perf_event_open: ");
			remedy_filter(kernel, surroundings_find(kernel), reason);
		} else {
			gate_other(&request, reason);
		}
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
	enum refusal refusal = refusal_of(kernel, spec, errnum);
	refusal_reason(kernel, spec, pid, cpu, errnum, &reason);
	enum tally_status status = error_set(err, statuses[refusal], "cannot open '%s': %.*s%s", spec->name,
		(int)reason.len, reason.data ? reason.data : "",
		refusal == REFUSAL_PERMISSION || errnum == ENOSYS ? "; 'tally doctor' shows what else is in the way"
								  : "");
	text_deinit(&reason);
	if (err)
		err->errnum = errnum;
	return status;
}
