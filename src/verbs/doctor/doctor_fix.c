/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/doctor/doctor_report.h"

#define FIX_TRACEFS "/sys/kernel/tracing"

/* Returns the kind of fix that suits the environment of this process. */
static enum doctor_fix fix_usual(const struct doctor_report *report)
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

static bool fix_is_in_the_way(const struct doctor_report *report, const char *name)
{
	for (size_t i = 0; i < report->gates->items.len; i++) {
		const struct machine_gate *gate = &report->gates->items.items[i];
		if (gate->is_in_the_way && str_equal(str_from(gate->name), str_from(name)))
			return true;
	}
	return false;
}

/* Prints the kernel settings that have to be changed, and what each of them exposes. */
static void fix_sysctl(const struct doctor_report *report, struct text *out)
{
	size_t count = 0;
	for (size_t i = 0; i < report->gates->items.len; i++) {
		const struct machine_gate *gate = &report->gates->items.items[i];
		bool is_repeated = false;
		for (size_t k = 0; gate->sysctl && k < i; k++) {
			const struct machine_gate *before = &report->gates->items.items[k];
			is_repeated |= before->sysctl && str_equal(str_from(before->sysctl), str_from(gate->sysctl));
		}
		if (!gate->sysctl || is_repeated)
			continue;
		if (count++ == 0)
			text_printf(out, "# As /etc/sysctl.d/90-tally.conf%s; then 'sudo sysctl --system' reads it.\n",
				report->gates->where == SURROUNDINGS_HOST ? "" : " of the host");
		if (gate->exposes)
			text_printf(out, "# Then %s.\n", gate->exposes);
		text_printf(out, "%s = %lld\n", gate->sysctl, (long long)gate->sysctl_value);
	}
	if (count == 0)
		text_str(out, "# No sysctl is in the way of this user here.\n");
}

static void fix_setcap(const struct doctor_report *report, struct text *out)
{
	struct text command = {0};
	machine_gates_put_setcap(report->gates, &command);
	text_str(out, "# Whoever may run this file can then see what all processes execute: keep it to a group with "
		      "chgrp and chmod 750.\n");
	if (command.len > 2)
		/* The quotation marks around the command are removed. */
		text_bytes(out, command.data + 1, command.len - 2);
	out->failed |= command.failed;
	text_char(out, '\n');
	text_deinit(&command);
}

/* Prints the required capabilities. If the process lacks none of them and seccomp blocks perf_event_open nevertheless,
 * CAP_SYS_ADMIN is added: older default profiles of container engines allow the system call only with it. */
static void fix_put_capabilities(
	const struct doctor_report *report, const char *before, const char *between, struct text *out)
{
	bool wants_admin = fix_is_in_the_way(report, "seccomp") && !report->gates->lacks_capabilities;
	machine_gates_put_capabilities(report->gates, before, between, out);
	if (wants_admin) {
		text_str(out, between);
		text_str(out, before);
		text_str(out, "SYS_ADMIN");
	}
}

static void fix_container(const struct doctor_report *report, enum doctor_fix fix, struct text *out)
{
	bool is_docker = fix == DOCTOR_FIX_DOCKER;
	text_printf(out,
		"# Programs in the container can then see what all processes of the machine execute. Be root in it%s.\n"
		"# %s\n",
		is_docker ? "" : ", and on the host: rootless containers get no such capabilities",
		is_docker ? "Before Docker 23.0, its seccomp profile wants --cap-add SYS_ADMIN, too."
			  : "Seccomp profiles of before the end of 2025 want --cap-add SYS_ADMIN, too.");
	text_str(out, is_docker ? "docker run" : "sudo podman run");
	fix_put_capabilities(report, " --cap-add ", "", out);
	if (fix_is_in_the_way(report, "user namespace"))
		text_str(out, " --userns=host");
	if (fix_is_in_the_way(report, "container"))
		text_str(out, " --pid=host");
	if (fix_is_in_the_way(report, "tracefs"))
		text_str(out, " -v " FIX_TRACEFS ":" FIX_TRACEFS ":ro");
	text_str(out, " IMAGE\n");
}

