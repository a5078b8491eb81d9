/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/frame_types.h"

#include "analysis/store_entry.h"

enum tally_status frame_types_find(const struct frame_types *types, const struct resolved_frame *frame,
	struct data_access *access, struct tally_error *err)
{
	uint32_t id;
	*access = (struct data_access){.kind = DATA_ACCESS_NO_INSTRUCTION};
	if (frame->binary == RESOLVE_NONE ||
		store_entry_id(types->machine, types->store, frame->binary, &id, NULL) != TALLY_OK ||
		!symbolise_has_lines(machine_binary_get(types->machine, frame->binary)->kind))
		return TALLY_OK;
	return binary_store_data_access(types->store, id, frame->address, access, err);
}

const char *frame_type_name(const struct data_access *access)
{
	if (access->kind == DATA_ACCESS_TYPED)
		return access->type_name;
	return access->kind == DATA_ACCESS_STACK ? "(stack operation)" : "(unknown)";
}

void frame_type_offset_text(const struct data_access *access, struct text *text)
{
	text_str(text, frame_type_name(access));
	if (access->kind != DATA_ACCESS_TYPED)
		return;
	text_str(text, access->offset ? " +0x" : " +");
	text_hex(text, access->offset, 0);
	text_str(text, " (");
	text_str(text, access->field ? access->field : "no field");
	text_char(text, ')');
}
