/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/simulation/simulation_run.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "base/vec.h"
#include "tasks/simulation/simulation_command.h"
#include "tasks/simulation/simulation_file.h"
#include "tasks/simulation/simulation_messages.h"
#include "tasks/simulation/simulation_tool.h"

#define FOLDER_NAME	 "tally-simulation-XXXXXX"
#define LIBRARY_FOLDER	 "lib" /* Subfolder with links to tally's tool and to Valgrind's files. */
#define LIBRARY_VARIABLE "VALGRIND_LIB"
#define PERSONALITY_ASK	 0xffffffffUL
#define DEPTH_MOST	 8 /* Maximum number of descriptors that nftw uses. */

/* ---- The folder ---- */

static int simulation_run_remove_one(const char *path, const struct stat *st, int type, struct FTW *place)
{
	(void)st;
	(void)place;
	(void)(type == FTW_DP ? rmdir(path) : unlink(path));
	return 0;
}

static enum tally_status simulation_run_make_folder(struct simulation_run *run, struct tally_error *err)
{
	const char *place = getenv("TMPDIR");
	char folder[SIMULATION_FOLDER_BYTES];
	int len = snprintf(folder, sizeof(folder), "%s/" FOLDER_NAME, place && place[0] == '/' ? place : "/tmp");
	if (len < 0 || (size_t)len >= sizeof(folder))
		return error_set(err, TALLY_INVALID, "TMPDIR is too long for the files of the simulation");
	if (!mkdtemp(folder))
		return error_set_errno(err, TALLY_IO, errno,
			"cannot make a folder in '%s' for the files of the simulation (TMPDIR names another place)",
			place && place[0] == '/' ? place : "/tmp");
	memcpy(run->folder, folder, sizeof(folder));
	return TALLY_OK;
}

/* Creates the link library/name to folder/name. */
static enum tally_status simulation_run_link(
	const char *library, const char *folder, const char *name, struct tally_error *err)
{
	char target[PATH_MAX], link[PATH_MAX];
	int target_len = snprintf(target, sizeof(target), "%s/%s", folder, name);
	int link_len = snprintf(link, sizeof(link), "%s/%s", library, name);
	if (target_len >= PATH_MAX || link_len >= PATH_MAX)
		return error_set(err, TALLY_LIMIT, "the name of '%s/%s' is too long", folder, name);
	if (symlink(target, link) != 0)
		return error_set_errno(err, TALLY_IO, errno, "cannot link '%s'", link);
	return TALLY_OK;
}

/* Finds or makes the folder for VALGRIND_LIB, because Valgrind loads its tool and the files that belong to it from a
 * single folder. */
static enum tally_status simulation_run_make_library(const struct simulation_run *run,
	const struct simulation_tool *tool, char library[PATH_MAX], struct tally_error *err)
{
	if (!tool->valgrind[0]) {
		memcpy(library, tool->folder, PATH_MAX);
		return TALLY_OK;
	}
	snprintf(library, PATH_MAX, "%s/" LIBRARY_FOLDER, run->folder);
	if (mkdir(library, 0700) != 0)
		return error_set_errno(err, TALLY_IO, errno, "cannot make the folder '%s'", library);
	enum tally_status status = simulation_run_link(library, tool->folder, SIMULATION_TOOL_FILE, err);
	if (status == TALLY_OK)
		status = simulation_run_link(library, tool->valgrind, SIMULATION_PRELOAD_FILE, err);
	return status;
}

/* ---- Starting ---- */

static void simulation_run_signals(sigset_t *signals)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD};
	sigemptyset(signals);
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
		sigaddset(signals, numbers[i]);
}

typedef VEC(char *) simulation_words;

