/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream.h - defines the files that the Valgrind tool `tally` writes (simulator/) and the program tally reads
 * (src/tasks/simulation): names and numbers of the simulated events, the header, the records, the client requests.
 *
 * It is plain C that includes <stdint.h> only, because the tool has no C library. It declares no functions.
 *
 * A file DIR/<pid>.<n> describes one process image: n is 0 for the first image of the process, and one more after
 * each exec. It holds one struct sim_header, the model as text, and then records that begin as the kernel's do
 * (struct perf_event_header: u32 type, u16 misc, u16 size), until its end: first one SIM_RECORD_COUNTS and one
 * SIM_RECORD_LOST, which the tool rewrites in place, so that they are correct even on a full disk; then the records
 * of events, in time order. A killed process may leave a record cut short at the end of the file, which readers
 * ignore. All numbers are in the byte order of the machine.
 *
 * Records of the kernel's types:
 *	COMM	the image's name (misc has PERF_RECORD_MISC_COMM_EXEC), or that of a thread that renamed itself
 *	MMAP2	each executable mapping: of the program at its begin, of dlopen, of code made at run time ("//anon")
 *	FORK	a thread (pid == ppid) or a child process, whose first file begins at the FORK record's time
 *	EXIT	of a thread, and, at last, of the process, unless it was killed or called execve
 *	SAMPLE	as below
 * each but SAMPLE ends with a struct sim_id. The types from SIM_RECORD_COUNTS on are ours.
 *
 * Time is simulated: the instructions that the image has executed, on all its threads, as nanoseconds. It counts also
 * while nothing is collected (SIM_FLAG_STARTS_OFF, --toggle), and begins at 0 in each file.
 */
#ifndef SIMULATOR_STREAM_H
#define SIMULATOR_STREAM_H

#include <stdint.h>

#define SIM_MAGIC   "TLYSIM1" /* 8 bytes, with its NUL. */
#define SIM_VERSION 1u

/* X(number, identifier, name, kind): kind is the word of --events that enables the event. Numbers never change: a new
 * event gets the next one. Instructions are always counted. */
#define SIM_EVENTS(X)                                                              \
	X(0, INSTRUCTIONS, "instructions", INSTRUCTIONS)                           \
	X(1, BRANCHES, "branches", BRANCHES) /* conditional and indirect */        \
	X(2, BRANCH_MISSES, "branch-misses", BRANCHES)                             \
	X(3, CONDITIONAL_BRANCHES, "conditional-branches", BRANCHES)               \
	X(4, CONDITIONAL_BRANCH_MISSES, "conditional-branch-misses", BRANCHES)     \
	X(5, INDIRECT_BRANCHES, "indirect-branches", BRANCHES)                     \
	X(6, INDIRECT_BRANCH_MISSES, "indirect-branch-misses", BRANCHES)           \
	X(7, L1I_LOADS, "L1-icache-loads", CACHES)                                 \
	X(8, L1I_LOAD_MISSES, "L1-icache-load-misses", CACHES)                     \
	X(9, L1D_LOADS, "L1-dcache-loads", CACHES)                                 \
	X(10, L1D_LOAD_MISSES, "L1-dcache-load-misses", CACHES)                    \
	X(11, L1D_STORES, "L1-dcache-stores", CACHES)                              \
	X(12, L1D_STORE_MISSES, "L1-dcache-store-misses", CACHES)                  \
	X(13, L2_LOADS, "l2-loads", CACHES) /* the l2 events are 0 without --l2 */ \
	X(14, L2_LOAD_MISSES, "l2-load-misses", CACHES)                            \
	X(15, L2_STORES, "l2-stores", CACHES)                                      \
	X(16, L2_STORE_MISSES, "l2-store-misses", CACHES)                          \
	X(17, L2_CODE_MISSES, "l2-code-misses", CACHES)                            \
	X(18, LLC_LOADS, "LLC-loads", CACHES)                                      \
	X(19, LLC_LOAD_MISSES, "LLC-load-misses", CACHES)                          \
	X(20, LLC_STORES, "LLC-stores", CACHES)                                    \
	X(21, LLC_STORE_MISSES, "LLC-store-misses", CACHES)                        \
	X(22, LLC_CODE_MISSES, "LLC-code-misses", CACHES)                          \
	X(23, DTLB_LOADS, "dTLB-loads", TLB)                                       \
	X(24, DTLB_LOAD_MISSES, "dTLB-load-misses", TLB)                           \
	X(25, DTLB_STORES, "dTLB-stores", TLB)                                     \
	X(26, DTLB_STORE_MISSES, "dTLB-store-misses", TLB)                         \
	X(27, ITLB_LOADS, "iTLB-loads", TLB)                                       \
	X(28, ITLB_LOAD_MISSES, "iTLB-load-misses", TLB)

enum sim_event {
#define SIM_EVENT_NUMBER(number, identifier, name, kind) SIM_##identifier = (number),
	SIM_EVENTS(SIM_EVENT_NUMBER)
#undef SIM_EVENT_NUMBER
		SIM_EVENT_COUNT
};

/* Bits for the words of --events. */
enum sim_kind {
	SIM_KIND_INSTRUCTIONS = 1,
	SIM_KIND_BRANCHES = 2,
	SIM_KIND_CACHES = 4,
	SIM_KIND_TLB = 8,
};

