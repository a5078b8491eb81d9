/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_cache.h - reads and writes the definitions of probes that the cache of build IDs keeps beside a program, in
 * perf's file "probes": entries of SDT notes ("%sdt_tw:turn=turn") and of definitions that --cache stored ("#work i"),
 * each with its lines in the kernel's words ("p:sdt_tw/turn /usr/bin/x:0x11c7 arg1=%di:s32").
 *
 * The file owns its strings (probe_cache_deinit). Damaged lines are counted and skipped. Not here: what a name stands
 * for, see cached_probes.h.
 *
 *	struct probe_cache file;
 *	if (probe_cache_read(cache, &id, &file, err) == TALLY_OK) ...
 *	probe_cache_put(&file, false, STR("work i"), STR("p:probe_x/work /usr/bin/x:0x11c0 i=%di:s32\n"), err);
 *	probe_cache_write(cache, STR("/usr/bin/x"), &id, &file, err);
 */
#ifndef TASKS_PROBING_PROBE_CACHE_H
#define TASKS_PROBING_PROBE_CACHE_H

#include "code/binaries/build_id_cache.h"

struct probe_cache_entry {
	bool is_sdt;
	struct tally_str text; /* "work i", "probe_x:nm=work", "sdt_tw:turn=turn" */
	struct tally_str lines; /* each with its newline, at least one */
	struct tally_str group, event; /* of the first line */
};

struct probe_cache {
	struct arena arena;
	VEC(struct probe_cache_entry) entries; /* in the file's order */
	size_t damaged; /* lines that are none of these */
};

/* A program of which nothing is cached gives no entries. */
TALLY_MUST_CHECK enum tally_status probe_cache_read(const struct build_id_cache *cache, const struct elf_build_id *id,
	struct probe_cache *file, struct tally_error *err);
/* The same from bytes. NOMEM only. */
TALLY_MUST_CHECK enum tally_status probe_cache_parse(
	struct tally_str bytes, struct probe_cache *file, struct tally_error *err);
void probe_cache_deinit(struct probe_cache *file);
/* Adds an entry. A definition replaces the one with the same text; of notes, the caller has dropped the old ones.
 * INVALID: the lines are not the kernel's. */
TALLY_MUST_CHECK enum tally_status probe_cache_put(
	struct probe_cache *file, bool is_sdt, struct tally_str text, struct tally_str lines, struct tally_error *err);
void probe_cache_drop(struct probe_cache *file, size_t index);
void probe_cache_drop_notes(struct probe_cache *file);
/* Stores it beside the program of that name; the caller has put the program itself there, or will. */
TALLY_MUST_CHECK enum tally_status probe_cache_write(const struct build_id_cache *cache, struct tally_str name,
	const struct elf_build_id *id, const struct probe_cache *file, struct tally_error *err);
/* "p:sdt_tw/turn ..." -> group and event; false: it is no line of the kernel's, whose names are C's. */
bool probe_cache_line_names(struct tally_str line, struct tally_str *group, struct tally_str *event);

#endif