static enum tally_status simulation_run_make_words(const struct simulation_run *run,
	const struct simulation_request *request, struct simulation_tool *tool, struct text *own,
	simulation_words *words, struct tally_error *err)
{
	/* Options of Valgrind's core: it ignores options from files and the environment, which are meant for other
	 * tools; it writes messages to one file for each process; and it starts no debugger server, which would
	 * create files in /tmp. */
	static char *const core[] = {"--tool=tally", "-q", "--command-line-only=yes", "--trace-children=yes",
		"--vgdb=no", "--sigill-diagnostics=yes"};
	text_printf(own, "--log-file=");
	for (const char *at = run->folder; *at; at++)
		text_printf(own, *at == '%' ? "%%%%" : "%c", *at); /* Valgrind expands % in this name. */
	text_printf(own, "/" SIMULATION_MESSAGES_PREFIX "%%p");
	text_char(own, '\0');
	size_t stream_at = own->len;
	text_printf(own, "--stream-dir=%s", run->folder);
	text_char(own, '\0');
	bool is_made = !own->failed && vec_push(words, tool->launcher);
	for (size_t i = 0; i < ARRAY_LEN(core); i++)
		is_made = is_made && vec_push(words, core[i]);
	is_made = is_made && vec_push(words, own->data) && vec_push(words, own->data + stream_at);
	for (size_t i = 0; i < request->option_count; i++)
		is_made = is_made && vec_push(words, (char *)request->options[i]);
	is_made = is_made && vec_push(words, "--");
	for (size_t i = 0; request->command[i]; i++)
		is_made = is_made && vec_push(words, request->command[i]);
	return is_made && vec_push(words, NULL) ? TALLY_OK : error_nomem(err);
}

/* Starts Valgrind. Addresses determine which sets of the caches are used, so address randomization is disabled to make
 * runs repeatable. If a container forbids that, addresses are as random as Valgrind lets them be. */
static enum tally_status simulation_run_spawn(
	struct simulation_run *run, char *const *words, const char *library, struct tally_error *err)
{
	const char *before = getenv(LIBRARY_VARIABLE);
	char *kept = before ? strdup(before) : NULL;
	if ((before && !kept) || setenv(LIBRARY_VARIABLE, library, 1) != 0) {
		free(kept);
		return error_nomem(err);
	}
	int persona = personality(PERSONALITY_ASK);
	if (persona >= 0)
		(void)personality((unsigned long)persona | ADDR_NO_RANDOMIZE);
	enum tally_status status = spawn_create_with_signals(words, &run->signals_before, &run->child, err);
	if (persona >= 0)
		(void)personality((unsigned long)persona);
	(void)(kept ? setenv(LIBRARY_VARIABLE, kept, 1) : unsetenv(LIBRARY_VARIABLE));
	free(kept);
	if (status != TALLY_OK)
		return status;
	run->pid = run->child.pid;
	run->start_ns = clock_ns();
	return spawn_start(&run->child, err);
}

static enum tally_status simulation_run_begin(
	const struct simulation_request *request, struct simulation_run *run, struct tally_error *err)
{
	struct simulation_tool tool;
	char library[PATH_MAX];
	struct text own = {0};
	simulation_words words = {0};
	enum tally_status status = simulation_tool_find(&tool, err);
	if (status == TALLY_OK)
		status = simulation_command_check(request->command[0], err);
	if (status == TALLY_OK)
		status = simulation_run_make_folder(run, err);
	if (status == TALLY_OK)
		status = simulation_run_make_library(run, &tool, library, err);
	if (status == TALLY_OK)
		status = simulation_run_make_words(run, request, &tool, &own, &words, err);
	if (status == TALLY_OK)
		status = simulation_run_spawn(run, words.items, library, err);
	vec_free(&words);
	text_deinit(&own);
	return status;
}

