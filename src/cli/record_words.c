#include "cli/record_words.h"

#include <stdio.h>
#include <strings.h>
#include <time.h>

#include "abi/perf_constants.h"

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

bool record_branches_parse(struct tally_str list, uint64_t *branch_sample_type)
{
	const uint64_t levels = BRANCH_USER | BRANCH_KERNEL | BRANCH_HV;
	uint64_t bits = 0;
	struct tally_str word;

	while (str_next(&list, ',', &word)) {
		uint64_t bit = 0;
		for (size_t i = 0; i < sizeof(branches) / sizeof(branches[0]); i++)
			if (str_equal(word, str_from(branches[i].name)))
				bit = branches[i].bit;
		if (bit == 0)
			return false;
		bits |= bit;
	}
	if ((bits & ~levels) == 0) /* levels alone choose among all branches */
		bits |= BRANCH_ANY;
	*branch_sample_type = bits;
	return true;
}

static const char *const registers[] = {
#if defined(__x86_64__)
	"ax",
	"bx",
	"cx",
	"dx",
	"si",
	"di",
	"bp",
	"sp",
	"ip",
	"flags",
	"cs",
	"ss",
	"ds",
	"es",
	"fs",
	"gs",
	"r8",
	"r9",
	"r10",
	"r11",
	"r12",
	"r13",
	"r14",
	"r15",
#elif defined(__aarch64__)
	"x0",
	"x1",
	"x2",
	"x3",
	"x4",
	"x5",
	"x6",
	"x7",
	"x8",
	"x9",
	"x10",
	"x11",
	"x12",
	"x13",
	"x14",
	"x15",
	"x16",
	"x17",
	"x18",
	"x19",
	"x20",
	"x21",
	"x22",
	"x23",
	"x24",
	"x25",
	"x26",
	"x27",
	"x28",
	"x29",
	"lr",
	"sp",
	"pc",
#elif defined(__riscv)
	"pc",
	"ra",
	"sp",
	"gp",
	"tp",
	"t0",
	"t1",
	"t2",
	"s0",
	"s1",
	"a0",
	"a1",
	"a2",
	"a3",
	"a4",
	"a5",
	"a6",
	"a7",
	"s2",
	"s3",
	"s4",
	"s5",
	"s6",
	"s7",
	"s8",
	"s9",
	"s10",
	"s11",
	"t3",
	"t4",
	"t5",
	"t6",
#endif
	NULL,
};

static bool register_find(struct tally_str name, uint64_t *bit)
{
	for (size_t i = 0; registers[i]; i++)
		if (strlen(registers[i]) == name.len && strncasecmp(registers[i], name.data, name.len) == 0) {
			*bit = UINT64_C(1) << i;
			return true;
		}
	return false;
}

bool record_registers_parse(struct tally_str list, uint64_t *mask)
{
	struct tally_str name;
	uint64_t all = 0, bit;

	while (str_next(&list, ',', &name)) {
		if (!register_find(name, &bit))
			return false;
		all |= bit;
	}
	*mask = all;
	return all != 0;
}
