/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/live/live_unwind.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "abi/encode.h"
#include "abi/sample.h"
#include "analysis/live/live_binaries.h"
#include "analysis/live/live_maps.h"
#include "analysis/live/live_splice.h"
#include "analysis/live/live_stacks.h"
#include "analysis/live/live_walked.h"
#include "base/array.h"
#include "base/error.h"

#define SAMPLE_BYTES_MAX 65528
#define FRAMES_MAX	 2048
#define BACKLOG_MAX	 (256u << 20)
#define STACK_KEPT	 8192 /* Bytes kept of each waiting stack while the backlog is more than half full. */

struct live_event {
	struct record_layout layout;
	bool has_stack;
	bool is_walked; /* A BPF program walks its user stacks; they arrive as separate samples. */
	bool is_stacks; /* The event whose samples are the stacks that a BPF program walked. */
};

struct live_unwind {
	struct live_unwind_config config;
	VEC(struct live_event) events;
	struct map_u64 by_id;
	struct perf_attr first;
	bool are_mixed; /* Record layouts differ by event: the ID in a record identifies its event. */
	struct live_maps maps;
	struct live_binaries *binaries;
	struct live_stacks stacks;
	struct live_walked walked;
	struct live_interpreted interpreted; /* name is NULL if no interpreter frames are resolved. */
	struct unwinder *unwinders[2]; /* For native and for 32-bit programs; NULL until needed. */
	/* PID of the process that the unwinders have cached, in its state after last_changes changes; -1: none. */
	int32_t last_pid;
	uint32_t last_changes;
	bool has_dump_times; /* Timestamps of samples are of CLOCK_MONOTONIC, as in jitdump files. */
	size_t stack_bytes_max;
	struct writer backlog; /* Samples that wait until a file is opened. */
	uint64_t backlog_max;
	bool gives_up; /* Set while waiting samples are written without unwinding. */
	size_t backlog_done; /* Bytes of the backlog that have been handled. */
	struct live_unwind_totals totals;
	uint64_t ips[FRAMES_MAX];
};

enum tally_status live_unwind_create(
	const struct live_unwind_config *config, struct live_unwind **out, struct tally_error *err)
{
	struct live_unwind *live = calloc(1, sizeof(*live));
	if (!live)
		return error_nomem(err);
	live->config = *config;
	live->stack_bytes_max = SIZE_MAX;
	live->backlog_max = BACKLOG_MAX;
	live->last_pid = -1;
	live_maps_init(&live->maps);
	enum tally_status status = live_binaries_create(&live->maps, &config->store, &live->binaries, err);
	if (status == TALLY_OK)
		status = unwinder_create(config->arch, &live->unwinders[0], err);
	if (status != TALLY_OK) {
		live_unwind_destroy(live);
		return status;
	}
	*out = live;
	return TALLY_OK;
}

void live_unwind_destroy(struct live_unwind *live)
{
	if (!live)
		return;
	unwinder_destroy(live->unwinders[0]);
	unwinder_destroy(live->unwinders[1]);
	live_binaries_destroy(live->binaries);
	live_stacks_deinit(&live->stacks);
	live_walked_deinit(&live->walked);
	live_maps_deinit(&live->maps);
	writer_deinit(&live->backlog);
	map_u64_deinit(&live->by_id);
	vec_free(&live->events);
	free(live);
}

enum tally_status live_unwind_add_event(struct live_unwind *live, const struct perf_attr *attr, const uint64_t *ids,
	size_t id_count, struct tally_error *err)
{
	const uint64_t both = SAMPLE_REGS_USER | SAMPLE_STACK_USER;
	struct live_event event = {
		.layout = record_layout_make(attr, false), .has_stack = (attr->sample_type & both) == both};
	const struct perf_attr *first = live->events.len ? &live->first : attr;
	live->are_mixed |= first->sample_type != attr->sample_type || first->read_format != attr->read_format ||
			   first->branch_sample_type != attr->branch_sample_type ||
			   first->sample_regs_user != attr->sample_regs_user ||
			   first->sample_regs_intr != attr->sample_regs_intr;
	bool is_monotonic =
		ATTR_HAS(attr, USE_CLOCKID) && attr->clockid == CLOCK_MONOTONIC && (attr->sample_type & SAMPLE_TIME);
	live->has_dump_times = is_monotonic && (live->events.len == 0 || live->has_dump_times);
	live->first = *first;
	for (size_t i = 0; i < id_count; i++)
		if (!map_u64_set(&live->by_id, ids[i], live->events.len))
			return error_nomem(err);
	return vec_push(&live->events, event) ? TALLY_OK : error_nomem(err);
}

