/* SPDX-License-Identifier: Apache-2.0 */
/*
 * standin_ring.h - writes records into the rings of a stand-in's events as the kernel does: the writer moves the head,
 * the reader the tail, and records that do not fit are reported by a later PERF_RECORD_LOST.
 *
 *	standin_ring_put(s, event, record);
 */
#ifndef KERNEL_STANDIN_STANDIN_RING_H
#define KERNEL_STANDIN_STANDIN_RING_H

#include "kernel/standin/standin_state.h"

/* Returns the ID of the event that its records contain. */
uint64_t standin_event_id(const struct standin *s, const struct standin_event *event);
/* Writes a record of the event to the ring that receives its records. */
void standin_ring_put(struct standin *s, struct standin_event *event, struct tally_bytes record);
/* Returns the number of bytes in the ring of owner that the reader has not consumed. */
uint64_t standin_ring_filled(const struct standin_event *owner);
/* Maps memory for a ring of the event; returns NULL and sets errno on failure. */
void *standin_ring_map(struct standin_event *event, size_t size);

#endif
