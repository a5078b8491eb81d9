#include "code/disasm/instruction_text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

struct condition {
	const char *name, *shown, *meanings;
};

/* objdump's comments behind conditions: other names of the same one. */
static const struct condition conditions[] = {
	{"eq", "eq", "none"},
	{"ne", "ne", "any"},
	{"hs", "cs", "hs, nlast"},
	{"cs", "cs", "hs, nlast"},
	{"lo", "cc", "lo, ul, last"},
	{"cc", "cc", "lo, ul, last"},
	{"mi", "mi", "first"},
	{"pl", "pl", "nfrst"},
	{"hi", "hi", "pmore"},
	{"ls", "ls", "plast"},
	{"ge", "ge", "tcont"},
	{"lt", "lt", "tstop"},
};

static const struct condition *find_condition(const char *name)
{
	for (size_t i = 0; i < sizeof(conditions) / sizeof(conditions[0]); i++)
		if (!strcmp(conditions[i].name, name))
			return &conditions[i];
	return NULL;
}

/* The names with "b." before each. */
static void comment_branch(const char *meanings, char *comment, size_t bytes)
{
	struct tally_str rest = str_from(meanings), part;
	size_t used = 0;
	while (str_next(&rest, ',', &part) && used < bytes) {
		part = str_trim(part);
		int n = snprintf(comment + used, bytes - used, "%sb.%.*s", used ? ", " : "", (int)part.len, part.data);
		used += n > 0 ? (size_t)n : 0;
	}
}

static void spell_condition(struct instruction *to)
{
	const struct condition *condition;
	if (!strncmp(to->mnemonic, "b.", 2) && (condition = find_condition(to->mnemonic + 2))) {
		snprintf(to->mnemonic, sizeof(to->mnemonic), "b.%s", condition->shown);
		comment_branch(condition->meanings, to->comment, sizeof(to->comment));
		return;
	}
	char *comma = strrchr(to->operands, ',');
	if (!comma || !(condition = find_condition(comma + 2)))
		return;
	snprintf(comma + 2, sizeof(to->operands) - (size_t)(comma + 2 - to->operands), "%s", condition->shown);
	snprintf(to->comment, sizeof(to->comment), "%s = %s", condition->shown, condition->meanings);
}

/* Counts of bits, which are decimal. */
static bool counts_bits(const char *mnemonic)
{
	static const char *const names[] = {"lsl", "lsr", "asr", "ror", "ubfx", "sbfx", "ubfiz", "sbfiz", "bfi",
		"bfxil", "tbz", "tbnz", "extr", "ubfm", "sbfm", "bfm", "bfc", "shl", "sshr", "ushr", "sshll", "ushll",
		"shrn", "sli", "sri", "rev", "ssra", "usra", "ext", "sshll2", "ushll2", "shrn2"};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(mnemonic, names[i]))
			return true;
	return false;
}

/* Every "#number" anew: decimal for displacements and counts of bits, else hex. */
static void spell_numbers(struct instruction *to)
{
	char out[INSTRUCTION_OPERANDS_BYTES];
	size_t n = 0;
	bool is_memory = false, counts = counts_bits(to->mnemonic);
	for (const char *p = to->operands; *p && n + 28 < sizeof(out);) {
		is_memory = is_memory || *p == '[';
		if (*p != '#' || strchr(p, '.') == p + 2) {
			out[n++] = *p++;
			continue;
		}
		char *end;
		bool is_negative = p[1] == '-';
		unsigned long long value = strtoull(p + 1 + is_negative, &end, 0);
		bool is_shift = p - to->operands >= 4 && p[-1] == ' ' && isalpha((unsigned char)p[-2]);
		if (end == p + 1 + is_negative || *end == '.') {
			out[n++] = *p++;
			continue;
		}
		if (is_memory && (int64_t)value < 0) {
			is_negative = true;
			value = 0 - value;
		}
		out[n++] = '#';
		if (is_negative)
			out[n++] = '-';
		if (is_memory || counts || is_shift)
			n += (size_t)snprintf(out + n, sizeof(out) - n, "%llu", value);
		else
			n += (size_t)snprintf(out + n, sizeof(out) - n, "0x%llx", value);
		p = end;
	}
	out[n] = 0;
	memcpy(to->operands, out, n + 1);
}

