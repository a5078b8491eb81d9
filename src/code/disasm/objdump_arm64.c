/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "code/disasm/instruction_text.h"

struct condition {
	const char *name, *shown, *meanings;
};

/* objdump prints other names of a condition as a comment. */
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

static const struct condition *objdump_arm64_find_condition(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(conditions); i++)
		if (!strcmp(conditions[i].name, name))
			return &conditions[i];
	return NULL;
}

static void spell_condition(struct instruction *to)
{
	const struct condition *condition;
	if (!strncmp(to->mnemonic, "b.", 2) && (condition = objdump_arm64_find_condition(to->mnemonic + 2))) {
		snprintf(to->mnemonic, sizeof(to->mnemonic), "b.%s", condition->shown);
		/* The comment has "b." before each of the names. */
		struct tally_str rest = str_from(condition->meanings), part;
		size_t used = 0;
		while (str_next(&rest, ',', &part) && used < sizeof(to->comment)) {
			part = str_trim(part);
			int n = snprintf(to->comment + used, sizeof(to->comment) - used, "%sb.%.*s", used ? ", " : "",
				(int)part.len, part.data);
			used += n > 0 ? (size_t)n : 0;
		}
		return;
	}
	char *comma = strrchr(to->operands, ',');
	if (!comma || !(condition = objdump_arm64_find_condition(comma + 2)))
		return;
	snprintf(comma + 2, sizeof(to->operands) - (size_t)(comma + 2 - to->operands), "%s", condition->shown);
	snprintf(to->comment, sizeof(to->comment), "%s = %s", condition->shown, condition->meanings);
}

/* Returns whether the instruction has an operand that counts bits, which objdump prints in decimal. */
static bool counts_bits(const char *mnemonic)
{
	static const char *const names[] = {"lsl", "lsr", "asr", "ror", "ubfx", "sbfx", "ubfiz", "sbfiz", "bfi",
		"bfxil", "tbz", "tbnz", "extr", "ubfm", "sbfm", "bfm", "bfc", "shl", "sshr", "ushr", "sshll", "ushll",
		"shrn", "sli", "sri", "rev", "ssra", "usra", "ext", "rshrn", "shll", "srshr", "urshr", "srsra", "ursra",
		"sqshl", "uqshl", "sqshlu", "sqshrn", "uqshrn", "sqrshrn", "uqrshrn", "sqshrun", "sqrshrun", "fcvtzs",
		"fcvtzu", "scvtf", "ucvtf"};
	/* The suffix 2 selects the upper halves of vectors. */
	size_t len = strcspn(mnemonic, "2");
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (!strncmp(mnemonic, names[i], len) && !names[i][len])
			return true;
	return false;
}

/* Rewrites each "#number" as objdump does: displacements and bit counts in decimal, other numbers in hex. */
static void objdump_arm64_spell_numbers(struct instruction *to)
{
	char out[INSTRUCTION_OPERANDS_BYTES];
	size_t n = 0;
	/* Comparisons of vectors with zero have a decimal zero. */
	bool is_comparison = to->mnemonic[0] == 'c' && to->operands[0] && strstr(to->operands, ", #0") &&
			     (to->operands[0] == 'v' || to->operands[0] == 'd');
	bool counts = counts_bits(to->mnemonic) || is_comparison, is_memory = false;
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

/* Replaces the numbers of hints by names that Capstone does not know. */
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
	for (size_t i = 0; i < ARRAY_LEN(hints); i++)
		if (hints[i].number == number) {
			snprintf(to->mnemonic, sizeof(to->mnemonic), "%s", hints[i].mnemonic);
			snprintf(to->operands, sizeof(to->operands), "%s", hints[i].operand);
			return true;
		}
	return false;
}

/* Returns whether at most one of the four 16-bit parts is nonzero. */
static bool is_halfword(uint64_t value)
{
	unsigned parts = 0;
	for (; value; value >>= 16)
		parts += (value & 0xffff) != 0;
	return parts <= 1;
}

/* Returns whether objdump prints the instruction as a move though it is an orr, such as "orr w0, wzr, #0xff00ff". */
static bool is_zero_orr(const cs_insn *from)
{
	const cs_arm64 *arm64 = &from->detail->arm64;
	bool is_32 = arm64->operands[0].type == ARM64_OP_REG && arm64->operands[0].reg >= ARM64_REG_W0 &&
		     arm64->operands[0].reg <= ARM64_REG_W30;
	uint64_t value = (uint64_t)arm64->operands[2].imm;
	/* Values that movz or movn can set are printed as orr. */
	if (is_halfword(is_32 ? (uint32_t)value : value) || is_halfword(is_32 ? (uint32_t)~value : ~value))
		return false;
	return !strcmp(from->mnemonic, "orr") && arm64->op_count == 3 && arm64->operands[1].type == ARM64_OP_REG &&
	       (arm64->operands[1].reg == ARM64_REG_XZR || arm64->operands[1].reg == ARM64_REG_WZR) &&
	       arm64->operands[2].type == ARM64_OP_IMM;
}

/* Rewrites "movz w1, #0x1" as "mov w1, #0x1" with the comment "#1". */
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

