/* SPDX-License-Identifier: Apache-2.0 */
#include "base/array.h"
#include "base/json.h"
#include "perfdata/origin.h"
#include "verbs/summary/summary_output.h"

#define SUMMARY_JSON_SCHEMA   1
#define SUMMARY_JSON_DECIMALS 4

static void json_percent(struct json *j, const char *key, uint64_t part, uint64_t whole)
{
	json_fixed(j, key, whole ? 100.0 * (double)part / (double)whole : 0, SUMMARY_JSON_DECIMALS);
}

static void json_origin(struct json *j, const struct summary_facts *f, bool has_origin)
{
	json_u64(j, "schema", SUMMARY_JSON_SCHEMA);
	json_string(j, "path", str_from(f->path));
	if (f->command.len && has_origin)
		json_string(j, "command", f->command);
	if (f->host.len && has_origin)
		json_string(j, "host", f->host);
	if (f->kernel.len && has_origin)
		json_string(j, "kernel", f->kernel);
	if (f->cpu.len && has_origin)
		json_string(j, "cpu", f->cpu);
	if (f->duration_ns)
		json_u64(j, "duration_ns", f->duration_ns);
	origin_json(j, f->features);
	json_string(j, "event", f->event);
	json_bool(j, "is_time", f->is_time);
	json_u64(j, "samples", f->samples);
	json_u64(j, "period", f->period);
	json_fixed(j, "error_points", f->error_points, SUMMARY_JSON_DECIMALS);
}

static void json_others(struct json *j, const struct summary_facts *f, size_t count)
{
	if (f->others.len == 0 || count == 0)
		return;
	json_array(j, "other_events");
	for (size_t i = 0; i < MIN(f->others.len, count); i++) {
		json_object(j, NULL);
		json_string(j, "event", f->others.items[i].name);
		json_u64(j, "samples", f->others.items[i].samples);
		json_object_end(j);
	}
	json_array_end(j);
}

static void json_functions(struct json *j, const struct summary_facts *f, size_t count)
{
	json_u64(j, "function_count", f->functions.len);
	json_array(j, "functions");
	for (size_t i = 0; i < MIN(f->functions.len, count); i++) {
		const struct summary_function *function = &f->functions.items[i];
		json_object(j, NULL);
		json_string(j, "symbol", function->name);
		if (function->object.len)
			json_string(j, "dso", function->object);
		json_percent(j, "self_percent", function->period, f->period);
		json_u64(j, "self_period", function->period);
		json_u64(j, "samples", function->samples);
		json_object_end(j);
	}
	json_array_end(j);
}

static void json_tree(struct json *j, const struct summary_facts *f, size_t count)
{
	json_array(j, "tree");
	for (size_t i = 0; i < MIN(f->nodes.len, count); i++) {
		const struct summary_node *node = &f->nodes.items[i];
		json_object(j, NULL);
		json_u64(j, "depth", node->depth);
		json_string(j, "path", node->path);
		json_percent(j, "total_percent", node->total, f->period);
		json_object_end(j);
	}
	json_array_end(j);
}

static void json_states(struct json *j, const struct summary_facts *f, size_t count)
{
	if (f->states.len == 0)
		return;
	json_array(j, "states");
	for (size_t i = 0; i < MIN(f->states.len, count); i++) {
		json_object(j, NULL);
		json_string(j, "state", f->states.items[i].name);
		json_u64(j, "period", f->states.items[i].period);
		json_object_end(j);
	}
	json_array_end(j);
}

static void json_changes(struct json *j, const struct summary_facts *f, size_t count)
{
	if (!f->baseline)
		return;
	json_object(j, "baseline");
	json_string(j, "path", str_from(f->baseline));
	json_u64(j, "samples", f->base_samples);
	json_u64(j, "period", f->base_period);
	json_u64(j, "change_count", f->changes.len);
	json_array(j, "changes");
	for (size_t i = 0; i < MIN(f->changes.len, count); i++) {
		const struct summary_change *change = &f->changes.items[i];
		json_object(j, NULL);
		json_string(j, "symbol", change->name);
		if (change->object.len)
			json_string(j, "dso", change->object);
		json_fixed(j, "base_percent", change->base_percent, SUMMARY_JSON_DECIMALS);
		json_fixed(j, "new_percent", change->new_percent, SUMMARY_JSON_DECIMALS);
		json_object_end(j);
	}
	json_array_end(j);
	json_object_end(j);
}

void summary_json(const struct summary_facts *f, const struct summary_limits *limits, struct text *out)
{
	struct json j = {.out = out};
	json_object(&j, NULL);
	json_origin(&j, f, limits->has_origin);
	json_others(&j, f, limits->states);
	json_states(&j, f, limits->states);
	json_functions(&j, f, limits->functions);
	json_tree(&j, f, limits->nodes);
	json_changes(&j, f, limits->changes);
	json_string(&j, "verdict", f->verdict);
	json_array(&j, "notes");
	for (size_t i = 0; i < MIN(f->notes.len, limits->notes); i++)
		json_string(&j, NULL, f->notes.items[i]);
	json_array_end(&j);
	json_array(&j, "next");
	for (size_t i = 0; i < MIN(limits->commands, SUMMARY_COMMANDS) && f->commands[i]; i++)
		json_string(&j, NULL, str_from(f->commands[i]));
	json_array_end(&j);
	json_object_end(&j);
}
