/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kernel/recording/proc_maps.h"
#include "kernel/standin/standin_ring.h"
#include "kernel/system/kernel_files.h"

#define MAPS_COST 20 /* Reading mappings takes at most 1/MAPS_COST of the time. */

struct standin_event *standin_event_of(
	struct standin *s, const struct standin_thread *thread, uint64_t flag, size_t *from)
{
	while (*from < s->events.len) {
		struct standin_event *event = &s->events.items[(*from)++];
		bool is_of = event->target == thread->target &&
			     (thread->tid == thread->target || ATTR_HAS(&event->attr, INHERIT));
		bool is_wanted = flag ? (event->attr.flags & flag) != 0
				      : event->is_enabled && event->attr.sample_period_or_freq != 0;
		if (is_of && is_wanted && !event->is_closed && (event->cpu < 0 || event->cpu == thread->cpu))
			return event;
	}
	return NULL;
}

static void standin_put(struct standin *s, struct standin_event *event, const struct standin_thread *thread,
	const struct record_fields *fields, uint16_t misc)
{
	struct sample_id id = {.pid = (uint32_t)thread->pid,
		.tid = (uint32_t)thread->tid,
		.cpu = (uint32_t)(thread->cpu < 0 ? 0 : thread->cpu),
		.time = standin_now(&event->attr),
		.id = standin_event_id(s, event)};
	writer_clear(&s->record);
	if (record_encode(&s->record, fields, misc, ATTR_HAS(&event->attr, SAMPLE_ID_ALL) ? &event->layout : NULL, &id))
		standin_ring_put(s, event, (struct tally_bytes){s->record.data, s->record.len});
}

void standin_put_comm(struct standin *s, struct standin_thread *thread, bool is_exec)
{
	char *name = NULL;
	struct standin_event *event;
	size_t at = 0;
	if (kernel_text(&s->seam, &name, NULL, "/proc/%d/task/%d/comm", (int)thread->pid, (int)thread->tid) != TALLY_OK)
		return;
	struct record_fields f = {.type = RECORD_COMM};
	name[strcspn(name, "\n")] = '\0';
	f.comm = (struct record_comm){
		.pid = (uint32_t)thread->pid, .tid = (uint32_t)thread->tid, .is_exec = is_exec, .comm = str_from(name)};
	bool is_new = is_exec || strncmp(thread->comm, name, sizeof(thread->comm) - 1) != 0;
	snprintf(thread->comm, sizeof(thread->comm), "%s", name);
	if (is_new && (event = standin_event_of(s, thread, ATTR_FLAG(ATTR_BIT_COMM), &at)))
		standin_put(s, event, thread, &f, is_exec ? MISC_COMM_EXEC : 0);
	free(name);
}

void standin_put_task(
	struct standin *s, const struct standin_thread *thread, const struct standin_thread *parent, bool is_exit)
{
	struct standin_event *event;
	size_t at = 0;
	if (!(event = standin_event_of(s, thread, ATTR_FLAG(ATTR_BIT_TASK), &at)))
		return;
	struct record_fields f = {.type = is_exit ? RECORD_EXIT : RECORD_FORK};
	f.task = (struct record_task){.pid = (uint32_t)thread->pid,
		.tid = (uint32_t)thread->tid,
		.ppid = (uint32_t)parent->pid,
		.ptid = (uint32_t)parent->tid,
		.time = standin_now(&event->attr)};
	standin_put(s, event, thread, &f, 0);
}

static uint64_t mapping_key(pid_t pid, const struct proc_map *map)
{
	uint64_t hash = map->start * UINT64_C(0x9e3779b97f4a7c15) ^ map->end ^ map->pgoff << 20 ^ map->inode << 40;
	return (uint64_t)pid << 32 | (uint32_t)(hash >> 32 ^ hash);
}

static bool standin_is_told(struct standin *s, uint64_t key)
{
	for (size_t i = 0; i < s->code.len; i++)
		if (s->code.items[i] == key)
			return true;
	return !vec_push(&s->code, key);
}

void standin_put_mappings(struct standin *s, const struct standin_thread *thread)
{
	char *text = NULL;
	struct standin_event *event;
	size_t at = 0;
	if (!(event = standin_event_of(s, thread, ATTR_FLAG(ATTR_BIT_MMAP), &at)) ||
		kernel_text(&s->seam, &text, NULL, "/proc/%d/maps", (int)thread->pid) != TALLY_OK)
		return;
	struct tally_str rest = str_from(text), line;
	while (rest.len > 0 && str_next(&rest, '\n', &line)) {
		struct proc_map map;
		if (!proc_map_parse(line, &map) || !(map.prot & PROT_EXEC) ||
			standin_is_told(s, mapping_key(thread->pid, &map)))
			continue;
		struct record_fields f = {.type = RECORD_MMAP2};
		f.mmap = (struct record_mmap){.pid = (uint32_t)thread->pid,
			.tid = (uint32_t)thread->tid,
			.start = map.start,
			.len = map.end - map.start,
			.pgoff = map.pgoff,
			.major = map.major,
			.minor = map.minor,
			.inode = map.inode,
			.prot = map.prot,
			.flags = map.flags,
			.filename = map.path.len ? map.path : STR("//anon")};
		standin_put(s, event, thread, &f, MISC_CPUMODE_USER);
	}
	free(text);
}

void standin_renew_mappings(struct standin *s, const struct standin_thread *thread)
{
	char *text = NULL;
	uint64_t now = standin_now(NULL);
	struct standin_process *process = standin_process_find(s, thread->pid);
	if (!process || now < s->maps_due_ns ||
		kernel_text(&s->seam, &text, NULL, "/proc/%d/statm", (int)thread->pid) != TALLY_OK)
		return;
	uint64_t pages = strtoull(text, NULL, 10);
	free(text);
	if (pages == process->mapped_pages)
		return;
	process->mapped_pages = pages;
	standin_put_mappings(s, thread);
	s->maps_due_ns = now + (standin_now(NULL) - now) * MAPS_COST;
}

void standin_forget_mappings(struct standin *s, pid_t pid)
{
	size_t kept = 0;
	for (size_t i = 0; i < s->code.len; i++)
		if ((pid_t)(s->code.items[i] >> 32) != pid)
			s->code.items[kept++] = s->code.items[i];
	s->code.len = kept;
}
