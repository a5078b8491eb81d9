/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/daemon/daemon_session.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/shell_words.h"

#define PING_MS 1000
/* Time that a recorder has to write the rest of the recording and its build IDs. */
#define PATIENCE_NS	UINT64_C(30000000000)
#define STATUS_NO_START 127

static enum tally_status daemon_session_fifo(int folder, const char *name, int *fd, struct tally_error *err)
{
	(void)unlinkat(folder, name, 0);
	if (mkfifoat(folder, name, 0600) != 0)
		return error_set_errno(err, TALLY_IO, errno, "cannot make the FIFO %s", name);
	/* The FIFO is open for reading and writing, so that neither side sees end of file. */
	*fd = openat(folder, name, O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
	return *fd >= 0 ? TALLY_OK : error_set_errno(err, TALLY_IO, errno, "cannot open the FIFO %s", name);
}

/* Runs in the child. */
static _Noreturn void daemon_session_exec(int folder, char **argv, pid_t daemon)
{
	static const int reset[] = {SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGPIPE, SIGUSR2};
	sigset_t none;
	for (size_t i = 0; i < sizeof(reset) / sizeof(*reset); i++)
		(void)signal(reset[i], SIG_DFL);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	/* The recorder is terminated when the daemon is killed. */
	(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != daemon)
		_exit(STATUS_NO_START);
	int output = openat(folder, "output", O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0644);
	int input = open("/dev/null", O_RDONLY);
	if (output < 0 || input < 0 || dup2(input, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0 ||
		dup2(output, STDERR_FILENO) < 0 || fchdir(folder) != 0)
		_exit(STATUS_NO_START);
	execv("/proc/self/exe", argv);
	_exit(STATUS_NO_START);
}

/* Returns the arguments: the program's name, record, its --control option, and the words of the session. NULL if out
 * of memory. The caller calls free(*words) and frees the result. */
static char **daemon_session_argv(const char *program, const char *run, char ***words)
{
	size_t count = 0;
	if (!shell_words_split((struct tally_str){run, strlen(run)}, words))
		return NULL;
	while ((*words)[count])
		count++;
	char **argv = calloc(count + 4, sizeof(*argv));
	if (!argv)
		return NULL;
	argv[0] = (char *)program;
	argv[1] = (char *)"record";
	argv[2] = (char *)"--control=fifo:control,ack";
	memcpy(argv + 3, *words, count * sizeof(*argv));
	return argv;
}

static enum tally_status daemon_session_fork(
	struct daemon_session *session, int folder, const char *program, struct tally_error *err)
{
	char **words = NULL;
	char **argv = daemon_session_argv(program, session->run, &words);
	pid_t daemon = getpid();
	pid_t pid = argv ? fork() : -1;
	int errnum = argv ? errno : ENOMEM;
	if (pid == 0)
		daemon_session_exec(folder, argv, daemon);
	free(argv);
	free(words);
	if (pid < 0)
		return error_set_errno(err, TALLY_IO, errnum, "cannot start the session '%s'", session->name);
	session->pid = pid;
	session->started_ns = clock_ns();
	session->kill_ns = 0;
	session->is_ready = false;
	return TALLY_OK;
}

static void daemon_session_close(struct daemon_session *session)
{
	if (session->control_fd >= 0)
		close(session->control_fd);
	if (session->ack_fd >= 0)
		close(session->ack_fd);
	session->control_fd = session->ack_fd = -1;
}

enum tally_status daemon_session_start(
	struct daemon_session *session, const char *base, const char *program, struct tally_error *err)
{
	daemon_session_close(session);
	if (!session->folder && asprintf(&session->folder, "%s/session-%s", base, session->name) < 0) {
		session->folder = NULL;
		return error_nomem(err);
	}
	if (mkdir(session->folder, 0755) != 0 && errno != EEXIST)
		return error_set_errno(err, TALLY_IO, errno, "cannot make the folder %s", session->folder);
	int folder = open(session->folder, O_DIRECTORY | O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (folder < 0)
		return error_set_errno(err, TALLY_IO, errno, "cannot open the folder %s", session->folder);
	enum tally_status status = daemon_session_fifo(folder, "control", &session->control_fd, err);
	if (status == TALLY_OK)
		status = daemon_session_fifo(folder, "ack", &session->ack_fd, err);
	if (status == TALLY_OK)
		status = daemon_session_fork(session, folder, program, err);
	close(folder);
	return status;
}

bool daemon_session_ping(struct daemon_session *session)
{
	static const char ping[] = "ping\n";
	char answer[256];
	struct pollfd waits = {session->ack_fd, POLLIN, 0};
	if (session->pid == 0)
		return false;
	/* Discards the acknowledgement of an earlier ping that arrived after its timeout. */
	while (read(session->ack_fd, answer, sizeof(answer)) > 0)
		;
	if (write(session->control_fd, ping, sizeof(ping) - 1) != sizeof(ping) - 1)
		return false;
	if (poll(&waits, 1, PING_MS) <= 0)
		return false;
	ssize_t got = read(session->ack_fd, answer, sizeof(answer));
	bool is_answered = got >= 3 && memmem(answer, (size_t)got, "ack", 3);
	session->is_ready |= is_answered;
	return is_answered;
}

bool daemon_session_signal(struct daemon_session *session)
{
	if (!session->is_ready && !daemon_session_ping(session))
		return false;
	return kill(session->pid, SIGUSR2) == 0;
}

void daemon_session_end(struct daemon_session *session)
{
	if (session->pid == 0 || session->kill_ns)
		return;
	session->kill_ns = clock_ns() + PATIENCE_NS;
	(void)kill(session->pid, SIGTERM);
}

void daemon_session_deinit(struct daemon_session *session)
{
	daemon_session_close(session);
	free(session->name);
	free(session->run);
	free(session->folder);
}
