/* SPDX-License-Identifier: Apache-2.0 */
#include "bpf/wait_stacks.h"

#include <stdlib.h>
#include <string.h>

#include "abi/perf_constants.h"
#include "base/array.h"

#define GENERATION_BYTES (UINT64_C(64) << 20)

struct wait_stacks_entry {
	uint16_t kernel_count, user_count;
	uint64_t ips[];
};

static void wait_stacks_drop(struct wait_stacks_generation *g)
{
	map_u64_deinit(&g->index);
	if (g->has_arena)
		arena_deinit(&g->arena);
	*g = (struct wait_stacks_generation){0};
}

void wait_stacks_deinit(struct wait_stacks *stacks)
{
	wait_stacks_drop(&stacks->young);
	wait_stacks_drop(&stacks->old);
	wait_stacks_drop(&stacks->kept);
}

/* ---- the scheduler's own frames ---- */

/* Matches whole names, or prefixes that end in a star. */
static bool wait_stacks_is_scheduler(struct tally_str name)
{
	static const char *const names[] = {"__switch_to", "__schedule", "schedule", "schedule_*", "io_schedule",
		"io_schedule_*", "preempt_schedule*", "try_to_wake_up", "wake_up_process", "wake_up_new_task",
		"default_wake_function", "autoremove_wake_function", "wake_up_q", "__wake_up_common*", "__wake_up",
		"__wake_up_sync*"};
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		size_t len = strlen(names[i]);
		bool is_begin = names[i][len - 1] == '*';
		if (is_begin ? str_starts_with(name, (struct tally_str){names[i], len - 1})
			     : str_equal(name, (struct tally_str){names[i], len}))
			return true;
	}
	return false;
}

static bool wait_stacks_parse_line(struct tally_str line, uint64_t *address, struct tally_str *name)
{
	struct tally_str word;
	if (!str_next(&line, ' ', &word) || !str_to_u64(word, 16, address) || !str_next(&line, ' ', &word) ||
		!str_next(&line, '\t', name))
		return false;
	return *address != 0 && (str_equal(word, STR("t")) || str_equal(word, STR("T")));
}

void wait_stacks_read_kernel(struct wait_stacks *stacks, struct tally_str kallsyms)
{
	struct tally_str rest = kallsyms, line, name;
	struct wait_stacks_range *open = NULL;
	uint64_t address;
	while (str_next(&rest, '\n', &line)) {
		if (!wait_stacks_parse_line(line, &address, &name))
			continue;
		if (open && address > open->begin) { /* A function ends where the next symbol begins. */
			open->end = address;
			open = NULL;
		}
		/*
		 * On x86 the section begins with exceptions; the interrupts after them start at asm_common_interrupt.
		 */
		if (str_equal(name, STR("__irqentry_text_start")) || str_equal(name, STR("asm_common_interrupt")))
			stacks->interrupts.begin = address;
		if (str_equal(name, STR("__irqentry_text_end")))
			stacks->interrupts.end = address;
		if (!open && stacks->scheduler_count < ARRAY_LEN(stacks->scheduler) && wait_stacks_is_scheduler(name)) {
			open = &stacks->scheduler[stacks->scheduler_count++];
			*open = (struct wait_stacks_range){address, address + 1};
		}
	}
}

static bool wait_stacks_is_in_scheduler(const struct wait_stacks *stacks, uint64_t address)
{
	for (size_t i = 0; i < stacks->scheduler_count; i++)
		if (address >= stacks->scheduler[i].begin && address < stacks->scheduler[i].end)
			return true;
	return false;
}

/* ---- the table ---- */

static void wait_stacks_turn(struct wait_stacks *stacks)
{
	size_t position = 0;
	uint64_t id, value;
	while (stacks->forgotten && map_u64_next(&stacks->old.index, &position, &id, &value))
		if (!map_u64_find(&stacks->young.index, id, &value))
			stacks->forgotten(stacks->forgotten_context, id);
	wait_stacks_drop(&stacks->old);
	stacks->old = stacks->young;
	stacks->young = (struct wait_stacks_generation){0};
}

struct wait_stacks_parts {
	const uint64_t *kernel, *user;
	size_t kernel_count, user_count;
};

static size_t wait_stacks_bytes(const struct wait_stacks_parts *p)
{
	return sizeof(struct wait_stacks_entry) + (p->kernel_count + p->user_count) * sizeof(uint64_t);
}

static bool wait_stacks_put_into(struct wait_stacks_generation *g, uint64_t id, const struct wait_stacks_parts *p)
{
	size_t bytes = wait_stacks_bytes(p);
	if (!g->has_arena)
		arena_init(&g->arena);
	g->has_arena = true;
	struct wait_stacks_entry *entry = arena_alloc(&g->arena, bytes, _Alignof(struct wait_stacks_entry));
	if (!entry || !map_u64_set(&g->index, id, (uint64_t)(uintptr_t)entry))
		return false;
	entry->kernel_count = (uint16_t)p->kernel_count;
	entry->user_count = (uint16_t)p->user_count;
	memcpy(entry->ips, p->kernel, p->kernel_count * sizeof(uint64_t));
	memcpy(entry->ips + p->kernel_count, p->user, p->user_count * sizeof(uint64_t));
	g->bytes += bytes;
	return true;
}

