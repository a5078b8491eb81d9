/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_usage.h - adds up what the kernel's page allocator allocated and freed, by block of pages and by call site.
 *
 * The caller owns it (page_usage_init) and feeds events in order of time. One thread. A block is 1 << order pages from
 * page frame number pfn on. Functions return false when memory runs out.
 *
 *	page_usage_alloc(&u, &(struct page_alloc){.pfn = 0x12345, .call_site = site, .order = 2, .gfp = flags});
 *	page_usage_free(&u, 0x12345, 2);
 */
#ifndef ANALYSIS_PAGE_USAGE_H
#define ANALYSIS_PAGE_USAGE_H

#include "base/id_table.h"
#include "base/vec.h"

#define PAGE_ORDERS	   16 /* of the kernels; higher ones count as the last */
#define PAGE_MIGRATE_TYPES 5 /* unmovable, movable, reclaimable, reserved, all others */
#define PAGE_FAILED	   UINT64_MAX /* pfn of an allocation that the kernel could not serve */

struct page_alloc {
	uint64_t pfn, call_site;
	uint64_t gfp; /* flags, as the recording's kernel numbers them */
	uint32_t order, migrate_type;
};

struct page_row {
	struct page_alloc of; /* pfn 0 in rows by caller; call_site in rows by block: who asked last */
	uint64_t hits, pages;
};

struct page_block { /* that is given out now */
	uint32_t block, caller; /* rows; ID_TABLE_NONE: it is free */
	uint32_t order;
};

struct page_count {
	uint64_t requests, pages;
};

struct page_usage {
	bool is_live; /* rows and by_order lose what is freed; set before the first event */
	struct id_table block_ids, caller_ids, pfns;
	VEC(struct page_row) blocks, callers; /* with is_live: some have no hits */
	VEC(struct page_block) states; /* by id of pfns */
	struct page_count allocated, freed, failed;
	struct page_count unknown_frees; /* of blocks that were not seen to be allocated */
	uint64_t by_order[PAGE_ORDERS][PAGE_MIGRATE_TYPES]; /* allocations */
};

void page_usage_init(struct page_usage *u);
void page_usage_deinit(struct page_usage *u);
bool page_usage_alloc(struct page_usage *u, const struct page_alloc *alloc);
void page_usage_free(struct page_usage *u, uint64_t pfn, uint32_t order);

#endif
