/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "base/array.h"
#include "code/disasm/x86_vector.h"

struct mask_operation {
	uint8_t opcode;
	uint8_t operands; /* Number of operands, which are all mask registers. */
	const char *name;
};

static const struct mask_operation mask_operations[] = {
	{0x41, 3, "kand"},
	{0x42, 3, "kandn"},
	{0x44, 2, "knot"},
	{0x45, 3, "kor"},
	{0x46, 3, "kxnor"},
	{0x47, 3, "kxor"},
	{0x4a, 3, "kadd"},
	{0x98, 2, "kortest"},
	{0x99, 2, "ktest"},
};

static char mask_size(const struct vector_decoding *d)
{
	return d->prefix == VECTOR_PREFIX_66 ? (d->w ? 'd' : 'b') : (d->w ? 'q' : 'w');
}

static bool decode_mask_move(struct vector_decoding *d, struct operand_words *words, struct instruction *to)
{
	static const char letters[] = "bwdq";
	char size = mask_size(d);
	if (d->opcode >= 0x92 && d->prefix == VECTOR_PREFIX_F2)
		size = d->w ? 'q' : 'd';
	else if (d->opcode >= 0x92 && d->w)
		return false;
	unsigned bytes = (unsigned)(strchr(letters, size) - letters);
	snprintf(to->mnemonic, sizeof(to->mnemonic), "kmov%c", size);
	bool to_mask = d->opcode == 0x90 || d->opcode == 0x92;
	if (to_mask)
		vector_add_register(d, words, "k", d->reg);
	if (d->opcode == 0x93)
		vector_add_general(d, words, d->reg | d->r << 3, size == 'q');
	if (d->opcode >= 0x92 && d->mod != 3)
		return false;
	if (d->opcode == 0x92)
		vector_add_general(d, words, d->rm | d->b << 3, size == 'q');
	else if (d->mod == 3)
		vector_add_register(d, words, "k", d->rm);
	else
		vector_add_memory(d, words, &(struct vector_memory){.bytes = 1u << bytes});
	if (d->opcode == 0x91)
		vector_add_register(d, words, "k", d->reg);
	return true;
}

bool vector_spell_mask(struct vector_decoding *d, uint64_t address, struct instruction *to)
{
	struct operand_words words = {0};
	bool is_known = false;
	if (d->map == VECTOR_MAP_0F && d->opcode >= 0x90 && d->opcode <= 0x93) {
		is_known = decode_mask_move(d, &words, to);
	} else if (d->map == VECTOR_MAP_0F && d->opcode == 0x4b && d->mod == 3) {
		snprintf(to->mnemonic, sizeof(to->mnemonic), "kunpck%s",
			d->prefix == VECTOR_PREFIX_66 ? "bw" : (d->w ? "dq" : "wd"));
		vector_add_register(d, &words, "k", d->reg);
		vector_add_register(d, &words, "k", d->v & 7);
		vector_add_register(d, &words, "k", d->rm);
		is_known = true;
	} else if (d->map == VECTOR_MAP_0F3A && d->opcode >= 0x30 && d->opcode <= 0x33 && d->mod == 3) {
		static const char types[2][2] = {{'b', 'w'}, {'d', 'q'}};
		snprintf(to->mnemonic, sizeof(to->mnemonic), "kshift%c%c", d->opcode < 0x32 ? 'r' : 'l',
			types[d->opcode & 1][d->w]);
		vector_add_register(d, &words, "k", d->reg);
		vector_add_register(d, &words, "k", d->rm);
		vector_add_immediate(d, &words);
		is_known = true;
	}
	for (size_t i = 0; i < ARRAY_LEN(mask_operations) && !is_known; i++) {
		const struct mask_operation *operation = &mask_operations[i];
		if (d->map != VECTOR_MAP_0F || operation->opcode != d->opcode || d->mod != 3)
			continue;
		snprintf(to->mnemonic, sizeof(to->mnemonic), "%s%c", operation->name, mask_size(d));
		vector_add_register(d, &words, "k", d->reg);
		if (operation->operands == 3)
			vector_add_register(d, &words, "k", d->v & 7);
		vector_add_register(d, &words, "k", d->rm);
		is_known = true;
	}
	if (is_known)
		vector_finish(d, &words, address, to);
	return is_known && !d->failed;
}

