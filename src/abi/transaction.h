/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transaction.h - prints PERF_SAMPLE_TRANSACTION: how a hardware transaction ended. Source:
 * linux/perf_event.h, PERF_TXN_*.
 *
 *	transaction_print(&text, sample.transaction);	// "TX SYNC :5"
 */
#ifndef ABI_TRANSACTION_H
#define ABI_TRANSACTION_H

#include "base/text.h"

/* Appends nothing for 0. */
void transaction_print(struct text *t, uint64_t transaction);

#endif