void live_unwind_add_walked(struct live_unwind *live)
{
	live->events.items[live->events.len - 1].is_walked = true;
}

enum tally_status live_unwind_add_stacks(struct live_unwind *live, const struct perf_attr *attr, const uint64_t *ids,
	size_t id_count, struct tally_error *err)
{
	enum tally_status status = live_unwind_add_event(live, attr, ids, id_count, err);
	if (status == TALLY_OK)
		live->events.items[live->events.len - 1].is_stacks = true;
	return status == TALLY_OK ? live_walked_init(&live->walked, err) : status;
}

/* If all records have the same layout, any event will do. */
static const struct live_event *live_unwind_event_of(const struct live_unwind *live, const struct record *record)
{
	const struct record_layout *first = &live->events.items[0].layout;
	size_t len = record->bytes.len;
	uint64_t id, index;
	if (!live->are_mixed)
		return &live->events.items[0];
	bool is_sample = record->type == RECORD_SAMPLE;
	uint16_t trailer = first->trailer_identifier ? first->trailer_identifier : first->trailer_id;
	int16_t offset = first->identifier >= 0 ? first->identifier : first->id;
	if (is_sample ? offset < 0 || (size_t)offset + 8 > len : trailer == 0 || trailer + 8u > len)
		return NULL;
	id = sample_u64_at(record->bytes.data + (is_sample ? (size_t)offset : len - trailer), 0, false);
	return map_u64_find(&live->by_id, id, &index) ? &live->events.items[index] : NULL;
}

uint64_t live_unwind_time(const struct live_unwind *live, const struct record *record)
{
	const struct live_event *event = live_unwind_event_of(live, record);
	size_t len = record->bytes.len;
	if (!event)
		return 0;
	const struct record_layout *layout = &event->layout;
	if (record->type == RECORD_SAMPLE)
		return layout->time >= 0 && (size_t)layout->time + 8 <= len
			       ? sample_u64_at(record->bytes.data + layout->time, 0, false)
			       : 0;
	return layout->trailer_time && layout->trailer_time + 8u <= len
		       ? sample_u64_at(record->bytes.data + len - layout->trailer_time, 0, false)
		       : 0;
}

/* A sample in parts: head, middle and tail are copied unchanged; chain and stack are replaced by the new chain. */
struct cut_sample {
	uint32_t pid, tid;
	struct tally_bytes head; /* The part before the chain. */
	struct sample_array chain;
	struct tally_bytes middle; /* The part between the chain and the registers. */
	uint64_t abi;
	const uint8_t *registers; /* One 64-bit word per bit of layout->regs_user_mask; NULL if there are none. */
	struct tally_bytes stack;
	bool is_full; /* The kernel copied as much as was requested, so the stack may be longer. */
	struct tally_bytes tail;
};

static void skip_branches(struct cursor *c, const struct record_layout *layout)
{
	uint64_t count = cursor_u64(c);
	if (layout->branch_sample_type & BRANCH_HW_INDEX)
		(void)cursor_u64(c);
	if (!cursor_count(c, count, 24))
		return;
	cursor_skip(c, (size_t)count * 24);
	if ((layout->branch_sample_type & BRANCH_COUNTERS) && cursor_count(c, count, 8))
		cursor_skip(c, (size_t)count * 8);
}

static void cut_stack(struct cursor *c, struct cut_sample *cut)
{
	uint64_t size = cursor_u64(c), copied;
	if (size == 0 || !cursor_count(c, size, 1))
		return;
	cut->stack = cursor_bytes(c, (size_t)size);
	copied = cursor_u64(c);
	cut->is_full = copied == size;
	if (copied > size)
		c->failed = true;
	else
		cut->stack.len = (size_t)copied;
}

