/* SPDX-License-Identifier: Apache-2.0 */
/*
 * access_parts.h - classifies a memory access by the categories that c2c and mem count: load or store, cache, memory,
 * snoop, TLB. The categories are those of `perf report -F op,cache,memory,snoop,dtlb` of perf 7.3, which takes the
 * level only from mem_lvl_num.
 *
 *	profile_part_get(PART_CACHE, access_parts(sample->data_src)) == PART_L1
 *
 * Pure functions. Source: linux/perf_event.h, union perf_mem_data_src.
 */
#ifndef ANALYSIS_ACCESS_PARTS_H
#define ANALYSIS_ACCESS_PARTS_H

#include <stdint.h>

/* Returns the value of FACET_MEM_PARTS for a union perf_mem_data_src: all categories, packed as profile_part_get reads
 * them. */
uint64_t access_parts(uint64_t data_src);

#endif
