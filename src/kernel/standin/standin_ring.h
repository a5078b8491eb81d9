/* SPDX-License-Identifier: Apache-2.0 */
/*
 * standin_ring.h - writes records into the rings of a stand-in's events, as the kernel does: the reader moves the tail,
 * we move the head, and a record that does not fit is counted and told by a LOST record.
 *
 *	standin_ring_put(s, event, record);
 */
#ifndef KERNEL_STANDIN_STANDIN_RING_H
#define KERNEL_STANDIN_STANDIN_RING_H

#include "kernel/standin/standin_state.h"

uint64_t standin_event_id(const struct standin *s, const struct standin_event *event);
void standin_ring_put(struct standin *s, struct standin_event *event, struct tally_bytes record);
/* Bytes that the reader has not taken. */
uint64_t standin_ring_filled(const struct standin_event *owner);
/* Memory for a ring of the event's; NULL and errno as mmap. */
void *standin_ring_map(struct standin_event *event, size_t size);

#endif