/* Skips the fields after the stack, which are copied unchanged, to check that they are complete. */
static void skip_tail(struct cursor *c, const struct record_layout *layout)
{
	const uint64_t before = SAMPLE_DATA_SRC | SAMPLE_TRANSACTION;
	const uint64_t behind = SAMPLE_PHYS_ADDR | SAMPLE_CGROUP | SAMPLE_DATA_PAGE_SIZE | SAMPLE_CODE_PAGE_SIZE;
	uint64_t type = layout->sample_type;
	cursor_skip(c, 8 * (size_t)__builtin_popcountll(type & before));
	if (type & (SAMPLE_WEIGHT | SAMPLE_WEIGHT_STRUCT))
		cursor_skip(c, 8);
	if ((type & SAMPLE_REGS_INTR) && cursor_u64(c) != REGS_ABI_NONE)
		cursor_skip(c, 8 * (size_t)__builtin_popcountll(layout->regs_intr_mask));
	cursor_skip(c, 8 * (size_t)__builtin_popcountll(type & behind));
	if (type & SAMPLE_AUX) {
		uint64_t size = cursor_u64(c);
		if (cursor_count(c, size, 1))
			cursor_skip(c, (size_t)size);
	}
}

/* Parses a sample to the end of its chain. Returns false if it is damaged. */
static bool cut_chain(
	struct cursor *c, const struct record_layout *layout, const struct record *record, struct cut_sample *cut)
{
	const uint8_t *data = record->bytes.data;
	struct read_values values;
	*cut = (struct cut_sample){0};
	if (record->bytes.len < layout->fixed_bytes)
		return false;
	if (layout->tid >= 0) {
		memcpy(&cut->pid, data + layout->tid, sizeof(cut->pid));
		memcpy(&cut->tid, data + layout->tid + 4, sizeof(cut->tid));
	}
	cursor_skip(c, layout->fixed_bytes);
	if ((layout->sample_type & SAMPLE_READ) &&
		read_values_decode(c, layout->read_format, &values, NULL) != TALLY_OK)
		return false;
	cut->head = (struct tally_bytes){data, c->pos};
	if (layout->sample_type & SAMPLE_CALLCHAIN) {
		uint64_t count = cursor_u64(c);
		if (!cursor_count(c, count, 8))
			return false;
		cut->chain = (struct sample_array){cursor_take(c, (size_t)count * 8), (uint32_t)count};
	}
	return !c->failed;
}

static bool cut_sample(const struct record_layout *layout, const struct record *record, struct cut_sample *cut)
{
	struct cursor c = cursor_make(record->bytes, false);
	const uint8_t *data = record->bytes.data;
	if (!cut_chain(&c, layout, record, cut))
		return false;
	size_t start = c.pos;
	if (layout->sample_type & SAMPLE_RAW) {
		cursor_skip(&c, cursor_u32(&c));
		cursor_skip(&c, (8 - c.pos % 8) % 8);
	}
	if (layout->sample_type & SAMPLE_BRANCH_STACK)
		skip_branches(&c, layout);
	if (c.failed)
		return false;
	cut->middle = (struct tally_bytes){data + start, c.pos - start};
	cut->abi = cursor_u64(&c);
	if (cut->abi != REGS_ABI_NONE)
		cut->registers = cursor_take(&c, 8 * (size_t)__builtin_popcountll(layout->regs_user_mask));
	cut_stack(&c, cut);
	start = c.pos;
	skip_tail(&c, layout);
	cut->tail = (struct tally_bytes){data + start, record->bytes.len - start};
	return !c.failed;
}

static void live_unwind_read_registers(const struct arch *arch, const struct record_layout *layout,
	const struct cut_sample *cut, struct unwind_registers *registers)
{
	const uint8_t *value = cut->registers;
	registers->known = 0;
	registers->pc = 0;
	for (uint64_t mask = layout->regs_user_mask; mask; mask &= mask - 1, value += 8)
		unwind_registers_set(registers, arch, (uint32_t)__builtin_ctzll(mask), sample_u64_at(value, 0, false));
}

