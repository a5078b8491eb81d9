/* SPDX-License-Identifier: Apache-2.0 */
#include "code/disasm/x86_vector.h"

#include <stdio.h>

unsigned vector_take(struct vector_decoding *d)
{
	if (d->at >= d->bytes.len) {
		d->failed = true;
		return 0;
	}
	return d->bytes.data[d->at++];
}

static void take_segment(struct vector_decoding *d)
{
	uint8_t first = d->bytes.len > 0 ? d->bytes.data[0] : 0;
	if (first == 0x64 || first == 0x65) {
		d->segment = first == 0x64 ? "fs" : "gs";
		d->at++;
	}
}

void vector_take_modrm(struct vector_decoding *d)
{
	d->opcode = vector_take(d);
	unsigned byte = vector_take(d);
	d->mod = byte >> 6;
	d->reg = byte >> 3 & 7;
	d->rm = byte & 7;
}

bool vector_take_vex(struct vector_decoding *d)
{
	take_segment(d);
	unsigned first = vector_take(d);
	if (first != 0xc4 && first != 0xc5)
		return false;
	unsigned one = vector_take(d);
	d->map = VECTOR_MAP_0F;
	d->r = !(one >> 7);
	if (first == 0xc4) {
		d->x = !(one >> 6 & 1);
		d->b = !(one >> 5 & 1);
		d->map = one & 31;
		one = vector_take(d);
		d->w = one >> 7;
	}
	d->v = ~one >> 3 & 15;
	d->length = one >> 2 & 1;
	d->prefix = one & 3;
	vector_take_modrm(d);
	return !d->failed;
}

bool vector_take_evex(struct vector_decoding *d)
{
	take_segment(d);
	if (vector_take(d) != 0x62)
		return false;
	unsigned p0 = vector_take(d), p1 = vector_take(d), p2 = vector_take(d);
	d->is_evex = true;
	d->r = !(p0 >> 7);
	d->x = !(p0 >> 6 & 1);
	d->b = !(p0 >> 5 & 1);
	d->r_high = !(p0 >> 4 & 1);
	d->map = p0 & 7;
	d->w = p1 >> 7;
	d->v_high = !(p2 >> 3 & 1);
	d->v = (~p1 >> 3 & 15) | d->v_high << 4;
	d->prefix = p1 & 3;
	d->zero = p2 >> 7;
	d->length = p2 >> 5 & 3;
	d->broadcast = p2 >> 4 & 1;
	d->mask = p2 & 7;
	vector_take_modrm(d);
	return !d->failed && (p0 & 8) == 0 && (p1 & 4) != 0;
}

const char *vector_general_name(unsigned number, bool is_64, char room[8])
{
	static const char low[8][3] = {"ax", "cx", "dx", "bx", "sp", "bp", "si", "di"};
	if (number < 8)
		snprintf(room, 8, "%c%s", is_64 ? 'r' : 'e', low[number]);
	else
		snprintf(room, 8, "r%u%s", number & 15, is_64 ? "" : "d");
	return room;
}

void vector_add_register(
	const struct vector_decoding *d, struct operand_words *words, const char *kind, unsigned number)
{
	char text[16];
	snprintf(text, sizeof(text), "%s%s%u", d->is_intel ? "" : "%", kind, number);
	operand_words_insert(words, words->count, text);
}

void vector_add_general(const struct vector_decoding *d, struct operand_words *words, unsigned number, bool is_64)
{
	char text[16], room[8];
	snprintf(text, sizeof(text), "%s%s", d->is_intel ? "" : "%", vector_general_name(number, is_64, room));
	operand_words_insert(words, words->count, text);
}

static int64_t take_signed(struct vector_decoding *d, unsigned bytes)
{
	uint64_t value = 0;
	for (unsigned i = 0; i < bytes; i++)
		value |= (uint64_t)vector_take(d) << 8 * i;
	return bytes == 1 ? (int8_t)value : (int32_t)value;
}

