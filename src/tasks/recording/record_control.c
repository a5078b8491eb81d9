/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/recording/record_control.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/interrupts.h"

static bool parse_fd(struct tally_str text, int *fd)
{
	uint64_t value;
	if (!str_to_u64(text, 10, &value) || value > INT_MAX)
		return false;
	*fd = (int)value;
	return true;
}

bool record_control_parse(const char *text, struct record_control_spec *spec)
{
	struct tally_str rest = str_from(text), control, ack = {0};
	struct record_control_spec s = {.is_given = true, .control_fd = -1, .ack_fd = -1};
	s.is_fifo = str_starts_with(rest, STR("fifo:"));
	if (!s.is_fifo && !str_starts_with(rest, STR("fd:")))
		return false;
	rest = str_from(text + (s.is_fifo ? 5 : 3));
	if (!str_next(&rest, ',', &control) || control.len == 0)
		return false;
	bool has_ack = str_next(&rest, ',', &ack);
	if (has_ack && (ack.len == 0 || rest.len))
		return false;
	if (!s.is_fifo && (!parse_fd(control, &s.control_fd) || (has_ack && !parse_fd(ack, &s.ack_fd))))
		return false;
	s.control_path = control;
	s.ack_path = ack;
	*spec = s;
	return true;
}

static enum tally_status open_fifo(struct tally_str path, int *fd, struct tally_error *err)
{
	char name[PATH_MAX];
	*fd = -1;
	if (path.len == 0)
		return TALLY_OK;
	if (path.len >= sizeof(name))
		return error_set(err, TALLY_INVALID, "the path of a control FIFO is too long");
	memcpy(name, path.data, path.len);
	name[path.len] = '\0';
	/* O_RDWR: the open does not block, and the FIFO does not reach its end when the last writer closes it. */
	*fd = open(name, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	return *fd >= 0 ? TALLY_OK : error_set_errno(err, TALLY_IO, errno, "Failed to open '%s'", name);
}

enum tally_status record_control_open(
	const struct record_control_spec *spec, struct record_control *control, struct tally_error *err)
{
	*control = (struct record_control){.control_fd = -1, .ack_fd = -1};
	if (!spec->is_given)
		return TALLY_OK;
	if (!spec->is_fifo) {
		if (fcntl(spec->control_fd, F_GETFD) < 0)
			return error_set_errno(
				err, TALLY_INVALID, errno, "the control descriptor %d", spec->control_fd);
		if (spec->ack_fd >= 0 && fcntl(spec->ack_fd, F_GETFD) < 0)
			return error_set_errno(
				err, TALLY_INVALID, errno, "the descriptor for answers, %d", spec->ack_fd);
		control->control_fd = spec->control_fd;
		control->ack_fd = spec->ack_fd;
		return TALLY_OK;
	}
	control->owns_fds = true;
	enum tally_status status = open_fifo(spec->control_path, &control->control_fd, err);
	if (status == TALLY_OK)
		status = open_fifo(spec->ack_path, &control->ack_fd, err);
	if (status != TALLY_OK)
		record_control_close(control);
	return status;
}

void record_control_close(struct record_control *control)
{
	if (control->owns_fds && control->control_fd >= 0)
		close(control->control_fd);
	if (control->owns_fds && control->ack_fd >= 0)
		close(control->ack_fd);
	control->control_fd = control->ack_fd = -1;
}

/* Reads more bytes behind those that are not parsed yet. Returns the result of read. */
static ssize_t record_control_fill(struct record_control *control)
{
	size_t kept = control->rest.len;
	unsigned interrupts = 0;
	ssize_t n;
	if (kept)
		memmove(control->room, control->rest.data, kept);
	do
		n = read(control->control_fd, control->room + kept, sizeof(control->room) - kept);
	while (n < 0 && is_interrupted(&interrupts));
	control->rest = (struct tally_str){control->room, kept + (n > 0 ? (size_t)n : 0)};
	control->may_have_more = control->rest.len == sizeof(control->room);
	return n;
}

bool record_control_read(struct record_control *control)
{
	control->rest.len = 0;
	ssize_t n = record_control_fill(control);
	return n > 0 || (n < 0 && errno == EAGAIN);
}

/* Completes a line that the end of the buffer has cut. Does not wait for bytes that are not there yet. */
static void record_control_complete(struct record_control *control)
{
	struct pollfd pending = {.fd = control->control_fd, .events = POLLIN};
	bool has_line = control->rest.len > 0 && memchr(control->rest.data, '\n', control->rest.len);
	bool is_cut = control->may_have_more && control->rest.len < sizeof(control->room) && !has_line;
	if (is_cut && poll(&pending, 1, 0) > 0)
		(void)record_control_fill(control);
}

static bool takes_argument(enum record_command command)
{
	return command == COMMAND_ENABLE || command == COMMAND_DISABLE || command == COMMAND_EVLIST;
}

bool record_control_next(struct record_control *control, struct record_control_line *line)
{
	static const struct {
		const char *name;
		enum record_command command;
	} commands[] = {
		{"enable", COMMAND_ENABLE},
		{"disable", COMMAND_DISABLE},
		{"snapshot", COMMAND_SNAPSHOT},
		{"evlist", COMMAND_EVLIST},
		{"stop", COMMAND_STOP},
		{"ping", COMMAND_PING},
	};
	struct tally_str text, word;

	do {
		record_control_complete(control);
		if (control->rest.len == 0)
			return false;
		if (!str_next(&control->rest, '\n', &text))
			return false;
		/* Some writers send the terminating NUL of their strings, too. */
		while (text.len && text.data[0] == '\0') {
			text.data++;
			text.len--;
		}
	} while (text.len == 0);
	*line = (struct record_control_line){COMMAND_UNKNOWN, text};
	struct tally_str rest = text;
	if (!str_next(&rest, ' ', &word))
		return true;
	while (word.len && word.data[word.len - 1] == '\0')
		word.len--;
	for (size_t i = 0; i < ARRAY_LEN(commands); i++)
		if (str_equal(word, str_from(commands[i].name)) &&
			(rest.len == 0 || takes_argument(commands[i].command)))
			*line = (struct record_control_line){commands[i].command, rest};
	return true;
}

void record_control_acknowledge(const struct record_control *control)
{
	static const char ack[] = "ack\n";
	/* An answer that cannot be written at once is dropped, because a reader must not block the recording. */
	if (control->ack_fd >= 0)
		(void)!write(control->ack_fd, ack, sizeof(ack));
}
