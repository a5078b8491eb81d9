/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/recording/record_for_verb.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/interrupts.h"
#include "cli/commands.h"
#include "kernel/system/spawn.h"

#define WORDS_MAX     32
#define EVENT_DEFAULT "cycles:P" /* Default event for -G, which needs a preceding -e in record, too. */

enum tally_status recorded_file_make(char path[RECORDED_PATH_BYTES], struct tally_error *err)
{
	const char *folder = getenv("TMPDIR");
	if (!folder || !*folder)
		folder = "/tmp";
	if (snprintf(path, RECORDED_PATH_BYTES, "%s/tally-recording-XXXXXX", folder) >= RECORDED_PATH_BYTES)
		return error_set(err, TALLY_INVALID, "TMPDIR is too long for the name of a recording");
	int fd = mkstemp(path);
	if (fd < 0)
		return error_set_errno(err, TALLY_IO, errno,
			"cannot make a file for the recording in '%s' (TMPDIR names another folder, such as /dev/shm)",
			folder);
	close(fd);
	return TALLY_OK;
}

bool recorded_target_is_other(const struct recorded_target *t)
{
	return t->pids || t->tids || t->cpus || t->cgroups || t->user || t->all_cpus;
}

void recorded_target_text(struct text *text, const struct recorded_target *t)
{
	if (t->pids)
		text_printf(text, "process %s", t->pids);
	else if (t->tids)
		text_printf(text, "thread %s", t->tids);
	else if (t->user)
		text_printf(text, "user %s", t->user);
	else if (t->cgroups)
		text_printf(text, "cgroup %s", t->cgroups);
	else if (t->cpus)
		text_printf(text, "CPU %s", t->cpus);
	else
		text_str(text, "all CPUs");
}

bool record_duration_parse(const char *word, struct text *seconds)
{
	static const struct {
		const char *unit;
		double seconds;
	} units[] = {{"", 1}, {"s", 1}, {"ms", 1e-3}, {"m", 60}};
	char *end;
	if (word[0] < '0' || word[0] > '9' || strspn(word, "0123456789.") == 0)
		return false;
	double value = strtod(word, &end);
	for (size_t i = 0; i < ARRAY_LEN(units); i++) {
		if (strcmp(end, units[i].unit) != 0)
			continue;
		text_fixed(seconds, value * units[i].seconds, 3);
		text_char(seconds, '\0');
		return !seconds->failed;
	}
	return false;
}

/* Waits until the recorder has ended, and forwards signals that were sent to this process only. Returns the status of
 * waitpid. */
static int wait_for_recorder(pid_t recorder, const sigset_t *signals)
{
	siginfo_t info;
	int status = 0;
	pid_t got;
	unsigned interrupts = 0;
	while ((got = waitpid(recorder, &status, WNOHANG)) == 0) {
		int number = sigwaitinfo(signals, &info);
		if (number < 0 && !is_interrupted(&interrupts))
			break;
		if (number > 0 && number != SIGCHLD && info.si_code <= 0)
			kill(recorder, number);
	}
	if (got != recorder)
		(void)wait_for_process(recorder, &status, 0);
	return status;
}

/* Runs the recorder in a child process: it ends as its command did, possibly by a signal, and this process must
 * continue. */
static int run_apart(const struct cli *cli, const char *const *words, int argc, char **argv)
{
	sigset_t signals, before;
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	sigaddset(&signals, SIGCHLD);
	signal(SIGCHLD, SIG_DFL);
	sigprocmask(SIG_BLOCK, &signals, &before);
	fflush(NULL);
	pid_t recorder = fork();
	if (recorder == 0) {
		sigprocmask(SIG_SETMASK, &before, NULL);
		exit(cli_run_verb(cli, &command_record, words, argc, argv));
	}
	int error = errno;
	int status = recorder > 0 ? wait_for_recorder(recorder, &signals) : 0;
	const struct timespec now = {0, 0};
	/* Discards pending signals, which the recorder has received, too. */
	while (sigtimedwait(&signals, NULL, &now) > 0)
		;
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (recorder < 0)
		return cli_failf(cli, "cannot start the recorder: %s", strerror(error));
	return spawn_exit_code(status);
}

int record_for_verb(
	const struct cli *cli, const struct recorded_target *target, const char *path, int argc, char **argv)
{
	const struct {
		const char *option, *value;
	} options[] = {{"-o", path}, {"-e", target->event || !target->cgroups ? target->event : EVENT_DEFAULT},
		{"-p", target->pids}, {"-t", target->tids}, {"-C", target->cpus}, {"-u", target->user},
		{"-G", target->cgroups},
		{"--rung", target->rung.rung == RUNG_AUTO ? NULL : rung_name(target->rung.rung)}};
	/* "auto" unwinds completely, no matter how the program was compiled. */
	const char *words[WORDS_MAX] = {"record", "--call-graph", target->call_graph ? target->call_graph : "auto"};
	size_t count = 3;
	for (size_t i = 0; i < ARRAY_LEN(options); i++) {
		if (!options[i].value)
			continue;
		words[count++] = options[i].option;
		words[count++] = options[i].value;
	}
	if (target->wall)
		words[count++] = "--wall";
	if (target->simulates)
		words[count++] = "--simulate";
	if (target->rung.requires_event)
		words[count++] = "--require-event";
	if (target->all_cpus || target->cgroups)
		words[count++] = "-a";
	words[count++] = "--";
	return run_apart(cli, words, argc, argv);
}
