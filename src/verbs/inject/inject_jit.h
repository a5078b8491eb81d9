/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inject_jit.h - makes dumped generated code readable by every tool: an ELF file for each function, next to the dump,
 * and a mapping record for each place and time of the function.
 *
 * It reads the whole recording once. The caller deinits. One thread.
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

struct inject_jit_dump { /* of one process */
	int32_t pid;
	char *path; /* as the recording names it */
	const struct jitdump *dump; /* the store's; NULL: it could not be read */
	const struct record_layout *layout;
	struct sample_id seen; /* of the record that names it */
};

struct inject_jit {
	struct binary_store *store;
	VEC(struct inject_jit_dump) dumps;
	VEC(struct inject_timed) records; /* by time */
	struct writer bytes; /* theirs */
};

/* INVALID: a dump's times are not those of the recording. UNSUPPORTED: of a machine of 32 bits. */
TALLY_MUST_CHECK enum tally_status inject_jit_read(
	const struct cli *cli, struct perfdata_reader *reader, struct inject_jit *jit, struct tally_error *err);
void inject_jit_deinit(struct inject_jit *jit);
/* Leaves out what named the dumps that were read: for inject_options.change, with the jit as context. */
enum inject_change inject_jit_record(void *context, const struct record *record, struct writer *out);

#endif
