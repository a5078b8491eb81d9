/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample_facets.h - extracts the facets of a sample: the values besides thread and address by which a report can group
 * samples.
 *
 * Only the requested facets are read. Facets are stored as numbers, or as IDs of the worker's resolver (frames), of the
 * machine (names) or of payloads; facet_values.h converts them into values of a profile. Everything is borrowed. Not
 * thread-safe, because the resolver is not.
 *
 *	sample_facets_init(&f, options, features, &resolver);
 *	id = sample_facets_add(&f, &(struct facet_input){.sample = &sample, .event = event, .where = where, ...});
 */
#ifndef ANALYSIS_SAMPLE_FACETS_H
#define ANALYSIS_SAMPLE_FACETS_H

#include "abi/branch.h"
#include "analysis/parallelism.h"
#include "analysis/replay_options.h"
#include "analysis/resolve.h"
#include "analysis/thread_namespaces.h"
#include "base/text.h"
#include "perfdata/event_set.h"
#include "perfdata/features.h"
#include "profile/profile.h"

#define FACET_FIELD_MASK   (((UINT64_C(1) << PROFILE_MAX_FIELDS) - 1) << FACET_FIELD)
#define FACET_PAYLOAD_MASK (FACET_FIELD_MASK | UINT64_C(1) << FACET_TRACE)

/* The lower half of a FACET_DATA_MEMORY value is the frame. The upper half is the process, or 0 for memory of the
 * kernel and shared memory; with this flag, its other bits are the machine's number of the mapped file. */
#define FACET_MEMORY_FILE UINT32_C(0x80000000)

#define FACET_NOBODY UINT64_MAX /* Value of FACET_COMM_NODIGIT for a sample without a process or thread. */

struct facet_input {
	const struct sample *sample;
	const struct perfdata_event *event;
	struct resolve_where where;
	unsigned cpumode;
	uint32_t leaf; /* Frame of the sample's own address, or of the target of the branch. */
	uint32_t comm; /* Thread name, as a string of the machine; INTERN_NONE if unknown. */
	bool has_thread; /* The sample's thread is known. */
	bool is_branch; /* The value describes one branch of the sample instead of the sample. */
	struct sample_branch branch;
};

struct sample_facets {
	uint64_t kept; /* Bit mask of enum profile_facet. */
	uint64_t quantum_ns;
	const struct perfdata_topology *topology;
	struct resolver *resolver;
	const struct parallelism *parallelism; /* Set by the caller; NULL if FACET_PARALLELISM is not kept. */
	const struct thread_namespaces *namespaces; /* Set by the caller; NULL if FACET_NAMESPACE is not kept. */
	struct id_table rows; /* Keys of one word for each of numbers, and one for the payload if has_payload is set. */
	uint8_t numbers[PROFILE_MAX_FACETS]; /* The kept facets, as enum profile_facet. */
	unsigned number_count;
	bool has_payload;
	struct intern payloads; /* Raw data of tracepoint samples. */
	struct intern wakers; /* Names of wakers, as displayed. */
	struct text text;
	bool failed; /* Memory ran out. */
};

void sample_facets_init(struct sample_facets *f, const struct replay_options *options,
	const struct perfdata_features *features, struct resolver *resolver);
void sample_facets_deinit(struct sample_facets *f);
/* Returns the ID of the sample's row, or ID_TABLE_NONE when out of memory. */
uint32_t sample_facets_add(struct sample_facets *f, const struct facet_input *input);

#endif
