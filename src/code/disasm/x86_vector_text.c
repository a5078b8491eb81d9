/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "code/disasm/x86_vector.h"

static const char *vector_kind(unsigned length)
{
	static const char *const kinds[] = {"xmm", "ymm", "zmm"};
	return kinds[length < 3 ? length : 2];
}

static unsigned element_of(const struct vector_decoding *d, const struct vector_row *row)
{
	if (!row->element)
		return d->w ? 8 : 4;
	return row->by_w[0] == 'b' && d->w ? 2 : row->element;
}

/* Returns the length of the vector in bytes, halved the given number of times. */
static unsigned x86_vector_text_shortened(const struct vector_decoding *d, unsigned halves)
{
	return 16u << d->length >> halves;
}

static const char *kind_for(unsigned bytes)
{
	return vector_kind(bytes <= 16 ? 0 : (bytes == 32 ? 1 : 2));
}

/* Returns the number of bytes of the r/m operand. */
static unsigned source_bytes(const struct vector_decoding *d, const struct vector_row *row, char letter)
{
	switch (letter) {
	case 'Y':
		return x86_vector_text_shortened(d, 1);
	case 'Q':
		return x86_vector_text_shortened(d, 2);
	case 'O':
		return x86_vector_text_shortened(d, 3);
	case 'x':
		return 16;
	case 'z':
		return 32;
	case 'd':
		return 8;
	case 'w':
	case 'e':
		return element_of(d, row);
	case 'E':
		return d->w ? 8 : 4;
	case 'D':
		return d->length == 0 ? 8 : x86_vector_text_shortened(d, 0);
	default:
		return x86_vector_text_shortened(d, 0);
	}
}

static void x86_vector_text_add_source(
	struct vector_decoding *d, struct operand_words *words, const struct vector_row *row, char letter)
{
	unsigned bytes = source_bytes(d, row, letter), element = element_of(d, row);
	struct vector_memory memory = {.bytes = bytes, .unit = letter == 'C' ? element : bytes};
	if (d->mod == 3) {
		if (letter == 'E' || letter == 'e')
			vector_add_general(d, words, d->rm | d->b << 3, letter == 'E' && d->w);
		else
			vector_add_register(d, words,
				kind_for(letter == 'D'	 ? x86_vector_text_shortened(d, 0)
					 : letter == 'w' ? 16
							 : bytes),
				d->rm | d->b << 3 | d->x << 4);
		return;
	}
	if (d->broadcast && (row->flags & VECTOR_BROADCASTS)) {
		memory.copies = bytes / element;
		memory.tells_copies = row->flags & VECTOR_TELLS_SIZE;
		memory.bytes = memory.unit = element;
	}
	vector_add_memory(d, words, &memory);
}

static void add_operand(
	struct vector_decoding *d, struct operand_words *words, const struct vector_row *row, char letter)
{
	unsigned reg = d->reg | d->r << 3 | d->r_high << 4, element = element_of(d, row);
	struct vector_memory by_index = {.bytes = element, .unit = element, .index_length = d->length + 1};
	switch (letter) {
	case 'V':
		vector_add_register(d, words, vector_kind(d->length), reg);
		break;
	case 'H':
		vector_add_register(d, words, vector_kind(d->length), d->v);
		break;
	case 'v':
		vector_add_register(d, words, "xmm", reg);
		break;
	case 'h':
		vector_add_register(d, words, "xmm", d->v);
		break;
	case 'y':
		vector_add_register(d, words, kind_for(x86_vector_text_shortened(d, 1)), reg);
		break;
	case 'K':
		vector_add_register(d, words, "k", d->reg);
		break;
	case 'k':
		vector_add_register(d, words, "k", d->rm);
		break;
	case 'G':
	case 'g':
		vector_add_general(d, words, d->reg | d->r << 3, letter == 'G' && d->w);
		break;
	case 'T':
		by_index.index_length = d->length ? d->length : 1;
		vector_add_memory(d, words, &by_index);
		break;
	case 'S':
		vector_add_memory(d, words, &by_index);
		break;
	case 'I':
		vector_add_immediate(d, words);
		break;
	default:
		x86_vector_text_add_source(d, words, row, letter);
		break;
	}
}

static void mark_masked(const struct vector_decoding *d, struct operand_words *words)
{
	char *text = words->text[0], with[OPERAND_TEXT_BYTES], mask[16] = "";
	if (d->mask)
		snprintf(mask, sizeof(mask), "{%sk%u}", d->is_intel ? "" : "%", d->mask);
	snprintf(with, sizeof(with), "%.70s%s%s", text, mask, d->zero ? "{z}" : "");
	memcpy(text, with, sizeof(with));
}

