/* SPDX-License-Identifier: Apache-2.0 */
/*
 * surroundings.h - finds out where this process runs (a host, a Docker or Podman container, a Kubernetes pod), and
 * explains how a capability, a system call or a sysctl can be allowed there. It is independent of events.
 *
 * The functions append to a text of the caller. Any thread (the environment is read).
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
	SURROUNDINGS_CONTAINER, /* Another kind, such as LXC or systemd-nspawn. */
};

/* Uses KUBERNETES_SERVICE_HOST, /.dockerenv, /run/.containerenv and the names in /proc/1/cgroup. */
enum surroundings surroundings_find(const struct kernel_seam *kernel);
/* Appends how to get a capability, named without CAP_: "run as root, or ..." */
void remedy_capability(enum surroundings where, const char *capability, struct text *text);
/* Appends how to get a capability if the process is in a user namespace other than the initial one, where capabilities
 * have no effect on perf events. */
void remedy_user_namespace(enum surroundings where, const char *capability, struct text *text);
/* Appends how to allow perf_event_open in a seccomp filter; has_perfmon says that CAP_PERFMON did not suffice. */
void remedy_seccomp(enum surroundings where, bool has_perfmon, struct text *text);
/* Appends "'sudo sysctl NAME=VALUE'" and the machine on which it must be run. */
void remedy_sysctl(enum surroundings where, const char *name, int64_t value, struct text *text);
/* Appends "'ulimit -n NEEDED'", or the option of the container that sets this limit. */
void remedy_files(enum surroundings where, uint64_t needed, struct text *text);
/* Appends how to make tracefs, which is mounted at directory ("" or NULL: not mounted), accessible to this user. */
void remedy_tracefs(enum surroundings where, const char *directory, struct text *text);
/* Appends how to allow larger rings: "'ulimit -l' or ...". */
void remedy_locked_memory(enum surroundings where, struct text *text);

#endif
