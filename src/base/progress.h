/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress.h - reports the progress of long work to the code that displays it. The worker sets the name of its work and
 * adds the amount that it has done; any thread may read it. Call progress_add for each chunk of work, not each item,
 * because it is an atomic addition.
 *
 * The code that displays it owns the object, which outlives the work. If a pointer to it is NULL, progress is not
 * displayed.
 *
 *	progress_begin(p, "reading samples", bytes);  progress_add(p, chunk);
 */
#ifndef BASE_PROGRESS_H
#define BASE_PROGRESS_H

#include <stdatomic.h>
#include <stdint.h>

struct progress {
	const char *_Atomic what; /* A string literal; NULL before the first progress_begin. */
	_Atomic uint64_t done;
	_Atomic uint64_t total; /* Total amount, in the unit of done (usually bytes); 0 if it is not known. */
	_Atomic unsigned step; /* Number of calls of progress_begin. */
};

static inline void progress_begin(struct progress *p, const char *what, uint64_t total)
{
	if (!p)
		return;
	atomic_store_explicit(&p->done, 0, memory_order_relaxed);
	atomic_store_explicit(&p->total, total, memory_order_relaxed);
	atomic_store_explicit(&p->what, what, memory_order_relaxed);
	atomic_fetch_add_explicit(&p->step, 1, memory_order_relaxed);
}

static inline void progress_add(struct progress *p, uint64_t bytes)
{
	if (p)
		atomic_fetch_add_explicit(&p->done, bytes, memory_order_relaxed);
}

#endif
