/* SPDX-License-Identifier: Apache-2.0 */
/*
 * feature_read.h - declares the readers of feature sections; private to perfdata/feature_*.c.
 *
 * Each reader reads its section by a cursor and fills the features of the input. Arrays are allocated in its arena;
 * texts are slices of the section. A reader that returns FEATURE_DAMAGED has not changed the features.
 */
#ifndef PERFDATA_FEATURE_READ_H
#define PERFDATA_FEATURE_READ_H

#include "perfdata/feature_table.h"

enum feature_result { FEATURE_GOOD, FEATURE_DAMAGED, FEATURE_NO_MEMORY };

static inline enum feature_result feature_read_end(const struct cursor *c)
{
	return c->failed ? FEATURE_DAMAGED : FEATURE_GOOD;
}

/* Reads a length and that number of bytes, which contain a NUL-terminated string and padding. */
struct tally_str feature_read_string(struct cursor *c);
/* Reads a count and that number of strings. */
enum feature_result feature_read_list(struct cursor *c, struct arena *arena, struct perfdata_string_list *list);

enum feature_result feature_read_build_ids(struct cursor *c, const struct feature_input *in);
enum feature_result feature_read_event_desc(struct cursor *c, const struct feature_input *in);
enum feature_result feature_read_groups(struct cursor *c, const struct feature_input *in);
enum feature_result feature_read_auxtrace(struct cursor *c, const struct feature_input *in);
enum feature_result feature_read_cpu_topology(struct cursor *c, const struct feature_input *in);
enum feature_result feature_read_numa(struct cursor *c, const struct feature_input *in);
enum feature_result feature_read_pmus(struct cursor *c, const struct feature_input *in);
enum feature_result feature_read_caches(struct cursor *c, const struct feature_input *in);
enum feature_result feature_read_memory(struct cursor *c, const struct feature_input *in);
enum feature_result feature_read_hybrid(struct cursor *c, const struct feature_input *in);
enum feature_result feature_read_cpu_caps(struct cursor *c, const struct feature_input *in);
enum feature_result feature_read_pmu_caps(struct cursor *c, const struct feature_input *in);
enum feature_result feature_read_cpu_domains(struct cursor *c, const struct feature_input *in);
enum feature_result feature_read_bpf_programs(struct cursor *c, const struct feature_input *in);
enum feature_result feature_read_origin(struct cursor *c, const struct feature_input *in);
enum feature_result feature_read_btfs(struct cursor *c, const struct feature_input *in);

#endif
