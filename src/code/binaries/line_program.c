/* SPDX-License-Identifier: Apache-2.0 */
#include "code/binaries/line_program.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/intern.h"
#include "base/interrupts.h"
#include "base/limits.h"
#include "base/map_u64.h"
#include "base/vec.h"

#define LINE_PROGRAM_LINE_BYTES 4096 /* Longer lines of the program's output are cut. */
#define ASKED_AT_ONCE		64 /* Maximum number of addresses per request; they fit the smallest socket buffer. */
#define PATIENCE_S		60
/* No code is at this address; its answer proves that the preceding answers are complete. */
#define LAST_ADDRESS 0
/* Number of low bits of a value in found, which hold the number of places; the other bits hold the index of the
 * first. */
#define PLACES_BITS   16
#define INLINED_AT    " inlined at " /* elfutils appends this to the names of inlined functions. */
#define DISCRIMINATOR " (discriminator "

extern char **environ;

struct line_program {
	const char *program, *path;
	pid_t pid; /* 0 if the program is not running. */
	int fd; /* Socket to the program, for requests and answers. */
	FILE *output; /* Buffered stream on fd, for reading. */
	struct tally_error failure; /* Its text is empty if nothing failed. */
	bool has_failed;
	struct map_u64 found; /* Maps an address to its places, encoded as described at PLACES_BITS. */
	VEC(struct source_place) places;
	struct intern strings;
	char line[LINE_PROGRAM_LINE_BYTES];
	bool line_is_unread; /* line already holds the first line of the next answer. */
};

enum tally_status line_program_open(
	const char *program, const char *path, struct line_program **out, struct tally_error *err)
{
	struct line_program *lines = calloc(1, sizeof(*lines));
	if (!lines)
		return error_nomem(err);
	lines->program = program;
	lines->path = path;
	intern_init(&lines->strings);
	*out = lines;
	return TALLY_OK;
}

/* The program exits at the end of its input; after a failure it may be stuck, so it is killed. */
static void line_program_stop(struct line_program *lines)
{
	if (lines->pid == 0)
		return;
	fclose(lines->output);
	if (lines->has_failed)
		(void)kill(lines->pid, SIGKILL);
	(void)wait_for_process(lines->pid, NULL, 0);
	lines->pid = 0;
	lines->line_is_unread = false;
}

void line_program_close(struct line_program *lines)
{
	if (!lines)
		return;
	line_program_stop(lines);
	map_u64_deinit(&lines->found);
	vec_free(&lines->places);
	intern_deinit(&lines->strings);
	free(lines);
}

