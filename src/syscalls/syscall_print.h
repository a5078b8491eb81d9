/* SPDX-License-Identifier: Apache-2.0 */
/*
 * syscall_print.h - prints a system call's arguments and result as people read them: names of flags, paths, structs,
 * sockets' addresses, errors by name.
 *
 * Whatever a traced program controls is escaped (base/control.h). A pointer whose memory was not copied is printed as an
 * address. Pure, apart from the callbacks. Any thread.
 *
 *	syscall_print_args(&text, &call, &options);     // dfd: CWD, filename: "/etc/hosts", flags: RDONLY|CLOEXEC
 *	syscall_print_result(&text, &call, &options);   // 3, or -1 ENOENT (No such file or directory)
 */
#ifndef SYSCALLS_SYSCALL_PRINT_H
#define SYSCALLS_SYSCALL_PRINT_H

#include "syscalls/syscall_call.h"
#include "syscalls/syscall_names.h"

struct btf_types;

struct syscall_named_file {
	const char *path;
	struct syscall_file file;
};

struct syscall_print_options {
	bool no_names; /* values without "name: " */
	bool with_zeros; /* arguments that are 0 too; without it descriptors are shown, and others left out */
	bool with_prefixes; /* O_RDONLY and PROT_READ, not RDONLY and READ */
	bool no_buffer_quotes; /* bytes of read and write without quotes, as perf does */
	bool force_btf; /* structs by BTF, even those that have a form of their own */
	size_t string_bytes; /* of a buffer that are printed; 0: SYSCALL_STRING_BYTES */
	const struct btf_types *types; /* for structs without a form of their own; NULL: their address */
	/* What the caller knows; each may be NULL, and may return an empty text. */
	struct tally_str (*fd_path)(void *context, uint32_t pid, int fd);
	/* The text up to a NUL in a file, which has to be the one that is described. */
	bool (*file_text)(void *context, uint32_t pid, const struct syscall_named_file *file, char *room, size_t bytes,
		struct tally_str *text);
	struct tally_str (*thread_name)(void *context, uint32_t tid);
	void *context;
};

/* What stands between the parentheses. Nothing for a call that began before the trace. */
void syscall_print_args(struct text *t, const struct syscall_call *call, const struct syscall_print_options *options);
/* What stands behind "= "; "?" if there is none. */
void syscall_print_result(struct text *t, const struct syscall_call *call, const struct syscall_print_options *options);
/* What is no call: "--- SIGSEGV { ... } ---", "+++ killed by SIGABRT (core dumped) +++", "+++ exited with 3 +++". */
void syscall_print_life(struct text *t, const struct syscall_call *call, const struct syscall_print_options *options);
/* ENOENT; NULL: unknown. error is a number of this table, which x86 and arm share. */
const char *syscall_error_name(unsigned error);
/* "No such file or directory", independently of the locale; NULL: unknown. */
const char *syscall_error_text(unsigned error);

#endif
