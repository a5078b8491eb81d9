#include "abi/branch.h"

/* Bit fields, which a big-endian machine fills from the top. */
static unsigned field(uint64_t flags, unsigned shift, unsigned bits, bool is_big_endian)
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
		.is_mispredicted = field(flags, 0, 1, is_big) != 0,
		.is_predicted = field(flags, 1, 1, is_big) != 0,
		.in_transaction = field(flags, 2, 1, is_big) != 0,
		.is_abort = field(flags, 3, 1, is_big) != 0,
		.cycles = field(flags, 4, 16, is_big),
		.type = field(flags, 20, 4, is_big),
		.more_type = field(flags, 26, 4, is_big),
	};
}

#define TYPE_EXTENDED 15u

void sample_branch_type_print(struct text *t, const struct sample_branch *branch)
{
	static const char *const types[TYPE_EXTENDED] = {"", "COND", "UNCOND", "IND", "CALL", "IND_CALL", "RET",
		"SYSCALL", "SYSRET", "COND_CALL", "COND_RET", "ERET", "IRQ", "SERROR", "NO_TX"};
	static const char *const more[] = {
		"FAULT_ALGN", "FAULT_DATA", "FAULT_INST", "ARCH_1", "ARCH_2", "ARCH_3", "ARCH_4", "ARCH_5"};
	if (branch->type != TYPE_EXTENDED) {
		text_str(t, types[branch->type]);
	} else if (branch->more_type < sizeof(more) / sizeof(more[0])) {
		text_str(t, more[branch->more_type]);
	} else {
		text_str(t, "TYPE_");
		text_u64(t, branch->more_type);
	}
}
