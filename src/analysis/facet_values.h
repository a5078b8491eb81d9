/* SPDX-License-Identifier: Apache-2.0 */
/*
 * facet_values.h - converts a worker's facets, which are plain 64-bit numbers, into values of the profile: numbers,
 * texts, frames.
 *
 * Borrows everything. One thread. Each row of facets is formatted once. Memory data source words are decoded as the
 * newest perf does.
 *
 *	facet_values_add(&values, &pass->facets, frames, rows);   // row i of the pass is row rows[i] of the profile
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
	/* Its binaries must be loaded, because it finds the data types that instructions access. */
	struct binary_store *store;
	struct profile_builder *builder;
	struct tracepoint_printer *tracepoints; /* NULL if no facet needs tracepoint payloads. */
	const struct perfdata_event *events; /* All events of the recording. */
	size_t event_count;
	const struct cgroup_names *cgroups;
	const struct thread_namespaces *namespaces; /* Filled only if the namespace facet is kept. */
	bool is_big_endian; /* Byte order of the recording. */
	const struct id_table *frames; /* Joined frames of the replay. */
	const uint64_t *first_ips; /* Run-time address of each frame of the replay. */
	const uint32_t *profile_frames; /* The profile's frame of each frame of the replay. */
	struct text text; /* Scratch buffer, which the caller frees. */
	bool out_of_memory; /* Set if memory ran out while data types were looked up. */
};

/* Converts all rows of a pass's facets and stores the profile's ID of row i in rows[i]. frames maps the pass's frames
 * to those of the replay. */
void facet_values_add(
	struct facet_values *v, const struct sample_facets *facets, const uint32_t *frames, uint32_t *rows);

#endif
