/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cached_probes.h - finds probes by their names: the statically defined ones (SDT, USDT) of programs, and definitions
 * that `probe --cache` stored. "sdt_PROVIDER:NAME" is an SDT probe; "%NAME" any of them.
 *
 * A program that the caller names need not be in the cache: its notes are read then. Of programs that only the cache
 * names, those count that are still the same file (by build ID); others are counted as stale. The list owns its strings
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
	struct tally_str text; /* of its entry in the cache: "sdt_tw:turn=turn", "work i" */
	struct tally_str group, event;
	struct tally_str line; /* "p:sdt_tw/turn /usr/bin/x:0x11c7(0x3040) arg1=%di:s32" */
	const char *path;
	struct elf_build_id id;
	bool is_sdt;
};

struct cached_probe_list {
	struct arena arena;
	VEC(struct cached_probe) probes; /* those of one entry follow each other */
	size_t stale; /* programs of the cache that are gone, or are others now */
	const char *stale_path; /* of the first of them */
	struct sdt_arguments_left left; /* of the notes that were read now */
};

struct cached_probe_query {
	const struct build_id_cache *cache; /* NULL: only the notes of path are looked at */
	struct tally_str group, event; /* patterns (* ? [set]); group empty: any */
	const char *path; /* of the program; NULL: all of the cache */
	bool has_stale; /* also probes of programs that are gone: to list or to remove them */
};

/* NOT_FOUND: a sentence that says where it was looked for, and how to make the cache know a program. */
TALLY_MUST_CHECK enum tally_status cached_probes_find(
	const struct cached_probe_query *query, struct cached_probe_list *list, struct tally_error *err);
void cached_probe_list_deinit(struct cached_probe_list *list);
/* Reads the notes of the program that the cache has under this name and id, and stores their probes beside it; nothing
 * if it has none. */
TALLY_MUST_CHECK enum tally_status cached_probes_add_notes(const struct build_id_cache *cache, struct tally_str name,
	const struct elf_build_id *id, struct tally_error *err);
/* Puts the program into the cache if it is not there, and the definition beside it: lines are the kernel's. */
TALLY_MUST_CHECK enum tally_status cached_probes_add(const struct build_id_cache *cache, const char *path,
	struct tally_str text, struct tally_str lines, struct tally_error *err);
/* Removes the entries of what was found; returns the first failure. */
TALLY_MUST_CHECK enum tally_status cached_probes_remove(
	const struct build_id_cache *cache, const struct cached_probe_list *found, struct tally_error *err);
/* Whether it is the first of its entry's probes. */
bool cached_probes_begins_entry(const struct cached_probe_list *list, size_t index);
/* As `probe --cache --list` shows them: each program, its build ID, and the entries. */
void cached_probes_print(const struct cached_probe_list *list, struct text *out);

#endif
