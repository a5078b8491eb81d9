/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * syscall_record.h - defines the raw data of samples in which src/bpf/syscall_trace.bpf.c reports system calls, and the
 * entries of its maps: what it copies of each call's arguments, and the sums that it counts.
 *
 * The BPF program includes it too, so it has plain types only and includes no other header. syscalls/syscall_call.h
 * reads records from bytes.
 */
#ifndef ABI_SYSCALL_RECORD_H
#define ABI_SYSCALL_RECORD_H

#define SYSCALL_ARGS	 6
#define SYSCALL_NAME	 16 /* TASK_COMM_LEN */
#define SYSCALL_NUMBERS	 1024 /* of one table; those of 32-bit programs follow */
#define SYSCALL_PLANS	 (2 * SYSCALL_NUMBERS + 2) /* the last two: numbers in no table, of 64-bit and 32-bit programs */
#define SYSCALL_CAPTURES 4096 /* bytes that are copied of one call, with the headers of the parts */
#define SYSCALL_PART	 4096 /* bytes of one part */
#define SYSCALL_SIGINFO	 32 /* bytes of a siginfo that are copied */
#define SYSCALL_VECTORS	 8 /* elements of an iovec or of argv that are copied */

/* What a record is about. */
enum syscall_record_kind {
	SYSCALL_RECORD_CALL = 1, /* a call that has returned */
	SYSCALL_RECORD_ENTRY, /* the beginning of one, if such records were asked for */
	SYSCALL_RECORD_EXIT, /* its end; arguments and the parts that were copied at the beginning are in it again */
	SYSCALL_RECORD_NO_RETURN, /* exit, exit_group, or a thread that died in it: with what was known at its beginning */
	SYSCALL_RECORD_SIGNAL, /* no call: a signal (number) reaches the thread; its siginfo is a part of argument 0 */
	SYSCALL_RECORD_ENDED, /* no call: the thread has ended; result: its status, as wait gives it */
};

#define SYSCALL_FLAG_COMPAT    0x01 /* by the numbers and structs of 32-bit programs */
#define SYSCALL_FLAG_NO_ENTRY  0x02 /* its beginning was not seen: there is no duration */
#define SYSCALL_FLAG_TRUNCATED 0x04 /* not all parts found room */
#define SYSCALL_FLAG_LATE_ARGS 0x08 /* with NO_ENTRY: the arguments are those of the registers at the end */
#define SYSCALL_FLAG_IN_TRACE  0x10 /* with NO_ENTRY: it began within the trace; a filter may have answered it */
#define SYSCALL_RECORD_VERSION 1

struct syscall_record { /* followed by the parts; 8-byte aligned, in the byte order of the machine */
	unsigned short version;
	unsigned char kind, flags;
	unsigned int number;
	unsigned int captured; /* bytes of the parts */
	unsigned int unused;
	unsigned long long args[SYSCALL_ARGS];
	long long result;
	unsigned long long duration_ns; /* at the end */
	char name[SYSCALL_NAME]; /* of the thread, with NUL; may be empty */
};

/* A part: bytes that an argument points to. The next part follows at a multiple of 8. */
struct syscall_part {
	unsigned char arg;
	unsigned char item; /* SYSCALL_ITEM_... */
	unsigned char flags; /* SYSCALL_PART_... */
	unsigned char unused;
	unsigned int bytes; /* of it that follow */
};

#define SYSCALL_PART_AT_EXIT   0x01 /* as it was when the call returned */
#define SYSCALL_PART_TRUNCATED 0x02 /* the program's memory has more */
#define SYSCALL_PART_LATE      0x04 /* an input that could be read at the end only */

#define SYSCALL_ITEM_SELF    0 /* the bytes that the argument points to */
#define SYSCALL_ITEM_NAME    1 /* of a msghdr: its address */
#define SYSCALL_ITEM_VECTOR  2 /* of a msghdr: its iovecs */
#define SYSCALL_ITEM_CONTROL 3 /* of a msghdr */
#define SYSCALL_ITEM_FILE    4 /* of a descriptor: struct syscall_file */
#define SYSCALL_ITEM_MAPPED  5 /* of a string whose memory is not there: the same, of the file that is mapped */
#define SYSCALL_ITEM_BUFFER  16 /* + N: buffer N of the iovecs, or string N of an array */

