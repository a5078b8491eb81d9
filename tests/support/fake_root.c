/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_root.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void die(const char *what)
{
	fprintf(stderr, "fake_root: %s: %s\n", what, strerror(errno));
	exit(99);
}

static void parents_make(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(path, 0755) && errno != EEXIST)
			die(path);
		*slash = '/';
	}
}

static void content_write(FILE *file, const char *content)
{
	for (; *content; content++) {
		if (content[0] == '\\' && content[1] == 'n') {
			fputc('\n', file);
			content++;
		} else {
			fputc(*content, file);
		}
	}
	fputc('\n', file);
}

static void line_make(const char *root, char *line)
{
	char path[4096];
	char *colon = strstr(line, ": ");
	if (line[0] != '/')
		return;
	if (colon)
		*colon = '\0';
	snprintf(path, sizeof(path), "%s%s", root, line);
	parents_make(path);
	if (path[strlen(path) - 1] == '/')
		return;
	FILE *file = fopen(path, "w");
	if (!file)
		die(path);
	content_write(file, colon ? colon + 2 : "");
	fclose(file);
}

char *fake_root_make(const char *text)
{
	char pattern[] = "/tmp/tally-root-XXXXXX";
	if (!mkdtemp(pattern))
		die(pattern);
	char *copy = strdup(text), *rest = copy, *line;
	while ((line = strsep(&rest, "\n")))
		line_make(pattern, line);
	free(copy);
	return strdup(pattern);
}

char *fake_root_load(const char *name)
{
	char path[4096];
	snprintf(path, sizeof(path), "%s/roots/%s.txt", TEST_FIXTURES, name);
	FILE *file = fopen(path, "r");
	if (!file)
		die(path);
	char *text = NULL;
	size_t cap = 0;
	ssize_t len = getdelim(&text, &cap, '\0', file);
	fclose(file);
	if (len < 0)
		die(path);
	char *root = fake_root_make(text);
	free(text);
	return root;
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

void fake_root_remove(char *root)
{
	nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(root);
}
