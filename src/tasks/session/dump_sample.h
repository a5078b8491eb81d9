/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dump_sample.h - prints all fields of a sample as lines, in the format of perf's -D. It appends to a text.
 *
 *	dump_sample(&text, &event->layout, &record, &sample, arch);   // "(IP, 0x2): 77/78: 0x401234 period: ..."
 */
#ifndef TASKS_SESSION_DUMP_SAMPLE_H
#define TASKS_SESSION_DUMP_SAMPLE_H

#include "abi/sample.h"
#include "arch/arch.h"
#include "base/text.h"

/* arch may be NULL; registers are then printed by number. */
void dump_sample(struct text *t, const struct record_layout *layout, const struct record *record,
	const struct sample *sample, const struct arch *arch);

#endif
