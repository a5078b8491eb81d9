/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock_places.h - determines the names of the functions that waited for a kernel lock, and of the lock itself.
 *
 * It borrows the source and the sample. The user of this module owns struct lock_caller, which must be zeroed
 * initially, and the texts. Used by one thread.
 *
 *	lock_caller_read(&source, &sample, &(struct lock_caller_options){.max_stack = 8, .skip = 3}, &caller, err);
 *	lock_caller_describe(&source, &sample, &options, &caller, err);
 *	... caller.name ... lock_caller_deinit(&caller);
 */
#ifndef VERBS_LOCK_LOCK_PLACES_H
#define VERBS_LOCK_LOCK_PLACES_H

#include "base/text.h"
#include "tasks/session/data_source.h"

#define LOCK_MAX_STACK 127

struct lock_caller_options {
	/* Comma-separated names, of which one must be part of a function's name; NULL accepts all callers. */
	const char *names;
	/*
	 * Maximum number of frames, and number of innermost frames to skip because they belong to the lock functions
	 * themselves.
	 */
	uint64_t max_stack, skip;
};

struct lock_caller {
	struct text name, stack;
	uint64_t frames[LOCK_MAX_STACK]; /* Run-time addresses that distinguish callers. */
	size_t count;
	bool passes; /* True if the caller passes the names of the options. */
};

/*
 * Reads the frames, and sets whether the caller passes the filter. max_stack is at most LOCK_MAX_STACK. Returns false
 * if out of memory.
 */
bool lock_caller_read(struct data_source *source, const struct data_sample *s,
	const struct lock_caller_options *options, struct lock_caller *c, struct tally_error *err);
/*
 * Sets name and stack of a caller after lock_caller_read; needed only if the caller has no row yet. Returns false if
 * out of memory.
 */
bool lock_caller_describe(struct data_source *source, const struct data_sample *s,
	const struct lock_caller_options *options, struct lock_caller *c, struct tally_error *err);
void lock_caller_deinit(struct lock_caller *c);
/*
 * Appends the name of the kernel variable that contains the lock at address; appends nothing if there is none. is_start
 * becomes true if the lock is at the start of the variable. Returns false if out of memory.
 */
bool lock_symbol_read(struct data_source *source, const struct data_sample *s, uint64_t address, struct text *name,
	bool *is_start, struct tally_error *err);

#endif
