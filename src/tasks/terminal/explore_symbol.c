/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/terminal/explore_symbol.h"

#include "base/error.h"

enum tally_status explore_symbol_of(
	struct explore_symbol *symbol, const struct flat_table *table, uint32_t function, struct tally_error *why)
{
	const struct profile *p = table->profile;
	const struct profile_function *from = &p->functions[function];
	symbol->name = profile_string(p, from->name);
	symbol->path = from->binary == PROFILE_NONE ? (struct tally_str){0}
						    : profile_string(p, p->binaries[from->binary].long_name);
	symbol->start = from->start;
	symbol->first_event = table->options.first_event;
	symbol->event_count = table->options.member_count;
	if (!from->is_inlined)
		return TALLY_OK;
	return error_set(why, TALLY_UNSUPPORTED, "%.*s was inlined: its code is its caller's", (int)symbol->name.len,
		symbol->name.data);
}

uint32_t explore_symbol_labelled(const struct profile *p, const struct flame_label *label)
{
	/* An inlined function of that name; explore_symbol_of reports why it has no code. */
	uint32_t inlined = PROFILE_NONE;
	if (label && label->function != PROFILE_NONE)
		return label->function;
	for (uint32_t i = 0; label && i < p->function_count; i++) {
		const struct profile_function *function = &p->functions[i];
		bool is_same = str_equal(profile_string(p, function->name), label->name) &&
			       function->binary != PROFILE_NONE &&
			       str_equal(profile_string(p, p->binaries[function->binary].name), label->object);
		if (is_same && !function->is_inlined)
			return i;
		if (is_same)
			inlined = i;
	}
	return inlined;
}
