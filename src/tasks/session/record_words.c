/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/session/record_words.h"

#include <stdio.h>
#include <strings.h>
#include <time.h>

#include "arch/arch.h"
#include "base/array.h"
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
	for (size_t i = 0; i < ARRAY_LEN(clocks); i++)
		if (strcasecmp(clocks[i].name, name) == 0) {
			*clockid = clocks[i].clockid;
			return true;
		}
	return false;
}

bool record_registers_parse(struct tally_str list, uint64_t *mask, struct tally_str *unknown)
{
	const struct arch *arch = record_host_arch();
	struct tally_str name;
	uint64_t all = 0;
	*unknown = list;

	while (arch && str_next_item(&list, &name)) {
		char word[16];
		snprintf(word, sizeof(word), "%.*s", (int)MIN(name.len, sizeof(word)), name.data);
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