/* Returns the words after CONTEXT_USER; *kernel_words is the number of words before it. */
static struct sample_array user_part(const struct sample_array *chain, uint32_t *kernel_words)
{
	for (uint32_t i = 0; i < chain->count; i++)
		if (sample_u64_at(chain->data, i, false) == CONTEXT_USER) {
			*kernel_words = i;
			return (struct sample_array){chain->data + 8 * ((size_t)i + 1), chain->count - i - 1};
		}
	*kernel_words = chain->count;
	return (struct sample_array){NULL, 0};
}

struct live_unwind_look_up {
	struct live_unwind *live;
	const struct live_process *process;
	uint64_t time;
};

static bool live_unwind_find_module(void *context, uint64_t pc, struct unwind_module *module)
{
	struct live_unwind_look_up *l = context;
	return live_binaries_find(l->live->binaries, l->process, l->time, pc, module);
}

struct live_walk { /* Everything that unwinding one sample needs. */
	struct unwinder *unwinder;
	const struct arch *arch;
	const struct live_process *process;
	uint64_t time; /* UINT64_MAX if not comparable with the times in jitdump files. */
	struct unwind_registers registers;
	uint64_t sp;
};

static struct unwind_result live_unwind_unwind(
	struct live_unwind *live, const struct live_walk *walk, struct tally_bytes stack)
{
	struct live_unwind_look_up look_up = {live, walk->process, walk->time};
	const struct unwind_modules modules = {live_unwind_find_module, &look_up};
	const struct unwind_stack slice = {walk->sp, stack, false};
	return unwinder_run(walk->unwinder, &walk->registers, &slice, &modules, live->ips, FRAMES_MAX);
}

/* Appends frames of the kernel's chain where another stack begins or the stack dump ends. */
static size_t live_unwind_splice(struct live_unwind *live, const struct live_walk *walk, struct tally_bytes stack,
	struct sample_array chain, struct unwind_result *result)
{
	struct live_unwind_look_up look_up = {live, walk->process, walk->time};
	const struct unwind_modules modules = {live_unwind_find_module, &look_up};
	const struct live_splice parts = {.arch = walk->arch,
		.chain = chain,
		.registers = &walk->registers,
		.stack = {walk->sp, stack, false},
		.modules = &modules};
	return live_splice(&parts, live->ips, FRAMES_MAX, result);
}

static void forget_mappings(struct live_unwind *live)
{
	for (size_t i = 0; i < 2; i++)
		if (live->unwinders[i])
			unwinder_forget(live->unwinders[i]);
}

/* The unwinders cache the mappings of one process, which may have changed. */
static void tell_unwinders(struct live_unwind *live, const struct live_process *process)
{
	if (live->last_pid == process->pid && live->last_changes == process->changes)
		return;
	forget_mappings(live);
	live->last_pid = process->pid;
	live->last_changes = process->changes;
}

/* Returns whether more of the stack, or the kernel's chain, could add frames. */
static bool is_incomplete(const struct unwind_result *result)
{
	return result->end != UNWIND_ROOT && result->end != UNWIND_LIMIT;
}

/* Prepares unwinding for the ABI of the sample's registers: a 64-bit kernel also runs 32-bit programs. Returns false if
 * no unwinder for it can be made. */
static bool begin_walk(struct live_unwind *live, const struct record_layout *layout, const struct cut_sample *cut,
	struct live_walk *walk)
{
	const struct arch *arch = sample_registers_arch(live->config.arch, cut->abi);
	struct unwinder **unwinder = &live->unwinders[arch != live->config.arch];
	if (!arch || (!*unwinder && unwinder_create(arch, unwinder, NULL) != TALLY_OK))
		return false;
	walk->unwinder = *unwinder;
	walk->arch = arch;
	live_unwind_read_registers(arch, layout, cut, &walk->registers);
	walk->sp = walk->registers.values[arch->dwarf_sp];
	tell_unwinders(live, walk->process);
	return true;
}

/* Unwinds the user stack of a sample into live->ips. The count is 0 if it has no user registers, its process is
 * unknown, or gives_up is set. */
