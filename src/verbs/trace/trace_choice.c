/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/trace/trace_choice.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "tasks/session/event_words.h"

#define FILTER_BYTES 3072 /* Maximum length of a filter; the kernel accepts at most a page. */

struct trace_choosing {
	const struct cli *cli;
	const struct command *command;
	const struct kernel_seam *kernel;
	struct event_catalogue *catalogue; /* NULL if only system calls can be selected. */
	struct trace_choice *choice;
	bool is_negated;
	size_t filtered, grouped; /* Number of events that already have their filter, and their cgroup. */
	bool has_carrier; /* True if the first event carries side-band records. */
};

/* Returns false if the word names neither a call nor a group of calls. */
static bool select_calls(struct trace_choice *c, struct tally_str word)
{
	bool is_known = false;
	for (unsigned abi = 0; abi < SYSCALLS_COUNT; abi++)
		if (abi == c->native || abi == c->compat)
			is_known |= syscall_select((enum syscall_abi)abi, word, c->wanted[abi]);
	c->has_names |= is_known;
	return is_known;
}

static int trace_choice_parse_events(struct trace_choosing *m, const struct text *words)
{
	struct tally_error err = {0};
	if (words->failed)
		return cli_failf(m->cli, "out of memory");
	if (words->len == 0)
		return 0;
	if (!m->catalogue)
		return cli_usagef(m->cli, m->command, "event,input",
			"'%s' is no system call, and of a recording trace shows only calls and page faults (-F): "
			"'script' shows all events",
			words->data);
	if (event_word_parse(m->cli, m->catalogue, words->data, &m->choice->events, &err) == TALLY_OK)
		return 0;
	const char *near = syscall_nearest(m->choice->native, words->data);
	if (near)
		return cli_usagef(m->cli, m->command, "event",
			"%s\nIt is no system call either: the nearest one is '%s'", err.text, near);
	return cli_usagef(m->cli, m->command, "event", "%s", err.text);
}

/*
 * Removes the next item from the list. Commas inside an event's terms, group or arguments do not separate items:
 * "cpu/event=1,read/", "uprobe:./app:f(fd,read)".
 */
static bool trace_choice_next(struct tally_str *rest, struct tally_str *item)
{
	*rest = str_trim(*rest);
	bool is_there = rest->len > 0, has_path = str_starts_with(*rest, STR("uprobe:")), is_in_terms = false;
	size_t len = 0;
	int depth = 0;
	for (; len < rest->len && (rest->data[len] != ',' || depth > 0 || is_in_terms); len++) {
		depth += strchr("({[", rest->data[len]) != NULL;
		depth -= depth > 0 && strchr(")}]", rest->data[len]);
		is_in_terms ^= rest->data[len] == '/' && !has_path;
	}
	*item = str_trim((struct tally_str){rest->data, len});
	len += len < rest->len;
	*rest = (struct tally_str){rest->data + len, rest->len - len};
	return is_there;
}

/* Adds names of calls and events, which may be mixed: a word that names no call is an event. */
static int trace_choice_add(struct trace_choosing *m, const char *text)
{
	struct tally_str rest = str_from(text), word;
	struct text events = {0};
	if (rest.len > 0 && rest.data[0] == '!') {
		m->is_negated = true;
		rest.data++;
		rest.len--;
	}
	while (trace_choice_next(&rest, &word)) {
		if (select_calls(m->choice, word))
			continue;
		if (m->is_negated) {
			text_deinit(&events);
			return cli_usagef(m->cli, m->command, "event", "'%.*s' after ! is no system call",
				(int)word.len, word.data);
		}
		if (events.len > 0)
			text_char(&events, ',');
		text_bytes(&events, word.data, word.len);
	}
	text_char(&events, 0);
	events.len--;
	m->filtered = m->choice->events.len;
	int code = trace_choice_parse_events(m, &events);
	text_deinit(&events);
	return code;
}

static int trace_choice_add_filter(struct trace_choosing *m, const char *filter)
{
	struct event_list *events = &m->choice->events;
	struct tally_error err = {0};
	if (!m->catalogue)
		return cli_usagef(m->cli, m->command, "filter,input",
			"--filter is for events that are traced live, and -i reads a recording");
	if (m->filtered >= events->len)
		return cli_usagef(m->cli, m->command, "filter",
			"--filter follows the event (-e) that it is for; system calls are chosen by -e");
	enum tally_status status = event_add_filter(events, m->filtered, filter, "--filter", &err);
	return status == TALLY_OK ? 0 : cli_usagef(m->cli, m->command, "filter", "%s", err.text);
}

static int trace_choice_add_cgroup(struct trace_choosing *m, const char *name)
{
	struct event_list *events = &m->choice->events;
	struct tally_error err = {0};
	enum tally_status status = TALLY_OK;
	if (!m->catalogue)
		return cli_usagef(
			m->cli, m->command, "cgroup,input", "-G is for what is traced live, and -i reads a recording");
	if (events->len <= m->has_carrier) {
		m->choice->cgroups = name;
		return 0;
	}
	for (; status == TALLY_OK && m->grouped < events->len; m->grouped++)
		status = event_set_cgroup(events, m->grouped, m->kernel, str_from(name), &err);
	return status == TALLY_OK ? 0 : cli_usagef(m->cli, m->command, "cgroup", "%s", err.text);
}

