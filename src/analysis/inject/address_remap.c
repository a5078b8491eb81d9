/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/inject/address_remap.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "base/order.h"

/* Where mappings are moved to, as in perf: the addresses of a program that is linked at a low address, and of the arm64
 * kernel. */
#define USER_START   UINT64_C(0x200000)
#define USER_END     (UINT64_C(1) << 47)
#define KERNEL_START UINT64_C(0xffff800010000000)
#define KERNEL_END   UINT64_C(0xfffffffffffff000) /* Higher values are context markers in call chains. */
#define GAP_BYTES    4096

void address_remap_deinit(struct address_remap *remap)
{
	map_u64_deinit(&remap->members);
	vec_free(&remap->families);
	vec_free(&remap->ranges);
	*remap = (struct address_remap){0};
}

static uint32_t root_of(const struct address_remap *remap, uint32_t family)
{
	while (remap->families.items[family] != family)
		family = remap->families.items[family];
	return family;
}

static bool family_of(struct address_remap *remap, int32_t pid, uint32_t *family)
{
	bool is_new;
	uint64_t *slot = map_u64_at(&remap->members, (uint32_t)pid, &is_new);
	if (!slot)
		return false;
	if (is_new) {
		*slot = remap->families.len;
		if (!vec_push(&remap->families, (uint32_t)*slot))
			return false;
	}
	*family = root_of(remap, (uint32_t)*slot);
	remap->families.items[*slot] = *family; /* Keeps paths to the root short. */
	return true;
}

bool address_remap_add(struct address_remap *remap, int32_t pid, uint64_t start, uint64_t end)
{
	struct address_remap_range range = {.start = start, .end = end};
	if (end <= start)
		return true;
	return family_of(remap, pid, &range.family) && vec_push(&remap->ranges, range);
}

bool address_remap_fork(struct address_remap *remap, int32_t child, int32_t parent)
{
	uint32_t of_child, of_parent;
	if (child == ADDRESS_REMAP_KERNEL || parent == ADDRESS_REMAP_KERNEL)
		return true;
	if (!family_of(remap, child, &of_child) || !family_of(remap, parent, &of_parent))
		return false;
	remap->families.items[of_child] = of_parent;
	return true;
}

static int by_place(const void *left, const void *right)
{
	const struct address_remap_range *a = left, *b = right;
	if (a->family != b->family)
		return a->family < b->family ? -1 : 1;
	return COMPARE(a->start, b->start);
}

static void join_touching(struct address_remap *remap)
{
	size_t kept = 0;
	for (size_t i = 0; i < remap->ranges.len; i++) {
		struct address_remap_range range = remap->ranges.items[i];
		struct address_remap_range *last = kept ? &remap->ranges.items[kept - 1] : NULL;
		if (last && last->family == range.family && range.start <= last->end)
			last->end = MAX(range.end, last->end);
		else
			remap->ranges.items[kept++] = range;
	}
	remap->ranges.len = kept;
}

enum tally_status address_remap_finish(struct address_remap *remap, struct tally_error *err)
{
	uint32_t kernel;
	if (!family_of(remap, ADDRESS_REMAP_KERNEL, &kernel))
		return error_nomem(err);
	for (size_t i = 0; i < remap->ranges.len; i++)
		remap->ranges.items[i].family = root_of(remap, remap->ranges.items[i].family);
	if (remap->ranges.len)
		qsort(remap->ranges.items, remap->ranges.len, sizeof(*remap->ranges.items), by_place);
	join_touching(remap);
	uint64_t next = 0;
	for (size_t i = 0; i < remap->ranges.len; i++) {
		struct address_remap_range *range = &remap->ranges.items[i];
		bool is_kernel = range->family == kernel;
		if (i == 0 || range[-1].family != range->family)
			next = is_kernel ? KERNEL_START : USER_START;
		/* Code keeps its offset in its page. */
		range->target = next + range->start % GAP_BYTES;
		uint64_t limit = is_kernel ? KERNEL_END : USER_END;
		if (range->target > limit - GAP_BYTES || range->end - range->start > limit - GAP_BYTES - range->target)
			return error_set(err, TALLY_LIMIT,
				"the mapping at 0x%" PRIx64 " is too long to be moved: 0x%" PRIx64 " bytes",
				range->start, range->end - range->start);
		uint64_t end = range->target + (range->end - range->start);
		next = (end + GAP_BYTES - 1) / GAP_BYTES * GAP_BYTES + GAP_BYTES;
	}
	return TALLY_OK;
}

/* Returns false if no range contains the address. */
static bool find_in(const struct address_remap *remap, int32_t pid, uint64_t address, uint64_t *found)
{
	uint64_t member;
	if (!map_u64_find(&remap->members, (uint32_t)pid, &member))
		return false;
	uint32_t family = root_of(remap, (uint32_t)member);
	const struct address_remap_range *ranges = remap->ranges.items;
	size_t low;
	LOWER_BOUND(low, remap->ranges.len, i,
		ranges[i].family < family || (ranges[i].family == family && ranges[i].end <= address));
	if (low == remap->ranges.len)
		return false;
	const struct address_remap_range *range = &ranges[low];
	if (range->family != family || address < range->start)
		return false;
	*found = range->target + (address - range->start);
	return true;
}

uint64_t address_remap_find(const struct address_remap *remap, int32_t pid, uint64_t address)
{
	uint64_t found;
	if (find_in(remap, pid, address, &found) || find_in(remap, ADDRESS_REMAP_KERNEL, address, &found))
		return found;
	return 0;
}