static const char *x86_vector_text_find_condition(const struct vector_row *row, unsigned number)
{
	static const char *const of_floats[] = {"eq", "lt", "le", "unord", "neq", "nlt", "nle", "ord", "eq_uq", "nge",
		"ngt", "false", "neq_oq", "ge", "gt", "true", "eq_os", "lt_oq", "le_oq", "unord_s", "neq_us", "nlt_uq",
		"nle_uq", "ord_s", "eq_us", "nge_uq", "ngt_uq", "false_os", "neq_os", "ge_oq", "gt_oq", "true_us"};
	static const char *const of_integers[] = {"eq", "lt", "le", NULL, "neq", "nlt", "nle", NULL};
	static const char *const of_products[] = {"lqlq", "hqlq", "lqhq", "hqhq"};
	if (row->opcode == 0xc2)
		return number < 32 ? of_floats[number] : NULL;
	if (row->opcode == 0x44)
		return (number & 0xee) == 0 ? of_products[(number & 1) | number >> 3] : NULL;
	return number < 8 ? of_integers[number] : NULL;
}

/* A condition with a name becomes a part of the mnemonic; any other remains a number. */
static void name_condition(
	struct vector_decoding *d, struct operand_words *words, const struct vector_row *row, struct instruction *to)
{
	const char *name = x86_vector_text_find_condition(row, d->at < d->bytes.len ? d->bytes.data[d->at] : 0xff);
	const char *stem = row->opcode == 0xc2 ? "vcmp" : (row->opcode == 0x44 ? "vpclmul" : "vpcmp");
	char letter[2] = {row->by_w[0] ? row->by_w[d->w] : 0, 0};
	const char *type = row->opcode == 0x44 ? (name ? "dq" : "qdq") : row->name;
	snprintf(to->mnemonic, sizeof(to->mnemonic), "%s%s%s%s", stem, name ? name : "", type, letter);
	if (name)
		(void)vector_take(d);
	else
		vector_add_immediate(d, words);
}

/* If all operands are registers, the broadcast bit selects a rounding, whose mode is in the length bits, or only
 * suppresses exceptions ("{sae}"). */
static void add_rounding(
	const struct vector_decoding *d, const struct vector_row *row, unsigned mode, struct operand_words *words)
{
	static const char *const roundings[] = {"{rn-sae}", "{rd-sae}", "{ru-sae}", "{rz-sae}"};
	const char *rounding = row->flags & VECTOR_ROUNDS ? roundings[mode] : "{sae}";
	size_t source = words->count - (strchr(row->operands, 'I') ? 2 : 1);
	bool is_general = strchr(row->operands, 'E') != NULL;
	char with[OPERAND_TEXT_BYTES];
	if (!d->is_intel) {
		operand_words_insert(words, is_general ? source : source + 1, rounding);
		return;
	}
	snprintf(with, sizeof(with), "%.70s%s", words->text[source], rounding);
	memcpy(words->text[source], with, sizeof(with));
}

static void name_row(const struct vector_decoding *d, const struct vector_row *row, struct instruction *to)
{
	char letter[2] = {row->by_w[0] ? row->by_w[d->w] : 0, 0}, size[2] = "";
	if (!d->is_intel && d->mod != 3 && (row->flags & VECTOR_TELLS_SIZE) && !d->broadcast &&
		(d->length < 2 || row->operands[0] == 'K'))
		size[0] = "xyz"[d->length];
	/* A conversion from memory needs a suffix for its size, which a register would imply. */
	if (!d->is_intel && d->mod != 3 && !strcmp(row->operands, "vhE"))
		size[0] = d->w ? 'q' : 'l';
	snprintf(to->mnemonic, sizeof(to->mnemonic), "%s%s%s%s", row->flags & VECTOR_BRACES ? "{vex} " : "", row->name,
		letter, size);
}

bool vector_spell(struct vector_decoding *d, uint64_t address, struct instruction *to)
{
	struct operand_words words = {0};
	const struct vector_row *row = vector_find(d);
	if (!row)
		return false;
	unsigned mode = d->length;
	bool has_rounding = d->mod == 3 && d->broadcast;
	if (has_rounding && !(row->flags & (VECTOR_ROUNDS | VECTOR_SUPPRESSES)))
		return false;
	if (d->mod != 3 && d->broadcast && !(row->flags & VECTOR_BROADCASTS))
		return false;
	if (has_rounding)
		d->length = 2;
	if (d->length > 2)
		return false;
	name_row(d, row, to);
	for (const char *letter = row->operands; *letter; letter++)
		add_operand(d, &words, row, *letter);
	mark_masked(d, &words);
	if (has_rounding)
		add_rounding(d, row, mode, &words);
	if (row->flags & VECTOR_COMPARES)
		name_condition(d, &words, row, to);
	vector_finish(d, &words, address, to);
	return !d->failed;
}
