/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample.h - decodes PERF_RECORD_SAMPLE, and the sample_id trailer of other records.
 *
 * Results point into the record; nothing is copied. Arrays of words remain bytes in the byte order of the file, and are
 * read by sample_u64_at(array, i, swap). Source: perf_event_open(2), PERF_RECORD_SAMPLE.
 *
 *	struct sample s;
 *	if (sample_decode(&layout, &record, &s, err) == TALLY_OK) use(s.ip, s.callchain.count);
 */
#ifndef ABI_SAMPLE_H
#define ABI_SAMPLE_H

#include "abi/record.h"
#include "abi/record_layout.h"
#include "arch/arch.h"

struct sample_array { /* Unaligned words of 64 bits in the byte order of the file. */
	const uint8_t *data;
	uint32_t count;
};

struct sample_regs {
	uint64_t abi; /* 0 for none, 1 for 32-bit, 2 for 64-bit. */
	uint64_t mask;
	struct sample_array values; /* One value per set bit of mask. */
};

struct read_values { /* Values of PERF_SAMPLE_READ, PERF_RECORD_READ or read(2). */
	uint64_t format;
	uint64_t time_enabled, time_running;
	uint64_t count; /* 1 without GROUP. */
	uint64_t single; /* The value, without GROUP. */
	/* count entries of the words value (only with GROUP), id (with ID) and lost (with LOST). */
	const uint8_t *entries;
	uint32_t entry_bytes; /* Size of an entry. */
	bool swap;
};
struct read_value {
	uint64_t value, id, lost; /* id and lost are 0 if the format does not contain them. */
};

struct sample {
	uint64_t present; /* sample_type bits of the event. */
	bool swap;
	uint64_t ip, time, addr, id, stream_id, period;
	uint32_t pid, tid, cpu;
	struct read_values read;
	struct sample_array callchain;
	struct tally_bytes raw;
	struct {
		uint64_t hw_idx; /* Valid if has_hw_idx is set. */
		/* Three words per entry, so count is three times the number of entries (branch.h). */
		struct sample_array entries;
		struct sample_array counters; /* One word per entry with BRANCH_COUNTERS. */
		bool has_hw_idx;
	} branches;
	struct sample_regs regs_user, regs_intr;
	struct {
		struct tally_bytes bytes; /* The stack dump, of which only the first dyn_size bytes are valid. */
		uint64_t dyn_size;
		uint64_t size; /* Size of the dump in the record. */
	} stack_user;
	uint64_t weight; /* The whole word, which has several parts with WEIGHT_STRUCT. */
	uint64_t data_src; /* DATA_SRC_NOT_AVAILABLE if the event has none. */
	uint64_t transaction, phys_addr, cgroup, data_page_size, code_page_size;
	struct tally_bytes aux;
};

struct sample_id { /* Trailer of a record that is not a sample; absent fields are 0. */
	uint32_t pid, tid, cpu;
	uint64_t time, id, stream_id;
	bool has_tid, has_time, has_id, has_cpu, has_stream_id;
};

/* Decodes a sample of this layout. Returns TALLY_CORRUPT if the record is too short for its fields. */
TALLY_MUST_CHECK enum tally_status sample_decode(const struct record_layout *layout, const struct record *record,
	struct sample *sample, struct tally_error *err);
/* Decodes the trailer of a record that is not a sample. Returns TALLY_CORRUPT if the record is too short for it. */
TALLY_MUST_CHECK enum tally_status sample_id_decode(
	const struct record_layout *layout, const struct record *record, struct sample_id *id, struct tally_error *err);
/* Decodes and consumes values in this format. Returns TALLY_CORRUPT if they are truncated. */
TALLY_MUST_CHECK enum tally_status read_values_decode(
	struct cursor *c, uint64_t read_format, struct read_values *values, struct tally_error *err);
/* Returns the value of one event of the group; index is below values->count. */
struct read_value read_value_get(const struct read_values *values, uint64_t index);

/* Returns a word of an array and, if swap is set, reverses its bytes. */
static inline uint64_t sample_u64_at(const uint8_t *data, size_t index, bool swap)
{
	uint64_t v;
	memcpy(&v, data + index * sizeof(v), sizeof(v));
	return swap ? __builtin_bswap64(v) : v;
}

/* Decodes only the time of the trailer; returns false if there is none. */
static inline bool sample_id_time(const struct record_layout *layout, const struct record *record, uint64_t *time_ns)
{
	size_t len = record->bytes.len;
	if (!layout->trailer_time || len < (size_t)layout->trailer_bytes + RECORD_HEADER_BYTES)
		return false;
	*time_ns = sample_u64_at(record->bytes.data + len - layout->trailer_time, 0, layout->swap);
	return true;
}

#define SAMPLE_FIXED_FIELDS                                                                                      \
	(SAMPLE_IDENTIFIER | SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_ADDR | SAMPLE_ID | SAMPLE_STREAM_ID | \
		SAMPLE_CPU | SAMPLE_PERIOD)

/* Returns whether sample_decode would accept the record, but reads as little of it as possible. */
static inline bool sample_is_whole(const struct record_layout *layout, const struct record *record)
{
	uint64_t more = layout->sample_type & ~(uint64_t)SAMPLE_FIXED_FIELDS;
	if (record->bytes.len < layout->fixed_bytes)
		return false;
	if (more == 0)
		return true;
	struct sample sample;
	if (more != SAMPLE_CALLCHAIN)
		return sample_decode(layout, record, &sample, NULL) == TALLY_OK;
	size_t left = record->bytes.len - layout->fixed_bytes;
	if (left < sizeof(uint64_t))
		return false;
	uint64_t count = sample_u64_at(record->bytes.data + layout->fixed_bytes, 0, layout->swap);
	return count <= left / sizeof(uint64_t) - 1;
}

/* Returns the architecture of registers of a sample: of the machine, or of its 32-bit programs; NULL if unknown. */
static inline const struct arch *sample_registers_arch(const struct arch *machine, uint64_t abi)
{
	if (abi == (machine->pointer_bytes == 8 ? REGS_ABI_64 : REGS_ABI_32))
		return machine;
	return abi == REGS_ABI_32 ? machine->compat : NULL;
}

#endif