#define SYSCALL_FILE_DELETED 0x01
#define SYSCALL_FILE_NO_PATH 0x02 /* a pipe, a socket, and the like: its name is in no folder */

/* A file, followed by its name and those of the folders up to the root, each with its NUL. */
struct syscall_file {
	unsigned long long inode;
	unsigned long long offset; /* of what is mapped */
	unsigned int device; /* as the kernel numbers it: major << 20 | minor */
	unsigned int system; /* the magic number of the file system */
	unsigned int flags; /* SYSCALL_FILE_... */
	unsigned int unused;
};

/* ---- what to copy: a map from number (+ SYSCALL_NUMBERS of 32-bit programs) to this ---- */

#define SYSCALL_MSGHDR	56 /* bytes, of 64-bit programs */
#define SYSCALL_MMSGHDR 64

enum syscall_copy {
	SYSCALL_COPY_NOTHING,
	SYSCALL_COPY_STRING, /* up to its NUL */
	SYSCALL_COPY_FILE, /* the path of a descriptor */
	SYSCALL_COPY_BYTES, /* unit bytes, times the count */
	SYSCALL_COPY_IOVEC, /* the count's iovecs, and the buffers */
	SYSCALL_COPY_MSGHDR, /* unit: SYSCALL_MSGHDR, or SYSCALL_MMSGHDR of the first one of several */
	SYSCALL_COPY_STRINGS, /* an array of pointers to strings, up to NULL */
};

enum syscall_count {
	SYSCALL_COUNT_ONE,
	SYSCALL_COUNT_ARG, /* argument of */
	SYSCALL_COUNT_RESULT, /* the call's result; of iovecs: as many bytes in the buffers */
	SYSCALL_COUNT_AT, /* the 32-bit number that argument of points to */
	SYSCALL_COUNT_BITS, /* argument of is a number of bits, in words of 64 */
	SYSCALL_COUNT_SELF, /* the 32-bit number at offset of in the struct: its bytes; where that is 0: unit bytes */
};

#define SYSCALL_WHEN_ENTRY 1
#define SYSCALL_WHEN_EXIT  2 /* only if the call has not failed */

struct syscall_plan_arg {
	unsigned char copy, when, count, of;
	unsigned short unit; /* bytes */
	unsigned short most; /* bytes that are copied; of vectors: of each buffer */
};

#define SYSCALL_PLAN_WANTED	0x01
#define SYSCALL_PLAN_NO_RETURN	0x02
#define SYSCALL_PLAN_COPIES	0x04 /* something is to be copied at entry */
#define SYSCALL_PLAN_COPIES_OUT 0x08 /* or at exit */
#define SYSCALL_PLAN_NEW_IMAGE	0x10 /* execve: the arguments are gone if it has succeeded */
#define SYSCALL_PLAN_FORKS	0x20 /* it returns in the child, too */

#define SYSCALL_PLAN_MASK 7 /* for the verifier: an index of args */

struct syscall_plan {
	unsigned int flags;
	unsigned int nested; /* the argument that points to pointers, from 1; 0: none does */
	struct syscall_plan_arg args[SYSCALL_PLAN_MASK + 1]; /* SYSCALL_ARGS are used */
};

/* ---- sums ---- */

enum syscall_sum_by { SYSCALL_SUM_NONE, SYSCALL_SUM_TOTAL, SYSCALL_SUM_THREAD, SYSCALL_SUM_CGROUP };

struct syscall_sum_key {
	unsigned long long owner; /* thread or cgroup; 0: all */
	unsigned int number;
	unsigned short error; /* errno, whose sums have a count only; 0: the call's sum */
	unsigned short is_compat; /* of 32-bit programs */
};

struct syscall_sum { /* on one CPU */
	unsigned long long count, errors;
	unsigned long long
		untimed; /* of count: calls whose beginning was not seen; they are in no other sum of times */
	unsigned long long total_ns, min_ns, max_ns;
	unsigned long long squares_low, squares_high; /* the sum of squares of ns, 128 bits */
};

#endif
