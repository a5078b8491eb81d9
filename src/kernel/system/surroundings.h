/* SPDX-License-Identifier: Apache-2.0 */
/*
 * surroundings.h - finds out where this process runs (a host, a Docker or Podman container, a Kubernetes pod), and how
 * a capability, a system call or a sysctl is allowed there. It knows nothing about events.
 *
 * Appends to texts of the caller. Any thread (reads the environment).
 *
 *	text_str(&reason, "perf_event_paranoid is 2: ");
 *	remedy_capability(surroundings_find(kernel), "PERFMON", &reason);
 */
#ifndef KERNEL_SYSTEM_SURROUNDINGS_H
#define KERNEL_SYSTEM_SURROUNDINGS_H

#include "base/text.h"
#include "kernel/system/kernel_seam.h"

enum surroundings {
	SURROUNDINGS_HOST,
	SURROUNDINGS_DOCKER,
	SURROUNDINGS_PODMAN,
	SURROUNDINGS_KUBERNETES,
	SURROUNDINGS_CONTAINER, /* some other: LXC, nspawn */
};

/* From KUBERNETES_SERVICE_HOST, /.dockerenv, /run/.containerenv and the names in /proc/1/cgroup. */
enum surroundings surroundings_find(const struct kernel_seam *kernel);
/* The least that gives a capability, named without CAP_: "run as root, or ..." */
void remedy_capability(enum surroundings where, const char *capability, struct text *text);
/* The same for a process in a user namespace of its own, whose capabilities do not count. */
void remedy_user_namespace(enum surroundings where, const char *capability, struct text *text);
/* The least that lets perf_event_open through a seccomp filter; has_perfmon: CAP_PERFMON was not enough for it. */
void remedy_seccomp(enum surroundings where, bool has_perfmon, struct text *text);
/* "'sudo sysctl NAME=VALUE'", with the machine where that has to be done. */
void remedy_sysctl(enum surroundings where, const char *name, int64_t value, struct text *text);
/* "'ulimit -n NEEDED'", and where a container sets that limit. */
void remedy_files(enum surroundings where, uint64_t needed, struct text *text);
/* What opens tracefs, which is mounted there ("" or NULL: nowhere), to this user. */
void remedy_tracefs(enum surroundings where, const char *directory, struct text *text);
/* "'ulimit -l' or ...": what lets rings of more memory be mapped. */
void remedy_locked_memory(enum surroundings where, struct text *text);

#endif
