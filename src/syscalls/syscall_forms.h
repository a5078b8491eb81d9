/* SPDX-License-Identifier: Apache-2.0 */
/*
 * syscall_forms.h - defines the types of the arguments and results of system calls in constant tables, and finds the
 * form of a call by its number.
 *
 *	const struct syscall_form *form = syscall_form_find(SYSCALLS_X86_64, 257);   // openat
 */
#ifndef SYSCALLS_SYSCALL_FORMS_H
#define SYSCALLS_SYSCALL_FORMS_H

#include "syscalls/syscall_call.h"
#include "syscalls/syscall_words.h"

#define SYSCALL_STRING_BYTES 32 /* Default number of bytes of a buffer that are copied and printed. */

/* Types of arguments: how an argument is printed. `of` is a member of struct syscall_arg. */
enum syscall_kind {
	KIND_NONE, /* There is no such argument. */
	KIND_INT,
	KIND_UINT,
	KIND_LONG,
	KIND_ULONG,
	KIND_HEX,
	KIND_ADDRESS,
	KIND_FD,
	KIND_DIRFD,
	KIND_FD_IF_FILE, /* `of` is the index of mmap's argument with flags. */
	KIND_PID,
	KIND_UID,
	KIND_DEV,
	KIND_SIGNAL,
	KIND_MODE,
	KIND_MODE_OPEN, /* `of` is the index of open's argument with flags. */
	KIND_MODE_TYPE,
	KIND_OPEN,
	KIND_ACCESS,
	KIND_FLAGS,
	KIND_ENUM,
	KIND_CLOCK,
	KIND_CLONE,
	KIND_FUTEX,
	KIND_FUTEX_TIME, /* `of` is the index of the operation. */
	KIND_FUTEX_MORE, /* The last two arguments of futex; `of` is the argument's own index. */
	KIND_FCNTL, /* `of` is the index of the command. */
	KIND_IOCTL,
	KIND_PRCTL_MORE, /* The third to fifth argument of prctl; `of` is that number, 3 to 5. */
	KIND_FSCONFIG, /* `of` is the index of the command. */
	KIND_SCHED,
	KIND_IPC_FLAGS,
	KIND_QUOTA,
	KIND_SOCK_TYPE,
	KIND_SOCK_PROTOCOL, /* `of` is the index of the family. */
	KIND_SOCKOPT, /* `of` is the index of the level. */
	/* The kinds below are pointers to memory. */
	KIND_PATH,
	KIND_STRING,
	KIND_IOCTL_ARG,
	KIND_PRCTL, /* The second argument of prctl: a number, or a name. */
	KIND_BUFFER,
	KIND_STRINGS,
	KIND_IOVEC,
	KIND_MSGHDR,
	KIND_MMSGHDR, /* The first of several mmsghdr. */
	KIND_FD_PAIR,
	KIND_INT_PTR,
	KIND_LONG_PTR,
	KIND_UINTS,
	KIND_MASK, /* A set of CPUs. */
	KIND_FDSET,
	KIND_POLLFD,
	KIND_EPOLL_EVENT,
	KIND_SEMBUF,
	KIND_SOCKADDR,
	KIND_SOCKOPT_VALUE,
	KIND_TIMESPEC,
	KIND_TIMESPECS, /* Two timespecs. */
	KIND_TIMESPEC64, /* TIMESPEC64, TIMESPECS64 and ITIMERSPEC64 have 64-bit members in 32-bit programs, too. */
	KIND_TIMESPECS64,
	KIND_ITIMERSPEC64,
	KIND_TIMEVAL,
	KIND_TIMEVALS,
	KIND_ITIMERVAL,
	KIND_ITIMERSPEC,
	KIND_UTIMBUF,
	KIND_SIGSET,
	KIND_SIGACTION,
	KIND_SIGINFO,
	KIND_SIGALTSTACK,
	KIND_SCHED_PARAM,
	KIND_CLONE_ARGS,
	KIND_OPEN_HOW,
	KIND_STAT,
	KIND_STATX,
	KIND_STATFS,
	KIND_UTSNAME,
	KIND_SYSINFO,
	KIND_TMS,
	KIND_RLIMIT,
	KIND_RLIMIT64,
	KIND_RUSAGE,
	KIND_WAIT_STATUS,
	KIND_STRUCT, /* A struct that is printed by BTF, of the type that syscall_arg.type names. */
	KIND_COUNT
};

enum syscall_result {
	RESULT_LONG,
	RESULT_INT, /* A count; 0 means that the timeout has expired. */
	RESULT_FD,
	RESULT_ADDRESS,
	RESULT_PID,
	RESULT_MODE,
	RESULT_HEX,
	RESULT_FCNTL,
	RESULT_NEVER /* The call does not return. */
};

struct syscall_arg {
	const char *name;
	/* Names of values for KIND_FLAGS and KIND_ENUM; NULL for other kinds. */
	const struct syscall_words *words;
	const char *type; /* Name of the struct for KIND_STRUCT; NULL for other kinds. */
	/*
	 * kind is an enum syscall_kind. `when` and count say when memory is copied (SYSCALL_WHEN_...), and how many
	 * units of it (SYSCALL_COUNT_..., abi/syscall_record.h). `of` is the index of another argument, or a number,
	 * that kind or count refers to.
	 */
	uint8_t kind, when, count, of;
};

