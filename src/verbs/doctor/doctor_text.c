/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "verbs/doctor/doctor_report.h"

#define TEXT_NAME_WIDTH	 14
#define TEXT_FILES_SHOWN 12 /* Number of files of a target that are listed without -v. */
/* If at least this percentage of the code has frame pointers, the file counts as having them; prologues and
 * epilogues never have them. */
#define TEXT_KEPT_PERCENT 70
#define TEXT_MIB	  (1024 * 1024)
#define DOCTOR_TEXT_WIDTH 100
#define TEXT_WORD_COLUMN  9 /* Column at which text about an event or a setting starts. */

/* Returns the end of the next part that must not be split: a word, or a quoted command, which users copy as a whole. */
static size_t wrap_part_end(const char *text, size_t at, size_t len)
{
	const char *quote = text[at] == '\'' || (text[at] == '(' && at + 1 < len && text[at + 1] == '\'')
				    ? memchr(text + at + 2, '\'', len - MIN(len, at + 2))
				    : NULL;
	at = quote ? (size_t)(quote - text) : at;
	while (at < len && text[at] != ' ')
		at++;
	return at;
}

/* Prints a sentence that is wrapped at DOCTOR_TEXT_WIDTH and continues at the column indent, and ends the line. */
static void put_wrapped(struct text *out, size_t column, size_t indent, const char *sentence)
{
	struct text visible = {0};
	text_visible(&visible, str_from(sentence));
	size_t end;
	for (size_t at = 0; at < visible.len; at = end + 1) {
		end = wrap_part_end(visible.data, at, visible.len);
		bool is_first = column == indent;
		if (!is_first && column + 1 + end - at > DOCTOR_TEXT_WIDTH) {
			text_char(out, '\n');
			text_repeat(out, ' ', indent);
			column = indent;
			is_first = true;
		}
		text_str(out, is_first ? "" : " ");
		text_bytes(out, visible.data + at, end - at);
		column += end - at + (is_first ? 0 : 1);
	}
	text_char(out, '\n');
	out->failed |= visible.failed;
	text_deinit(&visible);
}

static void put_host(const struct doctor_report *report, struct text *out)
{
	static const char *const places[] = {[SURROUNDINGS_HOST] = "",
		[SURROUNDINGS_DOCKER] = ", in a Docker container",
		[SURROUNDINGS_PODMAN] = ", in a Podman container",
		[SURROUNDINGS_KUBERNETES] = ", in a pod of Kubernetes",
		[SURROUNDINGS_CONTAINER] = ", in a container"};
	text_str(out, "Linux ");
	text_visible(out, report->host->osrelease);
	text_str(out, ", ");
	text_visible(out, report->host->arch);
	text_printf(out, ", %u CPU%s%s, user ", report->host->cpus_online, report->host->cpus_online == 1 ? "" : "s",
		places[report->gates->where]);
	text_visible(out, str_from(report->user));
	text_str(out, "\n\n");
}

static void put_checks(const struct machine_checks *checks, struct text *out)
{
	text_str(out, "Events\n");
	for (int id = 0; id < CHECK_COUNT; id++) {
		const struct machine_check *check = &checks->items[id];
		text_str(out, check->is_allowed ? "  yes  " : "  no   ");
		size_t start = out->len;
		text_str(out, check->name);
		text_repeat(out, ' ', TEXT_NAME_WIDTH - (out->len - start));
		text_str(out, check->what);
		text_char(out, '\n');
		/* Adjacent events that are denied for the same reason share one line with it. */
		const struct machine_check *next = id + 1 < CHECK_COUNT ? &checks->items[id + 1] : NULL;
		if (check->is_allowed || (next && next->reason && strcmp(next->reason, check->reason) == 0))
			continue;
		text_repeat(out, ' ', TEXT_WORD_COLUMN);
		put_wrapped(out, TEXT_WORD_COLUMN, TEXT_WORD_COLUMN, check->reason);
	}
	text_char(out, '\n');
}

static void put_gate_line(const char *title, const char *value, struct text *out)
{
	if (!value)
		return;
	text_str(out, "      ");
	text_str(out, title);
	put_wrapped(out, 6 + strlen(title), 6 + strlen(title), value);
}

static void put_gates(const struct machine_gates *gates, bool is_verbose, struct text *out)
{
	size_t count = 0;
	text_str(out, "Settings in the way\n");
	for (size_t i = 0; i < gates->items.len; i++) {
		const struct machine_gate *gate = &gates->items.items[i];
		if (!gate->is_in_the_way)
			continue;
		count++;
		text_printf(out, "  %s: ", gate->name);
		text_visible(out, str_from(gate->value));
		text_char(out, '\n');
		put_gate_line("stops    ", gate->stops, out);
		put_gate_line("opens it ", gate->remedy ? gate->remedy : "nothing", out);
		put_gate_line("exposes  ", gate->exposes ? gate->exposes : "nothing", out);
	}
	if (count == 0)
		text_str(out, "  None.\n");
	text_char(out, '\n');
	if (!is_verbose)
		return;
	text_str(out, "Other settings\n");
	for (size_t i = 0; i < gates->items.len; i++) {
		const struct machine_gate *gate = &gates->items.items[i];
		if (gate->is_in_the_way)
			continue;
		text_printf(out, "  %s: ", gate->name);
		text_visible(out, str_from(gate->value));
		text_char(out, '\n');
	}
	text_char(out, '\n');
}

