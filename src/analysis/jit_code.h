/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jit_code.h - finds the records that announce a dump of generated code, and tells which generated code was at an
 * address at a time.
 *
 * A runtime maps the first page of its jit-PID.dump as executable, so that the recording has a mapping record with the
 * name of the dump.
 */
#ifndef ANALYSIS_JIT_CODE_H
#define ANALYSIS_JIT_CODE_H

#include "abi/record.h"
#include "code/binary_store.h"
#include "code/symbols/jitdump.h"
#include "perfdata/reader.h"

/* "/tmp/jit-4711.dump", mapped executable. */
bool jit_code_is_marker(const struct record_mmap *mmap);
/* Whether it may be a marker, judged by its name. */
static inline bool jit_code_may_be_marker(struct tally_str path)
{
	return str_ends_with(path, STR(".dump"));
}
/* The dump of a marker, loaded; borrowed from the store. NULL in *dump: it is not there, or not that process's. */
TALLY_MUST_CHECK enum tally_status jit_code_dump(struct binary_store *store, struct perfdata_reader *reader,
	int32_t pid, struct tally_str path, const struct jitdump **dump, struct tally_error *err);
/* Whether the dump names this process: the dump and the marker both have its pid in its own namespace. */
bool jit_code_is_of(struct tally_str path, uint32_t pid);
/* Whether the dump's times are of the same clock as the recording's. */
bool jit_code_has_times(struct perfdata_reader *reader, const struct jitdump *dump);

#endif
