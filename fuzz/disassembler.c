/* SPDX-License-Identifier: Apache-2.0 */
/* Disassembles arbitrary bytes for the machine that the first byte selects: every instruction has a size, and its texts
 * are terminated. */
#include "code/disasm/disassembler.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const unsigned machines[] = {EM_X86_64, EM_AARCH64, EM_386, EM_ARM};
	struct disassembler *disassembler;
	if (size == 0)
		return 0;
	struct disassembler_options options = {.elf_machine = machines[data[0] & 3],
		.is_64 = true,
		.is_intel = data[0] & 4,
		.is_big_endian = data[0] & 8};
	if (disassembler_create(&options, &disassembler, NULL) != TALLY_OK)
		return 0;
	for (size_t at = 1; at < size;) {
		struct instruction instruction;
		disassembler_next(disassembler, (struct tally_bytes){data + at, size - at}, at, &instruction);
		if (instruction.size == 0 || instruction.size > size - at ||
			!memchr(instruction.mnemonic, 0, sizeof(instruction.mnemonic)) ||
			!memchr(instruction.operands, 0, sizeof(instruction.operands)) ||
			!memchr(instruction.comment, 0, sizeof(instruction.comment)))
			abort();
		at += instruction.size;
	}
	disassembler_destroy(disassembler);
	return 0;
}
