/* SPDX-License-Identifier: Apache-2.0 */
/*
 * atomic_least.h - stores the minimum of values that several threads contribute. It does not order other memory
 * accesses, so read the result after all threads have finished.
 *
 *	atomic_least(&first_of[function], frame);
 */
#ifndef BASE_ATOMIC_LEAST_H
#define BASE_ATOMIC_LEAST_H

/* at is a pointer to an integer of any type. */
#define atomic_least(at, value)                                                                                    \
	do {                                                                                                       \
		__typeof__(at) at_ = (at);                                                                         \
		__typeof__(*at_) least_ = (value), known_ = __atomic_load_n(at_, __ATOMIC_RELAXED);                \
		while (least_ < known_ &&                                                                          \
			!__atomic_compare_exchange_n(at_, &known_, least_, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) \
			;                                                                                          \
	} while (0)

#endif
