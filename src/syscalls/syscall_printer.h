/* SPDX-License-Identifier: Apache-2.0 */
/*
 * syscall_printer.h - defines the state that the printers of arguments share, and the syntax of structs and strings.
 * Private to src/syscalls.
 */
#ifndef SYSCALLS_SYSCALL_PRINTER_H
#define SYSCALLS_SYSCALL_PRINTER_H

#include "syscalls/syscall_forms.h"
#include "syscalls/syscall_print.h"

struct syscall_printer {
	struct text *t;
	const struct syscall_call *call;
	const struct syscall_print_options *options;
	unsigned word; /* Size of a pointer in the program, in bytes. */
	unsigned arg; /* Index of the argument that is being printed. */
	bool of_arg; /* True while the argument itself is printed, not the memory that it points to. */
};

/* State while a struct is printed: "{ .a: 1, .b: 2 }", or "{1, 2}" without names. */
struct syscall_braces {
	struct syscall_printer *p;
	bool has_fields;
};

/* ---- print_memory.c ---- */

void syscall_put_address(struct text *t, uint64_t address);
/* Prints at most `most` bytes in quotes with C escapes, and "..." if there are more. */
void syscall_put_quoted(struct text *t, struct tally_bytes bytes, size_t most, bool is_truncated);
/* Returns the maximum number of printed bytes of a buffer (--string-limit). */
size_t syscall_string_bytes(const struct syscall_printer *p);
/* Prints a copied string up to its NUL. */
void syscall_put_string(struct text *t, const struct syscall_copied *copied);
struct syscall_braces syscall_braces_begin(struct syscall_printer *p);
/* Must be called before each field's value. */
void syscall_braces_field(struct syscall_braces *braces, const char *name);
/* more means that some fields are not printed. */
void syscall_braces_end(struct syscall_braces *braces, bool more);
/* Both read an integer of `size` bytes at an offset, and return 0 if it reaches beyond the end of the bytes. */
uint64_t syscall_take(struct tally_bytes bytes, size_t offset, unsigned size);
int64_t syscall_take_signed(struct tally_bytes bytes, size_t offset, unsigned size);
/* Prints memory of the kinds in print_memory.c: strings, buffers, vectors. */
void syscall_print_buffer(struct syscall_printer *p, const struct syscall_arg *arg, unsigned index, bool at_exit,
	const struct syscall_copied *copied);

/* ---- print_words.c ---- */

/*
 * Prints an argument that is a number, with its names if it has some. Returns false and prints nothing if its kind is
 * not a number.
 */
bool syscall_print_word(struct syscall_printer *p, const struct syscall_arg *arg, uint64_t value);
void syscall_put_words(struct syscall_printer *p, const struct syscall_words *words, uint64_t value);
void syscall_put_mode(struct text *t, uint64_t mode, bool with_type);
void syscall_put_open_flags(struct syscall_printer *p, uint64_t flags);
void syscall_put_clone_flags(struct syscall_printer *p, uint64_t flags, bool with_signal);
void syscall_put_signal(struct syscall_printer *p, int64_t number);
void syscall_put_pid(struct syscall_printer *p, int32_t pid);
bool syscall_futex_has_time(uint64_t op);
/* Returns true if the kernel uses the argument with this index (3 to 5) for the operation. */
bool syscall_futex_has_arg(uint64_t op, unsigned arg);
bool syscall_fcntl_has_no_arg(uint64_t command);
bool syscall_prctl_has_name(uint64_t option);
/* Returns how many arguments of prctl the kernel uses for this option, including the option; all if it is not known. */
unsigned syscall_prctl_args(uint64_t option);
void syscall_put_prctl(struct syscall_printer *p, uint64_t value);

/* ---- print_files.c ---- */

/* Prints a descriptor with its path as of the time of the call. */
void syscall_put_fd(struct syscall_printer *p, int fd);
/*
 * Finds the copied description of a file, an item of an argument, and the names of its path. Returns false if there is
 * none.
 */
bool syscall_file_find(const struct syscall_call *call, unsigned arg, unsigned item, struct syscall_file *file,
	struct tally_str *names);
void syscall_file_print(struct text *t, const struct syscall_file *file, struct tally_str names);
/*
 * Prints a string that was not present in memory, from the file that was mapped there. Returns false if it cannot be
 * read.
 */
bool syscall_put_mapped(struct syscall_printer *p, unsigned index);

/* ---- print_structs.c ---- */

void syscall_print_struct(struct syscall_printer *p, const struct syscall_arg *arg, struct syscall_copied copied);

/* Prints the memory that a known ioctl command points to. */
void syscall_print_ioctl_arg(struct syscall_printer *p, unsigned index, struct tally_bytes bytes);

/* ---- print_sockets.c ---- */

void syscall_print_sockaddr(struct syscall_printer *p, struct tally_bytes bytes);
void syscall_print_pollfds(struct syscall_printer *p, struct tally_bytes bytes, bool at_exit, bool is_truncated);
void syscall_print_epoll_events(struct syscall_printer *p, struct tally_bytes bytes, bool is_truncated);
void syscall_print_sockopt(struct syscall_printer *p, uint64_t level, uint64_t option);
void syscall_print_sockopt_value(struct syscall_printer *p, struct syscall_copied copied);

#endif
