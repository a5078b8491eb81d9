/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dump_raw.h - prints a record as perf's -D does: its offset, its bytes, its fields. Used by script and report.
 *
 * It borrows its arguments. As in perf, records that perf does not handle in that verb are called "unhandled".
 *
 *	struct dump_raw dump = {.reader = reader, .machine = machine, .file_name = "perf.data"};
 *	dump_raw_record(&dump, &text, &record);
 *	dump_raw_place(&dump, &text, &record, &sample, clock);	// after each sample
 */
#ifndef TASKS_SESSION_DUMP_RAW_H
#define TASKS_SESSION_DUMP_RAW_H

#include "arch/arch.h"
#include "machine/machine.h"
#include "perfdata/reader.h"

enum dump_raw_verb { DUMP_OF_SCRIPT, DUMP_OF_REPORT };

struct dump_raw {
	const struct perfdata_reader *reader;
	const struct machine *machine;
	const struct arch *arch; /* NULL if unknown. */
	const char *file_name;
	enum dump_raw_verb verb;
	bool in_file_order; /* Records are printed in file order; perf then ignores FINISHED_ROUND records. */
	bool has_attr; /* The first ATTR record of a pipe has been read. */
};

void dump_raw_record(struct dump_raw *dump, struct text *t, const struct record *record);
/* Prints the sample's thread, and the file that contains its address. */
void dump_raw_place(const struct dump_raw *dump, struct text *t, const struct record *record,
	const struct sample *sample, uint64_t clock);

#endif
