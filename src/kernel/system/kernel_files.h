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
	char **items; /* Sorted; each is allocated by malloc. */
	size_t len, cap;
};

/* Reads a file into a text from malloc, without trailing spaces and newlines. Returns TALLY_NOT_FOUND if it does not
 * exist, and TALLY_DENIED if a permission is missing. */
TALLY_MUST_CHECK enum tally_status kernel_text(const struct kernel_seam *kernel, char **text, struct tally_error *err,
	const char *path_format, ...) TALLY_PRINTF(4, 5);
/* Lists the names in a directory, sorted, except those that start with a dot. */
TALLY_MUST_CHECK enum tally_status kernel_names(const struct kernel_seam *kernel, struct name_list *names,
	struct tally_error *err, const char *path_format, ...) TALLY_PRINTF(4, 5);
void name_list_deinit(struct name_list *names);
/* Returns whether the path exists below the root, even if it cannot be read. */
bool kernel_has(const struct kernel_seam *kernel, const char *path_format, ...) TALLY_PRINTF(2, 3);
/* Returns whether the file can be read but is empty, for example because /dev/null is mounted over it. */
bool kernel_is_empty(const struct kernel_seam *kernel, const char *path_format, ...) TALLY_PRINTF(2, 3);
/* Reads a decimal, hexadecimal (0x) or octal number from the start of a file; returns fallback if the file cannot be
 * read or has no number. */
int64_t kernel_number(const struct kernel_seam *kernel, int64_t fallback, const char *path_format, ...)
	TALLY_PRINTF(3, 4);

#endif
