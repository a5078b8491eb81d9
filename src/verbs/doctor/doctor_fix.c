/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/doctor/doctor_report.h"

enum doctor_fix doctor_fix_usual(const struct doctor_report *report)
{
	switch (report->gates->where) {
	case SURROUNDINGS_DOCKER:
		return DOCTOR_FIX_DOCKER;
	case SURROUNDINGS_PODMAN:
		return DOCTOR_FIX_PODMAN;
	case SURROUNDINGS_KUBERNETES:
		return DOCTOR_FIX_KUBERNETES;
	case SURROUNDINGS_HOST:
	case SURROUNDINGS_CONTAINER:
		break;
	}
	return DOCTOR_FIX_SYSCTL;
}

void doctor_fix(const struct doctor_report *report, enum doctor_fix fix, struct text *out)
{
	switch (fix) {
	case DOCTOR_FIX_SETCAP:
		text_str(out, "# Whoever may run this file can then see what all processes execute. Run as root:\n"
			      "setcap cap_perfmon,cap_bpf,cap_sys_ptrace,cap_syslog+ep \"$(command -v tally)\"\n");
		break;
	case DOCTOR_FIX_DOCKER:
	case DOCTOR_FIX_PODMAN:
		text_printf(out,
			"# Events, BPF programs, memory of other processes and names of the kernel's functions. Before "
			"Docker 23.0, and "
			"with Podman's profile of before the end of 2025, SYS_ADMIN is needed, too.\n"
			"%s run --cap-add PERFMON --cap-add BPF --cap-add SYS_PTRACE --cap-add SYSLOG ...\n",
			fix == DOCTOR_FIX_DOCKER ? "docker" : "sudo podman");
		break;
	case DOCTOR_FIX_KUBERNETES:
		text_str(out, "# In the pod's container. It also has to be root (runAsUser: 0) for these to be in "
			      "effect; older runtimes'\n"
			      "# seccomp profiles want SYS_ADMIN, too.\n"
			      "securityContext:\n"
			      "  runAsUser: 0\n"
			      "  capabilities:\n"
			      "    add: [PERFMON, BPF, SYS_PTRACE, SYSLOG]\n");
		break;
	case DOCTOR_FIX_NONE:
	case DOCTOR_FIX_SYSCTL:
		text_str(out, "# As /etc/sysctl.d/90-tally.conf, then: sysctl --system\n"
			      "# Every user can then profile the kernel's work for programs of their own (1), and read "
			      "where the kernel's\n"
			      "# code lies in memory (0). With -1, every user can watch all processes.\n"
			      "kernel.perf_event_paranoid = 1\n"
			      "kernel.kptr_restrict = 0\n");
		break;
	}
	for (size_t i = 0; i < report->gates->items.len; i++)
		if (report->gates->items.items[i].is_in_the_way)
			return;
	text_str(out, "# No setting is in the way of this user here: nothing has to be changed.\n");
}
