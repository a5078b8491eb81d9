/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample_facets.h - extracts the facets of a sample: the values besides thread and address by which a report can group
 * samples.
 *
 * Only requested facets are read; without any, nothing is called. Facets are stored as numbers or as IDs of the
 * worker's resolver (frames), of the machine (names) or of payloads; facet_values.h converts them into values of a
 * profile. A value that borrows everything; not thread-safe, because the resolver is not.
 *
 *	sample_facets_init(&f, options, features, &resolver);
 *	id = sample_facets_add(&f, &(struct facet_input){&sample, event, where, cpumode, comm});
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

/* Of FACET_DATA_MEMORY: the frame, and above it a process or, with this bit, a file of the machine. */
#define FACET_MEMORY_FILE UINT32_C(0x80000000)

#define FACET_NOBODY UINT64_MAX /* the value of FACET_COMM_NODIGIT of a sample without process or thread */

struct facet_input {
	const struct sample *sample;
	const struct perfdata_event *event;
	struct resolve_where where;
	unsigned cpumode;
	uint32_t leaf; /* frame of the sample's own address, or of the branch's target */
	uint32_t comm; /* machine's string */
	bool has_thread; /* else the sample's thread is not known */
	bool is_branch; /* one branch of the sample counts, not the sample */
	struct sample_branch branch;
};

struct sample_facets {
	uint64_t kept; /* mask */
	uint64_t quantum_ns;
	const struct perfdata_topology *topology;
	struct resolver *resolver;
	const struct parallelism *parallelism; /* read, where that facet is kept */
	const struct thread_namespaces *namespaces; /* the same */
	struct id_table
		rows; /* one word for each of numbers, in their order, and one for the payload if it is needed */
	uint8_t numbers[PROFILE_MAX_FACETS]; /* enum profile_facet */
	unsigned number_count;
	bool has_payload;
	struct intern payloads; /* raw data */
	struct intern wakers; /* as they are shown */
	struct text text;
	bool failed; /* out of memory */
};

void sample_facets_init(struct sample_facets *f, const struct replay_options *options,
	const struct perfdata_features *features, struct resolver *resolver);
void sample_facets_deinit(struct sample_facets *f);
/* The id of the sample's row; ID_TABLE_NONE: out of memory. */
uint32_t sample_facets_add(struct sample_facets *f, const struct facet_input *input);

#endif
