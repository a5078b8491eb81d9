/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup_labels.h - determines from the path of a cgroup to which systemd unit, container and pod it belongs.
 *
 * Pure; the texts borrow the path, except the pod's UID, which is in the result. Knows the paths of systemd, Docker,
 * containerd, CRI-O, Podman, LXC, systemd-nspawn and Kubernetes (with both of its cgroup drivers). Paths come from the
 * kernel, but users choose the names in them. Sources: systemd.unit(5), systemd-nspawn(1), the documentation of the
 * runtimes.
 *
 *	cgroup_labels_parse(STR("/system.slice/nginx.service"), &labels);	// labels.unit is "nginx.service"
 *	cgroup_path_choose(text_of_proc_pid_cgroup, &path);
 */
#ifndef TASKS_FLEET_CGROUP_LABELS_H
#define TASKS_FLEET_CGROUP_LABELS_H

#include "base/bytes.h"

/* Empty strings stand for unknown labels. */
struct cgroup_labels {
	struct tally_str unit; /* The innermost service or scope, or the slice if there is neither. */
	struct tally_str container; /* The container's ID, or its name if the runtime uses only names. */
	struct tally_str pod; /* The pod's UID, with dashes. */
	char pod_uid[37];
};

void cgroup_labels_parse(struct tally_str path, struct cgroup_labels *labels);
/* Finds the most informative path in the text of /proc/PID/cgroup: that of a container if there is any, otherwise one
 * that is not the root; among these that of version 2, then that of systemd, then that of another controller. The
 * result borrows the text. Returns false if there is none. */
bool cgroup_path_choose(struct tally_str text, struct tally_str *path);
/* Returns the default name of a service: the unit without ".service", otherwise the first 12 digits of the container's
 * ID, or its name; empty if neither is known. The result borrows the labels. */
struct tally_str cgroup_labels_service(const struct cgroup_labels *labels);

#endif
