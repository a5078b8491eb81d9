/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bpf_pinned_filter.h - lets users without privileges filter samples in the kernel: root pins a BPF program and its maps
 * in the BPF file system (record --setup-filter pin), and users attach the program to their own events.
 *
 * A user cannot see or change another's conditions: the map of conditions is write-only for users, and its keys are
 * random. A user can fill the map, which holds the filters of PINNED_FILTER_ENTRIES events; others are then refused. A
 * session that is killed leaves its entries there; pinning anew empties it, and sessions that run go on. Dropped samples
 * are counted in slots chosen at random, which users can only read. Linux 6.3. One thread at a time.
 *
 *	bpf_pinned_filter_pin(kernel, &opened_path, err);   // as root
 *	bpf_pinned_filter_create(&filter, &pinned, err);    // as anybody; NOT_FOUND: nothing is pinned
 *	bpf_pinned_filter_attach(pinned, fd, err); ... bpf_pinned_filter_dropped(pinned); bpf_pinned_filter_destroy(pinned);
 */
#ifndef BPF_BPF_PINNED_FILTER_H
#define BPF_BPF_PINNED_FILTER_H

#include "kernel/events/sample_filter.h"

#define PINNED_FILTER_PATH "/sys/fs/bpf/tally_filter"

struct bpf_pinned_filter;

/* Replaces what is pinned. opened_path: the BPF file system, if it had to be made accessible to all users; else NULL. */
TALLY_MUST_CHECK enum tally_status bpf_pinned_filter_pin(
	const struct kernel_seam *kernel, const char **opened_path, struct tally_error *err);
/* NOT_FOUND: nothing is pinned. */
TALLY_MUST_CHECK enum tally_status bpf_pinned_filter_unpin(struct tally_error *err);

TALLY_MUST_CHECK enum tally_status bpf_pinned_filter_create(
	const struct sample_filter_list *filter, struct bpf_pinned_filter **pinned, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status bpf_pinned_filter_attach(
	struct bpf_pinned_filter *pinned, int fd, struct tally_error *err);
/* The samples dropped so far, of all its events. */
uint64_t bpf_pinned_filter_dropped(const struct bpf_pinned_filter *pinned);
void bpf_pinned_filter_destroy(struct bpf_pinned_filter *pinned);

#endif
