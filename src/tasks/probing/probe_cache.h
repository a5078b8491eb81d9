/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_cache.h - reads and writes the probe definitions that the build ID cache stores beside a program, in perf's
 * file "probes": entries of SDT notes ("%sdt_tw:turn=turn") and of definitions that --cache stored ("#work i"), each
 * followed by its lines in the kernel's syntax ("p:sdt_tw/turn /usr/bin/x:0x11c7 arg1=%di:s32").
 *
 * The file owns its strings (probe_cache_deinit). Damaged lines are counted and skipped. cached_probes.h finds probes
 * by name.
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
	struct tally_str text; /* Text of the entry, such as "work i", "probe_x:nm=work" or "sdt_tw:turn=turn". */
	struct tally_str lines; /* At least one line; each ends with a newline. */
	struct tally_str group, event; /* Names in the first line. */
};

struct probe_cache {
	struct arena arena;
	VEC(struct probe_cache_entry) entries; /* In the order of the file. */
	size_t damaged; /* Number of lines that could not be parsed. */
};

/* Reads the entries of a program. There are no entries if the cache has no such file. */
TALLY_MUST_CHECK enum tally_status probe_cache_read(const struct build_id_cache *cache, const struct elf_build_id *id,
	struct probe_cache *file, struct tally_error *err);
/* Parses the contents of the file. Fails only with NOMEM. */
TALLY_MUST_CHECK enum tally_status probe_cache_parse(
	struct tally_str bytes, struct probe_cache *file, struct tally_error *err);
void probe_cache_deinit(struct probe_cache *file);
/* Appends an entry. A definition replaces the one with the same text; the caller must have removed old entries of notes
 * (probe_cache_drop_notes). Returns INVALID if the lines are not in the kernel's syntax. */
TALLY_MUST_CHECK enum tally_status probe_cache_put(
	struct probe_cache *file, bool is_sdt, struct tally_str text, struct tally_str lines, struct tally_error *err);
void probe_cache_drop(struct probe_cache *file, size_t index);
void probe_cache_drop_notes(struct probe_cache *file);
/* Writes the file beside the cached program of that name. Adding the program itself to the cache is up to the
 * caller. */
TALLY_MUST_CHECK enum tally_status probe_cache_write(const struct build_id_cache *cache, struct tally_str name,
	const struct elf_build_id *id, const struct probe_cache *file, struct tally_error *err);
/* Extracts group and event from a line such as "p:sdt_tw/turn ...". Returns false if the line is not in the kernel's
 * syntax, or if a name is not a C identifier. */
bool probe_cache_line_names(struct tally_str line, struct tally_str *group, struct tally_str *event);

#endif
