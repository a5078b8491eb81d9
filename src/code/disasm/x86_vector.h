/* SPDX-License-Identifier: Apache-2.0 */
/*
 * x86_vector.h - decodes AVX-512 instructions, few of which Debian's capstone knows. It handles EVEX, and those VEX
 * instructions that work on masks or came after AVX2. For the modules of this folder.
 *
 * Facts of the Intel SDM, volume 2: 2.3 (VEX), 2.7 (EVEX), and the pages of the instructions. x86-64.
 *
 *	struct vector_decoding d = {.bytes = bytes, .is_intel = false};
 *	if (vector_take_evex(&d) && (row = vector_find(&d))) ...
 */
#ifndef CODE_DISASM_X86_VECTOR_H
#define CODE_DISASM_X86_VECTOR_H

#include "code/disasm/instruction_text.h"
#include "code/disasm/operation.h"

enum vector_prefix { VECTOR_PREFIX_NONE, VECTOR_PREFIX_66, VECTOR_PREFIX_F3, VECTOR_PREFIX_F2 };
enum vector_map { VECTOR_MAP_0F = 1, VECTOR_MAP_0F38, VECTOR_MAP_0F3A };
enum { VECTOR_ANY_W = 2, VECTOR_NO_DIGIT = 8 };

enum vector_flag {
	VECTOR_BROADCASTS = 1, /* one element of memory may stand for all */
	VECTOR_ROUNDS = 2, /* registers only: with a rounding of its own */
	VECTOR_SUPPRESSES = 4, /* registers only: without exceptions */
	VECTOR_TELLS_SIZE = 8, /* AT&T: x, y or z behind the name if the source is memory and could be of any size */
	VECTOR_COMPARES = 16, /* the condition is part of the name */
	VECTOR_VEX = 32, /* VEX, not EVEX */
	VECTOR_BRACES = 64, /* "{vex} " tells it from that of EVEX */
	VECTOR_EITHER = 128, /* VEX and EVEX */
};

/*
 * Operands in Intel's order, a letter each:
 *	V H W   a vector of the register field, of vvvv, of r/m; as long as the instruction says
 *	v h w   xmm; w in memory is one element
 *	y       a vector of the register field, half as long
 *	Y Q O   r/m: half, a fourth, an eighth as long
 *	C D     r/m as W: its displacement counted by elements; as d where it is xmm
 *	x z d   r/m: xmm or 16 bytes, ymm or 32 bytes, xmm or 8 bytes
 *	K k     a mask of the register field, of r/m
 *	G E     a general register of the register field; r/m; as wide as W says
 *	g e     the same, 32 bits wide; e in memory is one element
 *	S T     memory by a vector of indices: as long as the instruction says, half as long
 *	I       a byte
 */
struct vector_row {
	uint8_t map, opcode, prefix;
	uint8_t w; /* VECTOR_ANY_W */
	uint8_t digit; /* of the register field, where that is part of the opcode; or VECTOR_NO_DIGIT */
	uint8_t element; /* bytes; 0: as W says, four or eight; 1 with by_w "bw": one or two */
	uint8_t form; /* VECTOR_FORM_* */
	uint8_t flags;
	char operands[6];
	char by_w[3]; /* the letters behind the name; empty: none */
	const char *name;
};

enum vector_form { VECTOR_FORM_ANY, VECTOR_FORM_REGISTER, VECTOR_FORM_MEMORY };

struct vector_decoding {
	struct tally_bytes bytes;
	size_t at;
	bool failed, is_intel, is_evex;
	const char *segment; /* "fs", "gs" or NULL */
	unsigned map, prefix, w, length, broadcast, zero, mask;
	unsigned r, x, b, r_high, v, v_high; /* not inverted; v is the whole second source */
	unsigned opcode, mod, reg, rm;
	/* Of memory, once it has been taken. */
	bool has_memory, is_relative, has_base, has_index;
	unsigned base, index, scale;
	int64_t displacement;
};

unsigned vector_take(struct vector_decoding *d);
/* The opcode, and the byte behind it. */
void vector_take_modrm(struct vector_decoding *d);
bool vector_take_vex(struct vector_decoding *d);
bool vector_take_evex(struct vector_decoding *d);
void vector_add_register(
	const struct vector_decoding *d, struct operand_words *words, const char *kind, unsigned number);
void vector_add_general(const struct vector_decoding *d, struct operand_words *words, unsigned number, bool is_64);
const char *vector_general_name(unsigned number, bool is_64, char room[8]);

struct vector_memory {
	unsigned bytes; /* that are accessed */
	unsigned unit; /* what a displacement of one byte counts */
	unsigned copies; /* of a broadcast; 0: it is none */
	bool tells_copies; /* in Intel's spelling too */
	unsigned index_length; /* of a vector of indices: 1 xmm, 2 ymm, 3 zmm; 0: the index is a general register */
};
void vector_add_memory(struct vector_decoding *d, struct operand_words *words, const struct vector_memory *memory);
void vector_add_immediate(struct vector_decoding *d, struct operand_words *words);
/* Words are in Intel's order until here. */
void vector_finish(
	struct vector_decoding *d, const struct operand_words *words, uint64_t address, struct instruction *to);

/* NULL: not known. Of a VEX or EVEX instruction whose prefix and opcode were taken. */
const struct vector_row *vector_find(const struct vector_decoding *d);
/* Each: false if it is none of its own. */
bool vector_spell(struct vector_decoding *d, uint64_t address, struct instruction *to);
bool vector_spell_mask(struct vector_decoding *d, uint64_t address, struct instruction *to);

#endif
