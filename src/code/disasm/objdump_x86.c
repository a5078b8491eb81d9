/* SPDX-License-Identifier: Apache-2.0 */
#include "code/disasm/objdump_x86.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"

/* Rewrites numbers in memory operands, which Capstone prints in decimal below ten: "8(%rax)" becomes "0x8(%rax)".
 * Removes blanks. */
static void objdump_x86_spell_numbers(char *text)
{
	char out[OPERAND_TEXT_BYTES];
	size_t n = 0;
	if (strstr(text, "st("))
		return;
	for (const char *p = text; *p && n + 8 < sizeof(out); p++) {
		bool starts = p == text || strchr("-+*$[(:", p[-1]) || p[-1] == ' ';
		if (*p == ' ')
			continue;
		/* The scale of an index remains decimal. */
		bool is_scale = p > text && ((p[-1] == '*' && p - 1 > text) ||
						    (p[-1] == ' ' && strchr(text, '(') && p > strchr(text, '(')));
		if (starts && isdigit((unsigned char)*p) && !(p[0] == '0' && p[1] == 'x') && !is_scale) {
			out[n++] = '0';
			out[n++] = 'x';
		}
		out[n++] = *p;
	}
	out[n] = 0;
	memcpy(text, out, n + 1);
}

static bool is_general(unsigned reg, csh handle)
{
	const char *name = cs_reg_name(handle, reg);
	if (!name || strstr(name, "mm") || name[0] == 'k' || !strncmp(name, "st", 2) || !strncmp(name, "cr", 2) ||
		!strncmp(name, "dr", 2) || !strncmp(name, "bnd", 3))
		return false;
	return !(strlen(name) == 2 && name[1] == 's');
}

static bool is_shift(const char *name)
{
	static const char *const shifts[] = {"shl", "shr", "sar", "sal", "rol", "ror", "rcl", "rcr", "shld", "shrd"};
	for (size_t i = 0; i < ARRAY_LEN(shifts); i++)
		if (!strcmp(name, shifts[i]))
			return true;
	return false;
}

/* Returns whether a register operand implies the size, so that the mnemonic needs no suffix. */
static bool register_tells_size(const struct spelling *s, const char *name)
{
	for (size_t i = 0; i < s->x86->op_count; i++) {
		const cs_x86_op *op = &s->x86->operands[i];
		if (op->type != X86_OP_REG || !is_general(op->reg, s->handle))
			continue;
		if (op->reg == X86_REG_CL && is_shift(name) && s->x86->op_count > 1 && i == 0)
			continue;
		return true;
	}
	return false;
}

static void drop_size_letter(struct spelling *s)
{
	/* objdump prints these without a suffix: it is that of the default size in 64-bit or 32-bit code. */
	static const char *const always[] = {
		"callq", "retq", "jmpq", "pushq", "popq", "leaveq", "calll", "retl", "jmpl", "pushl", "popl", NULL};
	static const char *const kept[] = {"crc32", "cvtsi2sd", NULL};
	size_t len = strlen(s->mnemonic);
	const char *name = cs_insn_name(s->handle, s->insn->id);
	if (spelling_is_one_of(s->mnemonic, always)) {
		s->mnemonic[len - 1] = 0;
		return;
	}
	if (!name || len < 2 || strlen(name) != len - 1 || strncmp(s->mnemonic, name, len - 1) != 0 ||
		!strchr("bwlq", s->mnemonic[len - 1]))
		return;
	if (!strcmp(name, kept[0]))
		return;
	if (register_tells_size(s, name))
		s->mnemonic[len - 1] = 0;
}

static uint64_t cut_to(uint64_t value, unsigned bytes)
{
	return bytes >= 8 || bytes == 0 ? value : value & ((1ull << 8 * bytes) - 1);
}

