/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_files.h - reads the small text files of /proc, /sys and tracefs below the seam's root.
 *
 * Texts and lists belong to the caller. One thread.
 *
 *	char *text;
 *	if (kernel_text(kernel, &text, err, "/proc/%d/comm", pid) == TALLY_OK) ...; free(text);
 */
#ifndef KERNEL_SYSTEM_KERNEL_FILES_H
#define KERNEL_SYSTEM_KERNEL_FILES_H

#include "base/vec.h"
#include "kernel/system/kernel_seam.h"

struct name_list {
	char **items; /* sorted, each from malloc */
	size_t len, cap;
};

/* The whole file without its trailing blanks and newline. Missing: NOT_FOUND; unreadable: DENIED. */
TALLY_MUST_CHECK enum tally_status kernel_text(const struct kernel_seam *kernel, char **text, struct tally_error *err,
	const char *path_format, ...) TALLY_PRINTF(4, 5);
/* The names in a directory, sorted, without those that start with a dot. */
TALLY_MUST_CHECK enum tally_status kernel_names(const struct kernel_seam *kernel, struct name_list *names,
	struct tally_error *err, const char *path_format, ...) TALLY_PRINTF(4, 5);
void name_list_deinit(struct name_list *names);
/* True if the path exists under the root (whether or not it can be read). */
bool kernel_has(const struct kernel_seam *kernel, const char *path_format, ...) TALLY_PRINTF(2, 3);
/* True if the file can be read and has not one byte: something empty covers it. */
bool kernel_is_empty(const struct kernel_seam *kernel, const char *path_format, ...) TALLY_PRINTF(2, 3);
/* A number in a file; fallback if it is missing or not a number. */
int64_t kernel_number(const struct kernel_seam *kernel, int64_t fallback, const char *path_format, ...)
	TALLY_PRINTF(3, 4);

#endif
