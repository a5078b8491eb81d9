/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kmem_stat.h - `kmem stat`: tables of the slab allocator and of the page allocator, each from a recording it reads for
 * itself, to standard output; the exit status.
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
	enum tally_status status; /* of reading */
	const struct tally_error *err;
	bool has_events;
	uint64_t skipped; /* samples that --time leaves out */
	enum tally_status (*print)(void *job, struct text *out, struct tally_error *err);
	void *job;
};

struct kmem_site { /* who asked for memory */
	const char *name; /* NULL: not known; valid while the source is open */
	uint64_t offset; /* in what is named */
};

int kmem_stat_slab(const struct cli *cli, const struct kmem_settings *settings);
int kmem_stat_pages(const struct cli *cli, const struct kmem_settings *settings);

/* For both: prints what was counted, then tells what went wrong; the exit status. */
int kmem_show(const struct cli *cli, const struct kmem_result *result);
/* For both: what stands at the head of the JSON (docs/schema/kmem.json), whose object the caller ends; where memory was
 * asked for. */
void kmem_json_begin(
	struct json *j, const struct kmem_settings *settings, const struct input_health *health, const char *allocator);
/* Says what was lost, and what that means for --live. */
void kmem_print_health(const struct cli *cli, const struct kmem_settings *settings, const struct input_health *health);
TALLY_MUST_CHECK enum tally_status kmem_json_site(struct json *j, const struct kmem_settings *settings,
	struct data_source *source, uint64_t address, struct tally_error *err);
/* For both: the name of a kernel address, and a number of a tracepoint's payload (0: there is no such field). */
TALLY_MUST_CHECK enum tally_status kmem_name_site(
	struct data_source *source, uint64_t address, struct kmem_site *site, struct tally_error *err);
uint64_t kmem_field(const struct data_source *source, const struct data_sample *s, struct tally_str name);

#endif
