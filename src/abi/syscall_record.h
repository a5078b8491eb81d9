/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * syscall_record.h - defines the raw data of samples by which src/bpf/syscall_trace.bpf.c reports system calls, and the
 * entries of its maps: plans that say which argument data it copies, and sums.
 *
 * The BPF program includes it, too, so it uses only plain types and includes no other header. syscalls/syscall_call.h
 * decodes records.
 */
#ifndef ABI_SYSCALL_RECORD_H
#define ABI_SYSCALL_RECORD_H

#define SYSCALL_ARGS	 6
#define SYSCALL_NAME	 16 /* TASK_COMM_LEN of the kernel. */
#define SYSCALL_NUMBERS	 1024 /* Entries for 64-bit programs; as many for 32-bit programs follow. */
#define SYSCALL_PLANS	 (2 * SYSCALL_NUMBERS + 2) /* The last two are for unknown system calls. */
#define SYSCALL_CAPTURES 4096 /* Maximum number of bytes copied per call, including headers of parts. */
#define SYSCALL_PART	 4096 /* Maximum size of a part. */
#define SYSCALL_SIGINFO	 32 /* Number of bytes copied of a siginfo. */
#define SYSCALL_VECTORS	 8 /* Maximum number of elements copied of an iovec or of argv. */

/* Kinds of records. */
enum syscall_record_kind {
	SYSCALL_RECORD_CALL = 1, /* A call that has returned. */
	SYSCALL_RECORD_ENTRY, /* The entry of a call, if such records were requested. */
	SYSCALL_RECORD_EXIT, /* The exit of a call; it repeats the arguments and the parts copied at entry. */
	/* A call that does not return: exit, exit_group, or the thread died in it. It has the data of the entry. */
	SYSCALL_RECORD_NO_RETURN,
	/* Not a call: the thread receives signal number. A part of argument 0 has its siginfo. */
	SYSCALL_RECORD_SIGNAL,
	SYSCALL_RECORD_ENDED, /* Not a call: the thread has ended. result is its status as in wait(2). */
};

#define SYSCALL_FLAG_COMPAT    0x01 /* The call uses the numbers and structures of 32-bit programs. */
#define SYSCALL_FLAG_NO_ENTRY  0x02 /* The entry was not seen, so there is no duration. */
#define SYSCALL_FLAG_TRUNCATED 0x04 /* Some parts did not fit. */
#define SYSCALL_FLAG_LATE_ARGS 0x08 /* With NO_ENTRY: the arguments are those in the registers at exit. */
#define SYSCALL_FLAG_IN_TRACE  0x10 /* With NO_ENTRY: the call began during the trace; seccomp may have denied it. */
#define SYSCALL_RECORD_VERSION 1

struct syscall_record { /* Followed by the parts; aligned to 8 bytes, in the byte order of the machine. */
	unsigned short version;
	unsigned char kind, flags;
	unsigned int number;
	unsigned int captured; /* Total size of the parts. */
	unsigned int unused;
	unsigned long long args[SYSCALL_ARGS];
	long long result;
	unsigned long long duration_ns; /* Set at exit. */
	char name[SYSCALL_NAME]; /* Name of the thread with its NUL; may be empty. */
};

/* The header of a part, which has data that an argument points to. Parts are aligned to 8 bytes. */
struct syscall_part {
	unsigned char arg;
	unsigned char item; /* One of SYSCALL_ITEM_... */
	unsigned char flags; /* SYSCALL_PART_... bits. */
	unsigned char unused;
	unsigned int bytes; /* Size of the data that follows. */
};

#define SYSCALL_PART_AT_EXIT   0x01 /* Data at the return of the call. */
#define SYSCALL_PART_TRUNCATED 0x02 /* The data in the memory of the program is longer. */
#define SYSCALL_PART_LATE      0x04 /* An input that could not be read before the exit. */

#define SYSCALL_ITEM_SELF    0 /* The data that the argument points to. */
#define SYSCALL_ITEM_NAME    1 /* The address of a msghdr. */
#define SYSCALL_ITEM_VECTOR  2 /* The iovecs of a msghdr. */
#define SYSCALL_ITEM_CONTROL 3 /* The control data of a msghdr. */
#define SYSCALL_ITEM_FILE    4 /* The file of a descriptor: a struct syscall_file. */
#define SYSCALL_ITEM_MAPPED  5 /* For a string not in memory: a syscall_file of the file mapped there. */
#define SYSCALL_ITEM_BUFFER  16 /* Plus N: buffer N of the iovecs, or string N of an array. */

