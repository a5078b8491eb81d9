/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inject_jit.h - makes the code in jitdump files available to every tool: writes an ELF file for each function next to
 * the dump, and adds a mapping record for each address range and time of the function.
 *
 * The whole recording is read once. The caller deinitialises the structure. Not thread-safe.
 *
 *	inject_jit_read(cli, reader, &jit, err);
 *	options.timed = jit.records.items; ... options.change = inject_jit_record;
 *	inject_jit_deinit(&jit);
 */
#ifndef VERBS_INJECT_INJECT_JIT_H
#define VERBS_INJECT_INJECT_JIT_H

#include "analysis/inject/inject.h"
#include "analysis/jit_code.h"
#include "cli/cli.h"

struct inject_jit_dump { /* A jitdump file of one process. */
	int32_t pid;
	char *path; /* As in the recording. */
	const struct jitdump *dump; /* Owned by the store; NULL if the file could not be read. */
	const struct record_layout *layout;
	struct sample_id seen; /* The sample ID of the record that refers to the file. */
};

struct inject_jit {
	struct binary_store *store;
	VEC(struct inject_jit_dump) dumps;
	VEC(struct inject_timed) records; /* New mapping records, sorted by time. */
	struct writer bytes; /* The encoded records. */
};

/* Returns INVALID if a dump uses another clock than the recording, UNSUPPORTED for dumps of 32-bit machines. */
TALLY_MUST_CHECK enum tally_status inject_jit_read(
	const struct cli *cli, struct perfdata_reader *reader, struct inject_jit *jit, struct tally_error *err);
void inject_jit_deinit(struct inject_jit *jit);
/* Callback for inject_options.change, with the inject_jit as context: drops the mapping records of the dump files that
 * were read. */
enum inject_change inject_jit_record(void *context, const struct record *record, struct writer *out);

#endif