#define SIM_SAMPLED_MOST     8u
#define SIM_STACK_BYTES_MOST 65000u

enum sim_flag {
	SIM_FLAG_STARTS_OFF = 1, /* --collect-at-start=no */
	SIM_FLAG_TOGGLES = 2, /* --toggle was given */
};

struct sim_sampled {
	uint32_t event; /* A value of enum sim_event. */
	uint32_t reserved;
	uint64_t period;
};

struct sim_header {
	char magic[8];
	uint32_t version;
	/* Size of this header with the text of the model; the offset of the first record. A multiple of 8. */
	uint32_t size;
	uint32_t machine; /* e_machine: 62 x86-64, 183 AArch64 */
	uint32_t pid, ppid;
	uint32_t image; /* The n of the file name. */
	uint32_t flags; /* Bits of enum sim_flag. */
	uint32_t kinds; /* Bits of enum sim_kind, from --events. */
	uint32_t sampled_count;
	/* Largest stack dump of a sample; 0 if samples have neither registers nor a stack dump. */
	uint32_t stack_bytes;
	uint64_t registers; /* Bits of the registers in a sample (sample_regs_user); 0 if stack_bytes is 0. */
	struct sim_sampled sampled[SIM_SAMPLED_MOST];
	/* The text of the model follows, terminated by a NUL and padded with NULs to 8 bytes: words NAME=VALUE,
	 * separated by one space, "valgrind=3.19.0 i1=32768,8,64 d1=... ll=... itlb=... dtlb=... predictor=gshare-16k",
	 * with only the parts that are simulated. */
};

/* Bits of sample_regs_user. Segment registers are omitted. */
#define SIM_REGISTERS_X86_64 UINT64_C(0xff03ff) /* AX BX CX DX SI DI BP SP IP FLAGS R8-R15 */
#define SIM_REGISTERS_ARM64  UINT64_C(0x1ffffffff) /* X0-X28, FP, LR, SP, PC */

/* sample_type of SAMPLE: IP | TID | TIME | PERIOD | REGS_USER | STACK_USER | IDENTIFIER.
 * u64 identifier (index of the sampled event + 1), u64 ip, u32 pid, u32 tid, u64 time, u64 period,
 * u64 abi (0: no registers; 2: 64 bits), u64 registers[] in the order of the bits,
 * u64 size of the stack (0, or a multiple of 8), that many bytes, u64 how many of them are valid (absent if size is 0).
 * ip is the exact instruction. The registers are those at the begin of the straight-line piece for events that
 * instructions cause by being executed, and those at the instruction for misses; their IP is the address they belong
 * to. The stack begins at the registers' SP. */
#define SIM_SAMPLE_TYPE UINT64_C(0x13107)

/* The end of each record except SAMPLE and those with types from SIM_RECORD_COUNTS on (the layout of sample_id_all for
 * SIM_SAMPLE_TYPE). */
struct sim_id {
	uint32_t pid, tid;
	uint64_t time;
	uint64_t identifier; /* Always 0. */
};

enum sim_record {
	SIM_RECORD_COUNTS = 0x7001,
	SIM_RECORD_LOST = 0x7002,
};

/* misc of SIM_RECORD_COUNTS: the image has ended (exit, exec, fatal signal), and nothing after this
 * record is missing. */
#define SIM_COUNTS_FINAL 1u
/* misc of SIM_RECORD_COUNTS: a function that matches pattern i of --toggle has run, for the first SIM_TOGGLES_TOLD
 * ones. */
#define SIM_COUNTS_TOGGLE(i) (2u << (i))
#define SIM_TOGGLES_TOLD     15u

struct sim_count {
	/* A value of enum sim_event. Only the kinds in the header are present, and always instructions. */
	uint64_t event;
	uint64_t value; /* Count since the image began; each record replaces the one before. */
};

/* SIM_RECORD_COUNTS is at most SIM_COUNTS_INSTRUCTIONS instructions old. Its size gives the number of counts. */
struct sim_counts {
	uint32_t type;
	uint16_t misc, size;
	uint64_t time;
	struct sim_count counts[SIM_EVENT_COUNT];
};

#define SIM_COUNTS_INSTRUCTIONS UINT64_C(100000000)

/* SIM_RECORD_LOST: the number of records that could not be written (0 and 0 if none); the counts are correct
 * nevertheless. */
struct sim_lost {
	uint32_t type;
	uint16_t misc, size;
	uint64_t time;
	uint64_t records, samples; /* records includes samples. Both count from the begin of the image. */
};

/* Client requests of programs that run under the tool; include/tally/simulation.h sends them. Their base is the letters
 * T, Y. The first argument of BEGIN and END is an enum sim_scope. Pairs nest; with --collect-at-start=no, the tool
 * collects while a pair is open. Each request returns 1, or 0 outside the tool. */
enum sim_request {
	SIM_REQUEST_BEGIN = 0x54590000,
	SIM_REQUEST_END,
	SIM_REQUEST_ZERO, /* Sets the counts of this image to 0; time continues. */
};

enum sim_scope {
	SIM_SCOPE_PROCESS = 0, /* All threads of the process, whichever sent the request. */
	SIM_SCOPE_THREAD, /* The thread that sent the request. */
};

#endif