/* Returns the number of bytes of the immediate that objdump prints, which is the size of the operation. */
static unsigned immediate_bytes(const struct spelling *s, const cs_x86_op *op)
{
	unsigned bytes = op->size;
	if (s->insn->id == X86_INS_XABORT)
		return 1;
	for (size_t i = 0; i < s->x86->op_count; i++) {
		const cs_x86_op *other = &s->x86->operands[i];
		if (other->type == X86_OP_IMM)
			continue;
		if (other->type == X86_OP_REG && !is_general(other->reg, s->handle))
			return 1; /* Immediates of vector instructions are bytes. */
		bytes = other->size;
	}
	return bytes;
}

/* ",%riz,2" or "+riz*2" shows a SIB byte that selects no index. Compilers use it for padding. */
static void spell_no_index(const struct spelling *s, char index[16])
{
	unsigned modrm = s->x86->modrm, sib = s->x86->sib;
	const cs_x86_op *op = spelling_nth(s, X86_OP_MEM, 0);
	bool has_no_index = modrm >> 6 != 3 && (modrm & 7) == 4 && (sib >> 3 & 7) == 4 && !(s->x86->rex & 2);
	bool is_needed = (sib & 7) == 4 && sib >> 6 == 0;
	index[0] = 0;
	if (has_no_index && !is_needed && op && op->mem.base != X86_REG_INVALID && op->mem.index == X86_REG_INVALID)
		snprintf(index, 16, s->is_intel ? "+%ciz*%u" : ",%%%ciz,%u", s->is_64 ? 'r' : 'e', 1u << (sib >> 6));
}

/* objdump prints "0x0(%rax)" if a displacement of zero is encoded, and the scale of 1 in "(%rax,%rcx,1)". */
static void spell_memory(const struct spelling *s, char *text)
{
	char out[OPERAND_TEXT_BYTES];
	const cs_x86_op *op = spelling_nth(s, X86_OP_MEM, 0);
	char *bracket = strchr(text, '(');
	if (!op || !bracket)
		return;
	bool has_number = bracket > text && bracket[-1] != ':' && bracket[-1] != '*';
	bool is_encoded = s->x86->encoding.disp_offset != 0 || op->mem.base == X86_REG_INVALID;
	char *close = strchr(bracket, ')');
	unsigned commas = 0;
	char index[16];
	spell_no_index(s, index);
	for (const char *p = bracket; *p; p++)
		commas += *p == ',';
	snprintf(out, sizeof(out), "%.*s%s%.*s%s%s%s", (int)(bracket - text), text,
		!has_number && is_encoded ? "0x0" : "", close ? (int)(close - bracket) : (int)strlen(bracket), bracket,
		commas == 1 ? ",1" : "", index, close ? close : "");
	memcpy(text, out, sizeof(out));
}

/* Capstone 4 applies an EVEX bit of another operand to the index, and names a vector register instead of a general
 * one. */
static void correct_index(const struct spelling *s, char *text)
{
	static const char *const names[] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10",
		"r11", "r12", "r13", "r14", "r15"};
	const cs_x86_op *op = spelling_nth(s, X86_OP_MEM, 0);
	const uint8_t *bytes = s->bytes.data;
	const char *index = op && op->mem.index != X86_REG_INVALID ? cs_reg_name(s->handle, op->mem.index) : NULL;
	char out[OPERAND_TEXT_BYTES], *at;
	if (!index || !strstr(index, "mm") || bytes[0] != 0x62 || s->insn->size < 7)
		return;
	bool is_gather = (bytes[1] & 7) == 2 &&
			 ((bytes[4] >= 0x90 && bytes[4] <= 0x93) || (bytes[4] >= 0xa0 && bytes[4] <= 0xa3) ||
				 bytes[4] == 0xc6 || bytes[4] == 0xc7);
	char *start = strpbrk(text, "([");
	if (is_gather || !start || !(at = strstr(start, index)))
		return;
	unsigned number = (bytes[6] >> 3 & 7) | (bytes[1] & 0x40 ? 0 : 8);
	snprintf(out, sizeof(out), "%.*s%s%s", (int)(at - text), text, names[number], at + strlen(index));
	memcpy(text, out, sizeof(out));
}

