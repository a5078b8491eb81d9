/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile.h - defines the immutable profile, a set of weighted stacks, that every view shows. Knows nothing of perf,
 * files or the kernel.
 *
 * Struct of arrays, all owned by the profile; made by profile_builder, destroyed by profile_destroy, read by
 *any thread. Ids are dense indexes. A stack is a list of frames, the innermost one first. Samples with the same event,
 *labels, leaf and stack are merged: count and period add up.
 *
 *	struct list stack = profile_stack(p, sample.stack);
 *	for (uint32_t i = 0; i < stack.count; i++) use(p->frames[stack.items[i]]);
 */
#ifndef PROFILE_PROFILE_H
#define PROFILE_PROFILE_H

#include <tally/status.h>

#include "base/intern.h"
#include "base/list_table.h"
#include "base/spool.h"

#define PROFILE_NONE UINT32_MAX

enum profile_level { /* where a frame ran; the letter in perf's "[k]" */
	PROFILE_LEVEL_UNKNOWN = 0,
	PROFILE_LEVEL_USER = '.',
	PROFILE_LEVEL_KERNEL = 'k',
	PROFILE_LEVEL_GUEST_KERNEL = 'g',
	PROFILE_LEVEL_GUEST_USER = 'u',
	PROFILE_LEVEL_HYPERVISOR = 'H'
};

struct profile_binary {
	uint32_t name; /* string: short, as shown: "libc.so.6", "[kernel.kallsyms]", "[unknown]" */
	uint32_t long_name; /* string: full path */
	bool is_kernel;
	uint32_t build_id; /* string: hexadecimal; empty if it is not known or was not requested */
	char origin; /* perf's letter for where its names came from; 0: not asked for */
};

struct profile_function {
	uint32_t name; /* string */
	uint32_t binary;
	uint64_t start, size; /* in the binary's address space; both 0 for an inlined function */
	bool is_inlined; /* the compiler put its code into its caller's */
	bool is_object; /* no function, but data */
	bool is_start; /* threads begin in it: a stack that ends there is complete */
};

struct profile_place { /* strings */
	uint32_t line; /* "file.c:12", or the text that is shown if no line is known */
	uint32_t file; /* empty: not known */
};

struct profile_frame {
	uint32_t function; /* PROFILE_NONE: no symbol; address is shown */
	uint32_t binary; /* PROFILE_NONE: no mapping */
	uint64_t address; /* in the binary's space; the raw run-time address if there is no binary */
	uint64_t raw_address; /* as recorded, of the first one seen; 0: not kept, since there is a symbol */
	uint8_t level; /* enum profile_level */
	bool is_start; /* without a symbol: threads begin there */
	/* Kept only on request. A sample's own address has its innermost line, which may be in an inlined call. A frame
	 * of a chain has its own line: for a function with inlined calls, the line that calls them. */
	struct profile_place own_line, innermost_line;
	uint32_t branch; /* of branch history: profile_branch_pack; 0: the frame is none of a branch */
};

enum profile_branch_end { BRANCH_END_NONE, BRANCH_END_TO, BRANCH_END_FROM, BRANCH_END_WAKER };

/* WAKER: neither branch nor code: the frames after it in the chain belong to the thread that ended the wait, which the
 * frame's function names. */
struct profile_branch { /* one end of a taken branch, and what the CPU said of the branch */
	enum profile_branch_end end;
	bool is_predicted, is_abort;
	unsigned cycles; /* since the branch before */
};
#define PROFILE_BRANCH_BITS 20

/* What distinguishes samples beyond thread and place. Facets are kept only on request (enum values are bits of a
 * mask). */
enum profile_facet {
	FACET_TRACE, /* text: what a tracepoint prints */
	FACET_TIME, /* ns, cut to the quantum asked for */
	FACET_SOCKET,
	FACET_ADDRESS, /* the sample's own, as recorded */
	FACET_PLACE, /* the same in its object */
	FACET_WEIGHT,
	FACET_INS_LAT,
	FACET_STAGE_CYCLES,
	FACET_TRANSACTION, /* number and text */
	FACET_CODE_PAGE,
	FACET_CGROUP, /* text */
	FACET_NAMESPACE, /* text: that of cgroups */
	FACET_MAPPED_SIZE, /* of the mapping that the sample fell on */
	FACET_COMM_NODIGIT, /* text */
	FACET_PARALLELISM,
	FACET_BRANCH_FROM, /* frame, number: the address as recorded */
	FACET_BRANCH_TO,
	FACET_BRANCH_FLAGS, /* enum profile_branch_flag */
	FACET_BRANCH_CYCLES,
	FACET_BRANCH_KIND, /* number: what sample_branch_kind says; of no key */
	FACET_DATA, /* frame: what the accessed address belongs to */
	FACET_DATA_MEMORY, /* the same; number: whose memory it is, in the order of rows */
	FACET_CODE, /* frame of the sample's own address, whatever mode it ran in */
	FACET_MEM_LEVEL, /* number and text; so the others of memory */
	FACET_MEM_TLB,
	FACET_MEM_LOCK,
	FACET_MEM_SNOOP,
	FACET_MEM_BLOCK,
	FACET_PHYSICAL,
	FACET_DATA_PAGE,
	FACET_MEM_PARTS, /* number: profile_part_get says which of the parts of an access' kinds it is */
	FACET_TYPE, /* text: the data type that the sampled instruction accesses; number: offset in it */
	FACET_TYPE_OFFSET, /* the same with offset and field in the text */
	FACET_STATE, /* number and text: what the thread did, enum wait_state; runs or waits */
	FACET_WAKER, /* text: who ended the wait; number: 1 of several waits in one sample, which have no time of their own */
	FACET_FIELD, /* number and text: the first of PROFILE_MAX_FIELDS fields of tracepoints */
};
#define PROFILE_MAX_FIELDS 24

