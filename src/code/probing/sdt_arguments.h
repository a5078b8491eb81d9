/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sdt_arguments.h - writes the arguments of a statically defined probe (SDT) as fetch arguments of the kernel. A note
 * describes each of them as an assembler operand with size and sign: "-4@%edi 8@-8(%rbp) -4@$17" becomes "arg1=%di:s32
 * arg2=-8(%bp):u64 arg3=\17:s32".
 *
 * Pure function. Arguments that the kernel cannot fetch (floating-point registers, an index and a scale, thread-local
 * variables) are left out, counted, and explained; the others keep their numbers. x86-64, i386, arm64 and riscv64.
 *
 *	struct sdt_arguments_place place = {.arch = arch, .address = note->address, .offset = note->offset};
 *	sdt_arguments_write(&place, note->arguments, &out, &left_out);
 */
#ifndef CODE_PROBING_SDT_ARGUMENTS_H
#define CODE_PROBING_SDT_ARGUMENTS_H

#include "arch/arch.h"
#include "base/text.h"

/* The place of a probe. */
struct sdt_arguments_place {
	const struct arch *arch; /* Architecture of the program; NULL if no argument can be written. */
	uint64_t address, offset; /* Link-time address of the probe, and its offset in the file. */
	/* Finds the link-time address of a variable; returns false if no variable has this name. NULL if no symbols are
	 * known. */
	bool (*find_symbol)(void *context, struct tally_str name, uint64_t *address);
	void *context;
};

/* The arguments that were left out. */
struct sdt_arguments_left {
	size_t count;
	char why[160]; /* Reason for the first one: "arg2 is 8@(%rax,%rdx,8): the kernel adds no scaled index". */
};

/* Appends " argN=..." for each argument. arguments is the text in the note. */
void sdt_arguments_write(const struct sdt_arguments_place *place, const char *arguments, struct text *out,
	struct sdt_arguments_left *left);

#endif
