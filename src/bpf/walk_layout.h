/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk_layout.h - defines the contents of the maps of the stack walk, which walk_tables.c writes and walk.bpf.h reads.
 * Compiled for both.
 *
 * A mapping has the chunks of its file's table; a chunk has rows, by address; a row names the rule that holds from its
 * address to the next row's. Addresses of rows are link-time ones, less the table's base, which is in the mapping's
 * bias. From Linux 6.1 on the walk finds a mapping in the kernel's tree, and its table by the file's inode; before,
 * walk_tables.c fills in the mappings of each process (by start, disjoint).
 */
#ifndef BPF_WALK_LAYOUT_H
#define BPF_WALK_LAYOUT_H

#include <linux/types.h>

#include "abi/walked_stack.h"

#define WALK_CHUNK_ROWS	    4096
#define WALK_CHUNKS_A_TABLE 1024
#define WALK_BLOCK_CHUNKS   64 /* of a map that is made when it is needed: 2 MiB */
#define WALK_BLOCKS	    256 /* so that the tables of a whole system have room */
#define WALK_MAPPINGS	    1024 /* of a process; a power of two */
#define WALK_SEGMENTS	    4 /* of a file: linkers make one */
#define WALK_RULES	    65536 /* a row in walk_recent has 16 bits for one, and 15 for a chunk */
#define WALK_STARTUP_BYTES  64 /* of code at the entry point of a program, which nobody has called */
#define WALK_NO_ADDRESS	    0xffffffffu /* of a row behind the last one */
#define WALK_NO_RULE	    0 /* the first rule says that there is no rule */

enum walk_cfa {
	WALK_CFA_NONE, /* nothing says how to leave this code */
	WALK_CFA_SP, /* stack pointer + cfa_offset */
	WALK_CFA_FP,
	WALK_CFA_AT_FP, /* the word there */
	WALK_CFA_AT_SP,
	WALK_CFA_R10, /* of the innermost frame only */
	WALK_CFA_BX, /* x86-64's rbx, with which the dynamic linker aligns its stack */
	WALK_CFA_PLT, /* an entry of x86-64's PLT, which pushes half way */
	WALK_CFA_SIGNAL, /* registers lie in what the kernel put on the stack */
	WALK_CFA_ROOT, /* nobody has called it */
	WALK_CFA_SWITCH, /* frame pointer + cfa_offset, which is on another stack */
	WALK_CFA_OTHER, /* by registers that the walk does not follow */
	/* Code that changes to another stack, and has no frame pointer that leads back. These hold for callers; an innermost
	 * instruction of such code may run before the change. */
	WALK_CFA_SWITCH_ROOT, /* it never returns: the stack begins here */
	WALK_CFA_SWITCH_CUT,
};

enum walk_where { WALK_IS_SAME, WALK_IS_AT_CFA, WALK_IS_AT_FP, WALK_IS_LOST };

struct walk_rule {
	__s32 cfa_offset, return_offset, fp_offset, bx_offset;
	__u8 cfa; /* enum walk_cfa */
	/* enum walk_where; WALK_IS_SAME of the return address: in the link register */
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
	__u64 start, end; /* run-time */
	__u64 bias; /* run-time address less a row's */
	__u64 entry; /* where the program begins; 0: not here */
	__u32 chunk, chunk_count; /* 0: no table, or none yet */
	__u32 has_table;
	__u32 interpreter; /* number of the file's interpreter, in python_binaries; 0: it has none */
};

/* Which file is mapped. A file that was written to, or removed and its inode used again, has another time. */
struct walk_file_key { /* all zero: the vdso */
	__u64 inode;
	__s64 mtime_s;
	__u32 mtime_ns;
	__u32 device; /* as the kernel numbers them */
};

enum walk_file_state {
	WALK_FILE_ASKED, /* walk_tables.c has not answered yet */
	WALK_FILE_HAS_TABLE,
	WALK_FILE_HAS_NONE,
};

struct walk_segment { /* of a file */
	__u64 begin, end; /* offsets */
	__u64 shift; /* from an offset to the address of a row */
};

struct walk_file_table { /* where the rows of a file's code are */
	__u32 state; /* enum walk_file_state */
	__u32 chunk, chunk_count;
	__u32 segment_count; /* that are code */
	__u32 page_shift; /* of this machine */
	__u32 interpreter; /* as in struct walk_mapping */
	__u32 has_entry, zero;
	__u64 entry; /* as rows have addresses */
	struct walk_segment segments[WALK_SEGMENTS];
};

struct walk_process { /* where the kernel's own mappings cannot be read */
	/* The address space that this describes, and the amount of code that it had mapped. If either has changed, the
	 * program requests the process anew. */
	__u64 mm, exec_vm;
	__u64 asked_exec_vm; /* of the last question */
	__u64 start_stack; /* children that were forked and run no program of their own have the same */
	__u32 mapping, mapping_count; /* the first one, in walk_mappings */
};

enum walk_miss_kind {
	WALK_MISS_FILE, /* which table has this file? */
	WALK_MISS_PROCESS, /* what has this process mapped? */
};

struct walk_miss { /* a question to walk_tables.c */
	__u32 kind; /* enum walk_miss_kind */
	__u32 pid;
	__u64 mm, exec_vm, start_stack, pc; /* of a process */
	__u64 start, end; /* where the process has mapped the file */
	struct walk_file_key file;
};

struct walk_losses {
	__u64 misses; /* questions that had no room */
	__u64 files; /* that had no room in the table of files */
};

#endif
