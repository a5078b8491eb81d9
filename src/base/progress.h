/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress.h - reports how far long work is, to the code that shows it. The worker names its work and adds the amount
 * that it has done; any thread may read. Adding is one atomic addition: once per chunk of work, not per item.
 *
 * The code that shows it owns it, and it outlives the work. NULL: progress is not shown. Nothing fails.
 *
 *	progress_begin(p, "reading samples", bytes);  progress_add(p, chunk);
 */
#ifndef BASE_PROGRESS_H
#define BASE_PROGRESS_H

#include <stdatomic.h>
#include <stdint.h>

struct progress {
	const char *_Atomic what; /* a literal; NULL: nothing yet */
	_Atomic uint64_t done;
	_Atomic uint64_t total; /* of the same unit, bytes; 0: not known */
	_Atomic unsigned step; /* counts what was begun */
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
