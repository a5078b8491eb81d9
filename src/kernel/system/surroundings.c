/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/system/surroundings.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "kernel/system/kernel_files.h"

enum surroundings surroundings_find(const struct kernel_seam *kernel)
{
	static const struct {
		const char *word;
		enum surroundings where;
	} cgroups[] = {
		{"kubepods", SURROUNDINGS_KUBERNETES},
		{"libpod", SURROUNDINGS_PODMAN},
		{"docker", SURROUNDINGS_DOCKER},
		{"/lxc", SURROUNDINGS_CONTAINER},
		{"machine.slice/machine-", SURROUNDINGS_CONTAINER},
	};
	enum surroundings where = SURROUNDINGS_HOST;
	if (getenv("KUBERNETES_SERVICE_HOST"))
		return SURROUNDINGS_KUBERNETES;
	char *text = NULL;
	if (kernel_text(kernel, &text, NULL, "/proc/1/cgroup") == TALLY_OK) {
		for (size_t i = 0; i < ARRAY_LEN(cgroups) && where == SURROUNDINGS_HOST; i++)
			where = strstr(text, cgroups[i].word) ? cgroups[i].where : SURROUNDINGS_HOST;
		free(text);
	}
	if (where == SURROUNDINGS_KUBERNETES)
		return where; /* The engine that runs the containers is irrelevant. */
	if (kernel_has(kernel, "/run/.containerenv"))
		return SURROUNDINGS_PODMAN;
	return kernel_has(kernel, "/.dockerenv") ? SURROUNDINGS_DOCKER : where;
}

void remedy_capability(enum surroundings where, const char *capability, struct text *text)
{
	switch (where) {
	case SURROUNDINGS_HOST:
		text_printf(text, "run as root, or give the program CAP_%s ('setcap')", capability);
		break;
	case SURROUNDINGS_DOCKER:
		text_printf(text, "give the container CAP_%s ('docker run --cap-add %s') and be root in it", capability,
			capability);
		break;
	case SURROUNDINGS_PODMAN:
		text_printf(text, "give the container CAP_%s ('sudo podman run --cap-add %s') and be root in it",
			capability, capability);
		break;
	case SURROUNDINGS_KUBERNETES:
		text_printf(text,
			"give the pod's container CAP_%s (securityContext: {capabilities: {add: [%s]}}) and be root in "
			"it",
			capability, capability);
		break;
	case SURROUNDINGS_CONTAINER:
		text_printf(text, "give the container CAP_%s and be root in it", capability);
		break;
	}
}

void remedy_user_namespace(enum surroundings where, const char *capability, struct text *text)
{
	text_str(text, "the capabilities of this user namespace do not count for the machine: ");
	switch (where) {
	case SURROUNDINGS_HOST:
		text_str(text, "run outside of it as root");
		break;
	case SURROUNDINGS_DOCKER:
		text_printf(text,
			"let the system's daemon run the container, in no user namespace ('sudo docker run "
			"--userns=host --cap-add %s')",
			capability);
		break;
	case SURROUNDINGS_PODMAN:
		text_printf(text, "run the container as root of the host ('sudo podman run --cap-add %s')", capability);
		break;
	case SURROUNDINGS_KUBERNETES:
		text_printf(text, "run the pod with hostUsers: true and securityContext: {capabilities: {add: [%s]}}",
			capability);
		break;
	case SURROUNDINGS_CONTAINER:
		text_printf(text, "run the container privileged, in no user namespace, with CAP_%s", capability);
		break;
	}
}

/*
 * The default seccomp profiles changed: those of Docker, containerd and CRI-O allow the call with CAP_SYS_ADMIN only,
 * and later also with CAP_PERFMON (Docker 23.0, containerd 1.7); Podman's required both until the end of 2025.
 */
