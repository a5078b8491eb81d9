/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/simulation/simulation_file.h"

#include <string.h>

bool simulation_file_name(const char *name, uint32_t *pid, uint32_t *image)
{
	struct tally_str rest = str_from(name), first;
	uint64_t process, number;
	if (!str_next(&rest, '.', &first) || !str_to_u64(first, 10, &process) || !str_to_u64(rest, 10, &number) ||
		process > INT32_MAX || number > UINT32_MAX)
		return false;
	*pid = (uint32_t)process;
	*image = (uint32_t)number;
	return true;
}

const char *simulation_file_header(struct tally_bytes bytes, struct sim_header *header, struct tally_str *model)
{
	if (bytes.len < sizeof(*header))
		return "it is shorter than a header";
	memcpy(header, bytes.data, sizeof(*header));
	if (memcmp(header->magic, SIM_MAGIC, sizeof(header->magic)) != 0)
		return "it does not begin with " SIM_MAGIC;
	if (header->version != SIM_VERSION)
		return "its version is another one: tally and its Valgrind tool are of different builds";
	if (header->size <= sizeof(*header) || header->size % 8 != 0 || header->size > bytes.len ||
		bytes.data[header->size - 1] != '\0')
		return "the size of its header is impossible, or its model has no end";
	if (header->sampled_count > SIM_SAMPLED_MOST || header->stack_bytes > SIM_STACK_BYTES_MOST ||
		header->stack_bytes % 8 != 0)
		return "its header names too many sampled events, or too large stacks";
	for (uint32_t i = 0; i < header->sampled_count; i++)
		if (header->sampled[i].event >= SIM_EVENT_COUNT || header->sampled[i].period == 0)
			return "its header names an event that is not known, or a period of 0";
	*model = str_from((const char *)bytes.data + sizeof(*header));
	return NULL;
}
