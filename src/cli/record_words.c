#include "cli/record_words.h"

#include <stdio.h>
#include <strings.h>
#include <time.h>

#include "abi/perf_constants.h"
#include "arch/arch.h"
#include "kernel/recording/record_attrs.h"

static const struct {
	const char *name;
	int32_t clockid;
} clocks[] = {
	{"monotonic", CLOCK_MONOTONIC},
	{"mono", CLOCK_MONOTONIC},
	{"monotonic_raw", CLOCK_MONOTONIC_RAW},
	{"raw", CLOCK_MONOTONIC_RAW},
	{"realtime", CLOCK_REALTIME},
	{"real", CLOCK_REALTIME},
	{"boottime", CLOCK_BOOTTIME},
	{"boot", CLOCK_BOOTTIME},
	{"tai", CLOCK_TAI},
};

bool record_clock_find(const char *name, int32_t *clockid)
{
	uint64_t number;

	if (str_to_u64(str_from(name), 10, &number) && number < 32) {
		*clockid = (int32_t)number;
		return true;
	}
	if (strncasecmp(name, "CLOCK_", 6) == 0)
		name += 6;
	for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++)
		if (strcasecmp(clocks[i].name, name) == 0) {
			*clockid = clocks[i].clockid;
			return true;
		}
	return false;
}

static const struct {
	const char *name;
	uint64_t bit;
} branches[] = {
	{"u", BRANCH_USER},
	{"k", BRANCH_KERNEL},
	{"hv", BRANCH_HV},
	{"any", BRANCH_ANY},
	{"any_call", BRANCH_ANY_CALL},
	{"any_ret", BRANCH_ANY_RETURN},
	{"ind_call", BRANCH_IND_CALL},
	{"ind_jmp", BRANCH_IND_JUMP},
	{"abort_tx", BRANCH_ABORT_TX},
	{"in_tx", BRANCH_IN_TX},
	{"no_tx", BRANCH_NO_TX},
	{"cond", BRANCH_COND},
	{"call", BRANCH_CALL},
	{"stack", BRANCH_CALL_STACK},
	{"no_flags", BRANCH_NO_FLAGS},
	{"no_cycles", BRANCH_NO_CYCLES},
	{"save_type", BRANCH_TYPE_SAVE},
	{"hw_index", BRANCH_HW_INDEX},
	{"priv", BRANCH_PRIV_SAVE},
	{"counter", BRANCH_COUNTERS},
};

bool record_branches_parse(struct tally_str list, uint64_t *branch_sample_type, struct tally_str *unknown)
{
	const uint64_t levels = BRANCH_USER | BRANCH_KERNEL | BRANCH_HV;
	uint64_t bits = 0;
	struct tally_str word;

	while (str_next(&list, ',', &word)) {
		uint64_t bit = 0;
		for (size_t i = 0; i < sizeof(branches) / sizeof(branches[0]); i++)
			if (str_equal(word, str_from(branches[i].name)))
				bit = branches[i].bit;
		if (bit == 0) {
			*unknown = word;
			return false;
		}
		bits |= bit;
	}
	if ((bits & ~levels) == 0) /* levels alone choose among all branches */
		bits |= BRANCH_ANY;
	*branch_sample_type = bits;
	return true;
}

bool record_registers_parse(struct tally_str list, uint64_t *mask, struct tally_str *unknown)
{
	const struct arch *arch = record_host_arch();
	struct tally_str name;
	uint64_t all = 0;

	*unknown = list;

	while (arch && str_next(&list, ',', &name)) {
		char word[16];
		snprintf(word, sizeof(word), "%.*s", (int)(name.len < sizeof(word) ? name.len : sizeof(word)),
			name.data);
		uint64_t bits = arch_register_bits(arch, arch_register_find(arch, word));
		if (bits == 0) {
			*unknown = name;
			return false;
		}
		all |= bits;
	}
	*mask = all;
	return all != 0;
}

bool record_size_parse(const char *text, uint64_t *bytes, bool *has_unit)
{
	static const char units[] = "BKMG";
	struct tally_str number = str_from(text);
	const char *unit = number.len ? strchr(units, number.data[number.len - 1]) : NULL;

	if (unit)
		number.len--;
	*has_unit = unit != NULL;
	return str_to_u64(number, 10, bytes) &&
	       !__builtin_mul_overflow(*bytes, UINT64_C(1) << (unit ? 10 * (unit - units) : 0), bytes);
}