static struct unwind_result find_callers(
	struct live_unwind *live, const struct record_layout *layout, struct cut_sample *cut, struct sample_array fp)
{
	struct live_walk walk = {.process = live_maps_process(&live->maps, (int32_t)cut->pid), .time = UINT64_MAX};
	struct unwind_result result = {.end = walk.process ? UNWIND_NO_REGISTERS : UNWIND_NO_CFI};
	struct tally_bytes copy = cut->stack;
	if (cut->abi == REGS_ABI_NONE)
		return result; /* A kernel thread has no user registers. */
	if (live->gives_up) {
		live->totals.given_up++;
		return result;
	}
	if (!walk.process || !begin_walk(live, layout, cut, &walk)) {
		live->totals.ends.ends[result.end]++;
		return result;
	}
	if (live->has_dump_times)
		walk.time = sample_u64_at(cut->head.data + layout->time, 0, false);
	bool is_shortened = copy.len > live->stack_bytes_max;
	if (is_shortened)
		copy.len = live->stack_bytes_max;
	result = live_unwind_unwind(live, &walk, copy);
	struct tally_bytes longer =
		live_stacks_extend(&live->stacks, (int32_t)cut->tid, walk.sp, cut->stack, cut->is_full);
	if (is_incomplete(&result) && is_shortened) {
		live->totals.shortened++;
	} else if (is_incomplete(&result) && longer.len > copy.len) {
		size_t before = result.count;
		result = live_unwind_unwind(live, &walk, longer);
		live->totals.joined += result.count > before;
	}
	live->totals.joined += live_unwind_splice(live, &walk, longer.len > copy.len ? longer : copy, fp, &result) > 0;
	stack_ends_add(&live->totals.ends, &result);
	return result;
}

static void put_kept_registers(const struct live_unwind *live, const struct record_layout *layout,
	const struct cut_sample *cut, struct writer *out)
{
	const uint8_t *value = cut->registers;
	if (live->config.kept_registers == 0)
		return;
	writer_u64(out, cut->abi);
	if (cut->abi == REGS_ABI_NONE)
		return;
	for (uint64_t mask = layout->regs_user_mask; mask; mask &= mask - 1, value += 8)
		if (live->config.kept_registers & mask & (~mask + 1))
			writer_bytes(out, value, 8);
}

/* Writes the kernel's frame-pointer chain like unwound ones: callers as return address - 1. */
static void put_recorded(const struct sample_array *chain, struct writer *out)
{
	for (uint32_t i = 0; i < chain->count; i++)
		writer_u64(out, sample_u64_at(chain->data, i, false) - (i > 0));
}

/* Returns TALLY_END if the sample must wait until a file is opened. */
static enum tally_status feed_sample(struct live_unwind *live, const struct live_event *event,
	const struct record *record, struct writer *out, struct tally_error *err)
{
	struct cut_sample cut;
	uint32_t kernel_words;
	if (!cut_sample(&event->layout, record, &cut)) {
		live->totals.damaged++;
		return TALLY_OK;
	}
	struct sample_array fp = user_part(&cut.chain, &kernel_words);
	const struct live_unwind_totals before = live->totals;
	const struct unwind_result result = find_callers(live, &event->layout, &cut, fp);
	size_t count = result.count;
	if (live_binaries_has_missed(live->binaries)) {
		live->totals = before;
		forget_mappings(live); /* The unwinders have cached answers that were incomplete. */
		return TALLY_END;
	}
	bool is_unwound = count > 0;
	size_t other = cut.head.len + cut.middle.len + cut.tail.len + 8 * ((size_t)kernel_words + 2) +
		       8 * (size_t)(1 + __builtin_popcountll(live->config.kept_registers));
	if (other >= SAMPLE_BYTES_MAX || (!is_unwound && fp.count * 8u > SAMPLE_BYTES_MAX - other)) {
		live->totals.damaged++;
		return TALLY_OK;
	}
	if (is_unwound && count > (SAMPLE_BYTES_MAX - other) / 8)
		count = (SAMPLE_BYTES_MAX - other) / 8;
	size_t start = out->len;
	writer_bytes(out, cut.head.data, cut.head.len);
	uint64_t user_words = is_unwound ? count + 1 : fp.count ? fp.count + 1u : 0;
	writer_u64(out, kernel_words + user_words);
	writer_bytes(out, cut.chain.data, 8 * (size_t)kernel_words);
	if (user_words)
		writer_u64(out, CONTEXT_USER);
	for (size_t i = 1; is_unwound && i < count; i++)
		live->ips[i] -= !unwind_is_exact(&result, i); /* The call lies before its return address. */
	if (is_unwound)
		writer_bytes(out, live->ips, 8 * count);
	else
		put_recorded(&fp, out);
	writer_bytes(out, cut.middle.data, cut.middle.len);
	put_kept_registers(live, &event->layout, &cut, out);
	writer_bytes(out, cut.tail.data, cut.tail.len);
	writer_patch_u16(out, start + 6, (uint16_t)(out->len - start));
	return out->failed ? error_nomem(err) : TALLY_OK;
}