/* Rewrites "qword ptr fs:[rax + rcx - 8]" as "QWORD PTR fs:[rax+rcx*1-0x8]". */
static void spell_intel_memory(const struct spelling *s, char *text, size_t n)
{
	static const char *const sizes[] = {
		"byte", "word", "dword", "qword", "xword", "xmmword", "ymmword", "zmmword", "fword", "tbyte", NULL};
	const cs_x86_op *op = spelling_nth(s, X86_OP_MEM, n);
	char out[OPERAND_TEXT_BYTES], size[16] = "", *ptr = strstr(text, "ptr"), *open = strchr(text, '[');
	const char *after = open ? strchr(open, ']') : NULL;
	if (!op || !open || !after)
		return;
	if (ptr) {
		snprintf(size, sizeof(size), "%.*s", (int)MIN(ptr - text, 10), text);
		if (spelling_is_one_of(size, sizes))
			for (char *p = size; *p; p++)
				*p = (char)toupper((unsigned char)*p);
		snprintf(size + strlen(size), sizeof(size) - strlen(size), " PTR ");
	}
	if (!strncmp(size, "XWORD", 5))
		memcpy(size, "TBYTE", 5);
	/* Capstone reports the size of a whole vector for these. */
	bool is_scalar = s->insn->id == X86_INS_COMISD || s->insn->id == X86_INS_UCOMISD;
	if (is_scalar || s->insn->id == X86_INS_COMISS || s->insn->id == X86_INS_UCOMISS)
		snprintf(size, sizeof(size), "%s PTR ", is_scalar ? "QWORD" : "DWORD");
	const char *segment = op->mem.segment == X86_REG_FS ? "fs:" : (op->mem.segment == X86_REG_GS ? "gs:" : "");
	bool has_base = op->mem.base != X86_REG_INVALID, has_index = op->mem.index != X86_REG_INVALID;
	unsigned long long shown = cut_to((uint64_t)op->mem.disp, s->is_64 || has_base || has_index ? 8 : 4);
	if (!has_base && !has_index) {
		snprintf(out, sizeof(out), "%s%s0x%llx%s", size, *segment ? segment : "ds:", shown, after + 1);
		memcpy(text, out, sizeof(out));
		return;
	}
	char index[24] = "", displacement[24] = "";
	char *index_in_text = has_index ? strpbrk(open, "+") : NULL;
	if (has_index) {
		/* The text may have a corrected name of the index. */
		const char *start = has_base && index_in_text ? index_in_text + 1 : open + 1;
		snprintf(index, sizeof(index), "%s%.*s*%d", has_base ? "+" : "", (int)strcspn(start, "*+-]"), start,
			op->mem.scale);
	} else {
		spell_no_index(s, index);
	}
	bool is_negative = op->mem.disp < 0 && op->mem.base != X86_REG_RIP;
	if (s->x86->encoding.disp_offset != 0 || op->mem.disp != 0 || !has_base)
		snprintf(displacement, sizeof(displacement), "%s0x%llx", is_negative ? "-" : "+",
			is_negative ? 0 - shown : shown);
	snprintf(out, sizeof(out), "%s%s[%s%s%s]%s", size, segment,
		has_base ? cs_reg_name(s->handle, op->mem.base) : "", index, displacement, after + 1);
	memcpy(text, out, sizeof(out));
}

static void spell_immediate(const struct spelling *s, char *text, size_t n)
{
	const cs_x86_op *op = spelling_nth(s, X86_OP_IMM, n);
	if (op)
		snprintf(text, OPERAND_TEXT_BYTES, "%s0x%llx", s->is_intel ? "" : "$",
			(unsigned long long)cut_to((uint64_t)op->imm, immediate_bytes(s, op)));
}

