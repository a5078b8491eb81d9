/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/recording/record_commands.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/text.h"
#include "kernel/events/event_gates.h"
#include "tasks/recording/record_waits.h"

void record_announce(const struct record_request *request, const char *format, ...)
{
	char text[4096];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (request->announce)
		request->announce(text);
}

enum tally_status record_set_running(const struct record_request *request, struct recorder *recorder,
	struct record_waits *waits, struct tally_str event, bool is_running, struct tally_error *err)
{
	const struct event_list *events = request->events;
	const char *what = is_running ? "enabled" : "disabled";
	size_t index = RECORDER_ALL;
	for (size_t i = 0; event.len && i < events->len; i++)
		if (str_equal(event, str_from(events->specs[i].name)))
			index = i;
	if (event.len && index == RECORDER_ALL) {
		record_announce(request, "failed: can't find '%.*s' event", (int)event.len, event.data);
		return TALLY_OK;
	}
	enum tally_status status = recorder_set_running(recorder, index, is_running, err);
	if (status == TALLY_OK && waits && (index == RECORDER_ALL || event_is_waits(&events->specs[index])))
		status = record_waits_set_running(waits, is_running, err);
	if (status == TALLY_OK && event.len)
		record_announce(request, "Event %.*s %s", (int)event.len, event.data, what);
	else if (status == TALLY_OK)
		record_announce(request, "Events %s", what);
	return status;
}

static void record_commands_list_events(const struct record_commands *c, struct tally_str option)
{
	const struct event_list *events = c->request->events;
	for (size_t i = 0; i < events->len; i++) {
		const struct event_spec *spec = &events->specs[i];
		struct text t = {0};
		bool is_freq = ATTR_HAS(&spec->attr, FREQ);
		if (str_equal(option, STR("-v"))) {
			text_str(&t, ": ");
			attr_print(&t, &spec->attr);
		} else if (str_equal(option, STR("-F"))) {
			text_printf(&t, ": %s=%llu", is_freq ? "sample_freq" : "sample_period",
				(unsigned long long)spec->attr.sample_period_or_freq);
		}
		record_announce(c->request, "%s%.*s", spec->name, (int)t.len, t.data ? t.data : "");
		text_deinit(&t);
	}
}

static enum tally_status record_commands_obey_line(
	struct record_commands *c, const struct record_control_line *line, struct tally_error *err)
{
	enum tally_status status = TALLY_OK;
	switch (line->command) {
	case COMMAND_ENABLE:
	case COMMAND_DISABLE:
		status = record_set_running(
			c->request, c->recorder, c->waits, line->argument, line->command == COMMAND_ENABLE, err);
		break;
	case COMMAND_EVLIST:
		record_commands_list_events(c, line->argument);
		break;
	case COMMAND_STOP:
		c->wants_stop = true;
		break;
	case COMMAND_SNAPSHOT: /* Snapshots are of AUX data, which is not recorded. */
	case COMMAND_PING:
		break;
	case COMMAND_UNKNOWN:
	default:
		record_announce(c->request, "Message from the control descriptor: '%.*s' is not a command",
			(int)line->argument.len, line->argument.data);
		return TALLY_OK;
	}
	if (status == TALLY_OK)
		record_control_acknowledge(c->control);
	return status;
}

enum tally_status record_commands_obey(struct record_commands *c, bool *is_open, struct tally_error *err)
{
	struct record_control_line line;
	enum tally_status status = TALLY_OK;
	*is_open = record_control_read(c->control);
	while (status == TALLY_OK && record_control_next(c->control, &line))
		status = record_commands_obey_line(c, &line, err);
	return status;
}
