/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/live/live_state.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "abi/encode.h"
#include "base/error.h"
#include "base/limits.h"

/* The tables are rebuilt without ended processes when there are this many more than twice the other ones. */
#define PROCESSES_KEPT 1024

void live_state_init(struct live_state *state)
{
	*state = (struct live_state){0};
	live_maps_init(&state->maps);
}

void live_state_deinit(struct live_state *state)
{
	for (size_t i = 0; i < state->kept.len; i++)
		free(state->kept.items[i].bytes);
	vec_free(&state->kept);
	vec_free(&state->threads);
	map_u64_deinit(&state->by_tid);
	live_maps_deinit(&state->maps);
}

static struct live_thread *live_state_find_thread(const struct live_state *state, int32_t tid)
{
	uint64_t index;
	return map_u64_find(&state->by_tid, (uint32_t)tid, &index) ? &state->threads.items[index] : NULL;
}

const struct live_thread *live_state_thread(const struct live_state *state, int32_t tid)
{
	const struct live_thread *thread = live_state_find_thread(state, tid);
	return thread && !thread->has_ended ? thread : NULL;
}

const struct live_thread *live_state_known_thread(const struct live_state *state, int32_t tid)
{
	return live_state_find_thread(state, tid);
}

static struct live_thread *live_state_find_or_add_thread(struct live_state *state, int32_t pid, int32_t tid)
{
	struct live_thread *thread = live_state_find_thread(state, tid);
	struct live_thread fresh = {.pid = pid, .tid = tid};
	if (thread) { /* The TID is known, perhaps from an earlier thread. */
		state->ended_threads -= thread->has_ended;
		thread->has_ended = false;
		thread->pid = pid;
		return thread;
	}
	if (!vec_push(&state->threads, fresh) || !map_u64_set(&state->by_tid, (uint32_t)tid, state->threads.len - 1))
		return NULL;
	return &state->threads.items[state->threads.len - 1];
}

static bool apply_comm(struct live_state *state, const struct record_comm *comm)
{
	struct live_thread *thread = live_state_find_or_add_thread(state, (int32_t)comm->pid, (int32_t)comm->tid);
	if (!thread)
		return false;
	thread->comm_len = (uint8_t)(comm->comm.len < LIVE_COMM_BYTES ? comm->comm.len : LIVE_COMM_BYTES - 1);
	memcpy(thread->comm, comm->comm.data, thread->comm_len);
	return true;
}

/* A child has its parent's name until it sets its own. */
static bool live_state_apply_fork(struct live_state *state, const struct record_task *task)
{
	struct live_thread *thread = live_state_find_or_add_thread(state, (int32_t)task->pid, (int32_t)task->tid);
	const struct live_thread *parent = live_state_find_thread(state, (int32_t)task->ptid);
	if (thread && parent && parent != thread) {
		thread->comm_len = parent->comm_len;
		memcpy(thread->comm, parent->comm, sizeof(thread->comm));
	}
	return thread != NULL;
}

static void live_state_apply_exit(struct live_state *state, const struct record_task *task)
{
	struct live_thread *thread = live_state_find_thread(state, (int32_t)task->tid);
	state->ended_processes += task->tid == task->pid;
	if (!thread || thread->has_ended)
		return;
	thread->has_ended = true;
	state->ended_threads++;
}

static void drop_kept(struct live_state *state, size_t index)
{
	struct live_kept_record *items = state->kept.items;
	free(items[index].bytes);
	state->cgroup_count -= items[index].kind == LIVE_CGROUP;
	memmove(items + index, items + index + 1, (state->kept.len - index - 1) * sizeof(*items));
	state->kept.len--;
}

static void forget_record(struct live_state *state, enum live_kept kind, uint64_t key)
{
	for (size_t i = state->kept.len; i-- > 0;) {
		const struct live_kept_record *known = &state->kept.items[i];
		if (known->kind != kind || known->key != key)
			continue;
		drop_kept(state, i);
		return;
	}
}

static bool keep_record(struct live_state *state, const struct record *record, enum live_kept kind, uint64_t key)
{
	struct live_kept_record kept = {kind, key, malloc(record->bytes.len), record->bytes.len};
	forget_record(state, kind, key);
	if (!kept.bytes)
		return false;
	memcpy(kept.bytes, record->bytes.data, kept.len);
	if (vec_push(&state->kept, kept)) {
		state->cgroup_count += kind == LIVE_CGROUP;
		return true;
	}
	free(kept.bytes);
	return false;
}

/* The removal of a cgroup is not recorded, so the oldest ones are dropped. */
static bool keep_cgroup(struct live_state *state, const struct record *record, uint64_t id)
{
	for (size_t i = 0; state->cgroup_count >= LIMIT_LIVE_CGROUPS && i < state->kept.len; i++)
		if (state->kept.items[i].kind == LIVE_CGROUP)
			drop_kept(state, i);
	return keep_record(state, record, LIVE_CGROUP, id);
}

static bool is_kernel(const struct record *record, const struct record_mmap *mmap)
{
	return (record->misc & MISC_CPUMODE_MASK) == MISC_CPUMODE_KERNEL || mmap->pid == UINT32_MAX;
}

