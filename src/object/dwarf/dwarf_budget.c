/* SPDX-License-Identifier: Apache-2.0 */
#include "object/dwarf/dwarf_budget.h"

#define COST_PER_BYTE 32
#define COST_BASE     (1u << 20)

void dwarf_budget_add(struct dwarf_budget *budget, const struct tally_bytes sections[DWARF_SECTIONS])
{
	uint64_t limit = COST_BASE;
	for (int i = 0; i < DWARF_SECTIONS; i++)
		limit += (uint64_t)sections[i].len * COST_PER_BYTE;
	__atomic_add_fetch(&budget->limit, limit, __ATOMIC_RELAXED);
}

bool dwarf_spend(const struct dwarf_file *file, uint64_t cost)
{
	struct dwarf_budget *budget = file->budget;
	if (!budget)
		return true;
	uint64_t limit = __atomic_load_n(&budget->limit, __ATOMIC_RELAXED);
	uint64_t spent = __atomic_load_n(&budget->spent, __ATOMIC_RELAXED);
	if (cost > limit || spent > limit - cost)
		return false;
	__atomic_add_fetch(&budget->spent, cost, __ATOMIC_RELAXED);
	return true;
}
