/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/doctor/doctor_plan.h"

#include "arch/arch.h"
#include "kernel/recording/record_attrs.h"

static const char *plan_samples(const struct machine_checks *checks)
{
	const struct arch *arch = record_host_arch();
	if (!machine_checks_allow(checks, CHECK_SOFTWARE))
		return arch && arch->general_registers
			       ? "record, flamegraph and top -p sample your own programs without events, by timers of "
				 "CPU time and ptrace (--rung timer)"
			       : "record, top and flamegraph cannot take samples: the kernel allows no event";
	if (!machine_checks_allow(checks, CHECK_RING))
		return "record, top and flamegraph cannot take samples: no ring buffer can be mapped";
	if (machine_checks_allow(checks, CHECK_HARDWARE))
		return machine_checks_allow(checks, CHECK_PRECISE)
			       ? "record, top and flamegraph sample cycles, and with cycles:pp the exact instruction"
			       : "record, top and flamegraph sample cycles; a sample can be some instructions late";
	return "record, top and flamegraph sample cpu-clock, a timer, in place of cycles: shares of time are right, "
	       "and a sample in kernel mode can be late, where interrupts were disabled";
}

static const char *plan_scope(const struct machine_checks *checks)
{
	bool has_kernel = machine_checks_allow(checks, CHECK_KERNEL_MODE);
	if (!machine_checks_allow(checks, CHECK_SOFTWARE))
		return "user mode of your own programs, without events; kernel mode, hardware events and -a are "
		       "refused";
	if (machine_checks_allow(checks, CHECK_ALL_PROCESSES))
		return has_kernel ? "user and kernel mode, your own programs and all processes (-a)"
				  : "user mode, your own programs and all processes (-a)";
	return has_kernel ? "user and kernel mode of your own programs; -a is refused"
			  : "user mode of your own programs (modifier :u); kernel mode and -a are refused";
}

static const char *plan_call_graphs(const struct machine_checks *checks)
{
	const struct arch *arch = record_host_arch();
	if (!machine_checks_allow(checks, CHECK_SOFTWARE))
		return "--call-graph auto copies stacks and unwinds them while the program runs (dwarf); -g alone "
		       "follows frame pointers";
	if (machine_checks_allow(checks, CHECK_BPF) && arch)
		return "--call-graph auto unwinds stacks in the kernel, by a BPF program; Python functions are named";
	if (arch && arch->dwarf_count > 0)
		return "--call-graph auto copies stacks and unwinds them while the program runs (dwarf); -g alone "
		       "follows frame pointers";
	return "-g follows frame pointers, which programs must have been compiled with (-fno-omit-frame-pointer)";
}

static const char *plan_waits(const struct machine_checks *checks)
{
	if (machine_checks_allow(checks, CHECK_BPF) && machine_checks_allow(checks, CHECK_TRACEPOINT))
		return "record --wall measures how long and where threads wait, by BPF programs";
	if (machine_checks_allow(checks, CHECK_SOFTWARE) && machine_checks_allow(checks, CHECK_RING))
		return "record --wall measures waits by context switches, without who woke a thread";
	return "waits cannot be measured";
}

static const char *plan_counts(const struct machine_checks *checks)
{
	if (!machine_checks_allow(checks, CHECK_SOFTWARE))
		return "stat counts the time, page faults and context switches of your own programs by getrusage and "
		       "/proc, without events";
	if (machine_checks_allow(checks, CHECK_HARDWARE))
		return "stat counts cycles, instructions and branches, and software events";
	return "stat counts software events (task-clock, context-switches, page-faults); hardware events are shown as "
	       "not supported";
}

void doctor_plan_make(const struct machine_checks *checks, struct doctor_plan *plans)
{
	plans[PLAN_SAMPLES] = (struct doctor_plan){"samples", plan_samples(checks)};
	plans[PLAN_SCOPE] = (struct doctor_plan){"scope", plan_scope(checks)};
	plans[PLAN_CALL_GRAPHS] = (struct doctor_plan){"call graphs", plan_call_graphs(checks)};
	plans[PLAN_WAITS] = (struct doctor_plan){"waits", plan_waits(checks)};
	plans[PLAN_COUNTS] = (struct doctor_plan){"counts", plan_counts(checks)};
}

bool doctor_plan_can_measure(const struct machine_checks *checks, const struct target_checks *target)
{
	return machine_checks_allow(checks, CHECK_SOFTWARE) && machine_checks_allow(checks, CHECK_RING) &&
	       (!target || !target->refusal);
}
