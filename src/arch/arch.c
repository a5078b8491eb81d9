/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/arch.h"

#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/bytes.h"

static const struct arch *const arches[] = {&arch_x86_64, &arch_aarch64, &arch_i386, &arch_arm, &arch_riscv64};

#define ARCH_COUNT (ARRAY_LEN(arches))

const struct arch *arch_at(size_t position)
{
	return position < ARCH_COUNT ? arches[position] : NULL;
}

const struct arch *arch_find(const char *machine)
{
	for (size_t i = 0; i < ARCH_COUNT; i++)
		for (const char *const *pattern = arches[i]->machines; *pattern; pattern++)
			if (str_glob(str_from(*pattern), str_from(machine)))
				return arches[i];
	return NULL;
}

const struct arch *arch_find_elf(uint16_t e_machine, uint8_t pointer_bytes)
{
	for (size_t i = 0; i < ARCH_COUNT; i++)
		if (arches[i]->e_machine == e_machine && arches[i]->pointer_bytes == pointer_bytes)
			return arches[i];
	return NULL;
}

const char *arch_register_name(const struct arch *arch, uint32_t number)
{
	return number < arch->register_count ? arch->registers[number] : NULL;
}

uint32_t arch_register_find(const struct arch *arch, const char *name)
{
	for (uint32_t i = 0; i < arch->register_count; i++)
		if (arch->registers[i] && strcasecmp(arch->registers[i], name) == 0)
			return i;
	return ARCH_NO_REGISTER;
}

uint64_t arch_register_bits(const struct arch *arch, uint32_t number)
{
	if (!arch_register_name(arch, number))
		return 0;
	return (number >= arch->wide_from ? UINT64_C(3) : UINT64_C(1)) << number;
}

uint8_t arch_dwarf_register(const struct arch *arch, uint32_t number)
{
	return number < arch->dwarf_count ? arch->dwarf_registers[number] : ARCH_NO_DWARF;
}
