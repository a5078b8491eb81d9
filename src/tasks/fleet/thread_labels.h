/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread_labels.h - assigns labels to the threads of a window's profile: cgroup, unit, container, pod, process and
 * service.
 *
 * They follow from the cgroup in a thread's samples (FACET_CGROUP of the profile). If that is missing or the root, the
 * cgroup of the process is read from /proc, and cached by PID and start time; a process that has ended by then has
 * neither a label `cgroup` nor those that follow from it. Texts from outside are truncated and escaped to get valid
 * values. Memory is bounded. Not thread-safe.
 *
 *	thread_labels_create("", false, &labels, err);
 *	thread_labels_apply(labels, profile, &sets, err);	// sets: valid until the next call
 *	thread_labels_destroy(labels);
 */
#ifndef TASKS_FLEET_THREAD_LABELS_H
#define TASKS_FLEET_THREAD_LABELS_H

#include "base/arena.h"
#include "fleet/labels.h"
#include "profile/profile.h"

struct thread_labels;

struct thread_label_sets {
	const struct fleet_labels *sets; /* The first set is empty. */
	size_t count;
	const uint32_t *of_thread; /* Indexed by the profile's threads. */
};

/* root is a directory that contains a /proc, or "" for the system's. has_service is set if the batch has a label
 * `service` for all threads. */
TALLY_MUST_CHECK enum tally_status thread_labels_create(
	const char *root, bool has_service, struct thread_labels **labels, struct tally_error *err);
void thread_labels_destroy(struct thread_labels *labels);
/* Also sets label_set of the profile's threads. */
TALLY_MUST_CHECK enum tally_status thread_labels_apply(
	struct thread_labels *labels, struct profile *profile, struct thread_label_sets *sets, struct tally_error *err);
/* Converts the text to a valid value of a label, allocated in the arena. data is NULL if memory runs out. */
struct tally_str thread_labels_value(struct arena *arena, struct tally_str text);

#endif
