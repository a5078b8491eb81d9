/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/recording/record_config.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "cli/cli.h"
#include "cli/config_files.h"

struct record_configuring {
	const char *verb;
	struct record_settings *settings;
	struct diag *notes;
};

/* Sets how -g unwinds stacks; the setting alone does not enable call graphs. */
static bool callgraph_take(struct record_chains *to, const char *value)
{
	struct record_settings scratch = {0};
	char room[128];
	struct option_use use = {.settings = &scratch, .value = value, .room = room, .room_bytes = sizeof(room)};
	if (record_set_call_graph(&use))
		return false;
	to->mode = scratch.chains.mode;
	to->stack_bytes = scratch.chains.stack_bytes ? scratch.chains.stack_bytes : to->stack_bytes;
	return true;
}

static bool dump_size_take(struct record_chains *to, const char *value)
{
	char mode[64];
	struct record_chains made = *to;
	if ((size_t)snprintf(mode, sizeof(mode), "dwarf,%s", value) >= sizeof(mode) || !callgraph_take(&made, mode))
		return false;
	to->stack_bytes = made.stack_bytes;
	return true;
}

static bool build_id_take(struct record_settings *s, const char *value)
{
	bool is_mmap = strcmp(value, "mmap") == 0, is_skip = strcmp(value, "skip") == 0;
	bool is_kept = strcmp(value, "no-cache") == 0;
	if (!is_mmap && !is_skip && !is_kept && strcmp(value, "cache") != 0)
		return false;
	s->no_build_ids = is_mmap || is_skip;
	s->no_build_id_cache = is_kept;
	s->fields.build_id_mmap |= is_mmap;
	return true;
}

/* Returns the part of a setting's name after the verb's section ("call-graph" of "record.call-graph"), or NULL if it
 * is in another section. */
static const char *own_setting(const char *verb, const char *name)
{
	size_t len = strlen(verb);
	return !strncmp(name, verb, len) && name[len] == '.' ? name + len + 1 : NULL;
}

static enum tally_status record_setting_take(void *data, const struct config_text *config, struct tally_error *err)
{
	const struct record_configuring *configuring = data;
	struct record_settings *s = configuring->settings;
	struct tally_str text = config_text_value(config);
	const char *own = own_setting(configuring->verb, config->name);
	bool is_record = !strcmp(configuring->verb, "record"), is_good = true;
	char value[64];
	snprintf(value, sizeof(value), "%.*s", (int)(text.len < sizeof(value) ? text.len : sizeof(value) - 1),
		text.data);
	if (!strcmp(config->name, "call-graph.record-mode") || (own && !strcmp(own, "call-graph")))
		is_good = callgraph_take(&s->configured, value);
	else if (!strcmp(config->name, "call-graph.dump-size"))
		is_good = dump_size_take(&s->configured, value);
	else if (own && is_record && !strcmp(own, "build-id"))
		is_good = build_id_take(s, value);
	else if (own && (is_record || strcmp(own, "children") != 0))
		diag_add(configuring->notes, DIAG_WARNING, "the configuration setting %s = %s is ignored", config->name,
			value);
	if (is_good)
		return TALLY_OK;
	return error_set(err, TALLY_INVALID, "Error in the given config file: wrong config key-value pair %s=%s",
		config->name, value);
}

enum tally_status record_config_read(
	const char *verb, struct record_settings *settings, struct diag *notes, struct tally_error *err)
{
	struct record_configuring configuring = {verb, settings, notes};
	return config_files_read(record_setting_take, &configuring, notes, err);
}

static bool record_config_chooses(const struct record_settings *s)
{
	return s->call_graph_flag && s->chains.mode == CALLGRAPH_NONE && s->configured.mode != CALLGRAPH_NONE;
}

struct record_chains record_config_chains(const struct record_settings *s)
{
	struct record_chains chains = s->chains;
	if (record_config_chooses(s))
		chains.mode = s->configured.mode;
	else if (s->call_graph_flag && chains.mode == CALLGRAPH_NONE)
		chains.mode = CALLGRAPH_FP;
	if (chains.mode == CALLGRAPH_DWARF && chains.stack_bytes == 0)
		chains.stack_bytes = s->configured.stack_bytes;
	return chains;
}

void record_config_say_chains(const struct record_settings *s)
{
	if (record_config_chooses(s))
		cli_sayf("recording call graphs by %s, as configured (call-graph.record-mode)\n",
			s->configured.mode == CALLGRAPH_DWARF  ? "dwarf"
			: s->configured.mode == CALLGRAPH_LBR  ? "lbr"
			: s->configured.mode == CALLGRAPH_BPF  ? "bpf"
			: s->configured.mode == CALLGRAPH_AUTO ? "auto"
							       : "fp");
}
