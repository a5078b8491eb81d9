/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/listing/annotate_data.h"

#include <inttypes.h>

#include "base/error.h"

static const char *with_comment(struct arena *arena, const char *text, const struct data_access *access)
{
	const char *before = access->field ? " (" : "", *field = access->field ? access->field : "";
	return arena_printf(arena,
		access->offset ? "%s\t\t# data-type: %s +%#" PRIx64 "%s%s%s"
			       : "%s\t\t# data-type: %s +%" PRIx64 "%s%s%s",
		text, access->type_name, access->offset, before, field, access->field ? ")" : "");
}

enum tally_status annotate_data_add(struct annotate_listing *listing, const struct annotate_samples *samples,
	const struct annotate_target *target, bool in_text, struct tally_error *err)
{
	for (size_t i = 0; i < listing->lines.len; i++) {
		struct annotate_line *line = &listing->lines.items[i];
		struct data_access access;
		if (line->kind != ANNOTATE_CODE)
			continue;
		enum tally_status status = binary_store_data_access(samples->source.store, target->store_id,
			line->address - listing->code.address + target->symbol->start, &access, err);
		if (status != TALLY_OK)
			return status;
		if (access.kind != DATA_ACCESS_TYPED || access.back_bytes > 0)
			continue;
		line->has_type = true;
		line->data_type = access.type_name;
		line->data_field = access.field;
		line->data_offset = access.offset;
		if (!in_text)
			continue;
		line->text = with_comment(&listing->arena, line->text, &access);
		line->operands = with_comment(&listing->arena, line->operands, &access);
		if (!line->text || !line->operands)
			return error_nomem(err);
	}
	return TALLY_OK;
}
