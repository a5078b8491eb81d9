/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/daemon/daemon_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"

#define LIMIT_ANSWER	     (16u << 20)
#define BACKLOG		     16
#define LINE_MS		     1000
#define DAEMON_SOCKET_SEND_S 2

/* The path of a socket is limited to 107 bytes; a path through /proc/self/fd is short for every directory. */
static enum tally_status daemon_socket_address(
	const char *base, int *folder, struct sockaddr_un *address, struct tally_error *err)
{
	*folder = open(base, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (*folder < 0)
		return error_set_errno(err, TALLY_IO, errno, "cannot open the base folder %s", base);
	*address = (struct sockaddr_un){.sun_family = AF_UNIX};
	snprintf(address->sun_path, sizeof(address->sun_path), "/proc/self/fd/%d/control", *folder);
	return TALLY_OK;
}

enum tally_status daemon_socket_listen(const char *base, int *fd, struct tally_error *err)
{
	struct sockaddr_un address;
	int folder;
	enum tally_status status = daemon_socket_address(base, &folder, &address, err);
	if (status != TALLY_OK)
		return status;
	(void)unlinkat(folder, "control", 0);
	*fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	mode_t mask = umask(0177);
	if (*fd < 0 || bind(*fd, (const struct sockaddr *)&address, sizeof(address)) != 0 || listen(*fd, BACKLOG) != 0)
		status = error_set_errno(err, TALLY_IO, errno, "cannot listen on the socket %s/control", base);
	(void)umask(mask);
	if (status != TALLY_OK && *fd >= 0) {
		close(*fd);
		*fd = -1;
	}
	close(folder);
	return status;
}

void daemon_socket_remove(const char *base)
{
	int folder = open(base, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0)
		return;
	(void)unlinkat(folder, "control", 0);
	close(folder);
}

enum tally_status daemon_socket_ask(const char *base, const char *line, struct text *answer, struct tally_error *err)
{
	struct sockaddr_un address;
	int folder;
	char *data = NULL;
	size_t len = 0;
	enum tally_status status = daemon_socket_address(base, &folder, &address, err);
	if (status != TALLY_OK)
		return status;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof(address)) != 0)
		status = error_set_errno(err, TALLY_IO, errno,
			"no daemon answers on %s/control (start one with 'daemon start'): connect", base);
	if (status == TALLY_OK)
		status = file_write_all(fd, line, strlen(line), err);
	if (status == TALLY_OK)
		status = file_write_all(fd, "\n", 1, err);
	if (status == TALLY_OK)
		status = file_read_fd(fd, LIMIT_ANSWER, &data, &len, err);
	if (status == TALLY_OK)
		text_bytes(answer, data, len);
	free(data);
	if (fd >= 0)
		close(fd);
	close(folder);
	return status;
}

static bool daemon_socket_is_own(int fd)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);
	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 && (peer.uid == geteuid() || peer.uid == 0);
}

int daemon_socket_accept(int listening, char *line)
{
	int fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC);
	size_t len = 0;
	char *end = NULL;
	if (fd < 0)
		return -1;
	/* A client that does not read its response must not block the daemon. */
	const struct timeval patience = {.tv_sec = DAEMON_SOCKET_SEND_S};
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	const int64_t due_ms = clock_ms() + LINE_MS;
	while (daemon_socket_is_own(fd) && !end && len < DAEMON_LINE_BYTES) {
		struct pollfd waits = {fd, POLLIN, 0};
		int left_ms = (int)MAX(due_ms - clock_ms(), 0);
		ssize_t got = poll(&waits, 1, left_ms) > 0 ? read(fd, line + len, DAEMON_LINE_BYTES - len) : -1;
		if (got <= 0)
			break;
		end = memchr(line + len, '\n', (size_t)got);
		len += (size_t)got;
	}
	if (!end) {
		close(fd);
		return -1;
	}
	*end = 0;
	return fd;
}
