/* SPDX-License-Identifier: Apache-2.0 */
/*
 * python_layout.h - defines the data about Python processes that the walk in the kernel (python.bpf.h) and
 * python_frames.c share, and the encoding of a Python frame in a stack. It is compiled for user space and for BPF.
 *
 * In a stack as the BPF program writes it, a Python frame is a number outside of the valid addresses: PYTHON_TAG |
 * ID << PYTHON_ID_SHIFT | INDEX, with the ID of the code object and the index of an instruction in code units.
 * python_frames.c replaces it by an address that has a symbol in a perf map.
 */
#ifndef BPF_PYTHON_LAYOUT_H
#define BPF_PYTHON_LAYOUT_H

#include <linux/types.h>

#define PYTHON_TAG	  0x5000000000000000ULL
#define PYTHON_CODES_MOST 32768 /* Maximum number of code objects of all processes that are known at a time. */
#define PYTHON_TAG_MASK	  0xff00000000000000ULL
#define PYTHON_ID_SHIFT	  20
#define PYTHON_INDEX_MOST 0xfffffu
#define PYTHON_UNKNOWN	  0u /* ID of code objects that could not be read or sent. */
#define PYTHON_TEXT	  256 /* Size of a text, of which the last byte is unused; a power of two. */
#define PYTHON_LINES	  4096 /* Size of a line table, of which the last byte is unused; a power of two. */

struct python_offsets { /* Offsets of fields in the interpreter's structs (see python_versions.c). */
	__u16 runtime_interpreters, runtime_current; /* First interpreter, and thread that holds the GIL. */
	__u16 interpreter_threads; /* First thread. */
	__u16 thread_next, thread_cframe, thread_id, thread_native_id;
	__u16 cframe_frame, cframe_previous;
	__u16 frame_code, frame_previous, frame_instruction, frame_is_entry;
	__u16 code_instructions, code_first_line, code_file, code_name, code_lines;
	/* text_ascii and text_other are the offsets of the characters. */
	__u16 text_length, text_state, text_ascii, text_other;
	__u16 bytes_size, bytes_data;
};

#define PYTHON_BINARIES 64 /* Number of elements of python_binaries, of which the first one is unused. */

struct python_binary { /* A file that contains an interpreter. */
	__u64 eval_start, eval_end; /* Row addresses (walk_layout.h) of the function that runs bytecode. */
	__u64 runtime; /* Row address of _PyRuntime. */
	struct python_offsets at;
};

struct python_code_key {
	__u64 code; /* Address of the code object. */
	__u32 generation, zero; /* generation is that of struct python_walk. */
};

struct python_known_code {
	__u64 name, lines; /* Addresses that distinguish the code object from a later one at the same address. */
	__u32 id, zero;
};

struct python_text { /* The first characters of a str, of 1, 2 or 4 bytes each. */
	__u32 length; /* Number of characters, at most PYTHON_TEXT, of which data may contain only a part. */
	__u8 bytes_each, zero[3];
	__u8 data[PYTHON_TEXT];
};

struct python_code { /* A code object that is seen for the first time. */
	__u32 id, pid, generation; /* pid and generation are those of the process in which it was seen. */
	__s32 first_line;
	__u32 lines_size; /* Size of the complete table; lines contains at most its first PYTHON_LINES - 1 bytes. */
	struct python_text name, file;
	__u8 lines[PYTHON_LINES];
};

/* Next ID of a CPU. Each CPU has its own series of IDs, because atomic operations with a result require Linux 5.12. */
struct python_ids {
	__u32 next, step;
};
/* Kinds of programs. Those of one kind do not interrupt each other, so they share the series of a CPU. */
enum { PYTHON_IDS_SAMPLES, PYTHON_IDS_WAITS, PYTHON_IDS };

struct python_losses {
	__u64 threads; /* Number of stacks with Python code of threads that are not in the interpreter's list. */
	/* Number of frames that could not be read; the remaining Python frames of that call are missing. */
	__u64 frames;
	__u64 codes; /* Number of code objects that could not be read or for which the ring buffer had no room. */
};

#endif
