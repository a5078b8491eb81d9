/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/report/report_missing.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tasks/reporting/package_hint.h"
#include "tasks/session/build_id_rows.h"

#define SOURCE_WIDTH 38

static const char *found_text(enum binary_found found)
{
	static const char *const texts[] = {
		[BINARY_FOUND_USED] = "used",
		[BINARY_FOUND_NOTHING] = "not there",
		[BINARY_FOUND_CLOSED] = "no permission",
		[BINARY_FOUND_OTHER_BUILD_ID] = "other build id",
		[BINARY_FOUND_OTHER_FILE] = "another file than the recorded",
		[BINARY_FOUND_OTHER_PROCESS] = "of another process",
		[BINARY_FOUND_OTHER_CHECKSUM] = "other checksum",
		[BINARY_FOUND_OTHER_UNITS] = "of another build, or damaged",
		[BINARY_FOUND_NO_SYMBOLS] = "no symbols",
		[BINARY_FOUND_DAMAGED] = "damaged",
		[BINARY_FOUND_NO_REGULAR_FILE] = "not a regular file",
		[BINARY_FOUND_CHANGED] = "changed while it was read",
		[BINARY_FOUND_UNREADABLE] = "cannot be read",
	};
	return texts[found];
}

static void print_trail(struct text *out, const struct binary_store *store, uint32_t id)
{
	size_t count;
	const struct binary_step *steps = binary_store_trail(store, id, &count);
	text_str(out, count ? "    looked in\n" : "    looked nowhere\n");
	for (size_t i = 0; i < count; i++) {
		text_str(out, "        ");
		text_str_left(out, str_from(steps[i].source), SOURCE_WIDTH);
		size_t start = out->len;
		text_printf(out, " %s: %s", steps[i].path, found_text(steps[i].found));
		if (steps[i].detail)
			text_printf(out, " (%s)", steps[i].detail);
		text_visible_from(out, start);
		text_char(out, '\n');
	}
}

/* Prints what the user can do to obtain the symbols. */
static void print_remedy(
	const struct binary_info *info, const struct package_hints *hints, const char *hex, struct text *out)
{
	const char *path = info->path.data;
	bool is_file = info->kind == BINARY_USER;
	if (is_file && (info->status == BINARY_NO_FILE || info->status == BINARY_BUILD_ID_DIFFERS)) {
		text_str(out,
			"    to do       take the recorded file from where it was: tally buildid-cache --add FILE, or "
			"--symfs DIRECTORY\n");
	} else if (is_file && info->status == BINARY_DAMAGED) {
		text_str(out, "    to do       install the file again\n");
	} else if (is_file) {
		text_str(out, "    to install  ");
		package_hint_print(hints, out, path, hex);
		text_char(out, '\n');
	}
	if (!is_file && info->status != BINARY_OK && (info->kind == BINARY_KERNEL || info->kind == BINARY_MODULE))
		text_str(out, "    to install  linux-image-RELEASE-dbg (Debian), kernel-debuginfo (Fedora), or give "
			      "--vmlinux or --kallsyms\n");
	bool is_generated = info->kind == BINARY_PERF_MAP || info->kind == BINARY_JITDUMP;
	if (is_generated && info->is_refused)
		text_str(out, "    to do       the file of names is there: give it to root, yourself or the process's "
			      "user, or report before another process of that number writes it\n");
	else if (is_generated && info->status == BINARY_NO_FILE)
		text_str(out, "    to do       have the runtime write names (node --perf-basic-prof, python3 -X perf, "
			      "DOTNET_PerfMapEnabled=1, a JVM's agent), and report before the file is removed\n");
	if (is_file && *hex)
		text_printf(out, "    debuginfod  tally report --debuginfod, or debuginfod-find debuginfo %s\n", hex);
}

static bool report_missing_has_lacks(const struct binary_store *store, const struct binary_hit *hit)
{
	for (unsigned lack = 0; lack < BINARY_LACK_KINDS; lack++)
		if (binary_store_lack(store, hit->store_id, (enum binary_lack)lack).what)
			return true;
	return false;
}

static void put_lacks(struct json *j, const struct binary_store *store, uint32_t id)
{
	json_array(j, "incomplete");
	for (unsigned i = 0; i < BINARY_LACK_KINDS; i++) {
		const struct binary_lack_text lack = binary_store_lack(store, id, (enum binary_lack)i);
		if (!lack.what)
			continue;
		json_object(j, NULL);
		json_string(j, "what", str_from(lack.what));
		if (lack.remedy)
			json_string(j, "to_do", str_from(lack.remedy));
		json_object_end(j);
	}
	json_array_end(j);
}

static void print_line(struct text *out, const char *label, const char *text)
{
	if (!text)
		return;
	text_printf(out, "    %-12s", label);
	text_visible(out, str_from(text));
	text_char(out, '\n');
}

static void print_lacks(struct text *out, const struct binary_store *store, uint32_t id)
{
	for (unsigned i = 0; i < BINARY_LACK_KINDS; i++) {
		const struct binary_lack_text lack = binary_store_lack(store, id, (enum binary_lack)i);
		print_line(out, "incomplete", lack.what);
		print_line(out, "to do", lack.what ? lack.remedy : NULL);
	}
}

