/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/script/script_branches.h"

#include "abi/branch.h"

static bool script_branches_print_end(
	struct script_places *p, struct text *t, const struct resolve_where *where, uint64_t ip, uint64_t fields)
{
	bool is_named = (fields & (FIELD_BRSTACK | FIELD_BRSTACKSYM)) == FIELD_BRSTACKSYM;
	bool is_offset = !(fields & (FIELD_BRSTACK | FIELD_BRSTACKSYM));
	if (!is_named && !is_offset && !(fields & FIELD_DSO)) {
		text_str(t, "0x");
		text_hex(t, ip, 0);
		return true;
	}
	struct script_place place;
	if (!script_place_find(p, where, script_cpumode_of(p, ip), ip, &place))
		return false;
	if (is_named && place.name->symbol) {
		text_str(t, place.name->symbol);
		text_str(t, "+0x");
		text_hex(t, place.name->symbol_offset, 0);
	} else if (is_named) {
		text_str(t, "[unknown]");
	} else {
		text_str(t, "0x");
		text_hex(t, is_offset ? place.offset : ip, 0);
	}
	if (fields & FIELD_DSO)
		script_print_dso(p, t, &place, fields);
	return true;
}

bool script_print_branches(struct script_places *p, struct text *t, const struct resolve_where *where,
	const struct sample *sample, uint64_t fields)
{
	bool is_named = (fields & (FIELD_BRSTACK | FIELD_BRSTACKSYM)) == FIELD_BRSTACKSYM;
	uint32_t count = sample_branch_count(sample);
	for (uint32_t i = 0; i < count; i++) {
		struct sample_branch branch = sample_branch_at(sample, i);
		if (!is_named)
			text_char(t, ' ');
		if (!script_branches_print_end(p, t, where, branch.from, fields))
			return false;
		text_char(t, '/');
		if (!script_branches_print_end(p, t, where, branch.to, fields))
			return false;
		bool is_known = branch.is_mispredicted || branch.is_predicted;
		text_char(t, '/');
		text_char(t, !is_known ? '-' : branch.is_predicted ? 'P' : 'M');
		text_str(t, branch.in_transaction ? "/X" : "/-");
		text_str(t, branch.is_abort ? "/A/" : "/-/");
		text_u64(t, branch.cycles);
		text_char(t, '/');
		sample_branch_type_print(t, &branch);
		text_char(t, ' ');
	}
	return true;
}
