/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_layout.h - computes, once per attr, where the fields of an event's samples and of its sample_id_all trailers
 * are.
 *
 * A value. Offsets are in bytes from the record's start (samples) or from its end (trailers); -1: the field is absent.
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
	bool is_wait; /* of the event offcpu-time: thread, period and call chain are in raw data (wait_record.h) */
	bool has_call_chains; /* user chains name calls, made from stack dumps; else return addresses */
	/* fixed prefix of a sample */
	int16_t identifier, ip, tid, time, addr, id, stream_id, cpu, period;
	uint16_t fixed_bytes; /* header and fixed prefix: where read values, callchain ... begin */
	/* sample_id_all trailer, from the end, positive distances; 0: absent */
	uint16_t trailer_bytes, trailer_tid, trailer_time, trailer_id, trailer_stream_id, trailer_cpu,
		trailer_identifier;
};

struct record_layout record_layout_make(const struct perf_attr *attr, bool swap);

#endif
