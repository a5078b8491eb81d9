/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/trace/trace_config.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "cli/config_files.h"

#define ALIGNMENT_MOST 1000

struct trace_configuring {
	struct trace_settings *settings;
	struct diag *notes;
};

static const struct trace_switch { /* Settings that are on or off. */
	const char *name;
	size_t offset; /* Offset of a bool in struct trace_form. */
	bool is_inverse; /* True if the bool is the opposite of the setting. */
} trace_switches[] = {
	{"trace.no_inherit", offsetof(struct trace_form, no_inherit), false},
	{"trace.show_arg_names", offsetof(struct trace_form, no_arg_names), true},
	{"trace.show_duration", offsetof(struct trace_form, no_durations), true},
	{"trace.show_prefix", offsetof(struct trace_form, with_prefixes), false},
	{"trace.show_timestamp", offsetof(struct trace_form, no_timestamps), true},
	{"trace.show_zeros", offsetof(struct trace_form, with_zeros), false},
};

static enum tally_status take_events(struct trace_settings *s, struct tally_str value, struct tally_error *err)
{
	free(s->configured_events);
	s->configured_events = strndup(value.data, value.len);
	return s->configured_events ? TALLY_OK : error_nomem(err);
}

static bool take_alignment(struct trace_settings *s, struct tally_str value)
{
	uint64_t number;
	if (!str_to_u64(value, 10, &number) || number > ALIGNMENT_MOST)
		return false;
	s->form.alignment = number;
	return true;
}

/* Selects what prints tracepoints: the kernel's print formats, or trace itself. */
static bool take_printer(struct trace_settings *s, struct tally_str value)
{
	s->form.by_print_format = str_equal(value, STR("libtraceevent"));
	return s->form.by_print_format || str_equal(value, STR("libbeauty"));
}

static enum tally_status trace_config_take(void *data, const struct config_text *config, struct tally_error *err)
{
	const struct trace_configuring *c = data;
	struct tally_str value = config_text_value(config);
	bool is_good = true;
	for (size_t i = 0; i < ARRAY_LEN(trace_switches); i++) {
		const struct trace_switch *known = &trace_switches[i];
		bool *target = (bool *)((char *)&c->settings->form + known->offset);
		bool is_on = *target != known->is_inverse;
		if (strcmp(config->name, known->name) != 0)
			continue;
		config_files_bool(config->name, value, c->notes, &is_on);
		*target = is_on != known->is_inverse;
		return TALLY_OK;
	}
	if (strcmp(config->name, "trace.add_events") == 0)
		return take_events(c->settings, value, err);
	if (strcmp(config->name, "trace.args_alignment") == 0)
		is_good = take_alignment(c->settings, value);
	else if (strcmp(config->name, "trace.tracepoint_beautifiers") == 0)
		is_good = take_printer(c->settings, value);
	if (!is_good)
		diag_add(c->notes, DIAG_WARNING, "the configuration setting %s = %.*s is not valid, and is ignored",
			config->name, (int)(MIN(value.len, 60)), value.data);
	return TALLY_OK;
}

enum tally_status trace_config_read(struct trace_settings *settings, struct diag *notes, struct tally_error *err)
{
	struct trace_configuring configuring = {settings, notes};
	return config_files_read(trace_config_take, &configuring, notes, err);
}
