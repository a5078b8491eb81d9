/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/recording/switch_events.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "abi/record_slices.h"
#include "analysis/trace/trace_format.h"
#include "base/error.h"
#include "kernel/events/tracepoints.h"
#include "kernel/recording/thread_waits.h"
#include "kernel/system/capabilities.h"
#include "kernel/system/cpu_topology.h"
#include "kernel/system/kernel_files.h"
#include "tasks/recording/wait_looks.h"

#define FRAMES_MOST 127 /* Maximum number of frames of the kernel's part of a chain, and of the user part. */

/* Bits of prev_state of sched_switch, as the print format of the tracepoint names them. */
#define STATE_INTERRUPTIBLE   0x1u
#define STATE_UNINTERRUPTIBLE 0x2u
#define STATE_STOPPED	      0xcu
#define STATE_ENDED	      0x30u
#define STATE_PREEMPTED	      0x100u
#define STATE_ALL	      0xffu
#define FLAG_INTERRUPTS	      0x18u /* Bits of common_flags: in a hard or soft interrupt. */

enum switch_events_kind { KIND_UNKNOWN, KIND_USER, KIND_KERNEL };

void switch_events_deinit(struct switch_events *r)
{
	map_u64_deinit(&r->ids);
	map_u64_deinit(&r->comms);
	map_u64_deinit(&r->kinds);
	map_u64_deinit(&r->threads);
	map_u64_deinit(&r->numbers);
	wait_calls_deinit(&r->calls);
	vec_free(&r->names);
	vec_free(&r->events);
}

/* ---- Formats of tracepoints ---- */

static enum tally_status switch_events_field_find(const struct kernel_seam *kernel, const char *tracepoint,
	const char *name, struct switch_events_field *field, struct tally_error *err)
{
	char *text;
	struct arena arena;
	struct trace_event event;
	enum tally_status status =
		kernel_text(kernel, &text, err, "%s/events/sched/%s/format", tracefs_directory(kernel), tracepoint);
	if (status != TALLY_OK)
		return status;
	arena_init(&arena);
	bool is_known = trace_event_parse(str_from(text), sizeof(long), &arena, &event);
	uint32_t index = is_known ? trace_event_field(&event, str_from(name)) : UINT32_MAX;
	if (index != UINT32_MAX)
		*field = (struct switch_events_field){event.fields[index].offset, event.fields[index].size};
	else
		status = error_set(err, TALLY_UNSUPPORTED, "the tracepoint sched:%s of this kernel has no field %s",
			tracepoint, name);
	arena_deinit(&arena);
	free(text);
	return status;
}

enum tally_status switch_events_read_formats(
	struct switch_events *r, const struct kernel_seam *kernel, struct tally_error *err)
{
	uint64_t id;
	enum tally_status status = tracepoint_id(kernel, STR("sched"), STR("sched_switch"), &id, err);
	if (status == TALLY_OK)
		status = switch_events_field_find(kernel, "sched_switch", "prev_state", &r->prev_state, err);
	if (status == TALLY_OK)
		status = switch_events_field_find(kernel, "sched_waking", "pid", &r->woken, err);
	if (status == TALLY_OK)
		status = switch_events_field_find(kernel, "sched_waking", "common_flags", &r->common_flags, err);
	if (status == TALLY_OK)
		status = switch_events_field_find(kernel, "sched_switch", "common_pid", &r->common_pid, err);
	r->has_other_numbers = pid_namespace_is_nested(kernel);
	return status;
}

static uint64_t switch_events_number(struct tally_bytes raw, struct switch_events_field field)
{
	uint64_t value = 0;
	if (field.size > sizeof(value) || field.offset + (uint64_t)field.size > raw.len)
		return 0;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	memcpy(&value, raw.data + field.offset, field.size);
#else
	memcpy((uint8_t *)&value + sizeof(value) - field.size, raw.data + field.offset, field.size);
#endif
	return value;
}

/* ---- Threads ---- */

/* Returns whether the waits of a thread are recorded: not those of kernel threads and of this process. Only threads
 * without user frames are looked up in /proc. */
static bool switch_events_is_wanted(struct switch_events *r, uint32_t pid, uint32_t tid, bool has_user_frames)
{
	bool is_new;
	if (tid == 0 || pid == (uint32_t)getpid())
		return false;
	uint64_t *kind = has_user_frames ? NULL : map_u64_at(&r->kinds, tid, &is_new);
	if (kind && *kind == KIND_UNKNOWN)
		*kind = thread_waits_read(r->kernel, (pid_t)tid).is_kernel ? KIND_KERNEL : KIND_USER;
	return !kind || *kind == KIND_USER;
}

