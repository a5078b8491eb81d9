/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "verbs/doctor/doctor_report.h"

#define TEXT_NAME_WIDTH	  14
#define TEXT_FILES_SHOWN  12 /* of a target, without -v */
#define TEXT_KEPT_PERCENT 70 /* prologues and epilogues count as code without frame pointers */
#define TEXT_MIB	  (1024 * 1024)

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
		/* Neighbours that are refused for one reason share the line with it. */
		const struct machine_check *next = id + 1 < CHECK_COUNT ? &checks->items[id + 1] : NULL;
		if (check->is_allowed || (next && next->reason && strcmp(next->reason, check->reason) == 0))
			continue;
		text_str(out, "         ");
		text_visible(out, str_from(check->reason));
		text_char(out, '\n');
	}
	text_char(out, '\n');
}

static void put_gate_line(const char *title, const char *value, struct text *out)
{
	if (!value)
		return;
	text_str(out, "      ");
	text_str(out, title);
	text_visible(out, str_from(value));
	text_char(out, '\n');
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
	if (file->hint) {
		text_str(out, "      the others: ");
		text_visible(out, str_from(file->hint));
		text_char(out, '\n');
	}
	if (file->names == TARGET_NO_NAMES && file->trouble) {
		text_str(out, "      ");
		text_visible(out, str_from(file->trouble));
		text_char(out, '\n');
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
		text_str(out, "without names\n      start it so that it writes /tmp/perf-PID.map: node "
			      "--perf-basic-prof, python3 -X "
			      "perf, DOTNET_PerfMapEnabled=1; for Java, an agent such as perf-map-agent\n");
}

static void put_target(const struct doctor_report *report, bool is_verbose, struct text *out)
{
	const struct target_checks *target = report->target;
	if (target->pid)
		text_printf(out, "Process %d (", (int)target->pid);
	else
		text_str(out, "Program ");
	text_visible(out, str_from(target->name ? target->name : "unknown"));
	text_str(out, target->pid ? ")\n" : " (its libraries are known when it runs: tally doctor PID)\n");
	if (target->refusal) {
		text_str(out, "  It cannot be measured: ");
		text_visible(out, str_from(target->refusal));
		text_char(out, '\n');
	}
	text_printf(out, "  %u %% of its code keeps frame pointers: %s\n", target->frame_pointer_percent,
		target->frame_pointer_percent >= TEXT_KEPT_PERCENT ? "-g alone gives nearly all stacks"
								   : "-g alone loses callers; use --call-graph auto");
	size_t shown = is_verbose || target->files.len <= TEXT_FILES_SHOWN ? target->files.len : TEXT_FILES_SHOWN;
	for (size_t i = 0; i < shown; i++)
		put_file(&target->files.items[i], out);
	if (shown < target->files.len)
		text_printf(out, "  and %zu more files (-v shows them)\n", target->files.len - shown);
	put_generated(target, out);
	text_char(out, '\n');
}

void doctor_text(const struct doctor_report *report, bool is_verbose, struct text *out)
{
	put_host(report, out);
	put_checks(report->checks, out);
	put_gates(report->gates, is_verbose, out);
	if (report->target)
		put_target(report, is_verbose, out);
	text_str(out, "What tally does here\n");
	for (size_t i = 0; i < PLAN_COUNT; i++) {
		size_t start = out->len;
		text_printf(out, "  %s", report->plans[i].name);
		text_repeat(out, ' ', TEXT_NAME_WIDTH - (out->len - start));
		text_printf(out, "%s\n", report->plans[i].text);
	}
}