enum tally_status live_state_apply(struct live_state *state, const struct record *record,
	const struct record_fields *fields, struct tally_error *err)
{
	bool ok = true;
	switch (fields->type) {
	case RECORD_MMAP:
	case RECORD_MMAP2:
		if (is_kernel(record, &fields->mmap))
			ok = keep_record(state, record, LIVE_KERNEL_MAP, fields->mmap.start);
		break;
	case RECORD_KSYMBOL:
		if (fields->ksymbol.flags & KSYMBOL_FLAG_UNREGISTER)
			forget_record(state, LIVE_KERNEL_SYMBOL, fields->ksymbol.addr);
		else
			ok = keep_record(state, record, LIVE_KERNEL_SYMBOL, fields->ksymbol.addr);
		break;
	case RECORD_CGROUP:
		return keep_cgroup(state, record, fields->cgroup.id) ? TALLY_OK : error_nomem(err);
	case RECORD_COMM:
		ok = apply_comm(state, &fields->comm);
		break;
	case RECORD_FORK:
		ok = live_state_apply_fork(state, &fields->task);
		break;
	case RECORD_EXIT:
		live_state_apply_exit(state, &fields->task);
		break;
	default:
		return TALLY_OK;
	}
	return ok ? live_maps_apply(&state->maps, record, fields, err) : error_nomem(err);
}

static bool drop_ended_threads(struct live_state *state)
{
	size_t kept = 0;
	map_u64_deinit(&state->by_tid);
	for (size_t i = 0; i < state->threads.len; i++) {
		if (state->threads.items[i].has_ended)
			continue;
		state->threads.items[kept] = state->threads.items[i];
		if (!map_u64_set(&state->by_tid, (uint32_t)state->threads.items[kept].tid, kept))
			return false;
		kept++;
	}
	state->threads.len = kept;
	state->ended_threads = 0;
	return true;
}

enum tally_status live_state_sweep(
	struct live_state *state, bool (*runs)(void *context, int32_t tid), void *context, struct tally_error *err)
{
	const struct record record = {.type = RECORD_EXIT};
	enum tally_status status = TALLY_OK;
	for (size_t i = 0; i < state->threads.len && status == TALLY_OK; i++) {
		const struct live_thread *thread = &state->threads.items[i];
		struct record_fields exit = {
			.type = RECORD_EXIT, .task = {.pid = (uint32_t)thread->pid, .tid = (uint32_t)thread->tid}};
		if (thread->tid > 0 && !thread->has_ended && !runs(context, thread->tid))
			status = live_state_apply(state, &record, &exit, err);
	}
	return status == TALLY_OK ? live_state_settle(state, err) : status;
}

enum tally_status live_state_settle(struct live_state *state, struct tally_error *err)
{
	live_maps_forget(&state->maps, NULL, NULL);
	if (state->ended_threads && !drop_ended_threads(state))
		return error_nomem(err);
	if (!live_maps_is_stale(&state->maps) &&
		state->ended_processes < PROCESSES_KEPT + 2 * state->maps.process_count)
		return TALLY_OK;
	state->ended_processes = 0;
	return live_maps_renumber(&state->maps, err);
}

static void write_mappings(const struct live_state *state, const struct live_process *process, struct writer *out,
	const struct record_layout *layout)
{
	const struct sample_id id = {.pid = (uint32_t)process->pid, .tid = (uint32_t)process->pid};
	for (size_t i = 0; i < process->mappings.len; i++) {
		const struct live_mapping *map = &process->mappings.items[i];
		const struct live_file *file = &state->maps.files.items[map->file];
		uint16_t misc = MISC_CPUMODE_USER;
		struct record_fields fields = {.type = RECORD_MMAP2,
			.mmap = {.pid = (uint32_t)process->pid,
				.tid = (uint32_t)process->pid,
				.start = map->start,
				.len = map->end - map->start,
				.pgoff = map->pgoff,
				.build_id = file->build_id,
				.prot = PROT_READ | PROT_EXEC,
				.flags = map->is_shared ? MAP_SHARED : MAP_PRIVATE,
				.filename = live_maps_path(&state->maps, file)}};
		if (file->build_id.size)
			misc |= MISC_MMAP_BUILD_ID;
		(void)record_encode(out, &fields, misc, layout, &id);
	}
}

static bool is_wanted(const struct map_u64 *pids, uint32_t pid)
{
	uint64_t value;
	return !pids || map_u64_find(pids, pid, &value);
}

bool live_state_write(const struct live_state *state, const struct map_u64 *pids, struct writer *out,
	const struct record_layout *layout)
{
	size_t position = 0;
	uint64_t pid, value;
	for (size_t i = 0; i < state->kept.len; i++)
		writer_bytes(out, state->kept.items[i].bytes, state->kept.items[i].len);
	for (size_t i = 0; i < state->threads.len; i++) {
		const struct live_thread *thread = &state->threads.items[i];
		const struct sample_id id = {.pid = (uint32_t)thread->pid, .tid = (uint32_t)thread->tid};
		if (!is_wanted(pids, id.pid))
			continue;
		struct record_fields fields = {.type = RECORD_COMM,
			.comm = {.pid = (uint32_t)thread->pid,
				.tid = (uint32_t)thread->tid,
				.comm = {thread->comm, thread->comm_len}}};
		(void)record_encode(out, &fields, 0, layout, &id);
	}
	while (map_u64_next(&state->maps.by_pid, &position, &pid, &value))
		if (is_wanted(pids, (uint32_t)pid) && live_maps_process(&state->maps, (int32_t)pid))
			write_mappings(state, live_maps_process(&state->maps, (int32_t)pid), out, layout);
	return !out->failed;
}
