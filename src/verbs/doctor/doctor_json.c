/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"
#include "verbs/doctor/doctor_report.h"

#define DOCTOR_JSON_SCHEMA 1

static void put_string(struct json *j, const char *key, const char *value)
{
	if (value)
		json_string(j, key, str_from(value));
}

static void json_checks(struct json *j, const struct machine_checks *checks)
{
	json_array(j, "events");
	for (int id = 0; id < CHECK_COUNT; id++) {
		const struct machine_check *check = &checks->items[id];
		json_object(j, NULL);
		put_string(j, "name", check->name);
		put_string(j, "what", check->what);
		put_string(j, "tried", check->event);
		json_bool(j, "is_allowed", check->is_allowed);
		put_string(j, "reason", check->reason);
		json_object_end(j);
	}
	json_array_end(j);
}

static void json_gates(struct json *j, const struct machine_gates *gates)
{
	json_array(j, "settings");
	for (size_t i = 0; i < gates->items.len; i++) {
		const struct machine_gate *gate = &gates->items.items[i];
		json_object(j, NULL);
		put_string(j, "name", gate->name);
		put_string(j, "value", gate->value);
		json_bool(j, "is_in_the_way", gate->is_in_the_way);
		put_string(j, "stops", gate->stops);
		put_string(j, "opens_it", gate->remedy);
		put_string(j, "exposes", gate->exposes);
		json_object_end(j);
	}
	json_array_end(j);
}

static void json_target(struct json *j, const struct target_checks *target)
{
	static const char *const names[] = {
		[TARGET_ALL_NAMES] = "all", [TARGET_EXPORTED_NAMES] = "exported", [TARGET_NO_NAMES] = "none"};
	json_object(j, "target");
	if (target->pid)
		json_i64(j, "pid", target->pid);
	put_string(j, "name", target->name);
	put_string(j, "script", target->script);
	json_bool(j, "is_kernel_thread", target->is_kernel_thread);
	json_bool(j, "can_be_measured", !target->refusal);
	put_string(j, "refusal", target->refusal);
	json_u64(j, "frame_pointer_percent", target->frame_pointer_percent);
	json_u64(j, "generated_code_bytes", target->generated_bytes);
	put_string(j, "generated_code_names", target->generated_map);
	put_string(j, "generated_code_hint", target->generated_hint);
	json_array(j, "files");
	for (size_t i = 0; i < target->files.len; i++) {
		const struct target_file *file = &target->files.items[i];
		json_object(j, NULL);
		put_string(j, "path", file->path);
		put_string(j, "names", names[file->names]);
		put_string(j, "names_from", file->names_from);
		put_string(j, "trouble", file->trouble);
		put_string(j, "hint", file->hint);
		json_bool(j, "has_lines", file->has_lines);
		json_bool(j, "has_unwind_table", file->has_unwind_table);
		json_u64(j, "frame_pointer_percent", file->frame_pointer_percent);
		json_u64(j, "code_bytes", file->code_bytes);
		json_object_end(j);
	}
	json_array_end(j);
	json_object_end(j);
}

void doctor_json(const struct doctor_report *report, struct text *out)
{
	static const char *const places[] = {[SURROUNDINGS_HOST] = "host",
		[SURROUNDINGS_DOCKER] = "docker",
		[SURROUNDINGS_PODMAN] = "podman",
		[SURROUNDINGS_KUBERNETES] = "kubernetes",
		[SURROUNDINGS_CONTAINER] = "container"};
	struct json j = {.out = out};
	json_object(&j, NULL);
	json_u64(&j, "schema", DOCTOR_JSON_SCHEMA);
	json_string(&j, "kernel", report->host->osrelease);
	json_string(&j, "arch", report->host->arch);
	json_u64(&j, "cpus", report->host->cpus_online);
	put_string(&j, "surroundings", places[report->gates->where]);
	put_string(&j, "user", report->user);
	json_bool(&j, "can_measure", report->can_measure);
	json_checks(&j, report->checks);
	json_gates(&j, report->gates);
	if (report->target)
		json_target(&j, report->target);
	json_array(&j, "plan");
	for (size_t i = 0; i < PLAN_COUNT; i++) {
		json_object(&j, NULL);
		put_string(&j, "name", report->plans[i].name);
		put_string(&j, "text", report->plans[i].text);
		json_object_end(&j);
	}
	json_array_end(&j);
	json_object_end(&j);
	text_char(out, '\n');
}
