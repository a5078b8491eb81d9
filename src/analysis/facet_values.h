/* SPDX-License-Identifier: Apache-2.0 */
/*
 * facet_values.h - converts a worker's facets, which are plain 64-bit numbers, into values of the profile: numbers,
 * texts, frames.
 *
 * Borrows all. One thread. Texts are made once for each row of facets; data source words are those of the newest perf.
 *
 *	facet_values_add(&values, &pass->facets, frames, rows);   rows[i]: what samples of the pass's row i refer to
 */
#ifndef ANALYSIS_FACET_VALUES_H
#define ANALYSIS_FACET_VALUES_H

#include "analysis/cgroup_names.h"
#include "analysis/frame_types.h"
#include "analysis/sample_facets.h"
#include "analysis/tracepoint_fields.h"
#include "machine/machine.h"
#include "perfdata/reader.h"
#include "profile/profile_builder.h"

struct facet_values {
	const struct replay_options *options;
	const struct machine *machine;
	struct binary_store *store; /* loaded: of the data types that instructions access */
	struct profile_builder *builder;
	struct tracepoint_printer *tracepoints; /* NULL: no payloads are kept */
	const struct perfdata_event *events; /* of the recording */
	size_t event_count;
	const struct cgroup_names *cgroups;
	const struct thread_namespaces *namespaces; /* read, where that facet is kept */
	bool is_big_endian; /* the recording */
	const struct id_table *frames; /* the replay's */
	const uint64_t *first_ips; /* by frame of the replay */
	const uint32_t *profile_frames; /* by frame of the replay */
	struct text text; /* deinit is the caller's */
	bool out_of_memory; /* while types were looked up */
};

/* frames: the number in the replay of each frame of the pass. */
void facet_values_add(
	struct facet_values *v, const struct sample_facets *facets, const uint32_t *frames, uint32_t *rows);

#endif