/* A sum of samples in parts: what an access did, which cache or memory it hit, and so on. */
enum profile_part_kind { PART_OPERATION, PART_CACHE, PART_MEMORY, PART_SNOOP, PART_TLB, PART_KINDS };
enum { PART_OP_LOAD, PART_OP_STORE, PART_OP_BOTH, PART_OP_PREFETCH, PART_OP_EXEC, PART_OP_OTHER };
enum { PART_L1, PART_L2, PART_L3, PART_L4, PART_L1_BUFFER, PART_L2_BUFFER, PART_CACHE_OTHER };
enum { PART_RAM, PART_MEMORY_SIDE, PART_UNCACHED, PART_CXL, PART_IO, PART_PMEM, PART_MEMORY_OTHER };
enum { PART_SNOOP_HIT, PART_SNOOP_HITM, PART_SNOOP_MISS, PART_SNOOP_OTHER };
enum { PART_TLB_L1, PART_TLB_L2, PART_TLB_ANY, PART_TLB_MISS, PART_TLB_OTHER };
#define PROFILE_PARTS	  8 /* of a kind, at most */
#define PROFILE_PART_BITS 3

static inline uint64_t profile_part_pack(enum profile_part_kind kind, unsigned part)
{
	return (uint64_t)part << kind * PROFILE_PART_BITS;
}
static inline unsigned profile_part_get(enum profile_part_kind kind, uint64_t parts)
{
	return parts >> kind * PROFILE_PART_BITS & (PROFILE_PARTS - 1);
}

enum profile_state { /* the numbers of FACET_STATE: enum wait_state, and "not known" */
	PROFILE_STATE_RUNNING,
	PROFILE_STATE_RUNNABLE,
	PROFILE_STATE_SLEEP,
	PROFILE_STATE_UNINTERRUPTIBLE,
	PROFILE_STATE_STOPPED,
	PROFILE_STATE_DISK,
	PROFILE_STATE_LOCK,
	PROFILE_STATE_POLL,
	PROFILE_STATE_IO,
	PROFILE_STATE_OTHER,
	PROFILE_STATE_NOT_TOLD,
	PROFILE_STATE_THROTTLED,
	PROFILE_STATES
};

/* Whether the thread could run, and did not wait for anything but a CPU. */
static inline bool profile_state_is_ready(uint64_t state)
{
	return state == PROFILE_STATE_RUNNABLE || state == PROFILE_STATE_THROTTLED;
}

#define PROFILE_MAX_FACETS (FACET_FIELD + PROFILE_MAX_FIELDS)

struct profile_field { /* of tracepoints, as a key */
	uint32_t name; /* string */
	uint64_t events; /* bit by event: those that have it */
	unsigned width; /* of a cell, at least */
	bool is_dynamic; /* text of any length: its end counts too */
};

enum profile_branch_flag {
	BRANCH_FLAG_MISPREDICTED = 1,
	BRANCH_FLAG_PREDICTED = 2,
	BRANCH_FLAG_IN_TX = 4,
	BRANCH_FLAG_ABORT = 8
};

struct profile_value { /* of a facet */
	uint64_t number;
	uint32_t text; /* string; PROFILE_NONE: has none */
	uint32_t frame; /* PROFILE_NONE: is none */
};

struct profile_thread { /* label set of a sample */
	int32_t pid, tid;
	uint32_t comm; /* string */
	uint32_t last_comm; /* string: what the thread was called in the end */
	uint32_t process_comm; /* string: and its process, which goes with pid */
	uint32_t label_set; /* of its batch (fleet/batch.h), which tells threads apart; otherwise 0 */
};