void remedy_seccomp(enum surroundings where, bool has_perfmon, struct text *text)
{
	switch (where) {
	case SURROUNDINGS_HOST:
		text_str(text, "allow the call where the filter is set (in a systemd unit: "
			       "SystemCallFilter=perf_event_open)");
		return;
	case SURROUNDINGS_DOCKER:
		text_str(text, has_perfmon
				       ? "CAP_PERFMON is not enough for its profile: 'docker run --cap-add SYS_ADMIN'"
				       : "'docker run --cap-add PERFMON' (before Docker 23.0: --cap-add SYS_ADMIN)");
		break;
	case SURROUNDINGS_PODMAN:
		text_str(text, has_perfmon ? "CAP_PERFMON is not enough for its profile: 'sudo podman run --cap-add "
					     "PERFMON,SYS_ADMIN'"
					   : "'sudo podman run --cap-add PERFMON' (with a profile from before the end "
					     "of 2025: --cap-add PERFMON,SYS_ADMIN)");
		break;
	case SURROUNDINGS_KUBERNETES:
		text_str(text, has_perfmon ? "CAP_PERFMON is not enough for its profile: securityContext: "
					     "{capabilities: {add: [PERFMON, SYS_ADMIN]}}, or a Localhost "
					     "seccompProfile that allows it"
					   : "securityContext: {capabilities: {add: [PERFMON]}} (older runtimes' "
					     "default profiles want SYS_ADMIN too), or a Localhost seccompProfile "
					     "that allows it");
		return;
	case SURROUNDINGS_CONTAINER:
		text_str(text, has_perfmon ? "allow it in the container's seccomp profile"
					   : "allow it in the container's seccomp profile and add the capability "
					     "PERFMON");
		return;
	}
	text_str(text, ", or a profile of yours that allows it: --security-opt seccomp=FILE");
}

void remedy_sysctl(enum surroundings where, const char *name, int64_t value, struct text *text)
{
	text_printf(text, "'sudo sysctl %s=%lld'", name, (long long)value);
	if (where != SURROUNDINGS_HOST)
		text_str(text, where == SURROUNDINGS_KUBERNETES ? " on the node" : " on the host");
}

void remedy_files(enum surroundings where, uint64_t needed, struct text *text)
{
	text_printf(text, "'ulimit -n %llu'", (unsigned long long)needed);
	switch (where) {
	case SURROUNDINGS_HOST:
	case SURROUNDINGS_CONTAINER:
		break;
	case SURROUNDINGS_DOCKER:
		text_printf(text, " or 'docker run --ulimit nofile=%llu'", (unsigned long long)needed);
		break;
	case SURROUNDINGS_PODMAN:
		text_printf(text, " or 'podman run --ulimit nofile=%llu'", (unsigned long long)needed);
		break;
	case SURROUNDINGS_KUBERNETES:
		text_str(text, " or LimitNOFILE of the node's container runtime");
		break;
	}
}

/*
 * tracefs files are readable for their owner and group only (since Linux 5.16), so setting the mode alone is not
 * sufficient. The /sys of a container has no tracefs, and mounting it there requires CAP_SYS_ADMIN.
 */
void remedy_tracefs(enum surroundings where, const char *directory, struct text *text)
{
	bool is_mounted = directory && *directory;
	switch (where) {
	case SURROUNDINGS_DOCKER:
	case SURROUNDINGS_PODMAN:
		if (is_mounted)
			break;
		text_printf(text, "'%s run -v /sys/kernel/tracing:/sys/kernel/tracing:ro', and be root in it",
			where == SURROUNDINGS_DOCKER ? "docker" : "sudo podman");
		return;
	case SURROUNDINGS_KUBERNETES:
		if (is_mounted)
			break;
		text_str(text,
			"mount the node's /sys/kernel/tracing into the pod (a hostPath volume), and be root in it");
		return;
	case SURROUNDINGS_HOST:
	case SURROUNDINGS_CONTAINER:
		break;
	}
	if (!is_mounted)
		text_str(text, "'sudo mount -t tracefs nodev /sys/kernel/tracing'");
	else
		text_printf(text, "run as root, or 'sudo mount -o remount,mode=755,gid=$(id -g) %s'", directory);
}

void remedy_locked_memory(enum surroundings where, struct text *text)
{
	switch (where) {
	case SURROUNDINGS_HOST:
		text_str(text, "'ulimit -l'");
		break;
	case SURROUNDINGS_DOCKER:
		text_str(text, "'docker run --cap-add IPC_LOCK' (or --ulimit memlock=-1)");
		break;
	case SURROUNDINGS_PODMAN:
		text_str(text, "'podman run --cap-add IPC_LOCK' (or --ulimit memlock=-1)");
		break;
	case SURROUNDINGS_KUBERNETES:
		text_str(text, "securityContext: {capabilities: {add: [IPC_LOCK]}}");
		break;
	case SURROUNDINGS_CONTAINER:
		text_str(text, "the container's limit of locked memory");
		break;
	}
	text_str(text, " or 'sysctl kernel.perf_event_mlock_kb=N'");
	if (where != SURROUNDINGS_HOST)
		text_str(text, where == SURROUNDINGS_KUBERNETES ? " on the node" : " on the host");
}
