/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/access_parts.h"

#include "profile/profile.h"

#define ACCESS_PARTS_OPERATION_LOAD	0x2u
#define ACCESS_PARTS_OPERATION_STORE	0x4u
#define ACCESS_PARTS_OPERATION_PREFETCH 0x8u
#define ACCESS_PARTS_OPERATION_EXEC	0x10u

static unsigned operation_of(uint64_t data_src)
{
	unsigned operation = data_src & 0x1f;
	if (operation & ACCESS_PARTS_OPERATION_PREFETCH)
		return PART_OP_PREFETCH;
	if (operation & ACCESS_PARTS_OPERATION_EXEC)
		return PART_OP_EXEC;
	switch (operation) {
	case ACCESS_PARTS_OPERATION_LOAD:
		return PART_OP_LOAD;
	case ACCESS_PARTS_OPERATION_STORE:
		return PART_OP_STORE;
	case ACCESS_PARTS_OPERATION_LOAD | ACCESS_PARTS_OPERATION_STORE:
		return PART_OP_BOTH;
	default:
		return PART_OP_OTHER;
	}
}

static unsigned access_parts_level_number(uint64_t data_src)
{
	return data_src >> 33 & 0xf;
}

static unsigned access_parts_cache_of(uint64_t data_src)
{
	static const uint8_t caches[16] = {[0] = PART_CACHE_OTHER,
		[1] = PART_L1,
		[2] = PART_L2,
		[3] = PART_L3,
		[4] = PART_L4,
		[5] = PART_L2_BUFFER,
		[6 ... 11] = PART_CACHE_OTHER,
		[12] = PART_L1_BUFFER,
		[13 ... 15] = PART_CACHE_OTHER};
	return caches[access_parts_level_number(data_src)];
}

static unsigned access_parts_memory_of(uint64_t data_src)
{
	static const uint8_t memories[16] = {[0 ... 5] = PART_MEMORY_OTHER,
		[6] = PART_MEMORY_SIDE,
		[7] = PART_MEMORY_OTHER,
		[8] = PART_UNCACHED,
		[9] = PART_CXL,
		[10] = PART_IO,
		[11 ... 12] = PART_MEMORY_OTHER,
		[13] = PART_RAM,
		[14] = PART_PMEM,
		[15] = PART_MEMORY_OTHER};
	return memories[access_parts_level_number(data_src)];
}

static unsigned snoop_of(uint64_t data_src)
{
	switch (data_src >> 19 & 0x1f) {
	case 0x04:
		return PART_SNOOP_HIT;
	case 0x08:
		return PART_SNOOP_MISS;
	case 0x10:
		return PART_SNOOP_HITM;
	default:
		return PART_SNOOP_OTHER;
	}
}

static unsigned translation_of(uint64_t data_src)
{
	unsigned tlb = data_src >> 26 & 0x7f;
	if (tlb & 0x04)
		return PART_TLB_MISS;
	switch (tlb) {
	case 0x02 | 0x08:
		return PART_TLB_L1;
	case 0x02 | 0x10:
		return PART_TLB_L2;
	case 0x02 | 0x08 | 0x10:
		return PART_TLB_ANY;
	default:
		return PART_TLB_OTHER;
	}
}

uint64_t access_parts(uint64_t data_src)
{
	return profile_part_pack(PART_OPERATION, operation_of(data_src)) |
	       profile_part_pack(PART_CACHE, access_parts_cache_of(data_src)) |
	       profile_part_pack(PART_MEMORY, access_parts_memory_of(data_src)) |
	       profile_part_pack(PART_SNOOP, snoop_of(data_src)) |
	       profile_part_pack(PART_TLB, translation_of(data_src));
}
