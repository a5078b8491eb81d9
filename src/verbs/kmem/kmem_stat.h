/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kmem_stat.h - implements `kmem stat`, which reads a recording, prints tables of the slab allocator or the page
 * allocator on standard output, and returns the exit status.
 */
#ifndef VERBS_KMEM_KMEM_STAT_H
#define VERBS_KMEM_KMEM_STAT_H

#include "base/json.h"
#include "cli/cli.h"
#include "tasks/session/data_source.h"
#include "tasks/session/recording_input.h"

struct kmem_settings {
	struct symbol_options symbols;
	struct input_options input;
	const char *times, *sort;
	uint64_t lines; /* Maximum number of rows of each table; 0 for all. */
	bool by_caller, by_object, raw_addresses, slab, page, is_live, is_json;
	unsigned verbose;
};

/* The result of reading a recording, ready to be printed. */
struct kmem_result {
	const char *allocator; /* "slab" or "page". */
	const struct kmem_settings *settings;
	const struct data_source *source;
	enum tally_status status; /* The status of reading. */
	const struct tally_error *err;
	bool has_events;
	/* Appends tables to out if j is NULL, otherwise members to j's current object. */
	enum tally_status (*print)(void *job, struct text *out, struct json *j, struct tally_error *err);
	void *job;
};

struct kmem_site { /* The code that called the allocator. */
	const char *name; /* Function name, valid while the source is open; NULL if unknown. */
	uint64_t offset; /* Offset in the function. */
};

struct kmem_keys { /* The keys by which a table can be sorted. */
	const char *table; /* "slab" or "page". */
	const char *const *names;
	size_t count, most; /* Number of names; maximum number of keys in a list. */
};

int kmem_stat_slab(const struct cli *cli, const struct kmem_settings *settings);
int kmem_stat_pages(const struct cli *cli, const struct kmem_settings *settings);

/* Parses --sort: sets chosen, which has room for all->most elements, to indices of all->names. A name may occur more
 * than once in list. */
TALLY_MUST_CHECK enum tally_status kmem_read_keys(
	const char *list, const struct kmem_keys *all, unsigned *chosen, size_t *count, struct tally_error *err);
/* Reports losses, prints the tables (JSON: docs/schema/kmem.json), then reports an error of reading. Returns the exit
 * status. */
int kmem_show(const struct cli *cli, const struct kmem_result *result);
/* Finds the function at a kernel address; site->name is NULL with raw_addresses. */
TALLY_MUST_CHECK enum tally_status kmem_name_site(struct data_source *source, const struct kmem_settings *settings,
	uint64_t address, struct kmem_site *site, struct tally_error *err);
/* Returns the value of a numeric field in the tracepoint's payload, or 0 if there is no such field. */
uint64_t kmem_field(const struct data_source *source, const struct data_sample *s, struct tally_str name);

#endif
