/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bpf_pinned_filter.h - lets unprivileged users filter samples in the kernel: root pins a BPF program and its maps in
 * the BPF file system (record --setup-filter pin), and users attach the program to their own events.
 *
 * A user cannot see or change the conditions of another user: the map of conditions is write-only for users, and its
 * keys are random. A user can fill the map, which has room for the filters of PINNED_FILTER_ENTRIES events; other users
 * are then refused. A session that is killed leaves its entries in the map. Pinning again empties the map, without
 * affecting running sessions. Dropped samples are counted in randomly chosen slots, which users can only read. Requires
 * Linux 6.3. Used by one thread at a time.
 *
 *	bpf_pinned_filter_pin(kernel, &opened_path, err);   // as root
 *	bpf_pinned_filter_create(&filter, &pinned, err);    // as any user; NOT_FOUND: no filter is pinned
 *	bpf_pinned_filter_attach(pinned, fd, err); ... bpf_pinned_filter_dropped(pinned); bpf_pinned_filter_destroy(pinned);
 */
#ifndef BPF_BPF_PINNED_FILTER_H
#define BPF_BPF_PINNED_FILTER_H

#include "kernel/events/sample_filter.h"

#define PINNED_FILTER_PATH "/sys/fs/bpf/tally_filter"

struct bpf_pinned_filter;

/*
 * Pins the filter and replaces one that is pinned already. Sets opened_path to the BPF file system if it had to be made
 * accessible to all users, and to NULL otherwise.
 */
TALLY_MUST_CHECK enum tally_status bpf_pinned_filter_pin(
	const struct kernel_seam *kernel, const char **opened_path, struct tally_error *err);
/* Returns NOT_FOUND if no filter is pinned. */
TALLY_MUST_CHECK enum tally_status bpf_pinned_filter_unpin(struct tally_error *err);

TALLY_MUST_CHECK enum tally_status bpf_pinned_filter_create(
	const struct sample_filter_list *filter, struct bpf_pinned_filter **pinned, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status bpf_pinned_filter_attach(
	struct bpf_pinned_filter *pinned, int fd, struct tally_error *err);
/* Returns the number of samples that were dropped so far, of all attached events. */
uint64_t bpf_pinned_filter_dropped(const struct bpf_pinned_filter *pinned);
void bpf_pinned_filter_destroy(struct bpf_pinned_filter *pinned);

#endif
