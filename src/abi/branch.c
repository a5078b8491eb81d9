/* SPDX-License-Identifier: Apache-2.0 */
#include "abi/branch.h"

#include "base/array.h"

/* A big-endian machine allocates bit-fields from the highest bit down. */
static unsigned branch_field(uint64_t flags, unsigned shift, unsigned bits, bool is_big_endian)
{
	unsigned at = is_big_endian ? 64 - shift - bits : shift;
	return (unsigned)(flags >> at & ((UINT64_C(1) << bits) - 1));
}

struct sample_branch sample_branch_at(const struct sample *sample, size_t index)
{
	const uint16_t probe = 1;
	bool is_big = sample->swap != (*(const uint8_t *)&probe == 0);
	const uint8_t *data = sample->branches.entries.data;
	uint64_t flags = sample_u64_at(data, index * SAMPLE_BRANCH_WORDS + 2, sample->swap);
	return (struct sample_branch){
		.from = sample_u64_at(data, index * SAMPLE_BRANCH_WORDS, sample->swap),
		.to = sample_u64_at(data, index * SAMPLE_BRANCH_WORDS + 1, sample->swap),
		.is_mispredicted = branch_field(flags, 0, 1, is_big) != 0,
		.is_predicted = branch_field(flags, 1, 1, is_big) != 0,
		.in_transaction = branch_field(flags, 2, 1, is_big) != 0,
		.is_abort = branch_field(flags, 3, 1, is_big) != 0,
		.cycles = branch_field(flags, 4, 16, is_big),
		.type = branch_field(flags, 20, 4, is_big),
		.more_type = branch_field(flags, 26, 4, is_big),
	};
}

void branch_kind_print(struct text *t, unsigned type)
{
	static const char *const types[] = {"", "COND", "UNCOND", "IND", "CALL", "IND_CALL", "RET", "SYSCALL", "SYSRET",
		"COND_CALL", "COND_RET", "ERET", "IRQ", "SERROR", "NO_TX", "FAULT_ALGN", "FAULT_DATA", "FAULT_INST",
		"ARCH_1", "ARCH_2", "ARCH_3", "ARCH_4", "ARCH_5"};
	if (type < ARRAY_LEN(types)) {
		text_str(t, types[type]);
	} else {
		text_str(t, "TYPE_");
		text_u64(t, type - BRANCH_KIND_EXTENDED);
	}
}

static unsigned branch_type_of(const struct sample_branch *branch)
{
	return branch->type == BRANCH_KIND_EXTENDED ? BRANCH_KIND_EXTENDED + branch->more_type : branch->type;
}

void sample_branch_type_print(struct text *t, const struct sample_branch *branch)
{
	branch_kind_print(t, branch_type_of(branch));
}

#define PAGE_BITS	12
#define LARGE_PAGE_BITS 21

unsigned sample_branch_kind(const struct sample_branch *branch)
{
	unsigned kind = branch_type_of(branch);
	if (!kind || !branch->from)
		return 0;
	if (branch->from >= branch->to)
		kind |= BRANCH_KIND_BACKWARD;
	if (branch->from >> LARGE_PAGE_BITS != branch->to >> LARGE_PAGE_BITS)
		kind |= BRANCH_KIND_CROSS_2M;
	else if (branch->from >> PAGE_BITS != branch->to >> PAGE_BITS)
		kind |= BRANCH_KIND_CROSS_4K;
	return kind;
}