/* In 64-bit code, prefixes of these segments have no effect, and objdump prints them before the mnemonic. */
static void lift_segment(struct spelling *s, char *text)
{
	static const char *const nothing[] = {"cs", "ds", "es", "ss", NULL};
	char name[3] = "";
	char *colon = strchr(text, ':');
	size_t at = s->is_intel ? 0 : 1;
	if (!s->is_64 || !colon || (!s->is_intel && text[0] != '%'))
		return;
	if (s->is_intel) {
		if (colon - text < 2)
			return;
		at = (size_t)(colon - text) - 2;
	}
	memcpy(name, text + at, 2);
	if (!spelling_is_one_of(name, nothing))
		return;
	char *start = text + at - (s->is_intel ? 0 : 1);
	memmove(start, colon + 1, strlen(colon + 1) + 1);
	size_t used = strlen(s->prefixes);
	snprintf(s->prefixes + used, sizeof(s->prefixes) - used, "%s ", name);
}

static bool is_string_operation(const struct spelling *s)
{
	static const char *const bases[] = {"movs", "stos", "lods", "scas", "cmps", "ins", "outs", NULL};
	char base[8];
	size_t len = strlen(s->mnemonic);
	if (len < 4 || len > 6 || s->x86->opcode[0] < 0x6c || (s->x86->opcode[0] > 0x6f && s->x86->opcode[0] < 0xa4) ||
		s->x86->opcode[0] > 0xaf)
		return false;
	snprintf(base, sizeof(base), "%.*s", (int)len - 1, s->mnemonic);
	return spelling_is_one_of(base, bases);
}

/* Rewrites "stosd dword ptr [rdi], eax" as "stos DWORD PTR es:[rdi],eax". */
static void spell_intel_string(struct spelling *s)
{
	s->mnemonic[strlen(s->mnemonic) - 1] = 0;
	for (size_t i = 0; i < s->words.count; i++) {
		char *text = s->words.text[i], *open = strchr(text, '['), with[OPERAND_TEXT_BYTES];
		if (!open)
			continue;
		const char *name = strstr(open, "di]") ? "di" : "si";
		snprintf(with, sizeof(with), "%.*s%s:[%c%s]", (int)(open - text), text, name[0] == 'd' ? "es" : "ds",
			s->is_64 ? 'r' : 'e', name);
		memcpy(text, with, sizeof(with));
	}
}

/* Rewrites "stosl %eax, (%rdi)" as "stos %eax,%es:(%rdi)". */
static void spell_string_operation(struct spelling *s)
{
	bool has_register = false;
	for (size_t i = 0; i < s->words.count; i++) {
		char *text = s->words.text[i], with[OPERAND_TEXT_BYTES];
		has_register = has_register || (text[0] == '%' && !strchr(text, '(') && strcmp(text, "%dx") != 0);
		if (!strncmp(text, "%es:", 4) || !strchr(text, '('))
			continue;
		snprintf(with, sizeof(with), "%%%s:%.*s", strstr(text, "di)") ? "es" : "ds", OPERAND_TEXT_BYTES - 6,
			text);
		if (text[0] == '(')
			memcpy(text, with, sizeof(with));
	}
	if (has_register && !strstr(s->words.text[0], ":(%rsi)"))
		s->mnemonic[strlen(s->mnemonic) - 1] = 0;
	else if (has_register && s->words.text[1][0] == '%' && !strchr(s->words.text[1], '('))
		s->mnemonic[strlen(s->mnemonic) - 1] = 0;
}

/* byte is a prefix 0x2e (cs) or 0x3e (ds) of a conditional branch. The last one of them is a branch hint, which AT&T
 * syntax shows as a suffix. */