/* The kernel reports losses with the ID of the event that next finds room in the ring. If that is the event of walked
 * stacks, which is not in the file, the ID of another event replaces it. */
static void put_sideband(struct live_unwind *live, const struct record *record, struct writer *out)
{
	const struct live_event *event = live->walked.is_on ? live_unwind_event_of(live, record) : NULL;
	uint64_t other = 0;
	size_t start = out->len, len = record->bytes.len, position = 0;
	writer_bytes(out, record->bytes.data, len);
	if (!event || !event->is_stacks || out->failed || event->layout.trailer_identifier > len)
		return;
	for (uint64_t id, index; map_u64_next(&live->by_id, &position, &id, &index);)
		if (!live->events.items[index].is_stacks)
			other = id;
	memcpy(out->data + start + len - event->layout.trailer_identifier, &other, sizeof(other));
}

void live_unwind_set_interpreted(struct live_unwind *live, const struct live_interpreted *interpreted)
{
	live->interpreted = *interpreted;
}

/* Replaces the interpreter's frames by addresses of a made-up mapping, where a perf map names the functions of the
 * script. The mapping is written before the first sample of the process that has such frames. */
static void name_interpreted(const struct live_unwind *live, const struct live_event *event,
	const struct record *record, struct walk_stack *stack, struct writer *out)
{
	struct record_fields fields = {.type = RECORD_MMAP2};
	struct sample s;
	if (!live->interpreted.name || sample_decode(&event->layout, record, &s, NULL) != TALLY_OK)
		return;
	uint64_t ips[WALK_FRAMES];
	memcpy(ips, stack->ips, stack->count * sizeof(*ips));
	bool is_new = live->interpreted.name(live->interpreted.context, s.pid, ips, stack->count, &fields.mmap);
	memcpy(stack->ips, ips, stack->count * sizeof(*ips));
	if (!is_new)
		return;
	const struct sample_id id = {
		.pid = s.pid, .tid = s.tid, .cpu = s.cpu, .time = s.time, .id = s.id, .stream_id = s.stream_id};
	(void)record_encode(out, &fields, MISC_CPUMODE_USER, &event->layout, &id);
}

/* Joins a sample with its user stack, which a BPF program delivered before it. */
static enum tally_status feed_walked(struct live_unwind *live, const struct live_event *event,
	const struct record *record, struct writer *out, struct tally_error *err)
{
	struct cursor c = cursor_make(record->bytes, false);
	struct cut_sample cut;
	struct walk_stack *stack;
	if (!cut_chain(&c, &event->layout, record, &cut)) {
		live->totals.damaged++;
		return TALLY_OK;
	}
	stack = live_walked_find(&live->walked, cut.tid);
	size_t rest = record->bytes.len - c.pos, count = stack ? stack->count : 0;
	if (count && cut.head.len + 8 * ((size_t)cut.chain.count + count + 2) + rest > SAMPLE_BYTES_MAX)
		count = 0;
	if (stack)
		live_walked_count(stack, &live->totals.ends, &live->totals.unknown);
	if (count && stack->is_interpreted)
		name_interpreted(live, event, record, stack, out);
	size_t start = out->len;
	writer_bytes(out, cut.head.data, cut.head.len);
	/* The address of a sample is that of its innermost frame. */
	if (count && stack->is_interpreted && cut.chain.count == 0 && event->layout.ip >= 0 && !out->failed)
		memcpy(out->data + start + event->layout.ip, stack->ips, sizeof(*stack->ips));
	writer_u64(out, cut.chain.count + (count ? count + 1 : 0));
	writer_bytes(out, cut.chain.data, 8 * (size_t)cut.chain.count);
	if (count) {
		writer_u64(out, CONTEXT_USER);
		writer_bytes(out, stack->ips, 8 * count);
	}
	writer_bytes(out, record->bytes.data + c.pos, rest);
	writer_patch_u16(out, start + 6, (uint16_t)(out->len - start));
	return out->failed ? error_nomem(err) : TALLY_OK;
}

