/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reading.h - reads all counts of a counter_set; a group is read at once, so that its members cover the same time.
 */
#ifndef KERNEL_COUNTING_READING_H
#define KERNEL_COUNTING_READING_H

#include "kernel/counting/counter.h"

/* Fills the counts of every open event. If reading one fails, its count and running time are 0. */
TALLY_MUST_CHECK enum tally_status counter_set_read(struct counter_set *set, struct tally_error *err);

#endif
