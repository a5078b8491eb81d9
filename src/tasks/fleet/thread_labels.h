/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread_labels.h - gives the threads of a window's profile their labels: cgroup, unit, container, pod, process and
 * service.
 *
 * The cgroup in a thread's samples decides (FACET_CGROUP of the profile). If they have none, or the root, the cgroup of
 * the process in /proc is taken, which is remembered by pid and start time; a process that has ended by then has no
 * label `cgroup` nor those that follow from it. Texts from outside are cut and escaped until they are valid values.
 * Memory is bounded. One thread.
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
	const struct fleet_labels *sets; /* the first one is empty */
	size_t count;
	const uint32_t *of_thread; /* by the profile's threads */
};

/* root: a folder with a /proc, empty for the system's. has_service: the batch has a label `service` for all threads. */
TALLY_MUST_CHECK enum tally_status thread_labels_create(
	const char *root, bool has_service, struct thread_labels **labels, struct tally_error *err);
void thread_labels_destroy(struct thread_labels *labels);
/* Also sets label_set of the profile's threads. */
TALLY_MUST_CHECK enum tally_status thread_labels_apply(
	struct thread_labels *labels, struct profile *profile, struct thread_label_sets *sets, struct tally_error *err);
/* The text as a value of a label, in the arena. NULL data: out of memory. */
struct tally_str thread_labels_value(struct arena *arena, struct tally_str text);

#endif
