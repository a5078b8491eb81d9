/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup_labels.h - finds out from the path of a cgroup which systemd unit, container and pod it belongs to.
 *
 * Pure; the texts borrow the path, except the pod's UID, which is in the result. Knows the paths that systemd, Docker,
 * containerd, CRI-O, Podman, LXC, systemd-nspawn and Kubernetes (with both of its cgroup drivers) make. Paths come from
 * the kernel, but users choose the names in them. Source: systemd.unit(5), systemd-nspawn(1), the documentation of the
 * runtimes.
 *
 *	cgroup_labels_parse(STR("/system.slice/nginx.service"), &labels);	// labels.unit is "nginx.service"
 *	cgroup_path_choose(text_of_proc_pid_cgroup, &path);
 */
#ifndef TASKS_FLEET_CGROUP_LABELS_H
#define TASKS_FLEET_CGROUP_LABELS_H

#include "base/bytes.h"

struct cgroup_labels { /* empty: there is none */
	struct tally_str unit; /* the innermost service or scope, or the slice if there is neither */
	struct tally_str container; /* the ID, or the name if the runtime has names only */
	struct tally_str pod; /* UID, with dashes */
	char pod_uid[37];
};

void cgroup_labels_parse(struct tally_str path, struct cgroup_labels *labels);
/* The path that says most in the text of /proc/PID/cgroup: one of a container if there is any, else one that is not the
 * root; among these that of version 2, then that of systemd, then that of another controller. It borrows the text. False: there is none. */
bool cgroup_path_choose(struct tally_str text, struct tally_str *path);
/* What services are called if nobody has named them: the unit without ".service", else the first 12 digits of the
 * container's ID or its name; empty: neither is known. It borrows the labels. */
struct tally_str cgroup_labels_service(const struct cgroup_labels *labels);

#endif
