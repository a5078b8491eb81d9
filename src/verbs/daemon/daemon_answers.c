/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/daemon/daemon_answers.h"

#include <signal.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"

static uint64_t daemon_answer_seconds(uint64_t started_ns)
{
	return (clock_ns() - started_ns) / UINT64_C(1000000000);
}

static void daemon_answer_list_session(
	const struct daemon_server *server, const struct daemon_session *session, bool is_verbose, struct text *out)
{
	const char *folder = session->folder;
	text_printf(out, "[%d:%s] %s record %s\n", (int)session->pid, session->name, server->program, session->run);
	if (!is_verbose)
		return;
	text_printf(out, "  base:    %s\n  output:  %s/output\n  control: %s/control\n  ack:     %s/ack\n", folder,
		folder, folder, folder);
	text_printf(
		out, "  up:      %llu minutes\n", (unsigned long long)daemon_answer_seconds(session->started_ns) / 60);
}

static void daemon_answer_separate(const struct daemon_server *server, char s, struct text *out)
{
	const char *base = server->base;
	text_printf(out, "%d%cdaemon%c%s%c%s/output%c%s/lock%c%llu\n", (int)getpid(), s, s, base, s, base, s, base, s,
		(unsigned long long)daemon_answer_seconds(server->started_ns) / 60);
	for (size_t i = 0; i < server->sessions.len; i++) {
		const struct daemon_session *session = server->sessions.items[i];
		const char *folder = session->folder;
		if (session->pid == 0)
			continue;
		text_printf(out, "%d%c%s%c%s%c%s%c%s/output%c%s/control%c%s/ack%c%llu\n", (int)session->pid, s,
			session->name, s, session->run, s, folder, s, folder, s, folder, s, folder, s,
			(unsigned long long)daemon_answer_seconds(session->started_ns) / 60);
	}
}

void daemon_answer_list(const struct daemon_server *server, char separator, bool is_verbose, struct text *out)
{
	if (separator) {
		daemon_answer_separate(server, separator, out);
		return;
	}
	text_printf(out, "[%d:daemon] base: %s\n", (int)getpid(), server->base);
	if (is_verbose)
		text_printf(out, "  output:  %s/output\n  lock:    %s/lock\n  up:      %llu minutes\n", server->base,
			server->base, (unsigned long long)daemon_answer_seconds(server->started_ns) / 60);
	for (size_t i = 0; i < server->sessions.len; i++)
		if (server->sessions.items[i]->pid)
			daemon_answer_list_session(server, server->sessions.items[i], is_verbose, out);
}

void daemon_answer_json(const struct daemon_server *server, struct text *out)
{
	struct json j = {.out = out};
	json_object(&j, NULL);
	json_u64(&j, "schema", 1);
	json_u64(&j, "pid", (uint64_t)getpid());
	json_string(&j, "base", str_from(server->base));
	json_u64(&j, "up_seconds", daemon_answer_seconds(server->started_ns));
	json_array(&j, "sessions");
	for (size_t i = 0; i < server->sessions.len; i++) {
		const struct daemon_session *session = server->sessions.items[i];
		if (session->pid == 0)
			continue;
		json_object(&j, NULL);
		json_string(&j, "name", str_from(session->name));
		json_u64(&j, "pid", (uint64_t)session->pid);
		json_string(&j, "run", str_from(session->run));
		json_string(&j, "base", str_from(session->folder));
		json_u64(&j, "up_seconds", daemon_answer_seconds(session->started_ns));
		json_object_end(&j);
	}
	json_array_end(&j);
	json_object_end(&j);
}

static bool daemon_answer_is_meant(const struct daemon_session *session, const char *name)
{
	return session->pid && (!*name || strcmp(session->name, name) == 0);
}

void daemon_answer_ping(struct daemon_server *server, const char *name, struct text *out)
{
	bool is_found = false;
	for (size_t i = 0; i < server->sessions.len; i++) {
		struct daemon_session *session = server->sessions.items[i];
		if (!daemon_answer_is_meant(session, name))
			continue;
		is_found = true;
		text_printf(out, "%-4s %s\n", daemon_session_ping(session) ? "OK" : "FAIL", session->name);
	}
	if (!is_found && *name)
		text_printf(out, "FAIL %s (not found)\n", name);
}

void daemon_answer_signal(struct daemon_server *server, const char *name, struct text *out)
{
	bool is_found = false;
	for (size_t i = 0; i < server->sessions.len; i++) {
		struct daemon_session *session = server->sessions.items[i];
		if (!daemon_answer_is_meant(session, name))
			continue;
		is_found = true;
		if (daemon_session_signal(session))
			text_printf(out, "signal %d sent to session '%s [%d]'\n", SIGUSR2, session->name,
				(int)session->pid);
		else
			text_printf(out, "no signal sent to session '%s [%d]': its recorder does not answer yet\n",
				session->name, (int)session->pid);
	}
	if (!is_found && *name)
		text_printf(out, "no signal sent: no session '%s' runs\n", name);
}