static void spell_guess(struct spelling *s, uint8_t byte, uint8_t next)
{
	size_t len = strlen(s->mnemonic);
	if (s->is_intel || next == 0x2e || next == 0x3e)
		spelling_add_prefix(s, byte == 0x2e ? "cs" : "ds");
	else
		snprintf(s->mnemonic + len, sizeof(s->mnemonic) - len, byte == 0x2e ? ",pn" : ",pt");
}

static void spell_branch_prefixes(struct spelling *s)
{
	bool is_branch = cs_insn_group(s->handle, s->insn, CS_GRP_JUMP) ||
			 cs_insn_group(s->handle, s->insn, CS_GRP_CALL) ||
			 cs_insn_group(s->handle, s->insn, CS_GRP_RET);
	if (!is_branch || s->prefixes[0])
		return;
	bool is_indirect = s->x86->opcode[0] == 0xff;
	uint8_t opcode = s->x86->opcode[0] == 0x0f ? s->x86->opcode[1] - 0x10 : s->x86->opcode[0];
	bool is_conditional = (opcode >= 0x70 && opcode < 0x80) || (opcode >= 0xe0 && opcode < 0xe4);
	for (size_t i = 0; i < s->insn->size; i++) {
		uint8_t byte = s->bytes.data[i];
		if (byte == 0x3e && is_indirect)
			spelling_add_prefix(s, "notrack");
		else if (is_conditional && (byte == 0x2e || byte == 0x3e))
			spell_guess(s, byte, s->bytes.data[i + 1]);
		else if (byte == 0xf2)
			spelling_add_prefix(s, "bnd");
		else if (byte == 0xf3)
			spelling_add_prefix(s, "repz");
		else
			break;
	}
}

/* Adds prefixes that Capstone merges into the instruction or omits. */
static void spell_prefixes(struct spelling *s)
{
	unsigned data16 = 0, repeats = 0;
	for (size_t i = 0; i < s->insn->size; i++) {
		uint8_t byte = s->bytes.data[i];
		data16 += byte == 0x66;
		repeats += byte == 0xf3;
		if (byte != 0x66 && byte != 0x2e && byte != 0xf3 && byte != 0xf2)
			break;
	}
	bool is_nop = s->insn->id == X86_INS_NOP;
	if (is_nop && s->x86->opcode[0] == 0x90 && data16 == 1 && repeats == 0) {
		snprintf(s->mnemonic, sizeof(s->mnemonic), "xchg");
		operand_words_split(&s->words, s->is_intel ? "ax,ax" : "%ax,%ax");
	}
	for (unsigned i = 1; is_nop && i < data16; i++) {
		char with[sizeof(s->prefixes)];
		snprintf(with, sizeof(with), "data16 %.40s", s->prefixes);
		memcpy(s->prefixes, with, sizeof(with));
	}
}

static void take_mnemonic(struct spelling *s, const char *from)
{
	static const char *const renamed[][2] = {{"repe", "repz"}, {"repne", "repnz"}};
	const char *space;
	while ((space = strchr(from, ' '))) {
		char word[16];
		size_t used = strlen(s->prefixes);
		snprintf(word, sizeof(word), "%.*s", (int)(space - from), from);
		for (size_t i = 0; i < 2; i++)
			if (!strcmp(word, renamed[i][0]))
				snprintf(word, sizeof(word), "%s", renamed[i][1]);
		snprintf(s->prefixes + used, sizeof(s->prefixes) - used, "%s ", word);
		from = space + 1;
	}
	snprintf(s->mnemonic, sizeof(s->mnemonic), "%s", from);
}

