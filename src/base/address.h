/* SPDX-License-Identifier: Apache-2.0 */
/*
 * address.h - defines types for three kinds of addresses that must never be mixed: run-time, file offset and link-time
 * (ELF virtual) addresses.
 */
#ifndef BASE_ADDRESS_H
#define BASE_ADDRESS_H

#include <stdint.h>

struct tally_va { /* Address in a running process or kernel, as the CPU uses it. */
	uint64_t value;
};
struct tally_file_off { /* Offset of a byte in the ELF file. */
	uint64_t value;
};
struct tally_elf_va { /* Link-time address, as in st_value and DWARF. */
	uint64_t value;
};

#define VA(v)	    ((struct tally_va){(v)})
#define FILE_OFF(v) ((struct tally_file_off){(v)})
#define ELF_VA(v)   ((struct tally_elf_va){(v)})

#endif
