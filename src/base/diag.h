/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diag.h - collects warnings about problems that are not fatal, for the code that displays them.
 *
 * A diag belongs to the caller, is not thread-safe, and stores each distinct text once, with the number of its
 * occurrences. It stores at most LIMIT_DIAG_TEXTS texts; more are only counted.
 *
 *	diag_add(diag, DIAG_WARNING, "ring halved to %zu pages", n);
 */
#ifndef BASE_DIAG_H
#define BASE_DIAG_H

#include <stddef.h>
#include <stdint.h>
#include <tally/status.h>

enum diag_level {
	DIAG_NOTE,
	DIAG_UNNAMED, /* A warning about missing names or lines; the numbers are correct and complete. */
	DIAG_WARNING,
	DIAG_ERROR
};

struct diag_entry {
	enum diag_level level;
	char *text;
	uint64_t count;
};

struct diag {
	struct diag_entry *entries;
	size_t len;
	size_t cap;
	uint64_t dropped; /* Number of messages that were not stored, because of the limit or a lack of memory. */
};

void diag_init(struct diag *diag);
void diag_deinit(struct diag *diag);
/* If diag is NULL, the message is dropped. */
void diag_add(struct diag *diag, enum diag_level level, const char *format, ...) TALLY_PRINTF(3, 4);
/* Adds all texts of other; to may be NULL. */
void diag_add_all(struct diag *to, const struct diag *other);

#endif
