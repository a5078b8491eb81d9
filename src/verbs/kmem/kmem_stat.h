/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kmem_stat.h - implements `kmem stat`: it reads a recording, prints tables of the slab allocator and of the page
 * allocator to standard output, and returns the exit status.
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
	uint64_t lines; /* of each table; 0: all */
	bool by_caller, by_object, raw_addresses, slab, page, is_live, is_json;
	unsigned verbose;
};

/* A recording that was read, ready to be shown. */
struct kmem_result {
	const char *allocator; /* "slab", "page" */
	const struct kmem_settings *settings;
	const struct data_source *source;
	enum tally_status status; /* of reading */
	const struct tally_error *err;
	bool has_events;
	/* j: the members of its object, instead of text; NULL: text. */
	enum tally_status (*print)(void *job, struct text *out, struct json *j, struct tally_error *err);
	void *job;
};

struct kmem_site { /* who asked for memory */
	const char *name; /* NULL: not known; valid while the source is open */
	uint64_t offset; /* in what is named */
};

struct kmem_keys { /* that a table can be sorted by */
	const char *table; /* "slab", "page" */
	const char *const *names;
	size_t count, most; /* most: of one list */
};

int kmem_stat_slab(const struct cli *cli, const struct kmem_settings *settings);
int kmem_stat_pages(const struct cli *cli, const struct kmem_settings *settings);

/* For both: the keys of --sort, as indexes of names. Each name may come more than once. */
TALLY_MUST_CHECK enum tally_status kmem_read_keys(
	const char *list, const struct kmem_keys *all, unsigned *chosen, size_t *count, struct tally_error *err);
/* For both: reports losses, prints the counts (docs/schema/kmem.json), then reports a failure. Returns the exit
 * status. */
int kmem_show(const struct cli *cli, const struct kmem_result *result);
/* For both: the name of a kernel address (with raw addresses none), and a number of a tracepoint's payload (0: there is no such field). */
TALLY_MUST_CHECK enum tally_status kmem_name_site(struct data_source *source, const struct kmem_settings *settings,
	uint64_t address, struct kmem_site *site, struct tally_error *err);
uint64_t kmem_field(const struct data_source *source, const struct data_sample *s, struct tally_str name);

#endif