struct profile_sample {
	uint32_t event;
	uint32_t thread;
	uint32_t leaf; /* frame of the sample's own address */
	uint32_t stack; /* the call chain, PROFILE_NONE if none was recorded */
	int32_t cpu; /* -1 unknown */
	uint32_t facets; /* row of values, see profile_facet(); 0 if none are kept */
	uint64_t count; /* samples merged */
	uint64_t period; /* sum of weights */
	uint64_t first_order; /* position of the first one: makes ties deterministic */
	int32_t first_tid; /* whose that one was; 0: not known */
	uint32_t reserved;
};

struct profile_row { /* a sample by itself: kept only if asked for */
	uint64_t time; /* ns, or the position in the recording if it has no times */
	uint64_t period;
	uint32_t sample; /* that it was merged into */
	uint32_t reserved;
};

struct profile_event {
	uint32_t name; /* string */
	uint64_t sample_count, total_period;
	uint64_t lost_count;
	uint64_t branched_count; /* samples whose branches were counted one by one */
	uint32_t leader; /* own index: no group */
	uint32_t member_count;
	bool has_callchain;
	bool has_copied_stacks; /* whose callers are found later, from the innermost one on */
};

struct profile_note { /* about the quality of the result: "lost 12 samples", ... */
	uint32_t text;
	uint64_t count;
};

struct profile {
	struct arena *arena;
	struct intern strings;
	struct profile_event *events;
	struct profile_binary *binaries;
	struct profile_function *functions;
	struct profile_frame *frames;
	struct list_table stacks; /* of frames */
	struct profile_thread *threads;
	struct profile_sample *samples; /* by event, then first_order */
	struct profile_row *rows; /* by time; in row_spool */
	size_t row_count;
	struct spool row_spool;
	size_t event_count, binary_count, function_count, frame_count, thread_count, sample_count;
	bool has_guests; /* frames of virtual machines */
	uint64_t facets; /* bit by enum profile_facet: kept */
	struct profile_field *fields; /* by facet from FACET_FIELD on */
	size_t field_count;
	uint8_t facet_columns[PROFILE_MAX_FACETS];
	unsigned facet_width; /* values in a row */
	struct profile_value *values; /* facet_rows x facet_width */
	size_t facet_rows;
};

void profile_destroy(struct profile *profile);
/* By an event's name: its values are nanoseconds. */
bool profile_event_is_time(struct tally_str name);
/* By an event's name: its values are the time in which threads did not run. */
bool profile_event_is_waiting(struct tally_str name);
static inline struct tally_str profile_string(const struct profile *p, uint32_t id)
{
	return intern_get(&p->strings, id);
}
/* Of a virtual machine. */
static inline bool profile_frame_is_guest(const struct profile_frame *frame)
{
	return frame->level == PROFILE_LEVEL_GUEST_KERNEL || frame->level == PROFILE_LEVEL_GUEST_USER;
}
static inline bool profile_frame_is_waker(const struct profile_frame *frame)
{
	return (frame->branch & 3) == BRANCH_END_WAKER;
}
/* A call that was inlined; frame: its index. */
static inline bool profile_frame_is_inlined(const struct profile *p, uint32_t frame)
{
	uint32_t function = p->frames[frame].function;
	return function != PROFILE_NONE && p->functions[function].is_inlined;
}
/* Empty for PROFILE_NONE. */
static inline struct list profile_stack(const struct profile *p, uint32_t stack)
{
	return stack == PROFILE_NONE ? (struct list){NULL, 0} : list_table_get(&p->stacks, stack);
}
/* The facet's value in a row of values; NULL: it was not kept. */
static inline const struct profile_value *profile_facet(const struct profile *p, uint32_t row, unsigned facet)
{
	if (!(p->facets >> facet & 1) || row >= p->facet_rows)
		return NULL;
	return &p->values[(size_t)row * p->facet_width + p->facet_columns[facet]];
}
static inline uint32_t profile_branch_pack(const struct profile_branch *branch)
{
	return (uint32_t)branch->end | (uint32_t)branch->is_predicted << 2 | (uint32_t)branch->is_abort << 3 |
	       (branch->cycles & 0xffff) << 4;
}
static inline struct profile_branch profile_branch_get(uint32_t packed)
{
	return (struct profile_branch){
		(enum profile_branch_end)(packed & 3), packed >> 2 & 1, packed >> 3 & 1, packed >> 4 & 0xffff};
}
struct profile_line {
	struct tally_str file; /* empty: not known */
	uint64_t number;
};
/* Of a frame's own line. */
struct profile_line profile_frame_line(const struct profile *p, const struct profile_frame *frame);
/* For profiles that keep lines. False: no line is known, and own_line is the text to show instead. */
static inline bool profile_frame_has_line(const struct profile *p, const struct profile_frame *frame)
{
	return profile_string(p, frame->own_line.file).len > 0;
}

#endif
