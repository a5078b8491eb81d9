/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/live/live_splice.h"

/* Number of consecutive equal frames that identify a common frame when earlier frames differ. */
#define FRAMES_ALIKE 3

struct common_frame { /* Indexes of the last frame that is in both chains. */
	size_t unwound, recorded;
};

static uint64_t chain_word(const struct live_splice *s, size_t i)
{
	return sample_u64_at(s->chain.data, (uint32_t)i, false);
}

/* Functions without a frame pointer are missing from the kernel's chain; all other frames are in the same order. */
static bool find_in_order(const struct live_splice *s, const uint64_t *ips, size_t count, struct common_frame *common)
{
	size_t next = 0;
	for (size_t i = 0; i < count && next < s->chain.count; i++)
		if (ips[i] == chain_word(s, next))
			*common = (struct common_frame){i, next++};
	return next >= 2; /* The first frame is the PC, which is the same in both. */
}

static bool find_alike(const struct live_splice *s, const uint64_t *ips, size_t count, struct common_frame *common)
{
	if (count < FRAMES_ALIKE)
		return false;
	for (size_t i = s->chain.count; i-- > FRAMES_ALIKE - 1;) {
		size_t alike = 0;
		while (alike < FRAMES_ALIKE && chain_word(s, i - alike) == ips[count - 1 - alike])
			alike++;
		if (alike < FRAMES_ALIKE)
			continue;
		*common = (struct common_frame){count - 1, i};
		return true;
	}
	return false;
}

static bool read_frame_pointer(const struct live_splice *s, uint64_t *fp)
{
	uint64_t offset = *fp + (uint64_t)s->arch->frame_fp_offset - s->stack.address;
	unsigned size = s->arch->pointer_bytes;
	if (s->stack.bytes.len < size || offset > s->stack.bytes.len - size)
		return false;
	struct cursor c = cursor_make((struct tally_bytes){s->stack.bytes.data + offset, size}, s->stack.swap);
	*fp = size == 4 ? cursor_u32(&c) : cursor_u64(&c);
	return true;
}

/* The kernel read the i-th return address by the i-th frame pointer: finds the one that equals the frame pointer of
 * the last unwound frame. */
static bool find_by_frame_pointer(
	const struct live_splice *s, const struct unwind_result *result, struct common_frame *common)
{
	uint64_t fp = s->registers->values[s->arch->dwarf_fp];
	if (!result->has_last_fp || result->last_fp == 0 || !(s->registers->known >> s->arch->dwarf_fp & 1))
		return false;
	for (size_t i = 0; i + 1 < s->chain.count; i++) {
		if (fp == result->last_fp) {
			*common = (struct common_frame){result->count - 1, i};
			return true;
		}
		if (!read_frame_pointer(s, &fp))
			return false;
	}
	return false;
}

static const struct unwind_rule *rule_of(const struct live_splice *s, uint64_t address, bool *is_mapped)
{
	struct unwind_module module = {.table = NULL};
	uint64_t call = address - s->arch->call_back_bytes;
	*is_mapped = s->modules->find(s->modules->context, call, &module);
	return *is_mapped && module.table ? unwind_table_find(module.table, call - module.bias) : NULL;
}

/* The frame that a signal interrupted is valid even if it lies on another stack and is missing from the kernel's
 * chain. It follows the frame to which the handler returns. */
static bool is_interrupted(const struct unwind_result *result, size_t i)
{
	for (uint32_t at = 0; at < result->signal_count; at++)
		if (i == result->signals[at] + UINT64_C(1))
			return i + 1 == result->count;
	return false;
}

static bool find_common(const struct live_splice *s, const uint64_t *ips, const struct unwind_result *result,
	struct common_frame *common)
{
	if (result->count == 0 || result->is_outermost || result->end == UNWIND_LIMIT || s->chain.count < 2)
		return false;
	if (find_in_order(s, ips, result->count, common)) {
		common->unwound += is_interrupted(result, common->unwound + 1);
		return true;
	}
	if (result->end != UNWIND_ROOT && find_alike(s, ips, result->count, common))
		return true;
	return find_by_frame_pointer(s, result, common);
}

size_t live_splice(const struct live_splice *s, uint64_t *ips, size_t max, struct unwind_result *result)
{
	struct common_frame common = {0};
	const struct unwind_rule *rule = NULL;
	size_t added = 0;
	if (!find_common(s, ips, result, &common))
		return 0;
	size_t given_up = result->count - 1 - common.unwound;
	size_t left = s->chain.count - 1 - common.recorded;
	size_t room = max - 1 - common.unwound;
	/* Frames that lead to a wrong end may be replaced by as many; otherwise the chain must get longer. */
	bool is_wrong = result->end == UNWIND_ROOT || result->end == UNWIND_BROKEN;
	size_t least = given_up + (given_up == 0 || !is_wrong);
	if (left < least)
		return 0;
	/* The usable frames are counted before they replace others, because they may be too few. */
	bool is_mapped = true;
	while (added < left && added < room && is_mapped) {
		const struct unwind_rule *next = rule_of(s, chain_word(s, common.recorded + 1 + added), &is_mapped);
		added += is_mapped;
		rule = is_mapped ? next : rule;
	}
	if (added < least)
		return 0;
	for (size_t i = 0; i < added; i++) {
		uint64_t address = chain_word(s, common.recorded + 1 + i);
		const struct unwind_rule *own = rule_of(s, address, &is_mapped);
		ips[common.unwound + 1 + i] = address + (own && own->is_signal);
	}
	result->count = common.unwound + 1 + added;
	if (rule && rule->is_root)
		result->end = UNWIND_ROOT;
	return added;
}