static bool switch_events_name_thread(struct switch_events *r, uint32_t tid, struct tally_str name)
{
	struct switch_events_name made = {{0}};
	bool is_new;
	uint64_t *at = map_u64_at(&r->comms, tid, &is_new);
	memcpy(made.comm, name.data, MIN(name.len, sizeof(made.comm)));
	if (!at)
		return false;
	if (is_new)
		*at = r->names.len;
	if (*at < r->names.len) {
		r->names.items[*at] = made;
		return true;
	}
	return vec_push(&r->names, made);
}

static bool switch_events_name_of(struct switch_events *r, uint32_t tid, char comm[WAIT_RECORD_COMM])
{
	uint64_t at;
	char *text;
	if (!map_u64_find(&r->comms, tid, &at) || at >= r->names.len) {
		bool is_known = kernel_text(r->kernel, &text, NULL, "/proc/%u/comm", tid) == TALLY_OK;
		bool is_stored = switch_events_name_thread(r, tid, is_known ? str_from(text) : STR(""));
		if (is_known)
			free(text);
		if (!is_stored || !map_u64_find(&r->comms, tid, &at))
			return false;
	}
	memcpy(comm, r->names.items[at].comm, WAIT_RECORD_COMM);
	return true;
}

/* ---- Stacks ---- */

struct switch_events_chain {
	uint64_t ips[2 * FRAMES_MOST]; /* Kernel frames, followed by user frames. */
	size_t kernel, user;
	bool is_disk, has_interrupt;
	int32_t syscall;
};

static void switch_events_split(
	const struct switch_events *r, const struct sample_array *chain, struct switch_events_chain *out)
{
	uint64_t context = 0;
	out->kernel = out->user = 0;
	for (uint32_t i = 0; i < chain->count; i++) {
		uint64_t ip = sample_u64_at(chain->data, i, false);
		bool is_user = context == CONTEXT_USER;
		if (ip >= CONTEXT_MAX) {
			context = ip;
			continue;
		}
		if ((is_user ? out->user : out->kernel) == FRAMES_MOST || (!is_user && context != CONTEXT_KERNEL))
			continue;
		/* A return address is moved back into its call instruction, as unwinding does. */
		out->ips[out->kernel + out->user] = ip - (is_user && out->user && r->has_return_addresses);
		out->kernel += !is_user;
		out->user += is_user;
	}
}

/* Splits the recorded call chain, and stores its frames in the stacks. *stack is their ID, or 0 if there are none.
 * Returns false if memory runs out. */
static bool switch_events_keep_stack(struct switch_events *r, const struct sample_array *recorded, uint64_t *stack,
	struct switch_events_chain *chain)
{
	const struct wait_stacks_range *interrupts = &r->stacks->interrupts;
	switch_events_split(r, recorded, chain);
	chain->has_interrupt = false;
	for (size_t i = 0; i < chain->kernel; i++)
		chain->has_interrupt |= chain->ips[i] >= interrupts->begin && chain->ips[i] < interrupts->end;
	chain->syscall = wait_calls_find(&r->calls, chain->ips, chain->kernel, &chain->is_disk);
	size_t count = chain->kernel + chain->user;
	*stack = count ? bytes_hash(chain->ips, count * sizeof(*chain->ips)) | 1 : 0;
	return *stack == 0 || wait_stacks_add(r->stacks, *stack, chain->ips, chain->kernel, chain->user);
}

/* ---- Records ---- */

static enum tally_status switch_events_push(
	struct switch_events *r, const struct wait_event *event, struct tally_error *err)
{
	return vec_push(&r->events, *event) ? TALLY_OK : error_nomem(err);
}

static enum wait_state switch_events_state(uint64_t bits, const struct switch_events_chain *chain)
{
	if ((bits & STATE_ALL) == 0 || (bits & STATE_PREEMPTED))
		return WAIT_RUNNABLE;
	if (bits & STATE_INTERRUPTIBLE)
		return WAIT_SLEEPING;
	if (bits & STATE_UNINTERRUPTIBLE)
		return chain->is_disk ? WAIT_DISK : WAIT_UNINTERRUPTIBLE;
	return bits & STATE_STOPPED ? WAIT_STOPPED : WAIT_OTHER;
}

