/* SPDX-License-Identifier: Apache-2.0 */
#include "abi/branch_words.h"

#include "abi/perf_constants.h"
#include "base/array.h"

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

bool branch_words_parse(struct tally_str list, uint64_t *branch_sample_type, struct tally_str *unknown)
{
	const uint64_t levels = BRANCH_USER | BRANCH_KERNEL | BRANCH_HV;
	uint64_t bits = 0;
	struct tally_str word;
	while (str_next_item(&list, &word)) {
		uint64_t bit = 0;
		for (size_t i = 0; i < ARRAY_LEN(branches); i++)
			if (str_equal(word, str_from(branches[i].name)))
				bit = branches[i].bit;
		if (bit == 0) {
			*unknown = word;
			return false;
		}
		bits |= bit;
	}
	/* Privilege levels alone select all branches, at the event's own levels, as in perf. */
	if ((bits & ~levels) == 0)
		bits = BRANCH_ANY;
	*branch_sample_type = bits;
	return true;
}

void branch_words_append(struct text *text, uint64_t branch_sample_type)
{
	bool has_any = false;
	for (size_t i = 0; i < ARRAY_LEN(branches); i++) {
		if (!(branch_sample_type & branches[i].bit))
			continue;
		text_printf(text, "%s%s", has_any ? "," : "", branches[i].name);
		has_any = true;
	}
}
