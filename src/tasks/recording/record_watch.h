/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_watch.h - implements --switch-output-event: it monitors events on all CPUs, each of which starts the next
 * file. Their samples are counted, not stored.
 *
 * The session owns it. record_watch_add adds its descriptors to an epoll instance; they may become readable early, so
 * record_watch_has_come must be asked whether an event has occurred. Not thread-safe.
 *
 *	record_watch_create(kernel, events, diag, &watch, err);  record_watch_add(watch, epoll_fd, 2, err);
 *	... if (record_watch_has_come(watch)) ...; record_watch_destroy(watch);
 */
#ifndef TASKS_RECORDING_RECORD_WATCH_H
#define TASKS_RECORDING_RECORD_WATCH_H

#include "kernel/recording/recorder.h"

struct record_watch;
/* The events are borrowed, and their attributes are changed. */
TALLY_MUST_CHECK enum tally_status record_watch_create(const struct kernel_seam *kernel, struct event_list *events,
	struct diag *diag, struct record_watch **watch, struct tally_error *err);
void record_watch_destroy(struct record_watch *watch);
TALLY_MUST_CHECK enum tally_status record_watch_add(
	const struct record_watch *watch, int epoll_fd, uint32_t tag, struct tally_error *err);
/* Returns whether at least one of the events has occurred since the last call. */
bool record_watch_has_come(struct record_watch *watch);

#endif