static bool wait_stacks_put(struct wait_stacks *stacks, uint64_t id, const struct wait_stacks_parts *p)
{
	if (stacks->young.bytes + wait_stacks_bytes(p) > (stacks->most_bytes ? stacks->most_bytes : GENERATION_BYTES))
		wait_stacks_turn(stacks);
	return wait_stacks_put_into(&stacks->young, id, p);
}

/*
 * Splits a chain into its kernel's and its user's part, without the frames of this BPF program and of the scheduler:
 * all frames up to the last one of the scheduler among the first few. At least one frame of the kernel is left, because
 * a preempted thread may have only such frames.
 */
static struct wait_stacks_parts wait_stacks_parts_of(
	const struct wait_stacks *stacks, const uint64_t *ips, size_t kernel_count, size_t user_count)
{
	size_t trimmed = 0;
	for (size_t i = 0; i < kernel_count && i < 12; i++)
		if (wait_stacks_is_in_scheduler(stacks, ips[i]))
			trimmed = i + 1;
	if (trimmed == kernel_count && kernel_count > 0)
		trimmed--;
	return (struct wait_stacks_parts){ips + trimmed, ips + kernel_count, kernel_count - trimmed, user_count};
}

bool wait_stacks_add(
	struct wait_stacks *stacks, uint64_t id, const uint64_t *ips, size_t kernel_count, size_t user_count)
{
	uint64_t value;
	if (map_u64_find(&stacks->young.index, id, &value))
		return true;
	const struct wait_stacks_parts parts = wait_stacks_parts_of(stacks, ips, kernel_count, user_count);
	return wait_stacks_put(stacks, id, &parts);
}

bool wait_stacks_keep(
	struct wait_stacks *stacks, uint64_t id, const uint64_t *ips, size_t kernel_count, size_t user_count)
{
	const struct wait_stacks_parts parts = wait_stacks_parts_of(stacks, ips, kernel_count, user_count);
	uint64_t most = 4 * (stacks->most_bytes ? stacks->most_bytes : GENERATION_BYTES);
	if (stacks->kept.bytes + wait_stacks_bytes(&parts) > most)
		wait_stacks_drop(&stacks->kept);
	return wait_stacks_put_into(&stacks->kept, id, &parts);
}

bool wait_stacks_keep_user(struct wait_stacks *stacks, uint64_t id, const uint64_t *ips, size_t count)
{
	uint64_t value = 0;
	const struct wait_stacks_entry *kept =
		map_u64_find(&stacks->kept.index, id, &value) ? (const void *)(uintptr_t)value : NULL;
	const struct wait_stacks_parts parts = {kept ? kept->ips : ips, ips, kept ? kept->kernel_count : 0, count};
	return wait_stacks_put_into(&stacks->kept, id, &parts);
}

size_t wait_stacks_chain(struct wait_stacks *stacks, uint64_t id, uint64_t *chain, size_t most)
{
	uint64_t value;
	size_t count = 0;
	if (!map_u64_find(&stacks->young.index, id, &value) && !map_u64_find(&stacks->kept.index, id, &value)) {
		if (!map_u64_find(&stacks->old.index, id, &value))
			return 0;
		const struct wait_stacks_entry *old = (const void *)(uintptr_t)value;
		const struct wait_stacks_parts parts = {
			old->ips, old->ips + old->kernel_count, old->kernel_count, old->user_count};
		if (stacks->young.bytes + wait_stacks_bytes(&parts) <=
			/* There is room, so inserting it does not free the old entry. */
			(stacks->most_bytes ? stacks->most_bytes : GENERATION_BYTES))
			(void)wait_stacks_put(stacks, id, &parts);
	}
	const struct wait_stacks_entry *entry = (const void *)(uintptr_t)value;
	for (size_t i = 0; i < (size_t)entry->kernel_count + entry->user_count && count < most; i++) {
		if ((i == 0 || i == entry->kernel_count) && count + 1 < most)
			chain[count++] = i < entry->kernel_count ? CONTEXT_KERNEL : CONTEXT_USER;
		chain[count++] = entry->ips[i];
	}
	return count;
}

size_t wait_stacks_interrupt(const struct wait_stacks *stacks, const uint64_t *chain, size_t count)
{
	const struct wait_stacks_range *entry = &stacks->interrupts;
	for (size_t i = 0; i < count; i++) {
		bool is_entry = chain[i] >= entry->begin && chain[i] < entry->end;
		bool is_last = i + 1 == count || chain[i + 1] < entry->begin || chain[i + 1] >= entry->end;
		if (is_entry && is_last)
			return i + 1;
	}
	return count;
}
