/* SPDX-License-Identifier: Apache-2.0 */
#include "machine/remapped_text.h"

#include "base/order.h"

#define HUGE_PAGE_MASK ((UINT64_C(2) << 20) - 1) /* The smallest huge page of x86-64 and aarch64 has 2 MiB. */
#define PROT_EXECUTE   4 /* PROT_EXEC */

static bool is_kind(const struct binary_table *binaries, const struct mapping *mapping, enum machine_binary_kind kind)
{
	return binaries->binaries.items[mapping->binary].kind == kind;
}

/* Returns the last active mapping that starts before address; NULL if there is none. */
static struct mapping *active_before(const struct address_space *space, uint64_t address)
{
	size_t low;
	LOWER_BOUND(low, space->active.len, middle, space->mappings.items[space->active.items[middle]].start < address);
	return low > 0 ? &space->mappings.items[space->active.items[low - 1]] : NULL;
}

bool remapped_text_find(const struct address_space *space, const struct binary_table *binaries, struct mapping *mapping)
{
	const struct mapping *old = active_before(space, mapping->start + 1);
	if (!old || old->start > mapping->start || old->end < mapping->end || !(old->prot & PROT_EXECUTE) ||
		!is_kind(binaries, old, MACHINE_USER_FILE))
		return false;
	bool is_huge = ((mapping->start | mapping->end) & HUGE_PAGE_MASK) == 0;
	bool is_all = mapping->start == old->start && mapping->end == old->end;
	if (!is_huge && !is_all)
		return false;
	mapping->pgoff = old->pgoff + (mapping->start - old->start);
	mapping->binary = old->binary;
	return true;
}

bool remapped_text_join(struct address_space *space, const struct binary_table *binaries, const struct mapping *mapping)
{
	struct mapping *hole = active_before(space, mapping->start);
	if (!hole || hole->end != mapping->start || !(hole->prot & PROT_EXECUTE) ||
		!is_kind(binaries, hole, MACHINE_ANON_JIT) || !is_kind(binaries, mapping, MACHINE_USER_FILE))
		return false;
	const struct mapping *before = active_before(space, hole->start);
	if (!before || before->end != hole->start || before->binary != mapping->binary ||
		before->pgoff + (mapping->start - before->start) != mapping->pgoff)
		return false;
	hole->binary = mapping->binary;
	hole->pgoff = before->pgoff + (hole->start - before->start);
	return true;
}