static enum tally_status feed_sideband(struct live_unwind *live, const struct record *record, struct tally_error *err)
{
	struct record_fields fields;
	switch (record->type) {
	case RECORD_MMAP:
	case RECORD_MMAP2:
	case RECORD_COMM:
	case RECORD_FORK:
	case RECORD_EXIT:
	case RECORD_LOST:
	case RECORD_LOST_SAMPLES:
		break;
	default:
		return TALLY_OK;
	}
	if (record_decode(record, &fields, NULL) != TALLY_OK) {
		live->totals.damaged++;
		return TALLY_OK;
	}
	if (record->type == RECORD_LOST)
		live->totals.lost += fields.lost.lost;
	else if (record->type == RECORD_LOST_SAMPLES && !record_is_of_filter(record))
		live->totals.lost += fields.lost_samples.lost;
	return live_maps_apply(&live->maps, record, &fields, err);
}

static enum tally_status feed_now(
	struct live_unwind *live, const struct record *record, struct writer *out, struct tally_error *err)
{
	if (record->type != RECORD_SAMPLE) {
		if (record->type == RECORD_LOST)
			live_walked_forget(&live->walked);
		put_sideband(live, record, out);
		return out->failed ? error_nomem(err) : feed_sideband(live, record, err);
	}
	const struct live_event *event = live_unwind_event_of(live, record);
	if (!event) {
		live->totals.damaged++;
		return TALLY_OK;
	}
	if (event->is_stacks) {
		if (!live_walked_take(&live->walked, &event->layout, record))
			live->totals.damaged++;
		return TALLY_OK;
	}
	if (event->is_walked)
		return feed_walked(live, event, record, out, err);
	if (event->has_stack)
		return feed_sample(live, event, record, out, err);
	writer_bytes(out, record->bytes.data, record->bytes.len);
	return out->failed ? error_nomem(err) : TALLY_OK;
}

/* Adds a record to the backlog. Of a stack, only the part that the kernel copied is kept, because it leaves room for
 * the whole requested size; of that at most STACK_KEPT bytes if the backlog is more than half full. */
static enum tally_status put_off(struct live_unwind *live, const struct record *record, struct tally_error *err)
{
	const struct live_event *event = record->type == RECORD_SAMPLE ? live_unwind_event_of(live, record) : NULL;
	struct writer *w = &live->backlog;
	struct cut_sample cut;
	size_t start = w->len, kept_max = w->len > live->backlog_max / 2 ? STACK_KEPT : SIZE_MAX;
	if (!event || !event->has_stack || !cut_sample(&event->layout, record, &cut) || cut.stack.len == 0 ||
		(cut.is_full && cut.stack.len <= kept_max)) {
		writer_bytes(w, record->bytes.data, record->bytes.len);
		return w->failed ? error_nomem(err) : TALLY_OK;
	}
	size_t before = (size_t)(cut.stack.data - record->bytes.data);
	writer_bytes(w, record->bytes.data, before - 8);
	if (cut.stack.len > kept_max) {
		writer_u64(w, kept_max);
		writer_bytes(w, cut.stack.data, kept_max);
		writer_u64(w, kept_max);
	} else {
		/* A size above the copied length marks the stack as not truncated. */
		writer_u64(w, (cut.stack.len + 8) & ~UINT64_C(7));
		writer_bytes(w, cut.stack.data, cut.stack.len);
		writer_zeros(w, 8 - cut.stack.len % 8);
		writer_u64(w, cut.stack.len);
	}
	writer_bytes(w, cut.tail.data, cut.tail.len);
	if (!w->failed)
		writer_patch_u16(w, start + 6, (uint16_t)(w->len - start));
	return w->failed ? error_nomem(err) : TALLY_OK;
}

