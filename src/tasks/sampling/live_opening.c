/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/sampling/live_opening.h"

#include <signal.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "tasks/recording/record_events.h"
#include "tasks/recording/record_plan.h"
#include "tasks/session/symbol_options.h"

void live_opening_say_notes(struct live_opening *o)
{
	cli_print_diag(o->cli, &o->diag);
	diag_deinit(&o->diag);
	diag_init(&o->diag);
}

static void live_opening_plan(struct live_opening *o)
{
	o->plan = record_plan_make(o->settings);
	o->plan.attrs.rate = o->rate;
	o->plan.attrs.fields.timestamp = o->plan.attrs.fields.cpu = true;
}

static struct record_request live_opening_request(struct live_opening *o)
{
	const struct record_settings *s = o->settings;
	return (struct record_request){.kernel = o->kernel,
		.is_live_view = true,
		.target = s->target,
		.plan = o->plan,
		.events = &o->events,
		.overwrites = s->overwrites,
		.store = symbol_options_of(o->cli, &(struct symbol_options){0}, NULL),
		.realtime_priority = s->realtime_priority,
		.map_timeout_ms = s->map_timeout_ms,
		.argv = o->argv,
		.diag = &o->diag};
}

static enum tally_status live_opening_open_session(struct live_opening *o, struct tally_error *err)
{
	struct text left_out = {0};
	struct tally_str line;
	enum tally_status status = tracepoint_hold_open(&o->hold, o->kernel, true, &o->events, &left_out, err);
	struct tally_str rest = {left_out.data, left_out.len};
	while (status == TALLY_OK && str_next(&rest, '\n', &line) && line.len)
		diag_add(&o->diag, DIAG_NOTE, "%.*s", (int)line.len, line.data);
	text_deinit(&left_out);
	if (status == TALLY_OK)
		status = record_attrs_apply(&o->events, &o->plan.attrs, err);
	for (size_t i = 0; o->settings->overwrites && i < o->events.len; i++)
		o->events.specs[i].attr.flags |= ATTR_FLAG(ATTR_BIT_WRITE_BACKWARD);
	o->recording = live_opening_request(o);
	if (status == TALLY_OK)
		status = live_session_open(&o->recording, &o->session, err);
	tracepoint_hold_release(&o->hold);
	return status;
}

static int live_opening_make_events(struct live_opening *o)
{
	event_list_deinit(&o->events);
	return record_events_make(o->cli, o->command, o->kernel, o->settings, &o->events, NULL);
}

/* Returns whether to measure only the user's own processes, with a note, because measuring all CPUs was denied and was
 * not requested explicitly. */
static bool may_take_own(const struct live_opening *o, enum tally_status status, bool was_asked)
{
	return status == TALLY_DENIED && !was_asked && o->plan.attrs.is_system_wide && !o->settings->target.cpus;
}

static int open_own(struct live_opening *o, const struct tally_error *why)
{
	struct target_request *t = &o->settings->target;
	struct tally_error err = {0};
	snprintf(o->user, sizeof(o->user), "%u", (unsigned)geteuid());
	t->user = o->user;
	t->system_wide = false;
	live_opening_plan(o);
	int code = live_opening_make_events(o);
	if (code != 0)
		return code;
	if (live_opening_open_session(o, &err) != TALLY_OK)
		return cli_fail(o->cli, why);
	diag_add(&o->diag, DIAG_NOTE, "%s", why->text);
	diag_add(&o->diag, DIAG_NOTE, "%s your own processes, as with -u %s", o->purpose, o->user);
	return 0;
}

int live_opening_open(struct live_opening *o)
{
	bool was_asked = o->settings->target.system_wide;
	struct tally_error err = {0};
	diag_init(&o->diag);
	record_target_complete(&o->settings->target, false);
	live_opening_plan(o);
	int code = live_opening_make_events(o);
	if (code != 0)
		return code;
	enum tally_status status = live_opening_open_session(o, &err);
	if (status == TALLY_OK)
		return 0;
	if (may_take_own(o, status, was_asked))
		return open_own(o, &err);
	live_opening_say_notes(o);
	return cli_fail(o->cli, &err);
}

void live_opening_close(struct live_opening *o)
{
	live_session_close(o->session);
	event_list_deinit(&o->events);
	diag_deinit(&o->diag);
}

int live_opening_take_signals(void)
{
	sigset_t mask;
	sigemptyset(&mask);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGTERM);
	return sigprocmask(SIG_BLOCK, &mask, NULL) == 0 ? signalfd(-1, &mask, SFD_NONBLOCK | SFD_CLOEXEC) : -1;
}