static void spell_operands(struct spelling *s)
{
	size_t immediates = 0, memories = 0;
	for (size_t i = 0; i < s->words.count; i++) {
		char *text = s->words.text[i];
		bool is_number = text[0] == '$' || (s->is_intel && (isdigit((unsigned char)text[0]) || text[0] == '-'));
		if (is_number) {
			spell_immediate(s, text, immediates++);
			continue;
		}
		objdump_x86_spell_numbers(text);
		correct_index(s, text);
		lift_segment(s, text);
		if (s->is_intel)
			spell_intel_memory(s, text, strchr(text, '[') ? memories++ : 0);
		else
			spell_memory(s, text);
	}
	/* objdump prints the accumulator first. */
	if (s->insn->id == X86_INS_XCHG && s->x86->opcode[0] >= 0x90 && s->x86->opcode[0] < 0x98) {
		char first[OPERAND_TEXT_BYTES];
		memcpy(first, s->words.text[0], sizeof(first));
		memcpy(s->words.text[0], s->words.text[1], sizeof(first));
		memcpy(s->words.text[1], first, sizeof(first));
	}
	/* Shifts by one have their own encoding; objdump prints the 1 in Intel syntax only. */
	bool is_by_one = is_shift(cs_insn_name(s->handle, s->insn->id)) && (s->x86->opcode[0] | 1) == 0xd1;
	if (is_by_one && s->is_intel && s->words.count == 1)
		operand_words_insert(&s->words, 1, "1");
	else if (is_by_one && s->is_intel)
		snprintf(s->words.text[1], OPERAND_TEXT_BYTES, "1");
	else if (is_by_one && s->words.count == 2 && !strcmp(s->words.text[0], "$0x1"))
		operand_words_remove(&s->words, 0);
}

static void find_addresses(const struct spelling *s, struct instruction *to)
{
	bool is_direct = to->kind == INSTRUCTION_JUMP || to->kind == INSTRUCTION_CALL || s->insn->id == X86_INS_XBEGIN;
	const cs_x86_op *imm = spelling_nth(s, X86_OP_IMM, 0);
	const cs_x86_op *mem = spelling_nth(s, X86_OP_MEM, 0);
	if (is_direct && imm && s->words.count == 1) {
		to->has_target = true;
		to->target = (uint64_t)imm->imm;
		snprintf(to->operands, sizeof(to->operands), "%llx", (unsigned long long)imm->imm);
	}
	if (mem && mem->mem.base == X86_REG_RIP) {
		to->has_data = true;
		to->data = to->address + to->size + (uint64_t)mem->mem.disp;
	}
}

/* objdump prints moves of 64-bit general registers as movq. */
static void rename_moves(struct spelling *s)
{
	if (strcmp(s->mnemonic, "movd") && strcmp(s->mnemonic, "vmovd"))
		return;
	for (size_t i = 0; i < s->x86->op_count; i++)
		if (s->x86->operands[i].type == X86_OP_REG && is_general(s->x86->operands[i].reg, s->handle) &&
			s->x86->operands[i].size == 8)
			s->mnemonic[strlen(s->mnemonic) - 1] = 'q';
}

void objdump_x86(csh handle, const cs_insn *from, struct tally_bytes bytes, const struct x86_style *style,
	struct instruction *to)
{
	struct spelling s = {.handle = handle,
		.insn = from,
		.x86 = &from->detail->x86,
		.bytes = bytes,
		.is_intel = style->is_intel,
		.is_64 = style->is_64};
	take_mnemonic(&s, from->mnemonic);
	operand_words_split(&s.words, from->op_str);
	bool is_string = is_string_operation(&s);
	spell_operands(&s);
	spelling_correct_x87(&s);
	spelling_correct_vectors(&s);
	spelling_correct_widths(&s);
	spell_prefixes(&s);
	spell_branch_prefixes(&s);
	spelling_add_unused_prefixes(&s);
	rename_moves(&s);
	if (is_string && s.is_intel)
		spell_intel_string(&s);
	else if (is_string)
		spell_string_operation(&s);
	else if (!s.is_intel)
		drop_size_letter(&s);
	spelling_correct_ports(&s);
	snprintf(to->mnemonic, sizeof(to->mnemonic), "%s%s", s.prefixes, s.mnemonic);
	operand_words_join(&s.words, ",", to);
	find_addresses(&s, to);
}
