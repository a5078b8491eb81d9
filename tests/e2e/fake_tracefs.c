/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_tracefs.c - is preloaded into tally and perf by test_ftrace.py: /sys/kernel/tracing becomes $FAKE_TRACEFS, a
 * directory of plain files. A directory created below instances gets copies of the files in $FAKE_TRACEFS/template,
 * and can be removed with them. Each line that is written is also appended to $FAKE_TRACEFS/log: "NAME VALUE". Names
 * with an errno in $FAKE_REFUSED ("current_tracer=1") cannot be written; "instances=ERRNO" and "rmdir=ERRNO" make
 * creating and removing directories fail.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TOP "/sys/kernel/tracing"

static const char *redirect(const char *path, char *room)
{
	const char *fake = getenv("FAKE_TRACEFS");
	size_t len = sizeof(TOP) - 1;
	if (!fake || !path || strncmp(path, TOP, len) != 0 || (path[len] && path[len] != '/'))
		return path;
	snprintf(room, PATH_MAX, "%s%s", fake, path + len);
	return room;
}

#define REAL(type, name, ...)                                        \
	static type (*real)(__VA_ARGS__);                            \
	if (!real)                                                   \
		real = (type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name); \
	char room[PATH_MAX]

/* Directories of instances are created with all their files, one level deep, and one more for options. */
static void copy_files(const char *from, const char *to)
{
	char command[3 * PATH_MAX];
	snprintf(command, sizeof(command), "cp -r '%s/.' '%s'", from, to);
	char *preload = getenv("LD_PRELOAD"), *kept = preload ? strdup(preload) : NULL;
	unsetenv("LD_PRELOAD");
	if (system(command) != 0)
		abort();
	if (kept)
		setenv("LD_PRELOAD", kept, 1);
	free(kept);
}

static int refused(const char *path)
{
	const char *list = getenv("FAKE_REFUSED"), *name = strrchr(path, '/');
	const char *found = list && name ? strstr(list, name + 1) : NULL;
	const char *equals = found ? strchr(found, '=') : NULL;
	return equals && (size_t)(equals - found) == strlen(name + 1) ? atoi(equals + 1) : 0;
}

static int fake_open(const char *path, int flags, mode_t mode)
{
	REAL(int, "open", const char *, int, ...);
	const char *to = redirect(path, room);
	if (to != path && (flags & O_ACCMODE) != O_RDONLY && refused(path))
		return errno = refused(path), -1;
	return real(to, flags, mode);
}

#define OPEN(name)                                   \
	int name(const char *path, int flags, ...)   \
	{                                            \
		va_list list;                        \
		va_start(list, flags);               \
		mode_t mode = va_arg(list, mode_t);  \
		va_end(list);                        \
		return fake_open(path, flags, mode); \
	}
OPEN(open)
OPEN(open64)
OPEN(__open_2)
OPEN(__open64_2)

FILE *fopen(const char *path, const char *mode)
{
	REAL(FILE *, "fopen", const char *, const char *);
	return real(redirect(path, room), mode);
}

FILE *fopen64(const char *path, const char *mode)
{
	return fopen(path, mode);
}

DIR *opendir(const char *path)
{
	REAL(DIR *, "opendir", const char *);
	return real(redirect(path, room));
}

int access(const char *path, int mode)
{
	REAL(int, "access", const char *, int);
	return real(redirect(path, room), mode);
}

int mkdir(const char *path, mode_t mode)
{
	REAL(int, "mkdir", const char *, mode_t);
	char template[PATH_MAX];
	const char *to = redirect(path, room);
	if (to != path && refused(TOP "/instances"))
		return errno = refused(TOP "/instances"), -1;
	int result = real(to, mode);
	if (to != path && result == 0) {
		snprintf(template, sizeof(template), "%s/template", getenv("FAKE_TRACEFS"));
		copy_files(template, to);
	}
	return result;
}

char *mkdtemp(char *path)
{
	REAL(char *, "mkdtemp", char *);
	if (redirect(path, room) == path)
		return real(path);
	memcpy(path + strlen(path) - 6, "ABCDEF", 6);
	return mkdir(path, 0700) == 0 ? path : NULL;
}

int rmdir(const char *path)
{
	REAL(int, "rmdir", const char *);
	char command[2 * PATH_MAX];
	const char *to = redirect(path, room);
	if (to == path)
		return real(path);
	if (refused(TOP "/rmdir"))
		return errno = refused(TOP "/rmdir"), -1;
	snprintf(command, sizeof(command), "rm -r '%s'", to);
	return access(path, F_OK) == 0 && system(command) == 0 ? 0 : (errno = ENOENT, -1);
}

ssize_t write(int fd, const void *data, size_t size)
{
	REAL(ssize_t, "write", int, const void *, size_t);
	const char *fake = getenv("FAKE_TRACEFS");
	char link[64], line[512];
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	ssize_t n = fake && fd > 2 ? readlink(link, room, sizeof(room) - 1) : -1;
	if (n > 0)
		room[n] = '\0';
	if (n > 0 && strncmp(room, fake, strlen(fake)) == 0) {
		const char *name = room + strlen(fake) + 1;
		int used = snprintf(line, sizeof(line), "%s %.*s%s", name, (int)size, (const char *)data,
			size && ((const char *)data)[size - 1] == '\n' ? "" : "\n");
		char path[PATH_MAX];
		snprintf(path, sizeof(path), "%s/log", fake);
		int log = fake_open(path, O_WRONLY | O_APPEND | O_CREAT, 0600);
		if (log >= 0 && used > 0)
			real(log, line, (size_t)used);
		if (log >= 0)
			close(log);
	}
	return real(fd, data, size);
}
