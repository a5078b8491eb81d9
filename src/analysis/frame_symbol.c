/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/frame_symbol.h"

#include <elf.h>
#include <string.h>

#define LONGEST_CALL 7

/* Returns whether the code is an indirect x86 call of exactly len bytes: FF /2 with its operand, possibly after a REX
 * prefix. */
static bool is_indirect_call(const uint8_t *code, size_t len)
{
	if ((code[0] & 0xf0) == 0x40 && len > 2) /* REX */
		return is_indirect_call(code + 1, len - 1);
	unsigned mod = code[1] >> 6, rm = code[1] & 7;
	if (code[0] != 0xff || (code[1] >> 3 & 7) != 2)
		return false;
	size_t size = mod != 3 && rm == 4 ? 3 : 2;
	if (mod == 1)
		size += 1;
	if (mod == 2 || (mod == 0 && rm == 5))
		size += 4;
	return size == len;
}

/* Returns whether the code ends with a near call of x86. */
static bool ends_with_x86_call(const uint8_t *end, size_t len)
{
	if (len >= 5 && end[-5] == 0xe8)
		return true;
	for (size_t call = 2; call <= LONGEST_CALL && call <= len; call++)
		if (is_indirect_call(end - call, call))
			return true;
	return false;
}

static bool ends_with_arm64_call(const uint8_t *end, size_t len)
{
	if (len < 4)
		return false;
	uint32_t word = (uint32_t)end[-4] | (uint32_t)end[-3] << 8 | (uint32_t)end[-2] << 16 | (uint32_t)end[-1] << 24;
	bool is_direct = (word & 0xfc000000) == 0x94000000;
	/* BLR, and with pointer authentication BLRAA, BLRAB, BLRAAZ, BLRABZ. */
	return is_direct || (word & 0xfffffc1f) == 0xd63f0000 || (word & 0xfefff000) == 0xd63f0000;
}

/* Returns whether a return address at the start of this function is that of a signal handler, judging by the name, as the
 * code before it cannot be read. At the start of any other function, it is taken for the return address of a call that
 * ends the function before. */
static bool is_named_like_return(const struct symbol *symbol)
{
	return strstr(symbol->name, "sigreturn") || !strcmp(symbol->name, "__restore_rt") ||
	       !strcmp(symbol->name, "__restore");
}

/* The kernel names the padding before its function X __pfx_X: no call ends there. */
static bool is_padding_of(const struct symbol *before, const struct symbol *symbol)
{
	static const char prefix[] = "__pfx_";
	return before && !strncmp(before->name, prefix, sizeof(prefix) - 1) &&
	       !strcmp(before->name + sizeof(prefix) - 1, symbol->name);
}

/* Returns whether a call ends where the symbol begins. */
static bool follows_call(
	struct binary_store *store, uint32_t id, const struct symbol *before, const struct symbol *symbol)
{
	if (symbol->follows_no_call || is_padding_of(before, symbol))
		return false;
	struct binary_code code;
	uint64_t start = symbol->start < LONGEST_CALL ? 0 : symbol->start - LONGEST_CALL;
	bool is_known = start < symbol->start &&
			binary_store_code(store, id, start, symbol->start, &code, NULL) == TALLY_OK &&
			code.bytes.len == symbol->start - start;
	const uint8_t *end = is_known ? code.bytes.data + code.bytes.len : NULL;
	if (is_known && (code.elf_machine == EM_X86_64 || code.elf_machine == EM_386))
		return ends_with_x86_call(end, code.bytes.len);
	if (is_known && code.elf_machine == EM_AARCH64)
		return ends_with_arm64_call(end, code.bytes.len);
	return !is_named_like_return(symbol);
}

const struct symbol *frame_symbol_behind(
	const struct binary_store *store, uint32_t id, const struct resolved_frame *frame, const struct symbol *before)
{
	if (!frame->is_return || (before && before->end > frame->address + 1))
		return NULL;
	const struct symbol *behind = binary_store_find(store, id, frame->address + 1);
	return behind && behind != before && behind->start == frame->address + 1 ? behind : NULL;
}

const struct symbol *frame_symbol_find(struct binary_store *store, uint32_t id, const struct resolved_frame *frame)
{
	const struct symbol *before = binary_store_find(store, id, frame->address);
	const struct symbol *behind = frame_symbol_behind(store, id, frame, before);
	return behind && !follows_call(store, id, before, behind) ? behind : before;
}