/* Reads the SIB byte and the displacement of a memory operand. Returns whether it has a displacement. */
static bool take_address(struct vector_decoding *d, const struct vector_memory *memory)
{
	d->has_memory = d->has_base = true;
	d->base = d->rm | d->b << 3;
	if (d->rm == 4) {
		unsigned sib = vector_take(d);
		d->scale = 1u << (sib >> 6);
		d->index = (sib >> 3 & 7) | d->x << 3;
		if (memory->index_length)
			d->index |= d->v_high << 4;
		d->has_index = d->index != 4 || memory->index_length;
		d->base = (sib & 7) | d->b << 3;
		d->has_base = (sib & 7) != 5 || d->mod != 0;
	} else if (d->mod == 0 && d->rm == 5) {
		d->is_relative = true;
	}
	bool has_displacement = d->mod != 0 || d->is_relative || !d->has_base;
	if (d->mod == 1)
		d->displacement = take_signed(d, 1) * (d->is_evex ? memory->unit : 1);
	else if (has_displacement)
		d->displacement = take_signed(d, 4);
	return has_displacement;
}

static const char *intel_size(unsigned bytes)
{
	switch (bytes) {
	case 1:
		return "BYTE";
	case 2:
		return "WORD";
	case 4:
		return "DWORD";
	case 8:
		return "QWORD";
	case 16:
		return "XMMWORD";
	case 32:
		return "YMMWORD";
	default:
		return "ZMMWORD";
	}
}

static void name_index(const struct vector_decoding *d, const struct vector_memory *memory, const char *before,
	char *text, size_t bytes)
{
	static const char *const kinds[] = {"", "xmm", "ymm", "zmm"};
	char name[16];
	if (memory->index_length)
		snprintf(name, sizeof(name), "%s%u", kinds[memory->index_length], d->index);
	else
		vector_general_name(d->index, true, name);
	snprintf(text, bytes, d->is_intel ? "%s%s%s*%u" : "%s%s%s,%u", before, d->is_intel ? "" : "%", name, d->scale);
}

void vector_add_memory(struct vector_decoding *d, struct operand_words *words, const struct vector_memory *memory)
{
	char base[16] = "", index[32] = "", displacement[24] = "", times[16] = "", segment[8] = "", room[8];
	char text[OPERAND_TEXT_BYTES + 32]; /* Room for all parts at their maximum length. */
	bool has_displacement = take_address(d, memory);
	const char *sign = d->is_intel ? "" : "%";
	if (d->is_relative)
		snprintf(base, sizeof(base), "%srip", sign);
	else if (d->has_base)
		snprintf(base, sizeof(base), "%s%s", sign, vector_general_name(d->base, true, room));
	if (d->has_index)
		name_index(d, memory, d->is_intel ? (base[0] ? "+" : "") : ",", index, sizeof(index));
	if (has_displacement) {
		bool is_negative = d->displacement < 0 && !(d->is_intel && d->is_relative);
		unsigned long long size = (unsigned long long)(is_negative ? -d->displacement : d->displacement);
		snprintf(displacement, sizeof(displacement), "%s0x%llx",
			is_negative ? "-" : (d->is_intel && (base[0] || index[0]) ? "+" : ""), size);
	}
	if (memory->copies && (memory->tells_copies || !d->is_intel))
		snprintf(times, sizeof(times), "{1to%u}", memory->copies);
	if (d->segment)
		snprintf(segment, sizeof(segment), "%s%s:", sign, d->segment);
	if (d->is_intel && !base[0] && !index[0])
		snprintf(text, sizeof(text), "%s %s %s%s", intel_size(memory->bytes), memory->copies ? "BCST" : "PTR",
			segment[0] ? segment : "ds:", displacement);
	else if (d->is_intel)
		snprintf(text, sizeof(text), "%s %s %s[%s%s%s]%s", intel_size(memory->bytes),
			memory->copies ? "BCST" : "PTR", segment, base, index, displacement, times);
	else if (!base[0] && !index[0])
		snprintf(text, sizeof(text), "%s%s%s", segment, displacement, times);
	else
		snprintf(text, sizeof(text), "%s%s(%s%s)%s", segment, displacement, base, index, times);
	operand_words_insert(words, words->count, text);
}

void vector_add_immediate(struct vector_decoding *d, struct operand_words *words)
{
	char text[16];
	snprintf(text, sizeof(text), "%s0x%x", d->is_intel ? "" : "$", vector_take(d));
	operand_words_insert(words, words->count, text);
}

void vector_finish(
	struct vector_decoding *d, const struct operand_words *words, uint64_t address, struct instruction *to)
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