struct syscall_form {
	const char *name;
	enum syscall_result result;
	struct syscall_arg args[SYSCALL_ARGS];
};

struct syscall_form_list {
	const struct syscall_form *forms;
	size_t count;
};

#define SYSCALL_IN    SYSCALL_WHEN_ENTRY
#define SYSCALL_OUT   SYSCALL_WHEN_EXIT
#define SYSCALL_INOUT (SYSCALL_WHEN_ENTRY | SYSCALL_WHEN_EXIT)

/*
 * The macros below define arguments in the tables. IN, OUT and IO are pointers to memory that is copied at the entry,
 * at the exit or at both. With IN_OF and IO_OF, the argument `of` is the number of units; with OUT_OF and OUT_RESULT,
 * the result is; with OUT_AT, the argument `of` points to the number.
 */
#define NONE                                         \
	{                                            \
		NULL, NULL, NULL, KIND_NONE, 0, 0, 0 \
	}
#define ARG(name, kind)                                \
	{                                              \
		name, NULL, NULL, KIND_##kind, 0, 0, 0 \
	}
#define ARG_OF(name, kind, of)                          \
	{                                               \
		name, NULL, NULL, KIND_##kind, 0, 0, of \
	}
#define FLAGS(name, words)                                              \
	{                                                               \
		name, &syscall_words_##words, NULL, KIND_FLAGS, 0, 0, 0 \
	}
#define ENUM(name, words)                                              \
	{                                                              \
		name, &syscall_words_##words, NULL, KIND_ENUM, 0, 0, 0 \
	}
#define IN(name, kind)                                                          \
	{                                                                       \
		name, NULL, NULL, KIND_##kind, SYSCALL_IN, SYSCALL_COUNT_ONE, 0 \
	}
#define OUT(name, kind)                                                          \
	{                                                                        \
		name, NULL, NULL, KIND_##kind, SYSCALL_OUT, SYSCALL_COUNT_ONE, 0 \
	}
#define IN_OF(name, kind, of)                                                    \
	{                                                                        \
		name, NULL, NULL, KIND_##kind, SYSCALL_IN, SYSCALL_COUNT_ARG, of \
	}
#define IO(name, kind)                                                             \
	{                                                                          \
		name, NULL, NULL, KIND_##kind, SYSCALL_INOUT, SYSCALL_COUNT_ONE, 0 \
	}
#define OUT_OF(name, kind, of)                                                       \
	{                                                                            \
		name, NULL, NULL, KIND_##kind, SYSCALL_OUT, SYSCALL_COUNT_RESULT, of \
	}
#define IO_OF(name, kind, of)                                                       \
	{                                                                           \
		name, NULL, NULL, KIND_##kind, SYSCALL_INOUT, SYSCALL_COUNT_ARG, of \
	}
#define OUT_RESULT(name, kind)                                                      \
	{                                                                           \
		name, NULL, NULL, KIND_##kind, SYSCALL_OUT, SYSCALL_COUNT_RESULT, 0 \
	}
#define OUT_AT(name, kind, of)                                                   \
	{                                                                        \
		name, NULL, NULL, KIND_##kind, SYSCALL_OUT, SYSCALL_COUNT_AT, of \
	}
#define STRUCT_IN(name, type)                                                   \
	{                                                                       \
		name, NULL, type, KIND_STRUCT, SYSCALL_IN, SYSCALL_COUNT_ONE, 0 \
	}
#define STRUCT_OUT(name, type)                                                   \
	{                                                                        \
		name, NULL, type, KIND_STRUCT, SYSCALL_OUT, SYSCALL_COUNT_ONE, 0 \
	}
/* `of` is the index of the argument with the struct's size. */
#define STRUCT_SIZED(name, type, of)                                             \
	{                                                                        \
		name, NULL, type, KIND_STRUCT, SYSCALL_IN, SYSCALL_COUNT_ARG, of \
	}
#define STRUCT_OUT_SIZED(name, type, of)                                          \
	{                                                                         \
		name, NULL, type, KIND_STRUCT, SYSCALL_OUT, SYSCALL_COUNT_ARG, of \
	}
/* `at` is the offset of the struct's size in the struct. */
#define STRUCT_OWN_SIZE(name, type, at)                                           \
	{                                                                         \
		name, NULL, type, KIND_STRUCT, SYSCALL_IN, SYSCALL_COUNT_SELF, at \
	}
#define STRUCT_IO(name, type)                                                      \
	{                                                                          \
		name, NULL, type, KIND_STRUCT, SYSCALL_INOUT, SYSCALL_COUNT_ONE, 0 \
	}

extern const struct syscall_form_list syscall_forms_files, syscall_forms_sockets, syscall_forms_process,
	syscall_forms_memory, syscall_forms_i386, syscall_forms_arm64;

/* Returns NULL if the call is not known; its arguments are then printed as numbers. */
const struct syscall_form *syscall_form_find(enum syscall_abi abi, uint32_t number);
/*
 * Returns the size in bytes of a kind's struct in programs of this table; 0 if it has no fixed size, or other fields
 * than are known here.
 */
unsigned syscall_kind_bytes(enum syscall_kind kind, enum syscall_abi abi);

#endif
