#include "code/disasm/instruction_text.h"

#include <stdio.h>

/* Intel SDM volume 2: 2.3 (VEX), 2.7 (EVEX), and the pages of the instructions in the tables. */

enum { PREFIX_NONE, PREFIX_66, PREFIX_F3, PREFIX_F2 };
enum { MAP_0F = 1, MAP_0F38, MAP_0F3A };

enum shape {
	SHAPE_COMPARE, /* mask, vector, vector or memory; the condition is the immediate */
	SHAPE_TEST, /* the same without a condition */
	SHAPE_TERNARY, /* vector, vector, vector or memory, immediate */
	SHAPE_BROADCAST, /* vector, xmm or memory */
	SHAPE_BROADCAST_GENERAL, /* vector, general register */
};

struct vector_operation {
	uint8_t map, opcode, prefix, shape;
	uint8_t element[2]; /* bytes, by W; 0: there is none */
	const char *name[2]; /* by W */
};

static const struct vector_operation vector_operations[] = {
	{MAP_0F3A, 0x3e, PREFIX_66, SHAPE_COMPARE, {1, 2}, {"ub", "uw"}},
	{MAP_0F3A, 0x3f, PREFIX_66, SHAPE_COMPARE, {1, 2}, {"b", "w"}},
	{MAP_0F3A, 0x1e, PREFIX_66, SHAPE_COMPARE, {4, 8}, {"ud", "uq"}},
	{MAP_0F3A, 0x1f, PREFIX_66, SHAPE_COMPARE, {4, 8}, {"d", "q"}},
	{MAP_0F, 0x74, PREFIX_66, SHAPE_TEST, {1, 1}, {"vpcmpeqb", "vpcmpeqb"}},
	{MAP_0F, 0x75, PREFIX_66, SHAPE_TEST, {2, 2}, {"vpcmpeqw", "vpcmpeqw"}},
	{MAP_0F, 0x64, PREFIX_66, SHAPE_TEST, {1, 1}, {"vpcmpgtb", "vpcmpgtb"}},
	{MAP_0F, 0x65, PREFIX_66, SHAPE_TEST, {2, 2}, {"vpcmpgtw", "vpcmpgtw"}},
	{MAP_0F38, 0x26, PREFIX_66, SHAPE_TEST, {1, 2}, {"vptestmb", "vptestmw"}},
	{MAP_0F38, 0x27, PREFIX_66, SHAPE_TEST, {4, 8}, {"vptestmd", "vptestmq"}},
	{MAP_0F38, 0x26, PREFIX_F3, SHAPE_TEST, {1, 2}, {"vptestnmb", "vptestnmw"}},
	{MAP_0F38, 0x27, PREFIX_F3, SHAPE_TEST, {4, 8}, {"vptestnmd", "vptestnmq"}},
	{MAP_0F3A, 0x25, PREFIX_66, SHAPE_TERNARY, {4, 8}, {"vpternlogd", "vpternlogq"}},
	{MAP_0F38, 0x78, PREFIX_66, SHAPE_BROADCAST, {1, 0}, {"vpbroadcastb", NULL}},
	{MAP_0F38, 0x79, PREFIX_66, SHAPE_BROADCAST, {2, 0}, {"vpbroadcastw", NULL}},
	{MAP_0F38, 0x7a, PREFIX_66, SHAPE_BROADCAST_GENERAL, {1, 0}, {"vpbroadcastb", NULL}},
	{MAP_0F38, 0x7b, PREFIX_66, SHAPE_BROADCAST_GENERAL, {2, 0}, {"vpbroadcastw", NULL}},
};

