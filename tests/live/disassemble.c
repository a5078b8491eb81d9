/* SPDX-License-Identifier: Apache-2.0 */
/* Reads lines "ADDRESS: BYTES" in hex, one instruction per line, and prints the disassembly of each. */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>

#include "code/disasm/disassembler.h"

#define MAX_BYTES 16

static size_t read_bytes(const char *text, uint8_t *bytes)
{
	size_t count = 0;
	unsigned value;
	int used;
	while (count < MAX_BYTES && sscanf(text, " %2x%n", &value, &used) == 1) {
		bytes[count++] = (uint8_t)value;
		text += used;
	}
	return count;
}

static void print_instruction(const struct instruction *instruction, size_t given, unsigned width)
{
	if (instruction->size != given)
		printf("[%u of %zu bytes] ", instruction->size, given);
	printf("%s", instruction->mnemonic);
	if (instruction->operands[0])
		printf("%*s %s", instruction->mnemonic[0] ? (int)(width - strlen(instruction->mnemonic)) : 0, "",
			instruction->operands);
	if (instruction->has_data)
		printf("        # %llx", (unsigned long long)instruction->data);
	if (instruction->comment[0])
		printf(" // %s", instruction->comment);
	printf("\n");
}

int main(int argc, char **argv)
{
	struct disassembler *disassembler;
	struct tally_error err;
	struct disassembler_options options = {.elf_machine = EM_X86_64, .is_64 = true};
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "intel"))
			options.is_intel = true;
		else
			options.elf_machine = (unsigned)atoi(argv[i]);
	}
	if (disassembler_create(&options, &disassembler, &err) != TALLY_OK) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	char line[512];
	while (fgets(line, sizeof(line), stdin)) {
		uint8_t bytes[MAX_BYTES];
		struct instruction instruction;
		char *rest;
		uint64_t address = strtoull(line, &rest, 16);
		size_t count = read_bytes(rest + (*rest == ':'), bytes);
		if (count == 0)
			continue;
		disassembler_next(disassembler, (struct tally_bytes){bytes, count}, address, &instruction);
		size_t length = strlen(instruction.mnemonic);
		unsigned width = disassembler_mnemonic_width(disassembler);
		print_instruction(&instruction, count, width > length ? width : (unsigned)length);
	}
	disassembler_destroy(disassembler);
	return 0;
}
