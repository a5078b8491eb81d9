/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "code/disasm/instruction_text.h"

/* Encodings are those of Arm ARM (DDI 0487), C4.1: "Compare and swap", "Compare and swap pair" and "Atomic memory
 * operations". */

static const char *arm64_atomic_register_name(unsigned number, bool is_64, char room[8])
{
	if (number == 31)
		return is_64 ? "xzr" : "wzr";
	snprintf(room, 8, "%c%u", is_64 ? 'x' : 'w', number);
	return room;
}

static const char *arm64_atomic_base_name(uint32_t word, char room[8])
{
	unsigned number = word >> 5 & 31;
	return number == 31 ? "sp" : arm64_atomic_register_name(number, true, room);
}

static const char *size_letter(unsigned size)
{
	static const char *const letters[] = {"b", "h", "", ""};
	return letters[size];
}

static void spell_swap_if_equal(uint32_t word, struct instruction *to)
{
	char s[8], t[8], n[8];
	unsigned size = word >> 30;
	snprintf(to->mnemonic, sizeof(to->mnemonic), "cas%s%s%s", word >> 22 & 1 ? "a" : "", word >> 15 & 1 ? "l" : "",
		size_letter(size));
	snprintf(to->operands, sizeof(to->operands), "%s, %s, [%s]",
		arm64_atomic_register_name(word >> 16 & 31, size == 3, s),
		arm64_atomic_register_name(word & 31, size == 3, t), arm64_atomic_base_name(word, n));
}

static void spell_swap_pair(uint32_t word, struct instruction *to)
{
	char s[2][8], t[2][8], n[8];
	bool is_64 = word >> 30 & 1;
	snprintf(to->mnemonic, sizeof(to->mnemonic), "casp%s%s", word >> 22 & 1 ? "a" : "", word >> 15 & 1 ? "l" : "");
	snprintf(to->operands, sizeof(to->operands), "%s, %s, %s, %s, [%s]",
		arm64_atomic_register_name(word >> 16 & 31, is_64, s[0]),
		arm64_atomic_register_name((word >> 16 & 31) + 1, is_64, s[1]),
		arm64_atomic_register_name(word & 31, is_64, t[0]),
		arm64_atomic_register_name((word & 31) + 1, is_64, t[1]), arm64_atomic_base_name(word, n));
}

/* Spells an atomic memory operation or ldapr; returns false if the word is neither. */
static bool spell_operation(uint32_t word, struct instruction *to)
{
	static const char *const names[] = {"add", "clr", "eor", "set", "smax", "smin", "umax", "umin"};
	char s[8], t[8], n[8];
	unsigned size = word >> 30, operation = word >> 12 & 7;
	bool acquires = word >> 23 & 1, releases = word >> 22 & 1, is_swap = word >> 15 & 1;
	if (is_swap && operation == 4 && acquires && !releases && (word >> 16 & 31) == 31) {
		snprintf(to->mnemonic, sizeof(to->mnemonic), "ldapr%s", size_letter(size));
		snprintf(to->operands, sizeof(to->operands), "%s, [%s]",
			arm64_atomic_register_name(word & 31, size == 3, t), arm64_atomic_base_name(word, n));
		return true;
	}
	if (is_swap && operation != 0)
		return false;
	/* If the old value is discarded, the instruction is written as a store. */
	bool is_store = !is_swap && !acquires && (word & 31) == 31;
	snprintf(to->mnemonic, sizeof(to->mnemonic), "%s%s%s%s%s", is_swap ? "swp" : (is_store ? "st" : "ld"),
		is_swap ? "" : names[operation], acquires ? "a" : "", releases ? "l" : "", size_letter(size));
	snprintf(to->operands, sizeof(to->operands), is_store ? "%s, %s[%s]" : "%s, %s, [%s]",
		arm64_atomic_register_name(word >> 16 & 31, size == 3, s),
		is_store ? "" : arm64_atomic_register_name(word & 31, size == 3, t), arm64_atomic_base_name(word, n));
	return true;
}

bool arm64_atomic_decode(uint32_t word, struct instruction *to)
{
	bool is_known = true;
	if ((word & 0x3fa07c00) == 0x08a07c00)
		spell_swap_if_equal(word, to);
	else if ((word & 0xbfa17c01) == 0x08207c00)
		spell_swap_pair(word, to);
	else
		is_known = (word & 0x3f200c00) == 0x38200000 && spell_operation(word, to);
	if (is_known)
		to->size = 4;
	return is_known;
}