static void report_missing_put_object(struct json *j, const struct binary_store *store, const struct binary_hit *hit)
{
	struct binary_info info = binary_store_info(store, hit->store_id);
	struct record_build_id id = {.size = info.build_id_size};
	char hex[BUILD_ID_HEX_BYTES] = "";
	size_t count;
	const struct binary_step *steps = binary_store_trail(store, hit->store_id, &count);
	memcpy(id.bytes, info.build_id, id.size);
	if (id.size > 0)
		build_id_to_hex(&id, hex);
	json_object(j, NULL);
	json_string(j, "path", info.path);
	json_u64(j, "samples", hit->samples);
	json_u64(j, "unnamed_samples", hit->unnamed);
	if (*hex)
		json_string(j, "build_id", str_from(hex));
	json_u64(j, "symbols", info.symbol_count);
	if (info.status != BINARY_OK && info.text)
		json_string(j, "reason", str_from(info.text));
	if (info.doubt)
		json_string(j, "doubt", str_from(info.doubt));
	if (info.is_refused)
		json_bool(j, "is_refused", true);
	json_array(j, "looked_in");
	for (size_t i = 0; i < count; i++) {
		json_object(j, NULL);
		json_string(j, "source", str_from(steps[i].source));
		json_string(j, "path", str_from(steps[i].path));
		json_string(j, "found", str_from(found_text(steps[i].found)));
		if (steps[i].detail)
			json_string(j, "detail", str_from(steps[i].detail));
		json_object_end(j);
	}
	json_array_end(j);
	if (report_missing_has_lacks(store, hit))
		put_lacks(j, store, hit->store_id);
	json_object_end(j);
}

static bool is_complete(const struct binary_store *store, const struct binary_hit *hit)
{
	struct binary_info info = binary_store_info(store, hit->store_id);
	return hit->unnamed == 0 && info.status == BINARY_OK && !info.doubt && !report_missing_has_lacks(store, hit);
}

void report_missing_json(
	struct json *j, const struct binary_store *store, const struct binary_hits *hits, bool shows_all)
{
	json_object(j, "missing");
	json_u64(j, "samples", hits->samples);
	json_array(j, "objects");
	for (size_t i = 0; i < hits->files.len; i++) {
		if (shows_all || !is_complete(store, &hits->files.items[i]))
			report_missing_put_object(j, store, &hits->files.items[i]);
	}
	json_array_end(j);
	json_object_end(j);
}

static void print_object(struct text *out, const struct binary_store *store, const struct binary_hit *hit,
	const struct package_hints *hints)
{
	struct binary_info info = binary_store_info(store, hit->store_id);
	struct record_build_id id = {.size = info.build_id_size};
	char hex[BUILD_ID_HEX_BYTES] = "";
	memcpy(id.bytes, info.build_id, id.size);
	if (id.size > 0)
		build_id_to_hex(&id, hex);
	text_char(out, '\n');
	text_visible(out, info.path);
	text_char(out, '\n');
	if (hit->samples)
		text_printf(
			out, "    no symbol   %" PRIu64 " of its %" PRIu64 " samples\n", hit->unnamed, hit->samples);
	else
		text_str(out, "    no symbol   in call chains only\n");
	text_printf(out, "    build id    %s\n", *hex ? hex : "none");
	size_t start = out->len;
	if (info.status != BINARY_OK)
		text_printf(out, "    reason      %s", info.text ? info.text : "out of memory");
	else
		text_printf(out, "    %s %zu names of %s%s", hit->unnamed ? "reason     " : "names      ",
			info.symbol_count, info.used_path ? info.used_path : "it",
			hit->unnamed ? " do not cover all of its code" : "");
	text_visible_from(out, start);
	text_char(out, '\n');
	if (info.doubt)
		text_printf(out, "    in doubt    %s\n", info.doubt);
	print_lacks(out, store, hit->store_id);
	print_trail(out, store, hit->store_id);
	if (hit->unnamed || info.status != BINARY_OK)
		print_remedy(&info, hints, hex, out);
}

void report_missing(struct text *out, const struct binary_store *store, const struct binary_hits *hits, bool shows_all)
{
	struct package_hints hints;
	uint64_t unnamed = 0, in_files = 0;
	size_t complete = 0, lacking = 0;
	for (size_t i = 0; i < hits->files.len; i++) {
		lacking += report_missing_has_lacks(store, &hits->files.items[i]);
		unnamed += hits->files.items[i].unnamed;
		in_files += hits->files.items[i].samples;
	}
	uint64_t outside = hits->samples - in_files, missing = unnamed + outside;
	text_printf(out, "# %" PRIu64 " of %" PRIu64 " samples (%.1f%%) have no symbol\n", missing, hits->samples,
		hits->samples ? 100.0 * (double)missing / (double)hits->samples : 0);
	if (outside)
		text_printf(out, "# %" PRIu64 " of them are in no file: [heap], [stack], or where nothing was mapped\n",
			outside);
	if (lacking)
		text_printf(out, "# the debug information of %zu object%s is incomplete\n", lacking,
			lacking > 1 ? "s" : "");
	package_hints_init(&hints);
	for (size_t i = 0; i < hits->files.len; i++) {
		const struct binary_hit *hit = &hits->files.items[i];
		bool has_all = is_complete(store, hit);
		complete += has_all;
		if (shows_all || !has_all)
			print_object(out, store, hit, &hints);
	}
	if (complete && !shows_all)
		text_printf(out, "\n# %zu more objects lack no name (-v shows them)\n", complete);
}