static void put_file(const struct target_file *file, struct text *out)
{
	static const char *const names[] = {[TARGET_ALL_NAMES] = "all functions have names",
		[TARGET_EXPORTED_NAMES] = "only exported functions have names",
		[TARGET_NO_NAMES] = "functions have no names"};
	text_str(out, "  ");
	text_visible(out, str_from(file->path));
	text_printf(out, "\n      %s%s; ", names[file->names], file->has_lines ? ", lines and inlined calls too" : "");
	if (file->has_unwind_table)
		text_printf(out, "unwind table; %u %% of the code keeps frame pointers\n", file->frame_pointer_percent);
	else
		text_str(out, "no unwind table: stacks end there unless it keeps frame pointers\n");
	if (file->names == TARGET_NO_NAMES && file->trouble) {
		text_str(out, "      ");
		put_wrapped(out, 6, 6, file->trouble);
	}
	if (file->hint) {
		text_str(out, "      missing names: ");
		put_wrapped(out, 21, 21, file->hint);
	}
}

static void put_generated(const struct target_checks *target, struct text *out)
{
	if (target->generated_bytes == 0)
		return;
	text_printf(out, "  code that no file has (a JIT's): %.1f MiB, ", (double)target->generated_bytes / TEXT_MIB);
	if (target->generated_map)
		text_printf(out, "with names in %s\n", target->generated_map);
	else
		text_printf(out, "without names\n      %s\n", target->generated_hint);
}

/* Prints a hint about debuginfod servers, which are another source of symbols than packages. */
static void put_debuginfod(const struct target_checks *target, struct text *out)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	for (size_t i = 0; i < target->files.len; i++) {
		if (!target->files.items[i].is_from_package)
			continue;
		text_str(out, "  ");
		put_wrapped(out, 2, 2,
			urls && *urls ? "Or 'tally report --debuginfod' fetches missing names from the server that "
					"DEBUGINFOD_URLS names."
				      : "Or 'tally report --debuginfod=URL' fetches missing names from a server "
					"(Debian's is https://debuginfod.debian.net).");
		return;
	}
}

static void doctor_text_put_target(const struct doctor_report *report, bool is_verbose, struct text *out)
{
	const struct target_checks *target = report->target;
	if (target->pid)
		text_printf(out, "Process %d (", (int)target->pid);
	else
		text_str(out, "Program ");
	text_visible(out, str_from(target->name ? target->name : "unknown"));
	text_str(out, target->pid ? ")\n" : " (its libraries are known when it runs: tally doctor PID)\n");
	if (target->script) {
		text_str(out, "  It runs the script ");
		text_visible(out, str_from(target->script));
		text_char(out, '\n');
	}
	if (target->refusal) {
		text_str(out, "  It cannot be measured: ");
		put_wrapped(out, 25, 25, target->refusal);
	}
	if (target->is_kernel_thread)
		text_str(out,
			"  It is a thread of the kernel: it has no files, and its samples are of kernel mode only\n");
	if (target->files.len > 0)
		text_printf(out, "  %u %% of its code keeps frame pointers: %s\n", target->frame_pointer_percent,
			target->frame_pointer_percent >= TEXT_KEPT_PERCENT
				? "-g alone gives nearly all stacks"
				: "-g alone loses callers; use --call-graph auto");
	size_t shown = is_verbose || target->files.len <= TEXT_FILES_SHOWN ? target->files.len : TEXT_FILES_SHOWN;
	for (size_t i = 0; i < shown; i++)
		put_file(&target->files.items[i], out);
	if (shown < target->files.len)
		text_printf(out, "  and %zu more files (-v shows them)\n", target->files.len - shown);
	put_generated(target, out);
	put_debuginfod(target, out);
	text_char(out, '\n');
}

void doctor_text(const struct doctor_report *report, bool is_verbose, struct text *out)
{
	put_host(report, out);
	put_checks(report->checks, out);
	put_gates(report->gates, is_verbose, out);
	if (report->target)
		doctor_text_put_target(report, is_verbose, out);
	text_str(out, "What tally does here\n");
	for (size_t i = 0; i < PLAN_COUNT; i++) {
		size_t start = out->len;
		text_printf(out, "  %s", report->plans[i].name);
		text_repeat(out, ' ', TEXT_NAME_WIDTH - (out->len - start));
		put_wrapped(out, TEXT_NAME_WIDTH, TEXT_NAME_WIDTH, report->plans[i].text);
	}
}
