/* SPDX-License-Identifier: Apache-2.0 */
#include "code/binaries/load_types.h"

#include "code/types/fused.h"

enum tally_status load_types(
	const struct binary_store_options *options, struct binary_entry *entry, struct tally_error *err)
{
	if (entry->types_are_looked_for)
		return TALLY_OK;
	entry->types_are_looked_for = true;
	const struct elf_image *image = source_lines_image(entry->lines);
	const struct data_types_input input = {.info = source_lines_info(entry->lines),
		.image = image,
		.elf_machine = elf_image_machine(image),
		.fused = fused_set_of(options->cpu_id)};
	enum tally_status status = data_types_create(&input, &entry->types, err);
	return status == TALLY_NOMEM ? status : TALLY_OK;
}

void unload_types(struct binary_entry *entry)
{
	data_types_destroy(entry->types);
}
