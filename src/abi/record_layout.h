/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_layout.h - computes, once per attr, the offsets of fields in samples and in sample_id_all trailers.
 *
 * A layout owns no memory. Offsets are in bytes from the start of a sample (-1 if the field is absent), or from the end
 * of a record for trailers (0 if absent).
 *
 *	struct record_layout layout = record_layout_make(&attr, swap);
 */
#ifndef ABI_RECORD_LAYOUT_H
#define ABI_RECORD_LAYOUT_H

#include "abi/attr.h"

struct record_layout {
	uint64_t sample_type, read_format, branch_sample_type;
	uint64_t regs_user_mask, regs_intr_mask;
	bool swap;
	bool sample_id_all;
	/* Samples are waits of the event offcpu-time, whose thread, period and call chain are in the raw data
	 * (wait_record.h). */
	bool is_wait;
	/* User call chains were made from stack dumps and have addresses of calls, not return addresses. */
	bool has_call_chains;
	/* Offsets of the fixed prefix of a sample. */
	int16_t identifier, ip, tid, time, addr, id, stream_id, cpu, period;
	uint16_t fixed_bytes; /* Size of header and fixed prefix, after which the other fields begin. */
	/* Size of the trailer, and distances of its fields from the end of the record; 0 if absent. */
	uint16_t trailer_bytes, trailer_tid, trailer_time, trailer_id, trailer_stream_id, trailer_cpu,
		trailer_identifier;
};

struct record_layout record_layout_make(const struct perf_attr *attr, bool swap);

#endif
