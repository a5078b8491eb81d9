/* SPDX-License-Identifier: Apache-2.0 */
/*
 * header_parts.h - prints the lines of a recording's header that describe the machine; private to header_*.c.
 *
 * Each function appends the lines of one feature in the format of perf's --header.
 */
#ifndef TASKS_HEADER_HEADER_PARTS_H
#define TASKS_HEADER_HEADER_PARTS_H

#include "base/text.h"
#include "perfdata/reader.h"

struct header_source {
	const struct perfdata_features *features;
	const struct perfdata_event *events;
	size_t event_count;
	bool swap;
};

/* Appends a line of `before` and the value. */
void header_str(struct text *out, const char *before, struct tally_str value);
void header_topology(struct text *out, const struct header_source *source);
void header_numa(struct text *out, const struct header_source *source);
void header_caches(struct text *out, const struct header_source *source);
void header_memory(struct text *out, const struct header_source *source);
void header_pmus(struct text *out, const struct header_source *source);
void header_hybrid(struct text *out, const struct header_source *source);
void header_cpu_caps(struct text *out, const struct header_source *source);
void header_pmu_caps(struct text *out, const struct header_source *source);
void header_cpu_domains(struct text *out, const struct header_source *source);
void header_bpf_programs(struct text *out, const struct header_source *source);
void header_btfs(struct text *out, const struct header_source *source);
/* Appends the set bits as ranges: "0-23,32-199". Returns the number of set bits. */
uint64_t header_memory_blocks(struct text *out, const struct perfdata_memory_node *node);

#endif