static void fix_kubernetes(const struct doctor_report *report, struct text *out)
{
	bool wants_tracefs = fix_is_in_the_way(report, "tracefs");
	text_str(out,
		"# In the pod. Programs in the container can then see what all processes of the node execute.\n"
		"# Older runtimes' seccomp profiles want SYS_ADMIN, too; capabilities are in effect for root only.\n"
		"spec:\n");
	if (fix_is_in_the_way(report, "container"))
		text_str(out, "  hostPID: true\n");
	if (fix_is_in_the_way(report, "user namespace"))
		text_str(out, "  hostUsers: true\n");
	text_str(out, "  containers:\n"
		      "  - name: NAME\n"
		      "    securityContext:\n"
		      "      runAsUser: 0\n"
		      "      capabilities:\n"
		      "        add: [");
	fix_put_capabilities(report, "", ", ", out);
	text_str(out, "]\n");
	if (wants_tracefs)
		text_str(out, "    volumeMounts:\n"
			      "    - {name: tracefs, mountPath: " FIX_TRACEFS ", readOnly: true}\n"
			      "  volumes:\n"
			      "  - {name: tracefs, hostPath: {path: " FIX_TRACEFS "}}\n");
}

static void fix_systemd(const struct doctor_report *report, struct text *out)
{
	text_str(out,
		"# As a drop-in of the unit that runs tally ('sudo systemctl edit UNIT'), which can then see what all "
		"processes execute.\n"
		"# If the unit has CapabilityBoundingSet=, that has to name these capabilities, too.\n"
		"[Service]\n"
		"AmbientCapabilities=");
	machine_gates_put_capabilities(report->gates, "CAP_", " ", out);
	text_str(out, "\nLimitMEMLOCK=infinity\n");
	if (fix_is_in_the_way(report, "seccomp"))
		text_str(out, "SystemCallFilter=perf_event_open bpf\n");
	if (fix_is_in_the_way(report, "user namespace"))
		text_str(out, "PrivateUsers=no\n");
	if (fix_is_in_the_way(report, "/proc"))
		text_str(out, "ProtectProc=default\n");
	/* ProtectKernelTunables hides /proc/kallsyms and tracefs, and ProtectKernelLogs removes CAP_SYSLOG. */
	if (fix_is_in_the_way(report, "kernel.kptr_restrict") || fix_is_in_the_way(report, "tracefs"))
		text_str(out, "ProtectKernelTunables=no\nProtectKernelLogs=no\n");
}

/* A missing PMU in a virtual machine can be fixed only on the host. */
static bool fix_is_needed(const struct doctor_report *report)
{
	for (size_t i = 0; i < report->gates->items.len; i++)
		if (report->gates->items.items[i].is_in_the_way &&
			!str_equal(str_from(report->gates->items.items[i].name), STR("hypervisor")))
			return true;
	return false;
}

void doctor_fix(const struct doctor_report *report, enum doctor_fix fix, struct text *out)
{
	if (fix == DOCTOR_FIX_NONE && !fix_is_needed(report)) {
		text_str(out, "# No setting is in the way of this user here: nothing has to be changed.\n");
		return;
	}
	fix = fix == DOCTOR_FIX_NONE ? fix_usual(report) : fix;
	switch (fix) {
	case DOCTOR_FIX_SETCAP:
		fix_setcap(report, out);
		break;
	case DOCTOR_FIX_DOCKER:
	case DOCTOR_FIX_PODMAN:
		fix_container(report, fix, out);
		break;
	case DOCTOR_FIX_KUBERNETES:
		fix_kubernetes(report, out);
		break;
	case DOCTOR_FIX_SYSTEMD:
		fix_systemd(report, out);
		break;
	case DOCTOR_FIX_NONE:
	case DOCTOR_FIX_SYSCTL:
		fix_sysctl(report, out);
		break;
	}
}
