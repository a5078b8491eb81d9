/* SPDX-License-Identifier: Apache-2.0 */
/*
 * script_records.h - prints the rows of `tally script --show-*-events`: records that are not samples.
 *
 * Thread names are those at the record's position in the recording, not at its time, because all records written at the
 * start have the time 0 and the thread history has only one name per time. The reader and the printer are borrowed.
 *
 *	script_records_init(&records, shown, reader, &printer);
 *	script_records_print(&records, &text, &record);  // for every record in order of time
 *	script_records_deinit(&records);
 */
#ifndef VERBS_SCRIPT_SCRIPT_RECORDS_H
#define VERBS_SCRIPT_SCRIPT_RECORDS_H

#include "verbs/script/script_rows.h"

enum script_shown {
	SHOWN_TASK = 1u << 0,
	SHOWN_MMAP = 1u << 1,
	SHOWN_SWITCH = 1u << 2,
	SHOWN_NAMESPACE = 1u << 3,
	SHOWN_CGROUP = 1u << 4,
	SHOWN_LOST = 1u << 5,
	SHOWN_ROUND = 1u << 6,
	SHOWN_BPF = 1u << 7,
	SHOWN_TEXT_POKE = 1u << 8,
};

struct script_records {
	uint32_t shown; /* SHOWN_* bits; 0 disables everything. */
	struct perfdata_reader *reader;
	struct script_printer *printer;
	struct map_u64 names; /* Maps a tid to the ID of its name in strings. */
	struct intern strings;
};

bool script_records_init(
	struct script_records *records, uint32_t shown, struct perfdata_reader *reader, struct script_printer *printer);
void script_records_deinit(struct script_records *records);
/* Prints the row of a record; nothing for a damaged record. If t is NULL, only the thread names in the record are
 * stored. Returns false if out of memory. */
bool script_records_print(struct script_records *records, struct text *t, const struct record *record);
/* Returns whether records of this type have a row. */
bool script_records_is_shown(const struct script_records *records, uint32_t type);

#endif
