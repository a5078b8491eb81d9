/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unwinds with arbitrary call-frame information, registers and stack, through an unwind table, for every
 * architecture.
 *
 * Input: architecture and flags, two bytes of the section's length, two of pc, the section, one byte per register (an
 * offset in words from the start of the stack), the stack.
 */
#include <stdlib.h>

#include "code/unwind/unwinder.h"

#define LOW   UINT64_C(0x1000)
#define HIGH  UINT64_C(0x11000)
#define STACK UINT64_C(0x7f000000)
#define MOST  32

static bool find(void *context, uint64_t pc, struct unwind_module *module)
{
	if (pc < LOW || pc >= HIGH)
		return false;
	*module = (struct unwind_module){.table = context, .low = LOW, .high = HIGH};
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cursor c = cursor_make((struct tally_bytes){data, size}, false);
	uint8_t flags = cursor_u8(&c);
	size_t length = cursor_u16(&c);
	const struct arch *arch = arch_at((flags & 15) % 5);
	struct unwind_registers registers = {.pc = LOW + cursor_u16(&c)};
	if (length > cursor_left(&c))
		return 0;
	struct cfi_section section = {.bytes = cursor_bytes(&c, length),
		.address = 0x20000,
		.is_eh = flags & 16,
		.swap = flags & 32,
		.ends_at_zero = flags & 64,
		.address_size = arch->pointer_bytes};
	for (unsigned i = 0; i < 33; i++) {
		registers.values[i] = STACK + (uint64_t)cursor_u8(&c) * arch->pointer_bytes;
		registers.known |= UINT64_C(1) << i;
	}
	struct unwind_stack stack = {
		.address = STACK, .bytes = cursor_bytes(&c, cursor_left(&c)), .swap = section.swap};
	struct unwind_table_source source = {.arch = arch, .sections = &section, .section_count = 1};
	struct unwind_table *table;
	struct unwinder *unwinder;
	uint64_t ips[MOST];
	if (unwind_table_create(&source, &table, NULL) != TALLY_OK)
		return 0;
	if (unwinder_create(arch, &unwinder, NULL) == TALLY_OK) {
		struct unwind_modules modules = {.find = find, .context = table};
		struct unwind_result result = unwinder_run(unwinder, &registers, &stack, &modules, ips, MOST);
		if (result.count > MOST || (unsigned)result.end >= UNWIND_ENDS)
			abort();
		unwinder_destroy(unwinder);
	}
	unwind_table_destroy(table);
	return 0;
}
