/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile.h - defines the immutable profile, a set of weighted stacks, that every view displays. It does not depend on
 * perf, files or the kernel.
 *
 * A struct of arrays, all owned by the profile; it is made by profile_builder, destroyed by profile_destroy, and read
 * by any thread. IDs are dense indexes. A stack is a list of frames, innermost first. Samples with the same event,
 * labels, leaf and stack are merged by adding up count and period. "String" below means an ID in strings.
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

enum profile_level { /* Privilege level of a frame; the letter in perf's "[k]". */
	PROFILE_LEVEL_UNKNOWN = 0,
	PROFILE_LEVEL_USER = '.',
	PROFILE_LEVEL_KERNEL = 'k',
	PROFILE_LEVEL_GUEST_KERNEL = 'g',
	PROFILE_LEVEL_GUEST_USER = 'u',
	PROFILE_LEVEL_HYPERVISOR = 'H'
};

struct profile_binary {
	uint32_t name; /* String: the short displayed name: "libc.so.6", "[kernel.kallsyms]", "[unknown]". */
	uint32_t long_name; /* String: the full path. */
	bool is_kernel;
	uint32_t build_id; /* String: hexadecimal; empty if unknown or not requested. */
	char origin; /* perf's letter for the origin of its symbol names; 0 if not requested. */
};

struct profile_function {
	uint32_t name; /* String. */
	uint32_t binary;
	uint64_t start, size; /* In the binary's address space; both 0 for an inlined function. */
	bool is_inlined; /* It was inlined into its caller. */
	bool is_object; /* It is a data object, not a function. */
	bool is_start; /* Threads begin in it, so a stack that ends there is complete. */
};

struct profile_place { /* Source line of a frame, as strings. */
	uint32_t line; /* "file.c:12", or the text to display if no line is known. */
	uint32_t file; /* Empty if unknown. */
};

struct profile_frame {
	uint32_t function; /* PROFILE_NONE if there is no symbol; the address is displayed instead. */
	uint32_t binary; /* PROFILE_NONE if nothing was mapped. */
	uint64_t address; /* In the binary's address space; the run-time address if there is no binary. */
	uint64_t raw_address; /* Run-time address of the first occurrence; 0 if not kept because there is a symbol. */
	uint8_t level; /* enum profile_level */
	bool is_start; /* For frames without a symbol: threads begin there. */
	/* Kept only on request. innermost_line is the line of a sample's own address, which may be in an inlined call.
	 * own_line is the line of a frame in a chain: in a function with inlined calls, the line of the call. */
	struct profile_place own_line, innermost_line;
	uint32_t branch; /* For frames of branch history, from profile_branch_pack; 0 for other frames. */
};

/* A frame with BRANCH_END_WAKER is neither a branch nor code: the following frames in the chain belong to the thread
 * that ended the wait, which is named by the frame's function. */
enum profile_branch_end { BRANCH_END_NONE, BRANCH_END_TO, BRANCH_END_FROM, BRANCH_END_WAKER };

struct profile_branch { /* One end of a taken branch, with what the CPU recorded about the branch. */
	enum profile_branch_end end;
	bool is_predicted, is_abort;
	unsigned cycles; /* Since the preceding branch. */
};
#define PROFILE_BRANCH_BITS 20

/* Properties that distinguish samples, besides thread and place. Facets are kept only on request (enum values are bit
 * numbers of a mask). The comments say which members of profile_value are set; if they do not, it is the number. */
