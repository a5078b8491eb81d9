/* SPDX-License-Identifier: Apache-2.0 */
#include "abi/record_layout.h"

#include "abi/record.h"

static void add_fixed(uint64_t sample_type, uint64_t bit, uint16_t *position, int16_t *offset)
{
	if (!(sample_type & bit))
		return;
	*offset = (int16_t)*position;
	*position = (uint16_t)(*position + 8);
}

static void add_trailer(uint64_t sample_type, uint64_t bit, uint16_t *distance, uint16_t *field)
{
	if (!(sample_type & bit))
		return;
	*distance = (uint16_t)(*distance + 8);
	*field = *distance;
}

/* With exclude_callchain_user, the kernel records no user chain beside a stack dump, so a chain was unwound from it. */
static bool has_call_chains(const struct perf_attr *attr)
{
	return attr_is_unwound(attr) ||
	       ((attr->sample_type & SAMPLE_STACK_USER) && ATTR_HAS(attr, EXCLUDE_CALLCHAIN_USER));
}

struct record_layout record_layout_make(const struct perf_attr *attr, bool swap)
{
	struct record_layout layout = {
		.sample_type = attr->sample_type,
		.read_format = attr->read_format,
		.branch_sample_type = attr->branch_sample_type,
		.regs_user_mask = attr->sample_regs_user,
		.regs_intr_mask = attr->sample_regs_intr,
		.swap = swap,
		.sample_id_all = ATTR_HAS(attr, SAMPLE_ID_ALL),
		.has_call_chains = has_call_chains(attr),
		.identifier = -1,
		.ip = -1,
		.tid = -1,
		.time = -1,
		.addr = -1,
		.id = -1,
		.stream_id = -1,
		.cpu = -1,
		.period = -1,
	};
	uint64_t type = attr->sample_type;
	uint16_t position = RECORD_HEADER_BYTES;
	add_fixed(type, SAMPLE_IDENTIFIER, &position, &layout.identifier);
	add_fixed(type, SAMPLE_IP, &position, &layout.ip);
	add_fixed(type, SAMPLE_TID, &position, &layout.tid);
	add_fixed(type, SAMPLE_TIME, &position, &layout.time);
	add_fixed(type, SAMPLE_ADDR, &position, &layout.addr);
	add_fixed(type, SAMPLE_ID, &position, &layout.id);
	add_fixed(type, SAMPLE_STREAM_ID, &position, &layout.stream_id);
	add_fixed(type, SAMPLE_CPU, &position, &layout.cpu);
	add_fixed(type, SAMPLE_PERIOD, &position, &layout.period);
	layout.fixed_bytes = position;
	if (!layout.sample_id_all)
		return layout;
	/* The trailer ends the record; its last field is the identifier. */
	uint16_t distance = 0;
	add_trailer(type, SAMPLE_IDENTIFIER, &distance, &layout.trailer_identifier);
	add_trailer(type, SAMPLE_CPU, &distance, &layout.trailer_cpu);
	add_trailer(type, SAMPLE_STREAM_ID, &distance, &layout.trailer_stream_id);
	add_trailer(type, SAMPLE_ID, &distance, &layout.trailer_id);
	add_trailer(type, SAMPLE_TIME, &distance, &layout.trailer_time);
	add_trailer(type, SAMPLE_TID, &distance, &layout.trailer_tid);
	layout.trailer_bytes = distance;
	return layout;
}
