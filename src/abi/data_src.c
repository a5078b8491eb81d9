/* SPDX-License-Identifier: Apache-2.0 */
#include "abi/data_src.h"

struct bit_words {
	unsigned shift;
	unsigned count;
	const char *const *words;
};

static unsigned data_src_bits(uint64_t value, unsigned shift, unsigned count)
{
	return (unsigned)(value >> shift) & ((1u << count) - 1);
}

/* Appends the words of the set bits, joined by " or ". before is the number of words so far; returns the new number. */
static unsigned data_src_join(struct text *t, uint64_t value, const struct bit_words *table, unsigned before)
{
	for (unsigned i = 0; i < table->count; i++) {
		if (!(value >> (table->shift + i) & 1))
			continue;
		if (before++ > 0)
			text_str(t, " or ");
		text_str(t, table->words[i]);
	}
	return before;
}

void data_src_operation(struct text *t, uint64_t data_src)
{
	static const char *const words[] = {"N/A", "LOAD", "STORE", "PFETCH", "EXEC"};
	for (unsigned i = 0; i < 5; i++)
		if (data_src >> i & 1) {
			text_str(t, words[i]);
			return;
		}
	text_str(t, "No");
}

static void data_src_level_number(struct text *t, unsigned number)
{
	static const char *const words[16] = {
		[1] = "L1",
		[2] = "L2",
		[3] = "L3",
		[4] = "L4",
		[5] = "L2 MHB",
		[6] = "Memory-side Cache",
		[8] = "Uncached",
		[9] = "CXL",
		[10] = "I/O",
		[11] = "Any cache",
		[12] = "LFB/MAB",
		[13] = "RAM",
		[14] = "PMEM",
	};
	if (words[number]) {
		text_str(t, words[number]);
		return;
	}
	text_str(t, "Unknown level ");
	text_u64(t, number);
}

#define LEVEL_NUMBER_NA 15u

void data_src_level(struct text *t, uint64_t data_src)
{
	static const char *const words[] = {"L1", "LFB/MAB", "L2", "L3", "Local RAM", "Remote RAM (1 hop)",
		"Remote RAM (2 hops)", "Remote Cache (1 hop)", "Remote Cache (2 hops)", "I/O", "Uncached"};
	static const struct bit_words levels = {8, 11, words};
	unsigned number = data_src_bits(data_src, 33, 4);
	if (number != 0 && number != LEVEL_NUMBER_NA) {
		static const char *const hop_words[8] = {[1] = "core, same node ",
			[2] = "node, same socket ",
			[3] = "socket, same board ",
			[4] = "board "};
		if (data_src >> 37 & 1)
			text_str(t, "Remote ");
		unsigned hops = data_src_bits(data_src, 43, 3);
		if (hop_words[hops]) {
			text_str(t, hop_words[hops]);
		} else if (hops > 0) {
			text_u64(t, hops);
			text_str(t, " hops ");
		}
		data_src_level_number(t, number);
	} else if (data_src_join(t, data_src, &levels, 0) == 0) {
		text_str(t, "N/A");
		return;
	}
	text_char(t, ' ');
	if (data_src >> 6 & 1)
		text_str(t, "hit");
	else if (data_src >> 7 & 1)
		text_str(t, "miss");
}

void data_src_snoop(struct text *t, uint64_t data_src)
{
	static const char *const words[] = {"N/A", "None", "Hit", "Miss", "HitM"};
	static const char *const extended[] = {"Fwd", "Peer"};
	static const struct bit_words snoop = {19, 5, words};
	static const struct bit_words snoop_extended = {38, 2, extended};
	unsigned count = data_src_join(t, data_src, &snoop, 0);
	if (data_src_join(t, data_src, &snoop_extended, count) == 0)
		text_str(t, "N/A");
}

void data_src_tlb(struct text *t, uint64_t data_src)
{
	static const char *const words[] = {"L1", "L2", "Walker", "Fault"};
	static const struct bit_words levels = {29, 4, words};
	if (data_src_join(t, data_src, &levels, 0) == 0)
		text_str(t, "N/A");
	if (data_src >> 27 & 1)
		text_str(t, " hit");
	if (data_src >> 28 & 1)
		text_str(t, " miss");
}

void data_src_locked(struct text *t, uint64_t data_src)
{
	unsigned lock = data_src_bits(data_src, 24, 2);
	text_str(t, lock & 1 ? "N/A" : lock & 2 ? "Yes" : "No");
}

void data_src_blocked(struct text *t, uint64_t data_src)
{
	unsigned blocked = data_src_bits(data_src, 40, 3);
	if (blocked == 0 || (blocked & 1)) {
		text_str(t, " N/A");
		return;
	}
	if (blocked & 2)
		text_str(t, " Data");
	if (blocked & 4)
		text_str(t, " Addr");
}

void data_src_print(struct text *t, uint64_t data_src)
{
	text_str(t, "|OP ");
	data_src_operation(t, data_src);
	text_str(t, "|LVL ");
	data_src_level(t, data_src);
	text_str(t, "|SNP ");
	data_src_snoop(t, data_src);
	text_str(t, "|TLB ");
	data_src_tlb(t, data_src);
	text_str(t, "|LCK ");
	data_src_locked(t, data_src);
	text_str(t, "|BLK ");
	data_src_blocked(t, data_src);
}