static enum tally_status switch_events_take_switch(
	struct switch_events *r, const struct sample *s, struct tally_error *err)
{
	struct wait_event event = {
		.kind = WAIT_EVENT_OUT, .time_ns = s->time, .pid = s->pid, .tid = s->tid, .cpu = s->cpu};
	struct switch_events_chain chain;
	if (!switch_events_keep_stack(r, &s->callchain, &event.stack, &chain))
		return error_nomem(err);
	if (!switch_events_is_wanted(r, s->pid, s->tid, chain.user > 0))
		return TALLY_OK;
	if (!map_u64_set(&r->threads, s->tid, 1) ||
		(r->has_other_numbers &&
			!map_u64_set(&r->numbers, switch_events_number(s->raw, r->common_pid), s->tid)))
		return error_nomem(err);
	event.syscall = chain.syscall;
	if (r->source == WAIT_SOURCE_SWITCHES) { /* The switch itself has a separate record. */
		event.kind = WAIT_EVENT_STACK;
		event.state = chain.is_disk ? WAIT_DISK : chain.syscall >= 0 ? WAIT_SLEEPING : WAIT_OTHER;
		return switch_events_push(r, &event, err);
	}
	uint64_t bits = switch_events_number(s->raw, r->prev_state);
	if (r->cpus && !cpu_list_has(r->cpus, r->cpu_count, (int)s->cpu))
		return TALLY_OK;
	if (bits & STATE_ENDED)
		event.kind = WAIT_EVENT_EXIT;
	event.state = (uint8_t)switch_events_state(bits, &chain);
	event.flags = event.state == WAIT_RUNNABLE ? WAIT_FLAG_PREEMPTED : 0;
	return switch_events_push(r, &event, err);
}

static enum tally_status switch_events_take_waking(
	struct switch_events *r, const struct sample *s, bool is_of_others, struct tally_error *err)
{
	struct wait_event event = {.kind = is_of_others ? WAIT_EVENT_OTHERS_WAKE : WAIT_EVENT_WAKE,
		.time_ns = s->time,
		.tid = (uint32_t)switch_events_number(s->raw, r->woken),
		.cpu = s->cpu,
		.waker_pid = s->pid,
		.waker_tid = s->tid,
		.flags = WAIT_FLAG_WAKER};
	struct switch_events_chain chain;
	uint64_t woken;
	if (r->has_other_numbers) {
		if (!map_u64_find(&r->numbers, event.tid, &woken))
			return TALLY_OK;
		event.tid = (uint32_t)woken;
	}
	if (is_of_others && !map_u64_find(&r->threads, event.tid, &woken))
		return TALLY_OK;
	if (!switch_events_keep_stack(r, &s->callchain, &event.stack, &chain) ||
		!switch_events_name_of(r, s->tid, event.waker_comm))
		return error_nomem(err);
	/* A soft interrupt that runs within a system call is attributed to its thread. */
	bool is_interrupt = switch_events_number(s->raw, r->common_flags) & FLAG_INTERRUPTS;
	if (s->tid == 0 || (is_interrupt && (chain.has_interrupt || r->stacks->interrupts.end == 0)))
		event.flags |= WAIT_FLAG_INTERRUPT;
	return switch_events_push(r, &event, err);
}

static enum tally_status switch_events_take_sample(
	struct switch_events *r, const struct record *record, struct tally_error *err)
{
	struct sample s;
	uint64_t id = record->bytes.len >= 2 * RECORD_HEADER_BYTES
			      ? sample_u64_at(record->bytes.data + RECORD_HEADER_BYTES, 0, false)
			      : 0,
		 event;
	bool is_look = id == WAIT_LOOKS_ID;
	struct record_layout layout = r->layout;
	if (is_look) {
		struct perf_attr attr = wait_looks_attr(r->arch);
		attr.sample_type &= ~(uint64_t)(SAMPLE_REGS_USER | SAMPLE_STACK_USER);
		layout = record_layout_make(&attr, false);
	}
	if (sample_decode(&layout, record, &s, NULL) != TALLY_OK)
		return TALLY_OK;
	if (is_look) {
		struct wait_event found = {
			.kind = WAIT_EVENT_LOOK_STACK, .time_ns = s.time, .pid = s.pid, .tid = s.tid};
		struct switch_events_chain chain;
		bool has_returns = r->has_return_addresses;
		r->has_return_addresses = false;
		bool is_kept = switch_events_keep_stack(r, &s.callchain, &found.stack, &chain);
		r->has_return_addresses = has_returns;
		return is_kept ? switch_events_push(r, &found, err) : error_nomem(err);
	}
	if (!map_u64_find(&r->ids, id, &event))
		return TALLY_OK;
	if (event == SWITCH_EVENTS_SWITCH)
		return switch_events_take_switch(r, &s, err);
	bool is_of_others = event == SWITCH_EVENTS_OTHERS_WAKE;
	return is_of_others || event == SWITCH_EVENTS_WAKE ? switch_events_take_waking(r, &s, is_of_others, err)
							   : TALLY_OK;
}