enum profile_facet {
	FACET_TRACE, /* Text: the formatted payload of a tracepoint. */
	FACET_TIME, /* In ns, rounded down to the requested quantum. */
	FACET_SOCKET,
	FACET_ADDRESS, /* The sample's own run-time address. */
	FACET_PLACE, /* The sample's own address in its binary. */
	FACET_WEIGHT,
	FACET_INS_LAT,
	FACET_STAGE_CYCLES,
	FACET_TRANSACTION, /* Number and text. */
	FACET_CODE_PAGE,
	FACET_CGROUP, /* Text. */
	FACET_NAMESPACE, /* Text: the cgroup namespace. */
	FACET_MAPPED_SIZE, /* Size of the mapping that contains the sample's address. */
	FACET_COMM_NODIGIT, /* Text. */
	FACET_PARALLELISM,
	FACET_BRANCH_FROM, /* Frame; number: the run-time address. */
	FACET_BRANCH_TO,
	FACET_BRANCH_FLAGS, /* enum profile_branch_flag */
	FACET_BRANCH_CYCLES,
	FACET_BRANCH_KIND, /* From sample_branch_kind; no key uses it. */
	FACET_DATA, /* Frame of the accessed data address. */
	/* Frame of the accessed data address; number: the process or file that the memory belongs to, in sort order. */
	FACET_DATA_MEMORY,
	FACET_CODE, /* Frame of the sample's own address, in any CPU mode. */
	FACET_MEM_LEVEL, /* Number and text, like the other facets of memory. */
	FACET_MEM_TLB,
	FACET_MEM_LOCK,
	FACET_MEM_SNOOP,
	FACET_MEM_BLOCK,
	FACET_PHYSICAL,
	FACET_DATA_PAGE,
	FACET_MEM_PARTS, /* The parts of each kind that the access belongs to, see profile_part_get. */
	FACET_TYPE, /* Text: the data type that the sampled instruction accesses; number: the offset in it. */
	FACET_TYPE_OFFSET, /* Like FACET_TYPE, with offset and field in the text. */
	FACET_STATE, /* Number and text: the state of the thread, from enum wait_state; running or waiting. */
	/* Text: the thread that ended the wait; number: 1 for a sample of several waits, which have no single time. */
	FACET_WAKER,
	FACET_FIELD, /* Number and text: the first of PROFILE_MAX_FIELDS tracepoint fields. */
};
#define PROFILE_MAX_FIELDS 24

/* A sum of samples can be divided into parts: the operation of an access, the cache or memory that it hit, and so
 * on. */
enum profile_part_kind { PART_OPERATION, PART_CACHE, PART_MEMORY, PART_SNOOP, PART_TLB, PART_KINDS };
enum { PART_OP_LOAD, PART_OP_STORE, PART_OP_BOTH, PART_OP_PREFETCH, PART_OP_EXEC, PART_OP_OTHER };
enum { PART_L1, PART_L2, PART_L3, PART_L4, PART_L1_BUFFER, PART_L2_BUFFER, PART_CACHE_OTHER };
enum { PART_RAM, PART_MEMORY_SIDE, PART_UNCACHED, PART_CXL, PART_IO, PART_PMEM, PART_MEMORY_OTHER };
enum { PART_SNOOP_HIT, PART_SNOOP_HITM, PART_SNOOP_MISS, PART_SNOOP_OTHER };
enum { PART_TLB_L1, PART_TLB_L2, PART_TLB_ANY, PART_TLB_MISS, PART_TLB_OTHER };
#define PROFILE_PARTS	  8 /* Maximum number of parts of a kind. */
#define PROFILE_PART_BITS 3

static inline uint64_t profile_part_pack(enum profile_part_kind kind, unsigned part)
{
	return (uint64_t)part << kind * PROFILE_PART_BITS;
}
static inline unsigned profile_part_get(enum profile_part_kind kind, uint64_t parts)
{
	return parts >> kind * PROFILE_PART_BITS & (PROFILE_PARTS - 1);
}

