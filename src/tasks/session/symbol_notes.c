/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/session/symbol_notes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

#define LINES_MAX 3
/* If a smaller share of the samples has no symbol, no note is added, because a few stripped files are normal. */
#define UNNAMED_SHARE_MIN 0.10

static double symbol_notes_percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* Returns whether symbols are missing for an unexpected reason that the user can fix. */
static bool is_surprising(const struct binary_info *info)
{
	return info->is_refused || info->status == BINARY_HIDDEN || info->status == BINARY_BUILD_ID_DIFFERS ||
	       info->status == BINARY_DAMAGED;
}

static const char *symbol_notes_reason(const struct binary_info *info)
{
	if (info->status == BINARY_OK)
		return "it has symbols for only a part of its code";
	return info->text ? info->text : "out of memory";
}

static void add_surprises(struct diag *notes, const struct binary_store *store, const struct binary_hits *hits)
{
	size_t count = 0;
	uint64_t rest = 0;
	for (size_t i = 0; i < hits->files.len; i++) {
		const struct binary_hit *hit = &hits->files.items[i];
		struct binary_info info = binary_store_info(store, hit->store_id);
		if (!is_surprising(&info))
			continue;
		if (++count > LINES_MAX)
			rest += hit->samples;
		else if (hit->samples)
			diag_add(notes, DIAG_UNNAMED, "no symbols of %.*s (%.1f%% of the samples): %s",
				(int)info.path.len, info.path.data, symbol_notes_percent(hit->samples, hits->samples),
				symbol_notes_reason(&info));
		else
			diag_add(notes, DIAG_UNNAMED, "no symbols of %.*s (in call chains only): %s",
				(int)info.path.len, info.path.data, symbol_notes_reason(&info));
	}
	if (count > LINES_MAX)
		diag_add(notes, DIAG_UNNAMED, "no symbols of %zu more files (%.1f%% of the samples) either",
			count - LINES_MAX, symbol_notes_percent(rest, hits->samples));
}

/* Warns if kernel symbols may be those of another kernel than the recorded one, because they look as plausible as the
 * right ones. */
static void add_unproven(struct diag *notes, const struct binary_store *store, const struct binary_hits *hits)
{
	for (size_t i = 0; i < hits->files.len; i++) {
		struct binary_info info = binary_store_info(store, hits->files.items[i].store_id);
		if (info.status == BINARY_OK && info.is_unproven && !info.doubt)
			diag_add(notes, DIAG_WARNING,
				"kernel symbols come from the running kernel, which may differ from the recorded one: "
				"the recording has no build ID for it; name the recorded kernel's files with --vmlinux "
				"or --kallsyms");
	}
}

/* Notes which parts the debug information of files lacks. Functions still have names, but some inlined functions, lines
 * and types are missing without any other sign. */
static void add_lacks(struct diag *notes, const struct binary_store *store)
{
	size_t count = 0;
	for (size_t i = 0; i < binary_store_count(store) * BINARY_LACK_KINDS; i++) {
		const struct binary_lack_text lack = binary_store_lack(
			store, (uint32_t)(i / BINARY_LACK_KINDS), (enum binary_lack)(i % BINARY_LACK_KINDS));
		if (lack.what && ++count <= LINES_MAX)
			diag_add(notes, DIAG_UNNAMED, "%s%s%s", lack.what, lack.remedy ? "; " : "",
				lack.remedy ? lack.remedy : "");
	}
	if (count > LINES_MAX)
		diag_add(notes, DIAG_UNNAMED,
			"the debug information of %zu more files is incomplete; 'report --missing' says what they lack",
			count - LINES_MAX);
}

void symbol_notes_add_doubts(struct diag *notes, const struct binary_store *store)
{
	size_t count = 0;
	for (size_t i = 0; i < binary_store_count(store); i++) {
		struct binary_info info = binary_store_info(store, (uint32_t)i);
		if (info.status != BINARY_OK || !info.is_unproven || !info.doubt || ++count > LINES_MAX)
			continue;
		if (info.kind == BINARY_PERF_MAP)
			diag_add(notes, DIAG_WARNING, "names of %s may be of an older process: %s",
				info.used_path ? info.used_path : info.path.data, info.doubt);
		else
			diag_add(notes, DIAG_WARNING,
				"symbols of %s may come from another build: %s, and the recording has no build ID for "
				"it",
				info.used_path ? info.used_path : info.path.data, info.doubt);
	}
	if (count > LINES_MAX)
		diag_add(notes, DIAG_WARNING, "symbols of %zu more files may come from another build",
			count - LINES_MAX);
	add_lacks(notes, store);
}

