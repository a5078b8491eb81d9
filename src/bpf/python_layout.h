/* SPDX-License-Identifier: Apache-2.0 */
/*
 * python_layout.h - defines what the walk in the kernel (python.bpf.h) and python_frames.c share about processes that
 * run Python, and the form of a Python frame in a stack. Compiled for both.
 *
 * In a stack as the program writes it, a Python frame is a number that no address is: which code object it runs, and
 * the instruction in it. python_frames.c makes an address of it, which a map of symbols names.
 */
#ifndef BPF_PYTHON_LAYOUT_H
#define BPF_PYTHON_LAYOUT_H

#include <linux/types.h>

#define PYTHON_TAG	  0x5000000000000000ULL
#define PYTHON_CODES_MOST 32768 /* code objects of all processes that are known at a time */
#define PYTHON_TAG_MASK	  0xff00000000000000ULL
#define PYTHON_ID_SHIFT	  20
#define PYTHON_INDEX_MOST 0xfffffu
#define PYTHON_UNKNOWN	  0u /* ID of code objects that could not be read, or told */
#define PYTHON_TEXT	  256 /* one byte more than is kept of a text; a power of two */
#define PYTHON_LINES	  4096 /* the same of a table of lines */

struct python_offsets { /* of fields in the interpreter's structs: see python_versions.c */
	__u16 runtime_interpreters, runtime_current; /* the first interpreter; the thread that holds the lock */
	__u16 interpreter_threads;
	__u16 thread_next, thread_cframe, thread_id, thread_native_id;
	__u16 cframe_frame, cframe_previous;
	__u16 frame_code, frame_previous, frame_instruction, frame_is_entry;
	__u16 code_instructions, code_first_line, code_file, code_name, code_lines;
	__u16 text_length, text_state, text_ascii, text_other; /* the last two: where its characters begin */
	__u16 bytes_size, bytes_data;
};

#define PYTHON_BINARIES 64

struct python_binary { /* a file that has the interpreter */
	__u64 eval_start, eval_end; /* the function that runs instructions, in addresses of rows (walk_layout.h) */
	__u64 runtime; /* _PyRuntime */
	struct python_offsets at;
};

struct python_code_key {
	__u64 code; /* address of the object */
	__u32 generation, zero;
};

struct python_known_code {
	__u64 name, lines; /* addresses: another object at the same address has others */
	__u32 id, zero;
};

struct python_text { /* a str: its first characters, of 1, 2 or 4 bytes each */
	__u32 length;
	__u8 bytes_each, zero[3];
	__u8 data[PYTHON_TEXT];
};

struct python_code { /* a code object that is seen for the first time */
	__u32 id, pid, generation;
	__s32 first_line;
	__u32 lines_size; /* more than is kept: the rest is cut */
	struct python_text name, file;
	__u8 lines[PYTHON_LINES];
};

/* Where a CPU is in the numbers that are its own: none is used twice, without atomic operations with a result, which
 * Linux before 5.12 lacks. */
struct python_ids {
	__u32 next, step;
};
enum { PYTHON_IDS_SAMPLES, PYTHON_IDS_WAITS, PYTHON_IDS }; /* programs of one kind do not interrupt each other */

struct python_losses {
	__u64 threads; /* stacks with Python code of threads that the interpreter's list did not have */
	__u64 frames; /* that could not be read: the rest of the run is missing */
	__u64 codes; /* code objects that could not be read, or the ring had no room for */
};

#endif
