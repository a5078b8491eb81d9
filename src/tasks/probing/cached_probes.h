/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cached_probes.h - finds probes by their names: the statically defined ones (SDT, USDT) of programs, and definitions
 * that `probe --cache` stored. "sdt_PROVIDER:NAME" is an SDT probe, and "%NAME" an SDT probe of any provider.
 *
 * A program that the caller names need not be in the cache, because its notes are read. A program that is named only in
 * the cache must still be the same file (by build ID); otherwise it is counted as stale. The list owns its strings
 * (cached_probe_list_deinit).
 *
 *	struct cached_probe_list list;
 *	struct cached_probe_query query = {.cache = &cache, .group = STR("sdt_tw"), .event = STR("*")};
 *	if (cached_probes_find(&query, &list, err) == TALLY_OK) ... list.probes.items[i].line
 */
#ifndef TASKS_PROBING_CACHED_PROBES_H
#define TASKS_PROBING_CACHED_PROBES_H

#include "code/probing/sdt_arguments.h"
#include "tasks/probing/probe_cache.h"

struct cached_probe {
	struct tally_str text; /* Text of the cache entry, such as "sdt_tw:turn=turn" or "work i". */
	struct tally_str group, event;
	/* Line in the kernel's syntax, such as "p:sdt_tw/turn /usr/bin/x:0x11c7(0x3040) arg1=%di:s32". */
	struct tally_str line;
	const char *path;
	struct elf_build_id id;
	bool is_sdt;
};

struct cached_probe_list {
	struct arena arena;
	VEC(struct cached_probe) probes; /* Probes of the same entry are adjacent. */
	size_t stale; /* Number of programs in the cache that no longer exist or have changed. */
	const char *stale_path; /* Path of the first stale program. */
	struct sdt_arguments_left left; /* Arguments and places that could not be used. */
};

struct cached_probe_query {
	const struct build_id_cache *cache; /* NULL if only the notes of path are read. */
	struct tally_str group, event; /* Patterns with *, ? and [set]; an empty group matches any group. */
	const char *path; /* Path of the program, or NULL for all programs in the cache. */
	bool has_stale; /* Also finds probes of stale programs, to list or to remove them. */
};

/* Initializes the list; on failure there is nothing to free. Returns NOT_FOUND if no probe has the name; the message
 * says which files were searched and how to add a program to the cache. */
TALLY_MUST_CHECK enum tally_status cached_probes_find(
	const struct cached_probe_query *query, struct cached_probe_list *list, struct tally_error *err);
void cached_probe_list_deinit(struct cached_probe_list *list);
/* Reads the SDT notes of the program that is stored in the cache under this name and ID, and stores its probes beside
 * it. Does nothing if the program has no notes. */
TALLY_MUST_CHECK enum tally_status cached_probes_add_notes(const struct build_id_cache *cache, struct tally_str name,
	const struct elf_build_id *id, struct tally_error *err);
/* Adds the program to the cache if it is not there, and stores the definition beside it. text is the definition as the
 * user wrote it; lines are its probes in the kernel's syntax. */
TALLY_MUST_CHECK enum tally_status cached_probes_add(const struct build_id_cache *cache, const char *path,
	struct tally_str text, struct tally_str lines, struct tally_error *err);
/* Removes the cache entries of the probes that were found. Returns the first failure. */
TALLY_MUST_CHECK enum tally_status cached_probes_remove(
	const struct build_id_cache *cache, const struct cached_probe_list *found, struct tally_error *err);
/* Returns whether the probe is the first one of its cache entry. */
bool cached_probes_begins_entry(const struct cached_probe_list *list, size_t index);
/* Prints each program, its build ID and its entries, as `probe --cache --list` does. */
void cached_probes_print(const struct cached_probe_list *list, struct text *out);

#endif