void symbol_notes_print_doubts(const struct cli *cli, const struct binary_store *store)
{
	struct diag notes;
	diag_init(&notes);
	symbol_notes_add_doubts(&notes, store);
	cli_print_diag(cli, &notes);
	diag_deinit(&notes);
}

void symbol_notes_add_lines(struct diag *notes, const struct binary_store *store, uint32_t id)
{
	size_t count;
	const struct binary_step *steps = binary_store_trail(store, id, &count);
	for (size_t s = 0; s < count; s++)
		if (!strcmp(steps[s].source, BINARY_SOURCE_LINE_PROGRAM))
			diag_add(notes, DIAG_UNNAMED, "lines of %s: %s", steps[s].path,
				steps[s].detail ? steps[s].detail : "?");
}

static void add_usual(struct diag *notes, const struct binary_store *store, const struct binary_hits *hits)
{
	uint64_t unnamed = 0, most = 0;
	size_t absent = 0, stripped = 0;
	struct binary_info worst = {0};
	for (size_t i = 0; i < hits->files.len; i++) {
		const struct binary_hit *hit = &hits->files.items[i];
		struct binary_info info = binary_store_info(store, hit->store_id);
		if (is_surprising(&info) || hit->unnamed == 0)
			continue;
		absent += info.status == BINARY_NO_FILE;
		stripped += info.status != BINARY_NO_FILE;
		unnamed += hit->unnamed;
		if (hit->unnamed > most) {
			most = hit->unnamed;
			worst = info;
		}
	}
	if ((double)unnamed <= UNNAMED_SHARE_MIN * (double)hits->samples)
		return;
	diag_add(notes, DIAG_UNNAMED,
		"%.1f%% of the samples have no symbol: %zu files not found, %zu without all symbols, most in %.*s "
		"(%s); run 'report --missing' to see where symbols were searched and what to install",
		symbol_notes_percent(unnamed, hits->samples), absent, stripped, (int)worst.path.len, worst.path.data,
		symbol_notes_reason(&worst));
}

static void add_sources(struct diag *notes, const struct binary_store *store, const struct binary_hits *hits)
{
	for (size_t i = 0; i < hits->files.len; i++) {
		struct binary_info info = binary_store_info(store, hits->files.items[i].store_id);
		if (info.status == BINARY_OK && info.used_path)
			diag_add(notes, DIAG_NOTE, "%.*s: %zu symbols from %s", (int)info.path.len, info.path.data,
				info.symbol_count, info.used_path);
		else
			diag_add(notes, DIAG_NOTE, "%.*s: no symbols: %s", (int)info.path.len, info.path.data,
				symbol_notes_reason(&info));
	}
}

void symbol_notes_add(
	struct diag *notes, const struct binary_store *store, const struct binary_hits *hits, bool is_verbose)
{
	if (is_verbose)
		add_sources(notes, store, hits);
	add_surprises(notes, store, hits);
	add_unproven(notes, store, hits);
	symbol_notes_add_doubts(notes, store);
	for (size_t i = 0; i < hits->files.len; i++)
		symbol_notes_add_lines(notes, store, hits->files.items[i].store_id);
	add_usual(notes, store, hits);
}

void symbol_notes_print(
	const struct cli *cli, const struct binary_store *store, const struct frame_names *names, bool is_verbose)
{
	struct binary_hits hits = {0};
	struct diag notes;
	diag_init(&notes);
	if (frame_names_hits(names, &hits, NULL) == TALLY_OK)
		symbol_notes_add(&notes, store, &hits, is_verbose);
	cli_print_diag(cli, &notes);
	diag_deinit(&notes);
	binary_hits_deinit(&hits);
}

void symbol_notes_keep_places(const struct cli *cli, struct binary_store *store, bool is_verbose)
{
	struct tally_error err;
	if (store && binary_store_save_places(store, &err) != TALLY_OK && is_verbose)
		cli_notef(cli, "no index of source lines is kept: %s", err.text);
}
