/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jit_code.h - finds the marker mappings that announce a runtime's dump of generated code (jitdump), and loads the
 * dumps.
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

/* Returns whether the mapping is a marker, such as an executable one of "/tmp/jit-4711.dump". */
bool jit_code_is_marker(const struct record_mmap *mmap);
/* Returns whether a mapping of this path may be a marker. */
static inline bool jit_code_may_be_marker(struct tally_str path)
{
	return str_ends_with(path, STR(".dump"));
}
/* Loads the dump of a marker, which is borrowed from the store. *dump is NULL if the file is missing or does not belong
 * to the process. */
TALLY_MUST_CHECK enum tally_status jit_code_dump(struct binary_store *store, struct perfdata_reader *reader,
	int32_t pid, struct tally_str path, const struct jitdump **dump, struct tally_error *err);
/* Returns whether the path names this process. Both the path and pid use the number in the process's own pid
 * namespace. */
bool jit_code_is_of(struct tally_str path, uint32_t pid);
/* Returns whether the dump's times come from the same clock as the recording's. */
bool jit_code_has_times(struct perfdata_reader *reader, const struct jitdump *dump);

#endif
