/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "code/disasm/objdump_x86.h"
#include "code/disasm/x86_vector.h"

bool spelling_is_one_of(const char *word, const char *const *list)
{
	for (; *list; list++)
		if (!strcmp(word, *list))
			return true;
	return false;
}

void spelling_add_prefix(struct spelling *s, const char *name)
{
	size_t used = strlen(s->prefixes);
	snprintf(s->prefixes + used, sizeof(s->prefixes) - used, "%s ", name);
}

const cs_x86_op *spelling_nth(const struct spelling *s, x86_op_type type, size_t n)
{
	for (size_t i = 0; i < s->x86->op_count; i++)
		if (s->x86->operands[i].type == type && n-- == 0)
			return &s->x86->operands[i];
	return NULL;
}

/* objdump prints the top of the stack, and without a number: "fmulp %st,%st(1)", "fadd %st(1),%st", "fmul
 * %st,%st(2)". */
void spelling_correct_x87(struct spelling *s)
{
	static const char *const popping[] = {"faddp", "fmulp", "fdivp", "fdivrp", "fsubp", "fsubrp", NULL};
	static const char *const two[] = {"fadd", "fmul", "fdiv", "fdivr", "fsub", "fsubr", "fcomi", "fcomip", "fucomi",
		"fucomip", "fcompi", "fucompi", NULL};
	bool is_arithmetic = spelling_is_one_of(s->mnemonic, two), is_move = !strncmp(s->mnemonic, "fcmov", 5);
	bool is_stack = s->words.count > 0 && strstr(s->words.text[0], "st(");
	const char *top = s->is_intel ? "st" : "%st";
	if (!strcmp(s->mnemonic, "wait"))
		snprintf(s->mnemonic, sizeof(s->mnemonic), "fwait");
	if (s->insn->id == X86_INS_FNSTSW && s->is_intel && s->words.count == 1)
		spelling_resize(s->words.text[0], "WORD");
	if (is_stack && s->words.count == 2 && (is_arithmetic || is_move))
		/* The top of the stack is the destination of fcmov, but the source of the arithmetic instructions. */
		snprintf(s->words.text[is_move == s->is_intel ? 0 : 1], OPERAND_TEXT_BYTES, "%s", top);
	if (!is_stack || s->words.count != 1)
		return;
	if (spelling_is_one_of(s->mnemonic, popping))
		operand_words_insert(&s->words, s->is_intel ? 1 : 0, top);
	else if (is_arithmetic || is_move)
		operand_words_insert(&s->words, s->is_intel ? 0 : 1, top);
}

static bool is_register_form(const struct spelling *s)
{
	return s->x86->modrm >> 6 == 3;
}

/* objdump includes the multiplied halves in the mnemonic. */
static void name_product(struct spelling *s)
{
	static const char *const names[] = {"pclmullqlqdq", "pclmulhqlqdq", "pclmullqhqdq", "pclmulhqhqdq"};
	const cs_x86_op *halves = spelling_nth(s, X86_OP_IMM, 0);
	if (!halves || (halves->imm & 0xee) || s->words.count != 3)
		return;
	snprintf(s->mnemonic, sizeof(s->mnemonic), "%s", names[(halves->imm & 1) | (halves->imm >> 3 & 2)]);
	operand_words_remove(&s->words, s->is_intel ? 2 : 0);
}

static void swap_words(struct spelling *s, size_t one, size_t other)
{
	char kept[OPERAND_TEXT_BYTES];
	memcpy(kept, s->words.text[one], sizeof(kept));
	memcpy(s->words.text[one], s->words.text[other], sizeof(kept));
	memcpy(s->words.text[other], kept, sizeof(kept));
}

void spelling_correct_vectors(struct spelling *s)
{
	static const char *const with_mask[] = {"pblendvb", "blendvps", "blendvpd", "sha256rnds2", NULL};
	static const char *const sized[] = {
		"vcvtpd2psx", "vcvtpd2psy", "vcvtpd2dqx", "vcvtpd2dqy", "vcvttpd2dqx", "vcvttpd2dqy", NULL};
	static const char *const halves[] = {"punpcklbw", "punpcklwd", "punpckldq", NULL};
	bool is_xop = s->bytes.data[0] == 0x8f && s->insn->id == X86_INS_VPPERM;
	bool is_vex = s->bytes.data[0] == 0xc4 && !strncmp(s->mnemonic, "vpermil2", 8);
	if (s->words.count == 2 && spelling_is_one_of(s->mnemonic, with_mask))
		operand_words_insert(&s->words, s->is_intel ? 2 : 0, s->is_intel ? "xmm0" : "%xmm0");
	if (spelling_is_one_of(s->mnemonic, sized) && (s->is_intel || is_register_form(s)))
		s->mnemonic[strlen(s->mnemonic) - 1] = 0;
	if (!strcmp(s->mnemonic, "pclmulqdq"))
		name_product(s);
	/* Capstone ignores the bit (VEX.W or XOP.W) that exchanges two sources. */
	if ((is_xop || is_vex) && is_register_form(s) && s->words.count >= 4 && (s->bytes.data[2] & 0x80))
		swap_words(s, s->is_intel ? 2 : s->words.count - 4, s->is_intel ? 3 : s->words.count - 3);
	if (!s->is_intel || s->words.count < 2)
		return;
	if (s->insn->id == X86_INS_LDDQU || s->insn->id == X86_INS_VLDDQU)
		spelling_resize(s->words.text[1], "");
	if (s->insn->id == X86_INS_VCOMISS || s->insn->id == X86_INS_VCOMISD)
		spelling_resize(s->words.text[1], s->insn->id == X86_INS_VCOMISS ? "DWORD" : "QWORD");
	if (s->words.text[0][0] == 'm' && spelling_is_one_of(s->mnemonic, halves))
		spelling_resize(s->words.text[1], "DWORD");
}

