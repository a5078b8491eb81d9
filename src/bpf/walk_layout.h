/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk_layout.h - defines the contents of the maps of the stack walk, which walk_tables.c writes and walk.bpf.h reads.
 * It is compiled for user space and for BPF.
 *
 * A mapping refers to the chunks of its file's table; a chunk contains rows, ascending by address; a row names the rule
 * that is valid from its address to that of the next row. Addresses of rows are link-time addresses minus the table's
 * base, which the mapping's bias includes. Since Linux 6.1, the walk finds a mapping in the kernel's tree, and its
 * table by the file's inode; on older kernels, walk_tables.c writes the mappings of each process (ascending by start,
 * disjoint).
 */
#ifndef BPF_WALK_LAYOUT_H
#define BPF_WALK_LAYOUT_H

#include <linux/types.h>

#include "abi/walked_stack.h"

#define WALK_CHUNK_ROWS	    4096
#define WALK_CHUNKS_A_TABLE 1024 /* Maximum number of chunks of a file's table; a power of two. */
#define WALK_BLOCK_CHUNKS   64 /* Number of chunks of a map that is created on demand, with a size of 2 MiB. */
#define WALK_BLOCKS	    256 /* 256 blocks are enough for the tables of a whole system. */
#define WALK_MAPPINGS	    1024 /* Maximum number of mappings of a process; a power of two. */
#define WALK_SEGMENTS	    4 /* Maximum number of executable segments of a file; linkers usually create one. */
#define WALK_RULES	    65536 /* Maximum number of rules: an element of walk_recent has 16 bits for a rule. */
#define WALK_STARTUP_BYTES  64 /* Size of the code at a program's entry point, which has no caller. */
#define WALK_NO_ADDRESS	    0xffffffffu /* Address of the unused rows after the last one. */
#define WALK_NO_RULE	    0 /* Index of the first rule, which means that no rule is known. */

enum walk_cfa {
	WALK_CFA_NONE, /* No call-frame information exists for this code. */
	WALK_CFA_SP, /* CFA is the stack pointer + cfa_offset. */
	WALK_CFA_FP,
	WALK_CFA_AT_FP, /* CFA is the word at the frame pointer + cfa_offset. */
	WALK_CFA_AT_SP,
	WALK_CFA_R10, /* CFA is r10 + cfa_offset, which is known in the innermost frame only. */
	WALK_CFA_BX, /* CFA is rbx + cfa_offset (x86-64), with which the dynamic linker aligns its stack. */
	WALK_CFA_PLT, /* An entry of the PLT of x86-64, in which the CFA offset changes by a push. */
	WALK_CFA_SIGNAL, /* A signal frame: the kernel has saved the registers on the stack. */
	WALK_CFA_ROOT, /* The outermost frame, which has no caller. */
	WALK_CFA_SWITCH, /* CFA is the frame pointer + cfa_offset and lies on another stack. */
	WALK_CFA_OTHER, /* CFA depends on registers that the walk does not track. */
	/*
	 * Code that switches to another stack without a frame pointer that leads back. These rules apply to callers
	 * only, because an innermost instruction of such code may run before the switch.
	 */
	WALK_CFA_SWITCH_ROOT, /* The code never returns: the outermost frame is here. */
	WALK_CFA_SWITCH_CUT, /* The other stack cannot be found: the walk ends here. */
};

/*
 * Where a caller's register is saved: nowhere, because it is unchanged; at the CFA or the frame pointer, plus an offset
 * of struct walk_rule; or its value is lost.
 */
enum walk_where { WALK_IS_SAME, WALK_IS_AT_CFA, WALK_IS_AT_FP, WALK_IS_LOST };

struct walk_rule {
	__s32 cfa_offset, return_offset, fp_offset, bx_offset;
	__u8 cfa; /* enum walk_cfa */
	/*
	 * Values of enum walk_where; WALK_IS_SAME as return_place means that the return address is in the link
	 * register.
	 */
	__u8 return_place, fp_place, bx_place;
};

struct walk_row {
	__u32 address;
	__u32 rule;
};

struct walk_chunk {
	struct walk_row rows[WALK_CHUNK_ROWS];
};

struct walk_mapping {
	__u64 start, end; /* Run-time addresses. */
	__u64 bias; /* Difference between the run-time address and the row address of an instruction. */
	__u64 entry; /* Run-time address of the program's entry point; 0 if it is not in this mapping. */
	__u32 chunk, chunk_count; /* A chunk_count of 0 means that there is no table, or none yet. */
	__u32 has_table;
	__u32 interpreter; /* Index of the file's interpreter in python_binaries; 0 if it contains none. */
};

/*
 * Identifies a mapped file. The modification time distinguishes it from a later version, and from another file that
 * reuses its inode.
 */
struct walk_file_key { /* All zero for the vdso. */
	__u64 inode;
	__s64 mtime_s;
	__u32 mtime_ns;
	__u32 device; /* Device number in the kernel's internal encoding. */
};

enum walk_file_state {
	WALK_FILE_ASKED, /* walk_tables.c has not answered the request yet. */
	WALK_FILE_HAS_TABLE,
	WALK_FILE_HAS_NONE,
};

struct walk_segment { /* An executable segment of a file. */
	__u64 begin, end; /* File offsets. */
	__u64 shift; /* Difference between a file offset and the row address. */
};

struct walk_file_table { /* Location of the rows of a file's code. */
	__u32 state; /* enum walk_file_state */
	__u32 chunk, chunk_count;
	__u32 segment_count; /* Number of executable segments. */
	__u32 page_shift; /* Binary logarithm of this machine's page size. */
	__u32 interpreter; /* Index of the file's interpreter in python_binaries; 0 if it contains none. */
	__u32 has_entry, zero; /* has_entry is nonzero if entry is valid. */
	__u64 entry; /* Row address of the entry point. */
	struct walk_segment segments[WALK_SEGMENTS];
};

struct walk_process { /* A process, on kernels that do not let programs read mappings. */
	/*
	 * Address of the mm_struct that this entry describes, and the amount of mapped code in it. If either has
	 * changed, the program requests the process again.
	 */
	__u64 mm, exec_vm;
	__u64 asked_exec_vm; /* exec_vm of the last request. */
	/* Member of the mm_struct, which is equal in forked children that have not executed another program. */
	__u64 start_stack;
	__u32 mapping, mapping_count; /* Index of the first mapping in walk_mappings, and number of mappings. */
};

enum walk_miss_kind {
	WALK_MISS_FILE, /* Requests the table of a file. */
	WALK_MISS_PROCESS, /* Requests the mappings of a process. */
};

struct walk_miss { /* A request to walk_tables.c. */
	__u32 kind; /* enum walk_miss_kind */
	__u32 pid;
	__u64 mm, exec_vm, start_stack, pc; /* Used by WALK_MISS_PROCESS only. */
	__u64 start, end; /* Range at which the process has mapped the file. */
	struct walk_file_key file;
};

struct walk_losses {
	__u64 misses; /* Number of requests for which the ring buffer had no room. */
	__u64 files; /* Number of files for which the table of files had no room. */
};

#endif