/*
 * -G before all events also applies to them, unless another -G follows them. The carrier has no cgroup, because it
 * records names and forks of all threads.
 */
static int spread_cgroup(struct trace_choosing *m)
{
	struct event_list *events = &m->choice->events;
	struct tally_error err = {0};
	if (!m->choice->cgroups || !m->has_carrier)
		return 0;
	for (size_t i = 0; i < events->len; i = i == 0 ? m->grouped : i + 1)
		if (event_set_cgroup(events, i, m->kernel, str_from(m->choice->cgroups), &err) != TALLY_OK)
			return cli_usagef(m->cli, m->command, "cgroup", "%s", err.text);
	m->choice->cgroup_path = events->specs[0].cgroup_path;
	events->specs[0].cgroup = events->specs[0].cgroup_path = NULL;
	return 0;
}

/* Adds an event that carries records of names, forks and mappings. */
static int add_carrier(struct trace_choosing *m)
{
	struct tally_error err = {0};
	if (!m->catalogue)
		return 0;
	if (event_word_parse(m->cli, m->catalogue, "dummy", &m->choice->events, &err) != TALLY_OK)
		return cli_fail(m->cli, &err);
	m->has_carrier = true;
	m->filtered = m->grouped = 1;
	return 0;
}

/* As in perf, calls are traced if they are named or requested, or if nothing else is traced. */
static void trace_choice_settle(struct trace_choosing *m, const struct trace_settings *s)
{
	struct trace_choice *c = m->choice;
	bool has_others = c->events.len > m->has_carrier || s->with_major_faults || s->with_minor_faults;
	c->traces_calls = c->has_names || s->wants_calls || !has_others;
	for (unsigned abi = 0; abi < SYSCALLS_COUNT; abi++) {
		struct syscall_set *set = c->wanted[abi];
		if (c->has_names && set && m->is_negated) {
			for (size_t i = 0; i < SYSCALL_NUMBERS; i++)
				set->has[i] = !set->has[i];
			set->has_others = !set->has_others;
		}
		if (!c->has_names) {
			free(set);
			c->wanted[abi] = NULL;
		}
	}
}

int trace_choice_make(const struct cli *cli, const struct command *command, const struct kernel_seam *kernel,
	const struct trace_settings *s, const char *machine, struct trace_choice *c)
{
	struct trace_choosing m = {.cli = cli, .command = command, .kernel = kernel, .choice = c};
	struct tally_error err = {0};
	*c = (struct trace_choice){.native = syscall_abi_of(machine, false), .compat = syscall_abi_of(machine, true)};
	if (c->native == SYSCALLS_COUNT)
		return cli_failf(cli, "the system calls of %s are not known: those of x86_64 and aarch64 are", machine);
	for (unsigned abi = 0; abi < SYSCALLS_COUNT; abi++) {
		c->wanted[abi] = calloc(1, sizeof(*c->wanted[abi]));
		if (!c->wanted[abi])
			return cli_failf(cli, "out of memory");
	}
	if (kernel && event_catalogue_create(kernel, &m.catalogue, &err) != TALLY_OK)
		return cli_fail(cli, &err);
	int code = add_carrier(&m);
	if (code == 0 && s->configured_events && m.catalogue) /* With a recording, trace prints no events. */
		code = trace_choice_add(&m, s->configured_events);
	for (size_t i = 0; code == 0 && i < s->words.len; i++) {
		const struct trace_word *word = &s->words.items[i];
		code = word->kind == TRACE_WORD_CHOICE	 ? trace_choice_add(&m, word->text)
		       : word->kind == TRACE_WORD_FILTER ? trace_choice_add_filter(&m, word->text)
							 : trace_choice_add_cgroup(&m, word->text);
	}
	if (code == 0)
		code = spread_cgroup(&m);
	event_catalogue_destroy(m.catalogue);
	if (code == 0)
		trace_choice_settle(&m, s);
	return code;
}

void trace_choice_deinit(struct trace_choice *c)
{
	for (unsigned abi = 0; abi < SYSCALLS_COUNT; abi++)
		free(c->wanted[abi]);
	event_list_deinit(&c->events);
	*c = (struct trace_choice){0};
}

void trace_choice_print_filter(const struct trace_choice *c, struct text *t)
{
	const struct syscall_set *set = c->wanted[c->native];
	size_t wanted = 0, known = 0, start = t->len;
	for (uint32_t i = 0; set && i < SYSCALL_NUMBERS; i++) {
		wanted += set->has[i] && syscall_name(c->native, i);
		known += syscall_name(c->native, i) != NULL;
	}
	if (!set)
		return;
	bool by_others = wanted > known / 2;
	for (uint32_t i = 0; i < SYSCALL_NUMBERS; i++)
		if (syscall_name(c->native, i) && set->has[i] != by_others)
			text_printf(t, "%sid %s %u",
				t->len == start ? ""
				: by_others	? " && "
						: " || ",
				by_others ? "!=" : "==", i);
	if (t->len - start > FILTER_BYTES)
		t->len = start;
}