static enum tally_status switch_events_take_record(
	struct switch_events *r, const struct record *record, struct tally_error *err)
{
	struct record_fields fields;
	struct sample_id id;
	if (record->type == RECORD_SAMPLE)
		return switch_events_take_sample(r, record, err);
	if (record_decode(record, &fields, NULL) != TALLY_OK ||
		sample_id_decode(&r->layout, record, &id, NULL) != TALLY_OK)
		return TALLY_OK;
	struct wait_event event = {
		.time_ns = id.time, .pid = id.pid, .tid = id.tid, .cpu = id.cpu, .syscall = -1, .state = WAIT_OTHER};
	switch (record->type) {
	case RECORD_SWITCH:
	case RECORD_SWITCH_CPU_WIDE:
		event.kind = fields.context_switch.is_out ? WAIT_EVENT_OUT : WAIT_EVENT_IN;
		if (event.kind == WAIT_EVENT_OUT &&
			(r->source != WAIT_SOURCE_SWITCHES || !switch_events_is_wanted(r, id.pid, id.tid, false) ||
				(r->cpus && !cpu_list_has(r->cpus, r->cpu_count, (int)id.cpu))))
			return TALLY_OK;
		if (fields.context_switch.is_preempt) {
			event.state = WAIT_RUNNABLE;
			event.flags = WAIT_FLAG_PREEMPTED;
		}
		return switch_events_push(r, &event, err);
	case RECORD_FORK:
		event.kind = WAIT_EVENT_NEW;
		event.state = WAIT_RUNNABLE;
		event.pid = fields.task.pid;
		event.tid = fields.task.tid;
		return r->is_forking && switch_events_is_wanted(r, fields.task.ppid, fields.task.ptid, false)
			       ? switch_events_push(r, &event, err)
			       : TALLY_OK;
	case RECORD_EXIT:
		event.kind = WAIT_EVENT_EXIT;
		event.tid = fields.task.tid;
		return switch_events_push(r, &event, err);
	case RECORD_COMM:
		event.kind = WAIT_EVENT_EXEC;
		event.pid = fields.comm.pid;
		event.tid = fields.comm.tid;
		if (!switch_events_name_thread(r, fields.comm.tid, fields.comm.comm))
			return error_nomem(err);
		return record->misc & MISC_COMM_EXEC ? switch_events_push(r, &event, err) : TALLY_OK;
	case RECORD_LOST:
	case RECORD_LOST_SAMPLES:
		r->lost += record->type == RECORD_LOST ? fields.lost.lost : fields.lost_samples.lost;
		event.kind = WAIT_EVENT_LOST;
		return switch_events_push(r, &event, err);
	default:
		return TALLY_OK;
	}
}

/* Returns the record at an offset into all slices: in place, or a copy if it lies in two slices. */
static struct tally_bytes switch_events_join(
	struct switch_events *r, const struct record_slices *from, size_t at, size_t size)
{
	size_t begin = 0;
	for (size_t i = 0; i < from->count; begin += from->items[i].len, i++)
		if (at >= begin && at - begin < from->items[i].len && from->items[i].len - (at - begin) >= size)
			return (struct tally_bytes){from->items[i].data + (at - begin), size};
	bool is_whole = record_slices_copy(from, at, r->joined, size);
	return (struct tally_bytes){(const uint8_t *)r->joined, is_whole ? size : 0};
}

enum tally_status switch_events_take(
	void *context, const struct tally_bytes *slices, size_t slice_count, struct tally_error *err)
{
	struct switch_events *r = context;
	const struct record_slices from = {slices, slice_count};
	struct record_slice_header header;
	struct record record;
	enum tally_status status = TALLY_OK;
	for (size_t at = 0; status == TALLY_OK && record_slices_header(&from, at, &header); at += header.size) {
		status = record_at(switch_events_join(r, &from, at, header.size), false, 0, &record, err);
		if (status == TALLY_OK)
			status = switch_events_take_record(r, &record, err);
	}
	return status == TALLY_END ? error_set(err, TALLY_CORRUPT, "a record of the kernel is incomplete") : status;
}