/* Handles the waiting records until one needs a file that is not open yet; if wait is set, handles all of them. */
static enum tally_status live_unwind_work_off(
	struct live_unwind *live, bool wait, struct writer *out, struct tally_error *err)
{
	struct record record;
	enum tally_status status = TALLY_OK;
	while (status == TALLY_OK && live->backlog_done < live->backlog.len &&
		live_binaries_poll(live->binaries, wait)) {
		status = record_at(writer_view(&live->backlog), false, live->backlog_done, &record, err);
		if (status == TALLY_OK)
			status = feed_now(live, &record, out, err);
		if (status == TALLY_OK)
			live->backlog_done += record.bytes.len;
		else if (status == TALLY_END)
			status = TALLY_OK;
	}
	if (live->backlog_done == live->backlog.len) {
		writer_clear(&live->backlog);
		live->backlog_done = 0;
	}
	return status;
}

/* Writes the waiting samples with the kernel's chains: waiting longer would take more memory, or lose samples. */
static enum tally_status live_unwind_give_up(struct live_unwind *live, struct writer *out, struct tally_error *err)
{
	struct record record;
	enum tally_status status = live_unwind_work_off(live, false, out, err);
	live->gives_up = true;
	while (status == TALLY_OK && live->backlog_done < live->backlog.len) {
		status = record_at(writer_view(&live->backlog), false, live->backlog_done, &record, err);
		if (status == TALLY_OK)
			status = feed_now(live, &record, out, err);
		live->backlog_done += record.bytes.len;
	}
	live->gives_up = false;
	writer_clear(&live->backlog);
	live->backlog_done = 0;
	return status;
}

enum tally_status live_unwind_feed(
	struct live_unwind *live, const struct record *record, struct writer *out, struct tally_error *err)
{
	live->totals.samples += record->type == RECORD_SAMPLE;
	if (live->backlog.len > live->backlog_max) {
		enum tally_status done = live_unwind_give_up(live, out, err);
		if (done != TALLY_OK)
			return done;
	}
	enum tally_status status = feed_now(live, record, out, err);
	return status == TALLY_END ? put_off(live, record, err) : status;
}

enum tally_status live_unwind_finish(struct live_unwind *live, struct writer *out, struct tally_error *err)
{
	return live_unwind_work_off(live, true, out, err);
}

static void forget_tables(struct live_unwind *live)
{
	for (size_t i = 0; i < 2; i++)
		if (live->unwinders[i])
			unwinder_forget_tables(live->unwinders[i]);
}

enum tally_status live_unwind_end_round(struct live_unwind *live, struct writer *out, struct tally_error *err)
{
	enum tally_status status = live_unwind_work_off(live, false, out, err);
	if (status != TALLY_OK || live->backlog.len)
		return status; /* Waiting samples may need processes that have ended since. */
	live_maps_forget(&live->maps, NULL, NULL);
	live->last_pid = -1; /* The PID may belong to another process now. */
	if (live_binaries_trim(live->binaries))
		forget_tables(live);
	if (!live_maps_is_stale(&live->maps))
		return TALLY_OK;
	status = live_maps_renumber(&live->maps, err);
	forget_tables(live);
	return status == TALLY_OK ? live_binaries_reset(live->binaries, err) : status;
}

bool live_unwind_is_holding(const struct live_unwind *live)
{
	return live->backlog.len > 0;
}

void live_unwind_shorten(struct live_unwind *live, size_t stack_bytes)
{
	live->stack_bytes_max = stack_bytes;
}

void live_unwind_limit(struct live_unwind *live, uint64_t bytes)
{
	/* The backlog, the stacks and the unwind tables get less than the limit together, because buffers grow by
	 * doubling. */
	live->backlog_max = MIN(bytes / 4, BACKLOG_MAX);
	live->stacks.bytes_max = bytes / 8 < LIVE_STACKS_MAX ? bytes / 8 + 1 : LIVE_STACKS_MAX;
	live_binaries_limit(live->binaries, bytes == UINT64_MAX ? bytes : bytes / 2);
}

uint64_t live_unwind_memory(const struct live_unwind *live)
{
	return live->backlog.len + live->stacks.bytes + live_binaries_memory(live->binaries);
}

struct live_unwind_totals live_unwind_totals(const struct live_unwind *live)
{
	struct live_unwind_totals totals = live->totals;
	totals.refused = live_binaries_refused(live->binaries);
	totals.unmatched = live->walked.unmatched;
	return totals;
}