struct mask_operation {
	uint8_t opcode;
	uint8_t operands; /* 3: k, k, k; 2: k, k */
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

struct decoding {
	struct tally_bytes bytes;
	size_t at;
	bool failed, is_intel, is_evex;
	unsigned map, prefix, w, length, broadcast, zero, mask;
	unsigned r, x, b, r_high, v; /* not inverted; v is the whole second source */
	unsigned opcode, mod, reg, rm;
	uint64_t next_address; /* filled in when the size is known */
	bool is_relative;
	int64_t displacement;
};

static unsigned take(struct decoding *d)
{
	if (d->at >= d->bytes.len) {
		d->failed = true;
		return 0;
	}
	return d->bytes.data[d->at++];
}

static void take_modrm(struct decoding *d)
{
	unsigned byte;
	d->opcode = take(d);
	byte = take(d);
	d->mod = byte >> 6;
	d->reg = byte >> 3 & 7;
	d->rm = byte & 7;
}

static bool take_vex(struct decoding *d)
{
	unsigned first = take(d), one = take(d);
	d->map = MAP_0F;
	d->r = !(one >> 7);
	if (first == 0xc4) {
		unsigned two = take(d);
		d->x = !(one >> 6 & 1);
		d->b = !(one >> 5 & 1);
		d->map = one & 31;
		d->w = two >> 7;
		one = two;
	} else if (first != 0xc5) {
		return false;
	}
	d->v = ~one >> 3 & 15;
	d->length = one >> 2 & 1;
	d->prefix = one & 3;
	take_modrm(d);
	return !d->failed;
}

static bool take_evex(struct decoding *d)
{
	if (take(d) != 0x62)
		return false;
	unsigned p0 = take(d), p1 = take(d), p2 = take(d);
	d->is_evex = true;
	d->r = !(p0 >> 7);
	d->x = !(p0 >> 6 & 1);
	d->b = !(p0 >> 5 & 1);
	d->r_high = !(p0 >> 4 & 1);
	d->map = p0 & 7;
	d->w = p1 >> 7;
	d->v = (~p1 >> 3 & 15) | (p2 >> 3 & 1 ? 0 : 16);
	d->prefix = p1 & 3;
	d->zero = p2 >> 7;
	d->length = p2 >> 5 & 3;
	d->broadcast = p2 >> 4 & 1;
	d->mask = p2 & 7;
	take_modrm(d);
	return !d->failed && (p0 & 8) == 0 && (p1 & 4) != 0 && d->length < 3;
}

static const char *general_name(unsigned number, bool is_64, char room[8])
{
	static const char low[8][3] = {"ax", "cx", "dx", "bx", "sp", "bp", "si", "di"};
	if (number < 8)
		snprintf(room, 8, "%c%s", is_64 ? 'r' : 'e', low[number]);
	else
		snprintf(room, 8, "r%u%s", number & 15, is_64 ? "" : "d");
	return room;
}

static void add_register(const struct decoding *d, struct operand_words *words, const char *kind, unsigned number)
{
	char text[16];
	snprintf(text, sizeof(text), "%s%s%u", d->is_intel ? "" : "%", kind, number);
	operand_words_insert(words, words->count, text);
}

static void add_general(const struct decoding *d, struct operand_words *words, unsigned number, bool is_64)
{
	char text[16], room[8];
	snprintf(text, sizeof(text), "%s%s", d->is_intel ? "" : "%", general_name(number, is_64, room));
	operand_words_insert(words, words->count, text);
}

static const char *vector_kind(const struct decoding *d)
{
	static const char *const kinds[] = {"xmm", "ymm", "zmm"};
	return kinds[d->length];
}

static int64_t take_signed(struct decoding *d, unsigned bytes)
{
	uint64_t value = 0;
	for (unsigned i = 0; i < bytes; i++)
		value |= (uint64_t)take(d) << 8 * i;
	return bytes == 1 ? (int8_t)value : (int32_t)value;
}

struct address_parts {
	bool has_base, has_index, has_displacement;
	unsigned base, index, scale;
};

/* scale_by: what a displacement of one byte counts. */
static void take_address(struct decoding *d, unsigned scale_by, struct address_parts *parts)
{
	*parts = (struct address_parts){.has_base = true, .base = d->rm | d->b << 3};
	if (d->rm == 4) {
		unsigned sib = take(d);
		parts->scale = 1u << (sib >> 6);
		parts->index = (sib >> 3 & 7) | d->x << 3;
		parts->has_index = parts->index != 4;
		parts->base = (sib & 7) | d->b << 3;
		parts->has_base = (sib & 7) != 5 || d->mod != 0;
	} else if (d->mod == 0 && d->rm == 5) {
		d->is_relative = true;
	}
	parts->has_displacement = d->mod != 0 || d->is_relative || !parts->has_base;
	if (d->mod == 1)
		d->displacement = take_signed(d, 1) * scale_by;
	else if (parts->has_displacement)
		d->displacement = take_signed(d, 4);
}

static void add_memory(
	struct decoding *d, struct operand_words *words, unsigned scale_by, const char *after, const char *intel_size)
{
	struct address_parts parts;
	char base[16] = "", index[24] = "", displacement[24] = "", text[OPERAND_TEXT_BYTES], room[8];
	take_address(d, scale_by, &parts);
	const char *sign = d->is_intel ? "" : "%";
	if (d->is_relative)
		snprintf(base, sizeof(base), "%srip", sign);
	else if (parts.has_base)
		snprintf(base, sizeof(base), "%s%s", sign, general_name(parts.base, true, room));
	if (parts.has_index)
		snprintf(index, sizeof(index), d->is_intel ? "%s%s%s*%u" : "%s%s%s,%u",
			d->is_intel ? (base[0] ? "+" : "") : ",", sign, general_name(parts.index, true, room),
			parts.scale);
	if (parts.has_displacement) {
		bool is_negative = d->displacement < 0;
		unsigned long long size = (unsigned long long)(is_negative ? -d->displacement : d->displacement);
		snprintf(displacement, sizeof(displacement), "%s0x%llx",
			is_negative ? "-" : (d->is_intel && (base[0] || index[0]) ? "+" : ""), size);
	}
	if (d->is_intel)
		snprintf(text, sizeof(text), "%s PTR [%s%s%s]%s", intel_size, base, index, displacement, after);
	else
		snprintf(text, sizeof(text), "%s(%s%s)%s", displacement, base, index, after);
	operand_words_insert(words, words->count, text);
}

static void add_source(struct decoding *d, struct operand_words *words, const struct vector_operation *operation)
{
	static const char *const sizes[] = {"XMMWORD", "YMMWORD", "ZMMWORD"};
	unsigned bytes = 16u << d->length, element = operation->element[d->w];
	char times[16] = "";
	if (d->mod == 3) {
		bool is_xmm = operation->shape == SHAPE_BROADCAST;
		add_register(d, words, is_xmm ? "xmm" : vector_kind(d), d->rm | d->b << 3 | d->x << 4);
		return;
	}
	if (operation->shape == SHAPE_BROADCAST) {
		add_memory(d, words, element, "", element == 1 ? "BYTE" : "WORD");
		return;
	}
	if (d->broadcast)
		snprintf(times, sizeof(times), "{1to%u}", bytes / element);
	add_memory(d, words, d->broadcast ? element : bytes, times,
		d->broadcast ? (element == 4 ? "DWORD" : "QWORD") : sizes[d->length]);
}

/* Words are in Intel's order until here. */
static void finish(struct decoding *d, struct operand_words *words, uint64_t address, struct instruction *to)
{
	struct operand_words turned = {.count = words->count};
	for (size_t i = 0; i < words->count; i++)
		memcpy(turned.text[i], words->text[d->is_intel ? i : words->count - 1 - i], OPERAND_TEXT_BYTES);
	operand_words_join(&turned, ",", to);
	to->size = (unsigned)d->at;
	to->kind = INSTRUCTION_OTHER;
	to->has_data = d->is_relative;
	to->data = d->is_relative ? address + to->size + (uint64_t)d->displacement : 0;
}

static void mark_masked(const struct decoding *d, struct operand_words *words)
{
	char *text = words->text[0], with[OPERAND_TEXT_BYTES];
	if (d->mask == 0 && !d->zero)
		return;
	snprintf(with, sizeof(with), "%.60s{%sk%u}%s", text, d->is_intel ? "" : "%", d->mask, d->zero ? "{z}" : "");
	memcpy(text, with, sizeof(with));
}

static void add_immediate(struct decoding *d, struct operand_words *words)
{
	char text[16];
	snprintf(text, sizeof(text), "%s0x%x", d->is_intel ? "" : "$", take(d));
	operand_words_insert(words, words->count, text);
}

static void name_comparison(struct decoding *d, struct operand_words *words, const char *type, struct instruction *to)
{
	static const char *const conditions[] = {"eq", "lt", "le", NULL, "neq", "nlt", "nle", NULL};
	unsigned condition = d->at < d->bytes.len ? d->bytes.data[d->at] : 0;
	const char *name = condition < 8 ? conditions[condition] : NULL;
	snprintf(to->mnemonic, sizeof(to->mnemonic), "vpcmp%s%s", name ? name : "", type);
	if (name)
		(void)take(d);
	else
		add_immediate(d, words);
}

static bool decode_vector(struct decoding *d, uint64_t address, struct instruction *to)
{
	const struct vector_operation *found = NULL;
	for (size_t i = 0; i < sizeof(vector_operations) / sizeof(vector_operations[0]); i++) {
		const struct vector_operation *operation = &vector_operations[i];
		if (operation->map == d->map && operation->opcode == d->opcode && operation->prefix == d->prefix)
			found = operation;
	}
	if (!found || !found->name[d->w] || (d->broadcast && found->element[d->w] < 4))
		return false;
	struct operand_words words = {0};
	snprintf(to->mnemonic, sizeof(to->mnemonic), "%s", found->name[d->w]);
	if (found->shape == SHAPE_COMPARE || found->shape == SHAPE_TEST)
		add_register(d, &words, "k", d->reg);
	else
		add_register(d, &words, vector_kind(d), d->reg | d->r << 3 | d->r_high << 4);
	mark_masked(d, &words);
	if (found->shape != SHAPE_BROADCAST && found->shape != SHAPE_BROADCAST_GENERAL)
		add_register(d, &words, vector_kind(d), d->v);
	if (found->shape == SHAPE_BROADCAST_GENERAL && d->mod == 3)
		add_general(d, &words, d->rm | d->b << 3, false);
	else
		add_source(d, &words, found);
	if (found->shape == SHAPE_COMPARE)
		name_comparison(d, &words, found->name[d->w], to);
	else if (found->shape == SHAPE_TERNARY)
		add_immediate(d, &words);
	finish(d, &words, address, to);
	return !d->failed;
}

static char mask_size(const struct decoding *d)
{
	return d->prefix == PREFIX_66 ? (d->w ? 'd' : 'b') : (d->w ? 'q' : 'w');
}

static bool decode_mask_move(struct decoding *d, struct operand_words *words, struct instruction *to)
{
	static const char *const sizes[] = {"BYTE", "WORD", "DWORD", "QWORD"};
	static const char letters[] = "bwdq";
	char size = mask_size(d);
	if (d->opcode >= 0x92 && d->prefix == PREFIX_F2)
		size = d->w ? 'q' : 'd';
	else if (d->opcode >= 0x92 && d->w)
		return false;
	unsigned bytes = (unsigned)(strchr(letters, size) - letters);
	snprintf(to->mnemonic, sizeof(to->mnemonic), "kmov%c", size);
	bool to_mask = d->opcode == 0x90 || d->opcode == 0x92;
	if (to_mask)
		add_register(d, words, "k", d->reg);
	if (d->opcode == 0x93)
		add_general(d, words, d->reg | d->r << 3, size == 'q');
	if (d->opcode >= 0x92 && d->mod != 3)
		return false;
	if (d->opcode == 0x92)
		add_general(d, words, d->rm | d->b << 3, size == 'q');
	else if (d->mod == 3)
		add_register(d, words, "k", d->rm);
	else
		add_memory(d, words, 1, "", sizes[bytes]);
	if (d->opcode == 0x91)
		add_register(d, words, "k", d->reg);
	return true;
}

static bool decode_mask(struct decoding *d, uint64_t address, struct instruction *to)
{
	struct operand_words words = {0};
	bool is_known = false;
	if (d->map == MAP_0F && d->opcode >= 0x90 && d->opcode <= 0x93) {
		is_known = decode_mask_move(d, &words, to);
	} else if (d->map == MAP_0F && d->opcode == 0x4b && d->mod == 3) {
		snprintf(to->mnemonic, sizeof(to->mnemonic), "kunpck%s",
			d->prefix == PREFIX_66 ? "bw" : (d->w ? "dq" : "wd"));
		add_register(d, &words, "k", d->reg);
		add_register(d, &words, "k", d->v & 7);
		add_register(d, &words, "k", d->rm);
		is_known = true;
	} else if (d->map == MAP_0F3A && d->opcode >= 0x30 && d->opcode <= 0x33 && d->mod == 3) {
		static const char types[2][2] = {{'b', 'w'}, {'d', 'q'}};
		snprintf(to->mnemonic, sizeof(to->mnemonic), "kshift%c%c", d->opcode < 0x32 ? 'r' : 'l',
			types[d->opcode & 1][d->w]);
		add_register(d, &words, "k", d->reg);
		add_register(d, &words, "k", d->rm);
		add_immediate(d, &words);
		is_known = true;
	}
	for (size_t i = 0; i < sizeof(mask_operations) / sizeof(mask_operations[0]) && !is_known; i++) {
		const struct mask_operation *operation = &mask_operations[i];
		if (d->map != MAP_0F || operation->opcode != d->opcode || d->mod != 3)
			continue;
		snprintf(to->mnemonic, sizeof(to->mnemonic), "%s%c", operation->name, mask_size(d));
		add_register(d, &words, "k", d->reg);
		if (operation->operands == 3)
			add_register(d, &words, "k", d->v & 7);
		add_register(d, &words, "k", d->rm);
		is_known = true;
	}
	if (is_known)
		finish(d, &words, address, to);
	return is_known && !d->failed;
}

/* rdssp and incssp: F3 [REX] 0F 1E /1, 0F AE /5, with a register. */
static bool decode_shadow_stack(struct tally_bytes bytes, bool is_intel, struct instruction *to)
{
	char room[8];
	const uint8_t *at = bytes.data;
	unsigned rex = bytes.len > 1 && (at[1] & 0xf0) == 0x40 ? at[1] : 0;
	size_t skip = rex ? 2 : 1;
	if (bytes.len < skip + 3 || at[0] != 0xf3 || at[skip] != 0x0f || at[skip + 2] >> 6 != 3)
		return false;
	unsigned reg = at[skip + 2] >> 3 & 7;
	bool is_read = at[skip + 1] == 0x1e && reg == 1, is_add = at[skip + 1] == 0xae && reg == 5;
	if (!is_read && !is_add)
		return false;
	bool is_64 = rex & 8;
	snprintf(to->mnemonic, sizeof(to->mnemonic), "%s%c", is_read ? "rdssp" : "incssp", is_64 ? 'q' : 'd');
	snprintf(to->operands, sizeof(to->operands), "%s%s", is_intel ? "" : "%",
		general_name((at[skip + 2] & 7) | (rex & 1) << 3, is_64, room));
	to->size = (unsigned)skip + 3;
	return true;
}

bool x86_masked_decode(struct tally_bytes bytes, uint64_t address, bool is_intel, struct instruction *to)
{
	struct decoding vex = {.bytes = bytes, .is_intel = is_intel}, evex = vex;
	struct instruction made = {.address = address};
	if (decode_shadow_stack(bytes, is_intel, &made)) {
		*to = made;
		return true;
	}
	if (bytes.len >= 3 && bytes.data[0] == 0x0f && bytes.data[1] == 0x01 && (bytes.data[2] | 1) == 0xef) {
		made.size = 3;
		snprintf(made.mnemonic, sizeof(made.mnemonic), bytes.data[2] == 0xee ? "rdpkru" : "wrpkru");
	} else if (!(take_evex(&evex) && decode_vector(&evex, address, &made)) &&
		   !(take_vex(&vex) && decode_mask(&vex, address, &made))) {
		return false;
	}
	*to = made;
	return true;
}
