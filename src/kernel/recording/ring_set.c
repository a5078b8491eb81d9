/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/recording/ring_set.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"

enum tally_status ring_set_init(struct ring_set *set, const struct kernel_seam *kernel, size_t slot_count,
	size_t data_bytes, struct tally_error *err)
{
	struct ring_slot *slots = calloc(slot_count ? slot_count : 1, sizeof(*slots));
	if (!slots)
		return error_nomem(err);
	for (size_t i = 0; i < slot_count; i++)
		slots[i].fd = -1;
	*set = (struct ring_set){kernel, slots, slot_count, (size_t)sysconf(_SC_PAGESIZE), data_bytes, false};
	return TALLY_OK;
}

enum tally_status ring_set_add(struct ring_set *set, size_t slot, int fd, struct tally_error *err)
{
	const struct kernel_seam *kernel = set->kernel;
	struct ring_slot *s = &set->slots[slot];
	if (s->fd >= 0) {
		if (kernel->ioctl(kernel->context, fd, PERF_EVENT_IOC_SET_OUTPUT, (void *)(intptr_t)s->fd) == 0)
			return TALLY_OK;
		return error_set_errno(err, TALLY_IO, errno, "an event cannot share the ring of its CPU");
	}
	/* A read-only mapping tells the kernel to overwrite old records. */
	int protection = set->is_backward ? PROT_READ : PROT_READ | PROT_WRITE;
	void *map = kernel->mmap(kernel->context, set->page_bytes + set->data_bytes, protection, fd, 0);
	if (map == MAP_FAILED) {
		int errnum = errno;
		bool is_limit = errnum == EPERM || errnum == EAGAIN || errnum == ENOMEM;
		return error_set_errno(err, is_limit ? TALLY_LIMIT : TALLY_IO, errnum,
			"a ring of %zu KiB cannot be mapped", set->data_bytes / 1024);
	}
	s->ring = ring_attach(map, set->page_bytes, set->data_bytes);
	s->ring.is_backward = set->is_backward;
	s->fd = fd;
	return TALLY_OK;
}

void ring_set_deinit(struct ring_set *set)
{
	if (!set->kernel)
		return;
	for (size_t i = 0; i < set->len; i++) {
		struct ring_slot *s = &set->slots[i];
		if (s->fd >= 0)
			set->kernel->munmap(set->kernel->context, s->ring.control, s->ring.map_bytes);
	}
	free(set->slots);
	*set = (struct ring_set){0};
}
