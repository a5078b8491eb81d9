/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sdt_arguments.h - writes the arguments of a statically defined probe (SDT) as the kernel fetches them. A note names
 * each of them as an operand of the assembler, with its size and sign: "-4@%edi 8@-8(%rbp) -4@$17" gives
 * "arg1=%di:s32 arg2=-8(%bp):u64 arg3=\17:s32".
 *
 * Pure. What the kernel cannot fetch (floating-point registers, an index and a scale, thread-local variables) is left
 * out, counted, and said in words; the others keep their numbers. x86-64, i386, arm64 and riscv64.
 *
 *	struct sdt_arguments_place place = {.arch = arch, .address = note->address, .offset = note->offset};
 *	sdt_arguments_write(&place, note->arguments, &out, &left_out);
 */
#ifndef CODE_PROBING_SDT_ARGUMENTS_H
#define CODE_PROBING_SDT_ARGUMENTS_H

#include "arch/arch.h"
#include "base/text.h"

struct sdt_arguments_place { /* of the probe */
	const struct arch *arch; /* of the program; NULL: no argument can be written */
	uint64_t address, offset; /* link-time, and in the file */
	/* The link-time address of a variable; false if there is none of this name. NULL: none is known. */
	bool (*find_symbol)(void *context, struct tally_str name, uint64_t *address);
	void *context;
};

struct sdt_arguments_left {
	size_t count;
	char why[160]; /* of the first: "arg2 is 8@(%rax,%rdx,8): the kernel adds no scaled index" */
};

/* Appends " argN=..." for each. */
void sdt_arguments_write(const struct sdt_arguments_place *place, const char *arguments, struct text *out,
	struct sdt_arguments_left *left);

#endif