static int line_program_spawn(struct line_program *lines, int end)
{
	const char *argv[] = {lines->program, "-e", lines->path, "-a", "-i", "-f", NULL};
	posix_spawn_file_actions_t actions;
	int failure = posix_spawn_file_actions_init(&actions);
	if (failure != 0)
		return failure;
	posix_spawn_file_actions_adddup2(&actions, end, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, end, STDOUT_FILENO);
	failure = posix_spawnp(&lines->pid, lines->program, &actions, NULL, (char *const *)(uintptr_t)argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return failure;
}

/* A socket, unlike a pipe, reports a program that has exited as an error instead of SIGPIPE (with MSG_NOSIGNAL). */
static enum tally_status line_program_start(struct line_program *lines, struct tally_error *err)
{
	int ends[2];
	const struct timeval patience = {.tv_sec = PATIENCE_S};
	if (lines->pid != 0)
		return TALLY_OK;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
		return error_set_errno(err, TALLY_IO, errno, "cannot make a socket");
	(void)setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	lines->fd = ends[0];
	lines->output = fdopen(ends[0], "r");
	int failure = lines->output ? line_program_spawn(lines, ends[1]) : ENOMEM;
	close(ends[1]);
	if (failure == 0)
		return TALLY_OK;
	lines->pid = 0;
	if (lines->output)
		fclose(lines->output);
	else
		close(ends[0]);
	return error_set_errno(err, TALLY_IO, failure, "cannot run %s", lines->program);
}

/* The program may exit before or after it has read the request. */
static enum tally_status line_program_ended(const struct line_program *lines, struct tally_error *err)
{
	return error_set(err, TALLY_IO, "%s ended before it had answered", lines->program);
}

static enum tally_status line_program_ask(
	const struct line_program *lines, const uint64_t *addresses, size_t count, struct tally_error *err)
{
	char text[(ASKED_AT_ONCE + 1) * sizeof("0x0123456789abcdef\n")];
	size_t len = 0, sent = 0;
	for (size_t i = 0; i < count; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "0x%llx\n", (unsigned long long)addresses[i]);
	len += (size_t)snprintf(text + len, sizeof(text) - len, "0x%x\n", LAST_ADDRESS);
	unsigned interrupts = 0;
	while (sent < len) {
		ssize_t now = send(lines->fd, text + sent, len - sent, MSG_NOSIGNAL);
		if (now < 0 && (errno == EPIPE || errno == ECONNRESET))
			return line_program_ended(lines, err);
		if (now < 0 && !is_interrupted(&interrupts))
			return error_set_errno(err, TALLY_IO, errno, "cannot ask %s", lines->program);
		sent += now > 0 ? (size_t)now : 0;
	}
	return TALLY_OK;
}

/* Reads a line without its newline. Returns false at the end of the output. */
static bool line_program_next_line(struct line_program *lines)
{
	if (lines->line_is_unread) {
		lines->line_is_unread = false;
		return true;
	}
	if (!fgets(lines->line, sizeof(lines->line), lines->output))
		return false;
	size_t len = strcspn(lines->line, "\n");
	bool is_whole = lines->line[len] == '\n';
	lines->line[len] = '\0';
	for (int c = 0; !is_whole && c != '\n' && c != EOF;)
		c = getc(lines->output);
	return true;
}

static enum tally_status no_answer(const struct line_program *lines, struct tally_error *err)
{
	if (ferror(lines->output) && (errno == EAGAIN || errno == EWOULDBLOCK))
		return error_set(err, TALLY_IO, "%s has not answered for %d s", lines->program, PATIENCE_S);
	return line_program_ended(lines, err);
}

/* Each answer begins with its address. Names of functions cannot begin with a digit. */
static bool is_address(const char *line, uint64_t *address)
{
	char *end;
	if (line[0] != '0' || (line[1] | 0x20) != 'x')
		return false;
	*address = strtoull(line, &end, 16);
	return *end == '\0';
}

static bool line_program_keep(struct line_program *lines, const char *text, size_t len, const char **kept)
{
	uint32_t id;
	if (!intern_add(&lines->strings, text, len, &id))
		return false;
	*kept = intern_get(&lines->strings, id).data;
	return true;
}

/* Returns the offset of ":12" at the end of text[0..len), or len if there is no such number. */
static size_t number_at_end(const char *text, size_t len, uint32_t *number)
{
	size_t at = len;
	while (at > 0 && text[at - 1] >= '0' && text[at - 1] <= '9')
		at--;
	if (at == len || at < 2 || text[at - 1] != ':' || len - at > 9)
		return len;
	*number = (uint32_t)strtoul(text + at, NULL, 10);
	return at - 1;
}

/* Parses "FILE:12", "FILE:12:5", "FILE:12 (discriminator 3)", "FILE:?" and "??:0". */
static bool line_program_read_place(struct line_program *lines, const char *text, struct source_place *place)
{
	uint32_t number, column;
	const char *discriminator = strstr(text, DISCRIMINATOR);
	size_t len = discriminator ? (size_t)(discriminator - text) : strlen(text), end, before;
	if (discriminator)
		place->discriminator = (uint32_t)strtoul(discriminator + strlen(DISCRIMINATOR), NULL, 10);
	end = number_at_end(text, len, &number);
	if (end == len)
		number = 0;
	before = end < len ? number_at_end(text, end, &column) : end;
	if (before < end)
		number = column; /* With two numbers, the last is the column. */
	end = before;
	if (end == len && len >= 2 && text[len - 1] == '?' && text[len - 2] == ':')
		end = len - 2;
	if (end == 0 || (end == 2 && memcmp(text, "??", 2) == 0))
		return true;
	place->line = number;
	return line_program_keep(lines, text, end, &place->path);
}

static bool line_program_read_function(struct line_program *lines, struct source_place *place)
{
	const char *more = strstr(lines->line, INLINED_AT);
	size_t len = more ? (size_t)(more - lines->line) : strlen(lines->line);
	if (len == 0 || strcmp(lines->line, "??") == 0)
		return true;
	return line_program_keep(lines, lines->line, len, &place->function);
}

/* Reads pairs of lines (function, place) up to the next address. */
static enum tally_status read_answer(struct line_program *lines, uint64_t address, struct tally_error *err)
{
	size_t first = lines->places.len, count;
	bool is_known = false;
	uint64_t other;
	for (;;) {
		struct source_place place = {0};
		if (!line_program_next_line(lines))
			return no_answer(lines, err);
		lines->line_is_unread = is_address(lines->line, &other);
		if (lines->line_is_unread)
			break;
		if (!line_program_read_function(lines, &place))
			return error_nomem(err);
		if (!line_program_next_line(lines))
			return no_answer(lines, err);
		if (!line_program_read_place(lines, lines->line, &place))
			return error_nomem(err);
		is_known = is_known || place.path;
		if (lines->places.len - first < LIMIT_INLINE_DEPTH && !vec_push(&lines->places, place))
			return error_nomem(err);
	}
	if (!is_known)
		lines->places.len = first;
	count = lines->places.len - first;
	for (size_t i = 0; i + 1 < count; i++)
		lines->places.items[first + i].is_inlined = true;
	return map_u64_set(&lines->found, address, (uint64_t)first << PLACES_BITS | count) ? TALLY_OK
											   : error_nomem(err);
}

/* Skips lines until the one that begins the answer for the address. */
static enum tally_status read_until(struct line_program *lines, uint64_t address, struct tally_error *err)
{
	uint64_t said;
	do {
		if (!line_program_next_line(lines))
			return no_answer(lines, err);
	} while (!is_address(lines->line, &said) || said != address);
	return TALLY_OK;
}

static enum tally_status load_some(
	struct line_program *lines, const uint64_t *addresses, size_t count, struct tally_error *err)
{
	enum tally_status status = line_program_ask(lines, addresses, count, err);
	for (size_t i = 0; i < count && status == TALLY_OK; i++) {
		status = read_until(lines, addresses[i], err);
		if (status == TALLY_OK)
			status = read_answer(lines, addresses[i], err);
	}
	return status;
}

static enum tally_status load_new(
	struct line_program *lines, const uint64_t *addresses, size_t count, struct tally_error *err)
{
	uint64_t asked[ASKED_AT_ONCE], known;
	size_t len = 0;
	enum tally_status status = TALLY_OK;
	for (size_t i = 0; i < count && status == TALLY_OK; i++) {
		bool is_new;
		if (addresses[i] == LAST_ADDRESS || map_u64_find(&lines->found, addresses[i], &known))
			continue;
		/* Marks the address, so that it is requested only once. */
		if (!map_u64_at(&lines->found, addresses[i], &is_new))
			return error_nomem(err);
		asked[len++] = addresses[i];
		if (len < ASKED_AT_ONCE)
			continue;
		status = load_some(lines, asked, len, err);
		len = 0;
	}
	return status == TALLY_OK && len > 0 ? load_some(lines, asked, len, err) : status;
}

enum tally_status line_program_load(
	struct line_program *lines, const uint64_t *addresses, size_t count, struct tally_error *err)
{
	struct tally_error why = {0};
	if (lines->has_failed)
		return error_set(err, TALLY_IO, "%s", lines->failure.text);
	enum tally_status status = line_program_start(lines, &why);
	if (status == TALLY_OK)
		status = load_new(lines, addresses, count, &why);
	lines->has_failed = status != TALLY_OK;
	lines->failure = why;
	if (lines->has_failed || count > 1)
		line_program_stop(lines);
	if (status != TALLY_OK)
		return error_set(err, status, "%s", why.text);
	return TALLY_OK;
}

size_t line_program_find(const struct line_program *lines, uint64_t address, struct source_place *places, size_t max)
{
	uint64_t value = 0;
	if (!map_u64_find(&lines->found, address, &value))
		return 0;
	size_t count = value & ((1u << PLACES_BITS) - 1);
	count = MIN(count, max);
	if (count > 0)
		memcpy(places, lines->places.items + (value >> PLACES_BITS), count * sizeof(*places));
	return count;
}