/* Hints that have got names since. */
static bool spell_hint(struct instruction *to)
{
	static const struct {
		unsigned number;
		const char *mnemonic, *operand;
	} hints[] = {{7, "xpaclri", ""}, {8, "pacia1716", ""}, {10, "pacib1716", ""}, {12, "autia1716", ""},
		{14, "autib1716", ""}, {16, "esb", ""}, {17, "psb", "csync"}, {20, "csdb", ""}, {24, "paciaz", ""},
		{25, "paciasp", ""}, {26, "pacibz", ""}, {27, "pacibsp", ""}, {28, "autiaz", ""}, {29, "autiasp", ""},
		{30, "autibz", ""}, {31, "autibsp", ""}, {32, "bti", ""}, {34, "bti", "c"}, {36, "bti", "j"},
		{38, "bti", "jc"}};
	if (strcmp(to->mnemonic, "hint") || to->operands[0] != '#')
		return false;
	unsigned long number = strtoul(to->operands + 1, NULL, 0);
	for (size_t i = 0; i < sizeof(hints) / sizeof(hints[0]); i++)
		if (hints[i].number == number) {
			snprintf(to->mnemonic, sizeof(to->mnemonic), "%s", hints[i].mnemonic);
			snprintf(to->operands, sizeof(to->operands), "%s", hints[i].operand);
			return true;
		}
	return false;
}

/* "orr x0, xzr, #0xff" is shown as the move that it is. */
static bool is_zero_orr(const cs_insn *from)
{
	const cs_arm64 *arm64 = &from->detail->arm64;
	return !strcmp(from->mnemonic, "orr") && arm64->op_count == 3 && arm64->operands[1].type == ARM64_OP_REG &&
	       (arm64->operands[1].reg == ARM64_REG_XZR || arm64->operands[1].reg == ARM64_REG_WZR) &&
	       arm64->operands[2].type == ARM64_OP_IMM;
}

/* "movz w1, #0x1" -> "mov w1, #0x1" and "#1" behind it. */
static bool spell_move(const cs_insn *from, struct instruction *to)
{
	const cs_arm64 *arm64 = &from->detail->arm64;
	bool is_wide = !strcmp(from->mnemonic, "movz") || !strcmp(from->mnemonic, "movn"), is_move = is_wide;
	const cs_arm64_op *immediate = &arm64->operands[is_zero_orr(from) ? 2 : 1];
	is_move = (is_move || !strcmp(from->mnemonic, "mov")) && arm64->op_count == 2;
	if ((!is_move && !is_zero_orr(from)) || arm64->operands[0].type != ARM64_OP_REG ||
		immediate->type != ARM64_OP_IMM)
		return false;
	char *comma = strchr(to->operands, ',');
	bool is_32 = to->operands[0] == 'w';
	if (!comma || (!is_32 && to->operands[0] != 'x' && strncmp(to->operands, "sp", 2)))
		return false;
	uint64_t value = (uint64_t)immediate->imm;
	if (immediate->shift.type == ARM64_SFT_LSL)
		value <<= immediate->shift.value & 63;
	if (!strcmp(from->mnemonic, "movn"))
		value = ~value;
	if (is_32)
		value = (uint32_t)value;
	int64_t is_signed = is_32 ? (int32_t)value : (int64_t)value;
	snprintf(to->mnemonic, sizeof(to->mnemonic), "mov");
	snprintf(comma, sizeof(to->operands) - (size_t)(comma - to->operands), ", #0x%llx", (unsigned long long)value);
	snprintf(to->comment, sizeof(to->comment), "#%lld", (long long)is_signed);
	return true;
}

void objdump_arm64(csh handle, const cs_insn *from, struct instruction *to)
{
	const cs_arm64 *arm64 = &from->detail->arm64;
	bool is_direct = to->kind == INSTRUCTION_JUMP || to->kind == INSTRUCTION_CALL || from->id == ARM64_INS_ADR ||
			 from->id == ARM64_INS_ADRP;
	char *hash = strrchr(to->operands, '#');
	if (spell_hint(to) || spell_move(from, to))
		return;
	if (arm64->op_count > 0 && arm64->operands[arm64->op_count - 1].type == ARM64_OP_FP && hash) {
		snprintf(hash, sizeof(to->operands) - (size_t)(hash - to->operands), "#%.18e",
			arm64->operands[arm64->op_count - 1].fp);
		return;
	}
	if (!is_direct || arm64->op_count == 0 || arm64->operands[arm64->op_count - 1].type != ARM64_OP_IMM || !hash) {
		spell_numbers(to);
		spell_condition(to);
		return;
	}
	to->has_target = true;
	to->target = (uint64_t)arm64->operands[arm64->op_count - 1].imm;
	*hash = 0;
	spell_numbers(to);
	size_t used = strlen(to->operands);
	snprintf(to->operands + used, sizeof(to->operands) - used, "%llx", (unsigned long long)to->target);
	spell_condition(to);
}