/* objdump writes ports in parentheses: "in (%dx),%al", "outsl %ds:(%rsi),(%dx)". */
void spelling_correct_ports(struct spelling *s)
{
	bool is_port = s->x86->opcode[0] >= 0x6c && s->x86->opcode[0] <= 0x6f;
	is_port = is_port || (s->x86->opcode[0] >= 0xec && s->x86->opcode[0] <= 0xef);
	for (size_t i = 0; i < s->words.count && is_port && !s->is_intel; i++)
		if (!strcmp(s->words.text[i], "%dx"))
			snprintf(s->words.text[i], OPERAND_TEXT_BYTES, "(%%dx)");
}

/* Corrects registers that REX.W makes 64 bits wide, and removes sizes of memory that objdump does not print. */
void spelling_correct_widths(struct spelling *s)
{
	static const char *const masks[] = {"movmskps", "movmskpd", "pmovmskb", NULL};
	static const char *const flags[] = {"pushfq", "popfq", "pushfl", "popfl", "pushfd", "popfd", NULL};
	char text[16], name[8];
	size_t to = s->is_intel ? 0 : s->words.count - 1;
	if (s->words.count == 2 && (s->x86->rex & 8) && spelling_is_one_of(s->mnemonic, masks)) {
		vector_general_name((s->x86->modrm >> 3 & 7u) | (s->x86->rex & 4u) << 1, true, name);
		snprintf(text, sizeof(text), "%s%s", s->is_intel ? "" : "%", name);
		memcpy(s->words.text[to], text, sizeof(text));
	}
	if (spelling_is_one_of(s->mnemonic, flags) && s->bytes.data[0] != 0x66)
		s->mnemonic[strlen(s->mnemonic) - 1] = 0;
	bool is_offset = s->x86->opcode[0] >= 0xa0 && s->x86->opcode[0] <= 0xa3 && strncmp(s->mnemonic, "mov", 3) == 0;
	for (size_t i = 0; i < s->words.count && s->is_intel; i++)
		if (is_offset || !strncmp(s->words.text[i], " PTR ", 5))
			spelling_resize(s->words.text[i], "");
}

void spelling_resize(char *text, const char *size)
{
	char with[OPERAND_TEXT_BYTES];
	const char *at = strstr(text, " PTR ");
	if (!at)
		return;
	at += size[0] ? 0 : strlen(" PTR ");
	snprintf(with, sizeof(with), "%s%s", size, at);
	memcpy(text, with, sizeof(with));
}

/* Adds prefixes without effect, with which linkers and assemblers pad code: 64-bit operands stay 64-bit with a prefix
 * for 16-bit operands, and several such prefixes have the effect of one. */
void spelling_add_unused_prefixes(struct spelling *s)
{
	char with[sizeof(s->prefixes)] = "";
	size_t used = 0, count = 0;
	bool is_wide = s->x86->rex & 8, is_one_byte = s->x86->opcode[0] != 0x0f;
	bool is_call = is_wide && (s->x86->opcode[0] == 0xe8 || s->insn->id == X86_INS_CALL);
	if (!s->is_64 || s->insn->id == X86_INS_NOP)
		return;
	/* An address-size prefix has no effect without an address, except for jrcxz and loop, which use it for their
	 * counter. */
	bool has_address = spelling_nth(s, X86_OP_MEM, 0) || (s->x86->opcode[0] & 0xfc) == 0xe0;
	for (size_t i = 0; i < s->insn->size && i < 4; i++)
		if (s->bytes.data[i] == 0x66)
			count++;
		else if (s->bytes.data[i] == 0x67)
			used += has_address ? 0 : (size_t)snprintf(with + used, sizeof(with) - used, "addr32 ");
		else if (s->bytes.data[i] != 0x64 && s->bytes.data[i] != 0x65 && s->bytes.data[i] != 0x2e)
			break;
	bool is_prefetch = !is_one_byte && s->x86->opcode[1] == 0x18;
	if (count > 0 && !(is_wide && is_one_byte) && !is_prefetch)
		count--;
	for (size_t i = 0; i < count; i++)
		used += (size_t)snprintf(with + used, sizeof(with) - used, "data16 ");
	snprintf(with + used, sizeof(with) - used, "%.16s%s", s->prefixes, is_call ? "rex.W " : "");
	memcpy(s->prefixes, with, sizeof(with));
}
