/* SPDX-License-Identifier: Apache-2.0 */
/*
 * syscall_print.h - prints a system call's arguments and result in readable form, with names of flags and errors,
 * paths, structs and socket addresses.
 *
 * All text from a traced program is escaped (base/control.h). A pointer to memory that was not copied is printed as an
 * address. The functions have no state apart from the callbacks, and may be called from any thread.
 *
 *	syscall_print_args(&text, &call, &options);     // dfd: CWD, filename: "/etc/hosts", flags: RDONLY|CLOEXEC
 *	syscall_print_result(&text, &call, &options);   // 3, or -1 ENOENT (No such file or directory)
 */
#ifndef SYSCALLS_SYSCALL_PRINT_H
#define SYSCALLS_SYSCALL_PRINT_H

#include "syscalls/syscall_call.h"
#include "syscalls/syscall_names.h"

struct btf_types;

/* The file that was mapped at a string's address, and its path. */
struct syscall_named_file {
	const char *path;
	struct syscall_file file;
};

struct syscall_print_options {
	bool no_names; /* Prints values without "name: ". */
	bool with_zeros; /* Prints all arguments that are 0; otherwise only descriptors and numbers with a name. */
	bool with_prefixes; /* Prints O_RDONLY and PROT_READ instead of RDONLY and READ. */
	bool no_buffer_quotes; /* Prints bytes of read and write without quotes, as perf does. */
	bool force_btf; /* Prints structs by BTF, even those that have a form of their own. */
	size_t string_bytes; /* Maximum number of printed bytes of a buffer; 0 for SYSCALL_STRING_BYTES. */
	/* Types for structs without a form of their own; if NULL, their addresses are printed. */
	const struct btf_types *types;
	/*
	 * Callbacks for data of the caller; each may be NULL. Returned texts are used before the next callback; an
	 * empty text means that nothing is known.
	 */
	struct tally_str (*fd_path)(void *context, uint32_t pid, int fd);
	/*
	 * Reads the string at the position that file describes into room, after checking that the file is the described
	 * one. Returns false if it cannot be read.
	 */
	bool (*file_text)(void *context, uint32_t pid, const struct syscall_named_file *file, char *room, size_t bytes,
		struct tally_str *text);
	struct tally_str (*thread_name)(void *context, uint32_t tid);
	void *context;
};

/*
 * Prints the text between the parentheses; nothing if the arguments are not known, as for a call that began before the
 * trace.
 */
void syscall_print_args(struct text *t, const struct syscall_call *call, const struct syscall_print_options *options);
/* Prints the text after "= "; "?" if there is no result. */
void syscall_print_result(struct text *t, const struct syscall_call *call, const struct syscall_print_options *options);
/*
 * Prints a record of a signal or of the end of a thread: "--- SIGSEGV { ... } ---", "+++ killed by SIGABRT (core
 * dumped) +++", "+++ exited with 3 +++".
 */
void syscall_print_life(struct text *t, const struct syscall_call *call, const struct syscall_print_options *options);
/* Returns a name such as "ENOENT"; NULL if error is unknown. x86 and arm share these error numbers. */
const char *syscall_error_name(unsigned error);
/* Returns a text such as "No such file or directory", independently of the locale; NULL if error is unknown. */
const char *syscall_error_text(unsigned error);

#endif
