/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader_describe.h - handles the records that describe a stream: attrs, features, tracing data, and names and units of
 * events.
 *
 * Bad input: a damaged description is counted and left out.
 */
#ifndef PERFDATA_READER_DESCRIBE_H
#define PERFDATA_READER_DESCRIBE_H

#include "perfdata/reader_state.h"

/* Handles one record; payload is the data that follows it in the stream. */
TALLY_MUST_CHECK enum tally_status reader_describe(struct perfdata_reader *reader, const struct record *record,
	struct tally_bytes payload, struct tally_error *err);

#endif