/* Rewrites "{v1.4s, v2.4s, v3.4s}[0x2]" as "{v1.4s-v3.4s}[2]". */
static void spell_vectors(struct instruction *to)
{
	char out[INSTRUCTION_OPERANDS_BYTES];
	char *open = strchr(to->operands, '{'), *close = open ? strchr(open, '}') : NULL;
	const char *first = open ? strchr(open, ',') : NULL, *last = NULL;
	unsigned commas = 0;
	for (char *p = open; p && p < close; p++)
		if (*p == ',') {
			commas++;
			last = p + 2;
		}
	/* objdump prints each register of a list that wraps around from v31 to v0. */
	bool goes_on = commas >= 2 && atoi(open + 2) < atoi(last + 1);
	if (goes_on) {
		snprintf(out, sizeof(out), "%.*s-%s", (int)(first - to->operands), to->operands, last);
		memcpy(to->operands, out, sizeof(out));
	}
	/* Indexes of elements are decimal. */
	for (char *p = to->operands; (p = strstr(p, "[0x")); p++) {
		char *end;
		unsigned long number = strtoul(p + 1, &end, 0);
		snprintf(out, sizeof(out), "%s", end);
		snprintf(p + 1, sizeof(to->operands) - (size_t)(p + 1 - to->operands), "%lu%s", number, out);
	}
}

/* Replaces mnemonics by the aliases that objdump prints. */
static void spell_alias(struct instruction *to)
{
	static const char *const longer[][2] = {
		{"ushll", "uxtl"}, {"ushll2", "uxtl2"}, {"sshll", "sxtl"}, {"sshll2", "sxtl2"}};
	char *comma = strrchr(to->operands, ',');
	if (!strcmp(to->mnemonic, "ins"))
		snprintf(to->mnemonic, sizeof(to->mnemonic), "mov");
	for (size_t i = 0; i < ARRAY_LEN(longer); i++)
		if (!strcmp(to->mnemonic, longer[i][0]) && comma && !strcmp(comma, ", #0")) {
			snprintf(to->mnemonic, sizeof(to->mnemonic), "%s", longer[i][1]);
			*comma = 0;
			return;
		}
	char *zero = strstr(to->operands, to->operands[0] == 'x' ? ", xzr" : ", wzr");
	if (!strcmp(to->mnemonic, "bfi") && zero) {
		snprintf(to->mnemonic, sizeof(to->mnemonic), "bfc");
		memmove(zero, zero + strlen(", xzr"), strlen(zero + strlen(", xzr")) + 1);
	}
}

/* Rewrites "sys #0x3, c7, c4, #0x4, x2" as "sys #3, C7, C4, #4, x2". */
static void spell_system(struct instruction *to)
{
	for (char *p = to->operands; *p; p++)
		if (*p == 'c' && isdigit((unsigned char)p[1]))
			*p = 'C';
		else if (!strncmp(p, "#0x", 3))
			memmove(p + 1, p + 3, strlen(p + 3) + 1);
}

/* Prefetch types without a name have two digits. */
static void spell_prefetch(struct instruction *to)
{
	size_t len = strlen(to->operands);
	if (!strncmp(to->operands, "#0x", 3) && to->operands[4] == ',' && len + 1 < sizeof(to->operands)) {
		memmove(to->operands + 4, to->operands + 3, len - 2);
		to->operands[3] = '0';
	}
}

void objdump_arm64(csh handle, const cs_insn *from, struct instruction *to)
{
	const cs_arm64 *arm64 = &from->detail->arm64;
	bool is_literal = (from->id == ARM64_INS_LDR || from->id == ARM64_INS_LDRSW || from->id == ARM64_INS_PRFM) &&
			  arm64->op_count == 2 && !strchr(to->operands, '[');
	bool is_direct = is_literal || to->kind == INSTRUCTION_JUMP || to->kind == INSTRUCTION_CALL ||
			 from->id == ARM64_INS_ADR || from->id == ARM64_INS_ADRP;
	char *hash = strrchr(to->operands, '#');
	if (spell_hint(to) || spell_move(from, to))
		return;
	if (arm64->op_count > 0 && arm64->operands[arm64->op_count - 1].type == ARM64_OP_FP && hash) {
		bool is_comparison = !strncmp(to->mnemonic, "fc", 2);
		snprintf(hash, sizeof(to->operands) - (size_t)(hash - to->operands), is_comparison ? "#%.1f" : "#%.18e",
			arm64->operands[arm64->op_count - 1].fp);
		return;
	}
	if (!is_direct || arm64->op_count == 0 || arm64->operands[arm64->op_count - 1].type != ARM64_OP_IMM || !hash) {
		objdump_arm64_spell_numbers(to);
		spell_condition(to);
		spell_vectors(to);
		spell_alias(to);
		if (!strncmp(to->mnemonic, "sys", 3))
			spell_system(to);
		if (!strncmp(to->mnemonic, "prf", 3))
			spell_prefetch(to);
		return;
	}
	to->has_target = true;
	to->target = (uint64_t)arm64->operands[arm64->op_count - 1].imm;
	*hash = 0;
	objdump_arm64_spell_numbers(to);
	size_t used = strlen(to->operands);
	snprintf(to->operands + used, sizeof(to->operands) - used, "%llx", (unsigned long long)to->target);
	spell_condition(to);
}