#define SYSCALL_FILE_DELETED 0x01
#define SYSCALL_FILE_NO_PATH 0x02 /* The file has no path, as pipes and sockets. */

/* A file, followed by its name and those of its parent directories up to the root, each with a NUL. */
struct syscall_file {
	unsigned long long inode;
	unsigned long long offset; /* Offset of the mapped data. */
	unsigned int device; /* In the kernel's encoding: major << 20 | minor. */
	unsigned int system; /* Magic number of the file system. */
	unsigned int flags; /* SYSCALL_FILE_... bits. */
	unsigned int unused;
};

/* ---- plans: a map from system call number (plus SYSCALL_NUMBERS for 32-bit programs) to the data to copy ---- */

#define SYSCALL_MSGHDR	56 /* Size of a msghdr in 64-bit programs. */
#define SYSCALL_MMSGHDR 64

enum syscall_copy {
	SYSCALL_COPY_NOTHING,
	SYSCALL_COPY_STRING, /* A string, up to its NUL. */
	SYSCALL_COPY_FILE, /* The path of a descriptor. */
	SYSCALL_COPY_BYTES, /* unit x count bytes. */
	SYSCALL_COPY_IOVEC, /* count iovecs and their buffers. */
	SYSCALL_COPY_MSGHDR, /* A msghdr, or the first of several mmsghdr; unit is SYSCALL_MSGHDR or SYSCALL_MMSGHDR. */
	SYSCALL_COPY_STRINGS, /* An array of pointers to strings, up to NULL. */
};

enum syscall_count {
	SYSCALL_COUNT_ONE,
	SYSCALL_COUNT_ARG, /* The argument with the index `of`. */
	SYSCALL_COUNT_RESULT, /* The result of the call; for iovecs, the total number of bytes in the buffers. */
	SYSCALL_COUNT_AT, /* The 32-bit number to which the argument `of` points. */
	SYSCALL_COUNT_BITS, /* The number of 64-bit words that hold as many bits as the argument `of` says. */
	/* The structure contains its size in bytes, as a 32-bit number at offset `of`; if that is 0, it is unit. */
	SYSCALL_COUNT_SELF,
};

#define SYSCALL_WHEN_ENTRY 1
#define SYSCALL_WHEN_EXIT  2 /* Only if the call has not failed. */

struct syscall_plan_arg {
	unsigned char copy, when, count, of;
	unsigned short unit; /* Size of a unit in bytes. */
	unsigned short most; /* Maximum number of bytes to copy; for iovecs and arrays of strings, of each buffer. */
};

#define SYSCALL_PLAN_WANTED	0x01
#define SYSCALL_PLAN_NO_RETURN	0x02
#define SYSCALL_PLAN_COPIES	0x04 /* Data is copied at entry. */
#define SYSCALL_PLAN_COPIES_OUT 0x08 /* Data is copied at exit. */
#define SYSCALL_PLAN_NEW_IMAGE	0x10 /* execve: the memory of the arguments is gone after success. */
#define SYSCALL_PLAN_FORKS	0x20 /* The call also returns in the child. */

#define SYSCALL_PLAN_MASK 7 /* Mask for indexes of args, which the verifier needs. */

struct syscall_plan {
	unsigned int flags;
	unsigned int nested; /* Number of the argument that points to pointers, from 1; 0 for none. */
	struct syscall_plan_arg args[SYSCALL_PLAN_MASK + 1]; /* Only SYSCALL_ARGS are used. */
};

/* ---- sums ---- */

enum syscall_sum_by { SYSCALL_SUM_NONE, SYSCALL_SUM_TOTAL, SYSCALL_SUM_THREAD, SYSCALL_SUM_CGROUP };

struct syscall_sum_key {
	unsigned long long owner; /* Thread or cgroup; 0 for all. */
	unsigned int number;
	unsigned short error; /* errno for sums of errors, which have only a count; 0 for the sum of the call. */
	unsigned short is_compat; /* The call is of a 32-bit program. */
};

struct syscall_sum { /* Per-CPU sum. */
	unsigned long long count, errors;
	/* Number of those calls in count whose entry was not seen; the times do not include them. */
	unsigned long long untimed;
	unsigned long long total_ns, min_ns, max_ns;
	unsigned long long squares_low, squares_high; /* Sum of the squares of the times in ns, 128 bits. */
};

#endif