enum profile_state { /* Numbers of FACET_STATE: those of enum wait_state, and one for unknown. */
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

/* Returns whether the thread was runnable and only waited for a CPU. */
static inline bool profile_state_is_ready(uint64_t state)
{
	return state == PROFILE_STATE_RUNNABLE || state == PROFILE_STATE_THROTTLED;
}

#define PROFILE_MAX_FACETS (FACET_FIELD + PROFILE_MAX_FIELDS)

struct profile_field { /* A tracepoint field that serves as a key. */
	uint32_t name; /* String. */
	uint64_t events; /* Bit mask of the events that have the field. */
	unsigned width; /* Minimum width of a cell. */
	bool is_dynamic; /* Text of any length, up to its end. */
};

enum profile_branch_flag {
	BRANCH_FLAG_MISPREDICTED = 1,
	BRANCH_FLAG_PREDICTED = 2,
	BRANCH_FLAG_IN_TX = 4,
	BRANCH_FLAG_ABORT = 8
};

struct profile_value { /* Value of a facet. */
	uint64_t number;
	uint32_t text; /* String; PROFILE_NONE if there is no text. */
	uint32_t frame; /* PROFILE_NONE if there is no frame. */
};

struct profile_thread { /* Thread labels of a sample. */
	int32_t pid, tid;
	uint32_t comm; /* String. */
	uint32_t last_comm; /* String: the last name of the thread. */
	uint32_t process_comm; /* String: the name of its process, which belongs to pid. */
	uint32_t label_set; /* Label set of its batch (fleet/batch.h), which distinguishes threads; 0 otherwise. */
};

struct profile_sample {
	uint32_t event;
	uint32_t thread;
	uint32_t leaf; /* Frame of the sample's own address. */
	uint32_t stack; /* Call chain; PROFILE_NONE if none was recorded. */
	int32_t cpu; /* -1 if unknown. */
	uint32_t facets; /* Row of facet values, see profile_facet; 0 if none are kept. */
	uint64_t count; /* Number of merged samples. */
	uint64_t period; /* Sum of weights. */
	/* Position of the first of the merged samples, which makes the order of equal ones deterministic. */
	uint64_t first_order;
	int32_t first_tid; /* Thread ID of the first one; 0 if unknown. */
	uint32_t reserved;
};

struct profile_row { /* A single sample; kept only on request. */
	uint64_t time; /* In ns, or the position in the recording if it has no times. */
	uint64_t period;
	uint32_t sample; /* The sample that it was merged into. */
	uint32_t reserved;
};

struct profile_event {
	uint32_t name; /* String. */
	uint64_t sample_count, total_period;
	uint64_t lost_count;
	uint64_t branched_count; /* Number of samples that were counted by their branches. */
	uint32_t leader; /* Index of the group's leader; its own index if there is no group. */
	uint32_t member_count;
	bool has_callchain;
	/* Samples have stack dumps, which are unwound later, starting with the innermost frame. */
	bool has_copied_stacks;
};

struct profile {
	struct arena *arena;
	struct intern strings;
	struct profile_event *events;
	struct profile_binary *binaries;
	struct profile_function *functions;
	struct profile_frame *frames;
	struct list_table stacks; /* Lists of frames. */
	struct profile_thread *threads;
	struct profile_sample *samples; /* Sorted by event, then by first_order. */
	struct profile_row *rows; /* Sorted by time; stored in row_spool. */
	size_t row_count;
	struct spool row_spool;
	size_t event_count, binary_count, function_count, frame_count, thread_count, sample_count;
	bool has_guests; /* Some frames are of virtual machines. */
	uint64_t facets; /* Bit mask of the kept facets, by enum profile_facet. */
	struct profile_field *fields; /* Indexed by facet, from FACET_FIELD on. */
	size_t field_count;
	uint8_t facet_columns[PROFILE_MAX_FACETS];
	unsigned facet_width; /* Number of values in a row. */
	struct profile_value *values; /* facet_rows rows of facet_width values. */
	size_t facet_rows;
};

void profile_destroy(struct profile *profile);
/* Returns whether the values of an event with this name are nanoseconds. */
bool profile_event_is_time(struct tally_str name);
/* Returns whether the values of an event with this name are times in which threads did not run. */
bool profile_event_is_waiting(struct tally_str name);
static inline struct tally_str profile_string(const struct profile *p, uint32_t id)
{
	return intern_get(&p->strings, id);
}
/* Returns whether the frame ran in a virtual machine. */
static inline bool profile_frame_is_guest(const struct profile_frame *frame)
{
	return frame->level == PROFILE_LEVEL_GUEST_KERNEL || frame->level == PROFILE_LEVEL_GUEST_USER;
}
static inline bool profile_frame_is_waker(const struct profile_frame *frame)
{
	return (frame->branch & 3) == BRANCH_END_WAKER;
}
/* Returns whether the frame with this index is an inlined call. */
static inline bool profile_frame_is_inlined(const struct profile *p, uint32_t frame)
{
	uint32_t function = p->frames[frame].function;
	return function != PROFILE_NONE && p->functions[function].is_inlined;
}
/* Returns the frames of a stack; empty for PROFILE_NONE. */
static inline struct list profile_stack(const struct profile *p, uint32_t stack)
{
	return stack == PROFILE_NONE ? (struct list){NULL, 0} : list_table_get(&p->stacks, stack);
}
/* Returns the value of a facet in a row of values; NULL if it was not kept. */
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
	struct tally_str file; /* Empty if unknown. */
	uint64_t number;
};
/* Returns the file and line number of the frame's own line. */
struct profile_line profile_frame_line(const struct profile *p, const struct profile_frame *frame);
/* Returns false if no line is known, so that own_line is the text to display. For profiles that keep lines. */
static inline bool profile_frame_has_line(const struct profile *p, const struct profile_frame *frame)
{
	return profile_string(p, frame->own_line.file).len > 0;
}

#endif
