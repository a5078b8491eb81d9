/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_usage.h - adds up what the kernel's page allocator allocated and freed, by block of pages and by call site.
 *
 * The caller owns it (page_usage_init) and feeds events in order of time. One thread. A block is 1 << order pages,
 * starting at page frame number pfn. page_usage_alloc returns false when out of memory.
 *
 *	page_usage_alloc(&u, &(struct page_alloc){.pfn = 0x12345, .call_site = site, .order = 2, .gfp = flags});
 *	page_usage_free(&u, 0x12345, 2);
 */
#ifndef ANALYSIS_PAGE_USAGE_H
#define ANALYSIS_PAGE_USAGE_H

#include "base/id_table.h"
#include "base/vec.h"

#define PAGE_ORDERS	   16 /* Number of orders that kernels use; higher ones are counted as the last. */
#define PAGE_MIGRATE_TYPES 5 /* Unmovable, movable, reclaimable, reserved, and all others. */
#define PAGE_FAILED	   UINT64_MAX /* Value of pfn for a failed allocation. */

struct page_alloc {
	uint64_t pfn, call_site;
	uint64_t gfp; /* GFP flags, numbered as by the recording's kernel. */
	uint32_t order, migrate_type;
};

struct page_row {
	struct page_alloc of; /* pfn is 0 in rows by caller; call_site is the most recent one in rows by block. */
	uint64_t hits, pages;
};

struct page_block { /* The state of a block that starts at a page frame. */
	uint32_t block, caller; /* Rows of the current allocation; block is ID_TABLE_NONE if it is free. */
	uint32_t order;
};

struct page_count {
	uint64_t requests, pages;
};

struct page_usage {
	bool is_live; /* Rows and by_order do not include freed blocks; set before the first event. */
	struct id_table block_ids, caller_ids, pfns;
	/* Indexed by block_ids and caller_ids; with is_live, some rows have no hits. */
	VEC(struct page_row) blocks, callers;
	VEC(struct page_block) states; /* Indexed by pfns. */
	struct page_count allocated, freed, failed; /* allocated includes the failed requests. */
	struct page_count unknown_frees; /* Freed blocks without a recorded allocation. */
	/* Number of successful allocations by order and migrate type. */
	uint64_t by_order[PAGE_ORDERS][PAGE_MIGRATE_TYPES];
};

void page_usage_init(struct page_usage *u);
void page_usage_deinit(struct page_usage *u);
bool page_usage_alloc(struct page_usage *u, const struct page_alloc *alloc);
void page_usage_free(struct page_usage *u, uint64_t pfn, uint32_t order);

#endif
