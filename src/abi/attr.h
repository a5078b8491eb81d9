/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attr.h - decodes struct perf_event_attr of any size and byte order, and encodes it for the kernel or a file.
 *
 * A struct perf_attr owns no memory. Flag bits have the positions that the kernel uses on a little-endian host (ATTR_*
 * below); decoding reverses the order of bit-fields of a file of the other byte order. Bytes beyond the known fields
 * are counted in excess_bytes.
 * Source: linux/perf_event.h, perf_event_open(2).
 *
 *	struct perf_attr attr;
 *	if (attr_decode(&cursor, &attr, err) != TALLY_OK) ...   // consumes attr.size bytes
 */
#ifndef ABI_ATTR_H
#define ABI_ATTR_H

#include <tally/status.h>

#include "abi/perf_constants.h"
#include "base/cursor.h"
#include "base/text.h"
#include "base/writer.h"

#define ATTR_FLAG(n) (UINT64_C(1) << (n))
enum attr_flag_bit {
	ATTR_BIT_DISABLED,
	ATTR_BIT_INHERIT,
	ATTR_BIT_PINNED,
	ATTR_BIT_EXCLUSIVE,
	ATTR_BIT_EXCLUDE_USER,
	ATTR_BIT_EXCLUDE_KERNEL,
	ATTR_BIT_EXCLUDE_HV,
	ATTR_BIT_EXCLUDE_IDLE,
	ATTR_BIT_MMAP,
	ATTR_BIT_COMM,
	ATTR_BIT_FREQ,
	ATTR_BIT_INHERIT_STAT,
	ATTR_BIT_ENABLE_ON_EXEC,
	ATTR_BIT_TASK,
	ATTR_BIT_WATERMARK,
	ATTR_BIT_PRECISE_IP, /* Two bits. */
	ATTR_BIT_MMAP_DATA = 17,
	ATTR_BIT_SAMPLE_ID_ALL,
	ATTR_BIT_EXCLUDE_HOST,
	ATTR_BIT_EXCLUDE_GUEST,
	ATTR_BIT_EXCLUDE_CALLCHAIN_KERNEL,
	ATTR_BIT_EXCLUDE_CALLCHAIN_USER,
	ATTR_BIT_MMAP2,
	ATTR_BIT_COMM_EXEC,
	ATTR_BIT_USE_CLOCKID,
	ATTR_BIT_CONTEXT_SWITCH,
	ATTR_BIT_WRITE_BACKWARD,
	ATTR_BIT_NAMESPACES,
	ATTR_BIT_KSYMBOL,
	ATTR_BIT_BPF_EVENT,
	ATTR_BIT_AUX_OUTPUT,
	ATTR_BIT_CGROUP,
	ATTR_BIT_TEXT_POKE,
	ATTR_BIT_BUILD_ID,
	ATTR_BIT_INHERIT_THREAD,
	ATTR_BIT_REMOVE_ON_EXEC,
	ATTR_BIT_SIGTRAP,
	ATTR_BIT_DEFER_CALLCHAIN,
	ATTR_BIT_DEFER_OUTPUT,
	ATTR_BIT_COUNT
};
#define ATTR_HAS(attr, NAME) (((attr)->flags & ATTR_FLAG(ATTR_BIT_##NAME)) != 0)

struct perf_attr {
	uint32_t type;
	uint32_t size; /* Number of bytes that decoding has consumed, and that attr_encode writes. */
	/* The size field of the attr, if it is less than size because a file stores attrs in larger entries; else 0. */
	uint32_t declared_size;
	uint64_t config;
	uint64_t sample_period_or_freq;
	uint64_t sample_type;
	uint64_t read_format;
	uint64_t flags;
	uint32_t wakeup; /* In events, or in bytes with the WATERMARK flag. */
	uint32_t bp_type;
	uint64_t config1; /* Or bp_addr, kprobe_func, uprobe_path. */
	uint64_t config2; /* Or bp_len, kprobe_addr, probe_offset. */
	uint64_t branch_sample_type;
	uint64_t sample_regs_user;
	uint32_t sample_stack_user; /* In bytes. */
	int32_t clockid;
	uint64_t sample_regs_intr;
	uint32_t aux_watermark; /* In bytes. */
	uint16_t sample_max_stack; /* Number of frames. */
	uint32_t aux_sample_size; /* In bytes. */
	uint32_t aux_action;
	uint64_t sig_data;
	uint64_t config3;
	uint64_t config4;
	uint32_t excess_bytes; /* Number of bytes beyond ATTR_SIZE_KNOWN in the source. */
	bool excess_is_nonzero;
};

static inline unsigned attr_precise_ip(const struct perf_attr *attr)
{
	return (unsigned)(attr->flags >> ATTR_BIT_PRECISE_IP) & 3u;
}

/* Decodes and consumes an attr. Size 0 means 64 (ATTR_SIZE_VER0). Returns TALLY_CORRUPT if the size is not in 64 to
 * 65535, or larger than the input. */
TALLY_MUST_CHECK enum tally_status attr_decode(struct cursor *c, struct perf_attr *attr, struct tally_error *err);
/* Decodes an attr that occupies stored_size bytes, whatever its size field says (in a perf.data file: attr_size of the
 * header - 16), and consumes them. */
TALLY_MUST_CHECK enum tally_status attr_decode_sized(
	struct cursor *c, size_t stored_size, struct perf_attr *attr, struct tally_error *err);
/* Appends the first attr->size bytes of the attr; size 0 means ATTR_SIZE_KNOWN. */
void attr_encode(struct writer *w, const struct perf_attr *attr);
/* Prints the attr as evlist -v of perf 6.1 does: "type: 1, size: 136, { sample_period, sample_freq }: 4000, ...".
 * Fields that are 0 are left out, and unknown bits are printed as their number. */
void attr_print(struct text *t, const struct perf_attr *attr);
/* Prints the attr as perf's --header does: "type = 1, size = 136, ...". */
void attr_print_header(struct text *t, const struct perf_attr *attr);

/* Returns whether tally's recorder made the call chains from stack dumps: the attr then has the size of the dumps, but
 * samples have none. */
static inline bool attr_is_unwound(const struct perf_attr *attr)
{
	return attr->sample_stack_user != 0 && !(attr->sample_type & SAMPLE_STACK_USER);
}

#endif
