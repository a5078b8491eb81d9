/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader_header.h - reads the header of a perf.data file: attrs, IDs, features, and the position of the records.
 *
 * Bad input: see reader.h.
 */
#ifndef PERFDATA_READER_HEADER_H
#define PERFDATA_READER_HEADER_H

#include "perfdata/reader_state.h"

/* Reads the header of reader->bytes; is_v1 means that the magic is PERFFILE. */
TALLY_MUST_CHECK enum tally_status reader_open_file(
	struct perfdata_reader *reader, bool is_v1, struct tally_error *err);

#endif
