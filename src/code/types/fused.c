/* SPDX-License-Identifier: Apache-2.0 */
#include "code/types/fused.h"

#include "base/text.h"

#define COMPARES (1u << OPERATION_FUSES_COMPARE)
#define SUMS	 (1u << OPERATION_FUSES_SUM)
#define LOGIC	 (1u << OPERATION_FUSES_LOGIC)
#define STEPS	 (1u << OPERATION_FUSES_STEP)

/* Reads the next number of "vendor,family,model,stepping". */
static bool fused_take_number(struct tally_str *rest, uint64_t *number)
{
	struct tally_str word = *rest;
	const char *comma = rest->len ? memchr(rest->data, ',', rest->len) : NULL;
	if (comma)
		word.len = (size_t)(comma - rest->data);
	size_t used = word.len + (comma != NULL);
	*rest = (struct tally_str){rest->data + used, rest->len - used};
	return str_to_u64(word, 10, number);
}

/* Returns the kinds of instructions that perf 7.3 takes as fused with the next one on this CPU. */
unsigned fused_set_of(struct tally_str cpu_id)
{
	static const struct tally_str intel = {"GenuineIntel,", 13}, amd = {"AuthenticAMD,", 13};
	struct tally_str rest = cpu_id;
	uint64_t family, model;
	bool is_intel = cpu_id.len > intel.len && memcmp(cpu_id.data, intel.data, intel.len) == 0;
	bool is_amd = cpu_id.len > amd.len && memcmp(cpu_id.data, amd.data, amd.len) == 0;
	if (!is_intel && !is_amd)
		return 0;
	rest = (struct tally_str){rest.data + intel.len, rest.len - intel.len};
	if (!fused_take_number(&rest, &family) || !fused_take_number(&rest, &model))
		return 0;
	if (is_amd)
		return family < 0x15 ? 0 : family < 0x19 ? COMPARES : COMPARES | SUMS | STEPS | LOGIC;
	if (family != 6 || model < 0x1e)
		return 0;
	return model == 0x1e ? COMPARES : COMPARES | SUMS | STEPS;
}
