/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/standin/standin_ring.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct perf_event_mmap_page *control_page(const struct standin_event *owner)
{
	return (struct perf_event_mmap_page *)(void *)owner->control;
}

/* IDs start at 1, so 0 belongs to no event. */
uint64_t standin_event_id(const struct standin *s, const struct standin_event *event)
{
	return (uint64_t)(event - s->events.items) + 1;
}

uint64_t standin_ring_filled(const struct standin_event *owner)
{
	const struct perf_event_mmap_page *page = control_page(owner);
	return page->data_head - __atomic_load_n(&page->data_tail, __ATOMIC_ACQUIRE);
}

static bool put_bytes(struct standin_event *owner, struct tally_bytes record)
{
	struct perf_event_mmap_page *page = control_page(owner);
	if (owner->data_bytes - standin_ring_filled(owner) < record.len)
		return false;
	uint8_t *data = owner->control + (owner->map_bytes - owner->data_bytes);
	size_t at = (size_t)(page->data_head & (owner->data_bytes - 1));
	size_t first = owner->data_bytes - at < record.len ? owner->data_bytes - at : record.len;
	memcpy(data + at, record.data, first);
	memcpy(data, record.data + first, record.len - first);
	__atomic_store_n(&page->data_head, page->data_head + record.len, __ATOMIC_RELEASE);
	return true;
}

/* Writes a record of the number of samples that a full ring has lost; false if there is no room for it either. */
static bool put_lost(struct standin *s, struct standin_event *event, struct standin_event *owner)
{
	struct writer w = {0};
	const struct sample_id id = {.time = standin_now(&event->attr), .id = standin_event_id(s, event)};
	struct record_fields f = {.type = RECORD_LOST};
	f.lost = (struct record_lost){.id = standin_event_id(s, event), .lost = owner->lost};
	bool is_put = record_encode(&w, &f, 0, ATTR_HAS(&event->attr, SAMPLE_ID_ALL) ? &event->layout : NULL, &id) &&
		      put_bytes(owner, (struct tally_bytes){w.data, w.len});
	writer_deinit(&w);
	if (is_put)
		owner->lost = 0;
	return is_put;
}

void standin_ring_put(struct standin *s, struct standin_event *event, struct tally_bytes record)
{
	struct standin_event *owner = &s->events.items[event->output];
	if (!owner->control || ((owner->lost == 0 || put_lost(s, event, owner)) && put_bytes(owner, record)))
		return;
	owner->lost++;
	event->lost_total++;
}

void *standin_ring_map(struct standin_event *event, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t data = size - page;
	if (size <= page || (data & (data - 1)) || event->control) {
		errno = event->control ? EBUSY : EINVAL;
		return MAP_FAILED;
	}
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return memory;
	event->control = memory;
	event->map_bytes = size;
	event->data_bytes = size - page;
	control_page(event)->data_offset = page;
	control_page(event)->data_size = event->data_bytes;
	return memory;
}