/* Decodes rdssp, incssp and rdpid: F3 [REX] 0F 1E /1, 0F AE /5, 0F C7 /7, with a register. */
static bool decode_of_register(struct tally_bytes bytes, bool is_intel, bool has_64, struct instruction *to)
{
	char room[8];
	const uint8_t *at = bytes.data;
	unsigned rex = bytes.len > 1 && has_64 && (at[1] & 0xf0) == 0x40 ? at[1] : 0;
	size_t skip = rex ? 2 : 1;
	if (bytes.len < skip + 3 || at[0] != 0xf3 || at[skip] != 0x0f || at[skip + 2] >> 6 != 3)
		return false;
	unsigned reg = at[skip + 2] >> 3 & 7;
	bool is_read = at[skip + 1] == 0x1e && reg == 1, is_add = at[skip + 1] == 0xae && reg == 5;
	bool is_processor = at[skip + 1] == 0xc7 && reg == 7;
	if (!is_read && !is_add && !is_processor)
		return false;
	bool is_64 = (rex & 8) || (is_processor && has_64);
	if (is_processor)
		snprintf(to->mnemonic, sizeof(to->mnemonic), "rdpid");
	else
		snprintf(to->mnemonic, sizeof(to->mnemonic), "%s%c", is_read ? "rdssp" : "incssp", is_64 ? 'q' : 'd');
	snprintf(to->operands, sizeof(to->operands), "%s%s", is_intel ? "" : "%",
		vector_general_name((at[skip + 2] & 7) | (rex & 1) << 3, is_64, room));
	to->size = (unsigned)skip + 3;
	return true;
}

/* Decodes prefetch and its reserved forms: [REX] 0F 0D /0, and /3 to /7. Capstone decodes /1 and /2. */
static bool decode_prefetch(struct vector_decoding *d, uint64_t address, struct instruction *to)
{
	struct operand_words words = {0};
	unsigned first = vector_take(d);
	unsigned rex = (first & 0xf0) == 0x40 ? first : 0;
	if ((rex ? vector_take(d) : first) != 0x0f || d->at >= d->bytes.len || d->bytes.data[d->at] != 0x0d)
		return false;
	vector_take_modrm(d);
	d->x = rex >> 1 & 1;
	d->b = rex & 1;
	if (d->failed || d->mod == 3 || d->reg == 1 || d->reg == 2)
		return false;
	snprintf(to->mnemonic, sizeof(to->mnemonic), "prefetch");
	vector_add_memory(d, &words, &(struct vector_memory){.bytes = 1});
	vector_finish(d, &words, address, to);
	return !d->failed;
}

bool x86_masked_decode(
	struct tally_bytes bytes, uint64_t address, const struct x86_style *style, struct instruction *to)
{
	struct vector_decoding vex = {.bytes = bytes, .is_intel = style->is_intel}, evex = vex, mask = vex, plain = vex;
	struct instruction made = {.address = address};
	if (bytes.len >= 3 && bytes.data[0] == 0x0f && bytes.data[1] == 0x01 && (bytes.data[2] | 1) == 0xef) {
		made.size = 3;
		snprintf(made.mnemonic, sizeof(made.mnemonic), bytes.data[2] == 0xee ? "rdpkru" : "wrpkru");
	} else if (!decode_of_register(bytes, style->is_intel, style->is_64, &made) &&
		   !(style->is_64 && decode_prefetch(&plain, address, &made)) &&
		   !(style->is_64 && vector_take_evex(&evex) && vector_spell(&evex, address, &made)) &&
		   !(style->is_64 && vector_take_vex(&vex) && vector_spell(&vex, address, &made)) &&
		   !(style->is_64 && vector_take_vex(&mask) && vector_spell_mask(&mask, address, &made))) {
		return false;
	}
	*to = made;
	return true;
}
