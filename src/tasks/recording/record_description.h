/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_description.h - writes the events of an opening as the start of a stream in memory, for code that reads
 * records from the kernel without a file.
 *
 * The caller closes the map (file_map_close).
 *
 *	record_description_read(&opening, &description, err);
 *	perfdata_reader_open_beginning(description.bytes, &reader, err);
 */
#ifndef TASKS_RECORDING_RECORD_DESCRIPTION_H
#define TASKS_RECORDING_RECORD_DESCRIPTION_H

#include "base/file.h"
#include "tasks/recording/record_opening.h"

/* The events must be open; the description contains all their IDs. */
TALLY_MUST_CHECK enum tally_status record_description_read(
	const struct record_opening *o, struct file_map *description, struct tally_error *err);

#endif
