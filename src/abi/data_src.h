/* SPDX-License-Identifier: Apache-2.0 */
/*
 * data_src.h - prints PERF_SAMPLE_DATA_SRC: the operation of a memory access, where it hit, and the result of snooping.
 *
 * The words are those of `perf script -F data_src` and `perf mem` in the newest version. Source: linux/perf_event.h,
 * union perf_mem_data_src. Unknown levels are printed as their number. Pure.
 *
 *	data_src_print(&text, sample.data_src);	// |OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A
 */
#ifndef ABI_DATA_SRC_H
#define ABI_DATA_SRC_H

#include "base/text.h"

#define DATA_SRC_NOT_AVAILABLE UINT64_C(0x5080021) /* Value for samples without a data source: no part is known. */

void data_src_print(struct text *t, uint64_t data_src);
/* The following functions print one part each, without a separator. */
void data_src_operation(struct text *t, uint64_t data_src);
void data_src_level(struct text *t, uint64_t data_src);
void data_src_snoop(struct text *t, uint64_t data_src);
void data_src_tlb(struct text *t, uint64_t data_src);
void data_src_locked(struct text *t, uint64_t data_src);
void data_src_blocked(struct text *t, uint64_t data_src);

#endif
