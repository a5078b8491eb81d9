/* SPDX-License-Identifier: Apache-2.0 */
/*
 * x86_vector.h - decodes AVX-512 instructions, few of which Debian's capstone knows. It handles EVEX, and those VEX
 * instructions that use mask registers or came after AVX2. Private to this directory.
 *
 * Source: Intel SDM, volume 2, 2.3 (VEX), 2.7 (EVEX), and the pages of the instructions. x86-64 only.
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
	VECTOR_BROADCASTS = 1, /* An element in memory may be broadcast to all elements. */
	VECTOR_ROUNDS = 2, /* Without memory operand: embedded rounding control is allowed. */
	VECTOR_SUPPRESSES = 4, /* Without memory operand: suppression of exceptions ({sae}) is allowed. */
	/* AT&T syntax: the name gets the suffix x, y or z if the source is in memory, because its size would be
	 * ambiguous. */
	VECTOR_TELLS_SIZE = 8,
	VECTOR_COMPARES = 16, /* The comparison condition is part of the name. */
	VECTOR_VEX = 32, /* The instruction has VEX encoding, not EVEX. */
	VECTOR_BRACES = 64, /* The prefix "{vex} " distinguishes it from the EVEX instruction with the same name. */
	VECTOR_EITHER = 128, /* The instruction has both encodings. */
};

/*
 * A row of the table of instructions. Its operands are in Intel order, one letter each ("reg" is ModRM.reg, "r/m" the
 * register or memory operand):
 *	V H W   vector register in reg, in vvvv, in r/m; of the instruction's vector length
 *	v h w   xmm register in reg, in vvvv, in r/m; w in memory is one element
 *	y       vector register in reg, half the vector length
 *	Y Q O   r/m: a half, a fourth, an eighth of the vector length
 *	C D     r/m like W; C scales its displacement by the element size; D is 8 bytes in memory if W is xmm
 *	x z d   r/m: xmm or 16 bytes, ymm or 32 bytes, xmm or 8 bytes
 *	K k     mask register in reg, in r/m
 *	G E     general register in reg; r/m; as wide as the W bit says
 *	g e     general register in reg; r/m; 32 bits wide; e in memory is one element
 *	S T     memory with a vector of indices: of the vector length, of half of it
 *	I       immediate byte
 */
struct vector_row {
	uint8_t map, opcode, prefix;
	uint8_t w; /* Value of the W bit, or VECTOR_ANY_W. */
	uint8_t digit; /* Value of ModRM.reg if it is part of the opcode, or VECTOR_NO_DIGIT. */
	uint8_t element; /* Element size in bytes; 0: four or eight, by W; 1 with by_w "bw": one or two, by W. */
	uint8_t form; /* VECTOR_FORM_* */
	uint8_t flags;
	char operands[6];
	char by_w[3]; /* Suffixes of the name for W = 0 and W = 1; empty if none. */
	const char *name;
};

enum vector_form { VECTOR_FORM_ANY, VECTOR_FORM_REGISTER, VECTOR_FORM_MEMORY };

/* A VEX or EVEX instruction while it is decoded. The caller sets bytes and is_intel; all other members start as 0. */
struct vector_decoding {
	struct tally_bytes bytes;
	size_t at; /* Index of the next byte to read. */
	bool failed, is_intel, is_evex; /* failed: the bytes end within the instruction. */
	const char *segment; /* Segment override: "fs", "gs" or NULL. */
	unsigned map, prefix, w, length, broadcast, zero, mask;
	/* Fields of the prefix, without the inversion that their encoding has; v is the complete number of the second
	 * source register. */
	unsigned r, x, b, r_high, v, v_high;
	unsigned opcode, mod, reg, rm;
	/* The memory operand, valid after vector_add_memory. */
	bool has_memory, is_relative, has_base, has_index;
	unsigned base, index, scale;
	int64_t displacement;
};

/* Reads the next byte; sets failed and returns 0 if there is none. */
unsigned vector_take(struct vector_decoding *d);
/* Reads the opcode and the ModRM byte. */
void vector_take_modrm(struct vector_decoding *d);
/* Read a segment override, a VEX or EVEX prefix, the opcode and the ModRM byte. Return false if the bytes have no such
 * prefix, or end too early. */
bool vector_take_vex(struct vector_decoding *d);
bool vector_take_evex(struct vector_decoding *d);
/* Appends a register: its kind, such as "xmm" or "k", and its number. */
void vector_add_register(
	const struct vector_decoding *d, struct operand_words *words, const char *kind, unsigned number);
void vector_add_general(const struct vector_decoding *d, struct operand_words *words, unsigned number, bool is_64);
/* Returns room, to which it writes the name of a general register by its encoded number, such as "rax" or "r8d". */
const char *vector_general_name(unsigned number, bool is_64, char room[8]);

struct vector_memory {
	unsigned bytes; /* Number of accessed bytes. */
	unsigned unit; /* Scale of an 8-bit displacement (disp8*N of EVEX). */
	unsigned copies; /* Number of elements of a broadcast; 0 if it is none. */
	bool tells_copies; /* Intel syntax shows the number of elements, too. */
	/* Length of a vector of indices: 1 for xmm, 2 ymm, 3 zmm; 0: the index is a general register. */
	unsigned index_length;
};
void vector_add_memory(struct vector_decoding *d, struct operand_words *words, const struct vector_memory *memory);
void vector_add_immediate(struct vector_decoding *d, struct operand_words *words);
/* Writes the instruction; words must be in Intel order. */
void vector_finish(
	struct vector_decoding *d, const struct operand_words *words, uint64_t address, struct instruction *to);

/* Finds the row of a VEX or EVEX instruction after its prefix and opcode have been read; NULL if it is not known. */
const struct vector_row *vector_find(const struct vector_decoding *d);
/* Decode the operands and set the text of the instruction: vector_spell by the table, vector_spell_mask for
 * instructions on mask registers. Return false if the instruction is not known. */
bool vector_spell(struct vector_decoding *d, uint64_t address, struct instruction *to);
bool vector_spell_mask(struct vector_decoding *d, uint64_t address, struct instruction *to);

#endif
