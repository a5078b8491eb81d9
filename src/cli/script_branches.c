#include "cli/script_branches.h"

#define ENTRY_WORDS 3

struct branch {
	uint64_t from, to;
	bool is_mispredicted, is_predicted, in_transaction, is_abort;
	unsigned cycles, type, more_type;
};

/* The flags of linux/perf_event.h, struct perf_branch_entry: bit fields, which a big-endian machine fills from the top. */
static unsigned field(uint64_t flags, unsigned shift, unsigned bits, bool is_big_endian)
{
	unsigned at = is_big_endian ? 64 - shift - bits : shift;
	return (unsigned)(flags >> at & ((UINT64_C(1) << bits) - 1));
}

static struct branch branch_at(const struct sample *sample, size_t index, bool is_big_endian)
{
	const uint8_t *data = sample->branches.entries.data;
	uint64_t flags = sample_u64_at(data, index * ENTRY_WORDS + 2, sample->swap);
	return (struct branch){
		.from = sample_u64_at(data, index * ENTRY_WORDS, sample->swap),
		.to = sample_u64_at(data, index * ENTRY_WORDS + 1, sample->swap),
		.is_mispredicted = field(flags, 0, 1, is_big_endian) != 0,
		.is_predicted = field(flags, 1, 1, is_big_endian) != 0,
		.in_transaction = field(flags, 2, 1, is_big_endian) != 0,
		.is_abort = field(flags, 3, 1, is_big_endian) != 0,
		.cycles = field(flags, 4, 16, is_big_endian),
		.type = field(flags, 20, 4, is_big_endian),
		.more_type = field(flags, 26, 4, is_big_endian),
	};
}

#define TYPE_EXTENDED 15u

static void print_type(struct text *t, const struct branch *branch)
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

static void print_flags(struct text *t, const struct branch *branch)
{
	bool is_known = branch->is_mispredicted || branch->is_predicted;
	text_char(t, '/');
	text_char(t, !is_known ? '-' : branch->is_predicted ? 'P' : 'M');
	text_str(t, branch->in_transaction ? "/X" : "/-");
	text_str(t, branch->is_abort ? "/A/" : "/-/");
	text_u64(t, branch->cycles);
	text_char(t, '/');
	print_type(t, branch);
	text_char(t, ' ');
}

static bool print_end(
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
	const uint16_t probe = 1;
	bool is_big_endian = sample->swap != (*(const uint8_t *)&probe == 0);
	uint32_t count = sample->branches.entries.count / ENTRY_WORDS;
	for (uint32_t i = 0; i < count; i++) {
		struct branch branch = branch_at(sample, i, is_big_endian);
		if (!is_named)
			text_char(t, ' ');
		if (!print_end(p, t, where, branch.from, fields))
			return false;
		text_char(t, '/');
		if (!print_end(p, t, where, branch.to, fields))
			return false;
		print_flags(t, &branch);
	}
	return true;
}
