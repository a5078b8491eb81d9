/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluates arbitrary bytes as a DWARF expression. The first byte determines width, byte order and the
 * initial stack. */
#include "object/dwarf/expression.h"

static bool read_register(void *context, uint64_t number, uint64_t *value)
{
	(void)context;
	*value = number * 8;
	return number < 32;
}

static bool read_memory(void *context, uint64_t address, unsigned size, uint64_t *value)
{
	const struct tally_bytes *bytes = context;
	if (size > 8 || address > bytes->len || bytes->len - address < size)
		return false;
	*value = 0;
	memcpy(value, bytes->data + address, size);
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	struct tally_bytes bytes = {data + 1, size - 1};
	const struct dwarf_machine machine = {.read_register = read_register,
		.read_memory = read_memory,
		.context = &bytes,
		.cfa = 16,
		.has_cfa = data[0] & 1,
		.swap = data[0] & 2,
		.address_size = data[0] & 4 ? 4 : 8};
	uint64_t value;
	(void)dwarf_expression_run(bytes, &machine, data[0] & 8 ? &machine.cfa : NULL, &value);
	return 0;
}
