/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock_places.h - names where a thread waited for a lock of the kernel: the calling functions, and the lock itself.
 *
 * Borrows the source and the sample; the caller owns the caller (all zero at first) and the texts. One thread.
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
	const char
		*names; /* one of these, with commas between, has to be part of a function's name; NULL: any will do */
	uint64_t max_stack, skip; /* frames to show, and to skip as those of waiting itself */
};

struct lock_caller {
	struct text name, stack;
	uint64_t frames[LOCK_MAX_STACK]; /* run-time addresses that tell callers apart */
	size_t count;
	bool passes; /* the names of the options */
};

/* Reads the frames, and sets whether the caller passes the filters. max_stack is at most LOCK_MAX_STACK. False: out
 * of memory. */
bool lock_caller_read(struct data_source *source, const struct data_sample *s,
	const struct lock_caller_options *options, struct lock_caller *c, struct tally_error *err);
/* Makes the texts for a caller that has no row yet. False: out of memory. */
bool lock_caller_describe(struct data_source *source, const struct data_sample *s,
	const struct lock_caller_options *options, struct lock_caller *c, struct tally_error *err);
void lock_caller_deinit(struct lock_caller *c);
/* Finds the kernel's variable that contains the lock; name stays empty if there is none. is_start is only set if there
 * is one. False: out of memory. */
bool lock_symbol_read(struct data_source *source, const struct data_sample *s, uint64_t address, struct text *name,
	bool *is_start, struct tally_error *err);

#endif