/* Undoes what simulation_start has changed in this process. */
static void simulation_run_restore(struct simulation_run *run)
{
	const struct timespec now = {0, 0};
	sigset_t signals;
	simulation_run_signals(&signals);
	if (run->folder[0])
		nftw(run->folder, simulation_run_remove_one, DEPTH_MOST, FTW_DEPTH | FTW_PHYS);
	run->folder[0] = '\0';
	prctl(PR_SET_CHILD_SUBREAPER, run->was_subreaper, 0, 0, 0);
	for (int number; (number = sigtimedwait(&signals, NULL, &now)) > 0;)
		if (number != SIGCHLD)
			run->signal = number; /* The signal arrived after the last wait. */
	sigprocmask(SIG_SETMASK, &run->signals_before, NULL);
}

enum tally_status simulation_start(
	const struct simulation_request *request, struct simulation_run *run, struct tally_error *err)
{
	sigset_t signals;
	int was_subreaper = 0;
	*run = (struct simulation_run){
		.command = request->command[0], .child = {.pid = -1, .go_fd = -1, .failed_fd = -1}};
	simulation_run_signals(&signals);
	signal(SIGCHLD, SIG_DFL);
	sigprocmask(SIG_BLOCK, &signals, &run->signals_before);
	/* Orphaned processes of the command become children of this process, so that simulation_wait can detect
	 * them. */
	prctl(PR_GET_CHILD_SUBREAPER, &was_subreaper, 0, 0, 0);
	run->was_subreaper = was_subreaper != 0;
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	enum tally_status status = simulation_run_begin(request, run, err);
	if (status != TALLY_OK) {
		spawn_cancel(&run->child);
		simulation_run_restore(run);
	}
	return status;
}

/* ---- Ending ---- */

/* Returns whether a process with a stream still runs as a child of this process, because its parent ended first;
 * reaps those that have ended. Other children, which this process inherited through exec, are not waited for. */
static bool simulation_run_has_survivors(const struct simulation_run *run)
{
	bool has_survivors = false;
	DIR *dir = opendir(run->folder);
	for (const struct dirent *entry; dir && (entry = readdir(dir));) {
		siginfo_t info = {0};
		uint32_t pid, image;
		if (simulation_file_name(entry->d_name, &pid, &image) && pid != (uint32_t)run->pid &&
			waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG) == 0)
			has_survivors |= info.si_pid == 0;
	}
	if (dir)
		closedir(dir);
	return has_survivors;
}

enum tally_status simulation_wait(struct simulation_run *run, struct tally_error *err)
{
	sigset_t signals;
	bool has_ended = false;
	simulation_run_signals(&signals);
	while (!has_ended) {
		siginfo_t info;
		enum tally_status status = spawn_try_wait(&run->child, &has_ended, &run->status, &run->usage, err);
		if (status != TALLY_OK)
			return status;
		int number = has_ended ? 0 : sigwaitinfo(&signals, &info);
		if (number <= 0 || number == SIGCHLD)
			continue;
		/* A signal from the terminal has reached the command as well; a signal that was sent to this process
		 * only is forwarded. */
		if (info.si_code <= 0)
			kill(run->child.pid, number);
		else if (run->signal != 0)
			kill(run->child.pid, SIGTERM); /* This is the second signal, so the command is asked to end. */
		run->signal = number;
	}
	run->end_ns = clock_ns();
	run->has_survivors = simulation_run_has_survivors(run);
	return simulation_messages_check_start(run->folder, run->pid, run->command, err);
}

void simulation_end(struct simulation_run *run, struct diag *notes)
{
	if (run->child.pid > 0) { /* After a failure, the command may not react to SIGTERM. */
		kill(run->child.pid, SIGKILL);
		if (spawn_wait(&run->child, &run->status, &run->usage, NULL) == TALLY_OK)
			run->has_survivors = simulation_run_has_survivors(run);
	}
	simulation_messages_add(run->folder, notes);
	if (run->has_survivors && run->folder[0]) {
		diag_add(notes, DIAG_WARNING,
			"processes that '%s' started still run under Valgrind, and need the folder '%s'; their counts "
			"are not complete; remove the folder when they have ended",
			run->command, run->folder);
		run->folder[0] = '\0';
	}
	simulation_run_restore(run);
}
