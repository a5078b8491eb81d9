/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver.c - runs a fuzz target over stored inputs, without libFuzzer.
 *
 * usage: fuzz_FOLDER TARGET REGRESSIONS SEEDS. Each file of REGRESSIONS is run as it is. Each file of SEEDS is run
 * whole, cut at every length (at 512 lengths if it is longer), and with bytes changed by a fixed sequence of random
 * numbers. A missing folder counts as an empty one; the built-in inputs (no bytes, zeros, ones, a counting pattern)
 * are always run.
 */
#include "driver.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	CUTS = 512,
	FLIPS = 256,
	BUILT_IN_BYTES = 300,
};

struct input {
	uint8_t *data;
	size_t size;
};

static struct fuzz_target *targets;

void fuzz_target_add(struct fuzz_target *target)
{
	target->next = targets;
	targets = target;
}

static const struct fuzz_target *find_target(const char *name)
{
	const struct fuzz_target *target = targets;
	size_t length = strlen(name);
	for (; target; target = target->next) {
		const char *slash = strrchr(target->source, '/');
		const char *file = slash ? slash + 1 : target->source;
		if (strncmp(file, name, length) == 0 && strcmp(file + length, ".c") == 0)
			break;
	}
	return target;
}

/* The target receives a copy of exactly that size, so that the sanitizer detects a read past the end. */
static void run(const struct fuzz_target *target, const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);
	if (!copy)
		abort();
	if (size)
		memcpy(copy, data, size);
	target->run(copy, size);
	free(copy);
}

static uint32_t next_random(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

static void run_mutated(const struct fuzz_target *target, struct input input)
{
	size_t step = input.size / CUTS + 1;
	uint32_t state = 0x7a11u;
	for (size_t size = 0; size < input.size; size += step)
		run(target, input.data, size);
	for (int i = 0; input.size && i < FLIPS; i++) {
		size_t at = next_random(&state) % input.size;
		uint8_t old = input.data[at];
		input.data[at] = (uint8_t)(i % 4 == 0 ? 0xff : next_random(&state));
		run(target, input.data, input.size);
		if (i % 8 != 7)
			input.data[at] = old;
	}
}

static struct input read_input(const char *path)
{
	FILE *f = fopen(path, "rb");
	struct input input = {NULL, 0};
	long size;
	if (!f || fseek(f, 0, SEEK_END) || (size = ftell(f)) < 0 || fseek(f, 0, SEEK_SET)) {
		fprintf(stderr, "fuzz driver: %s: %s\n", path, strerror(errno));
		exit(1);
	}
	input.data = malloc((size_t)size + 1);
	if (!input.data)
		abort();
	input.size = fread(input.data, 1, (size_t)size, f);
	fclose(f);
	return input;
}

static int run_folder(const struct fuzz_target *target, const char *folder, int mutate)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	int count = 0;
	if (!dir)
		return 0;
	while ((entry = readdir(dir))) {
		char path[4096];
		struct input input;
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		printf("%s\n", path);
		fflush(stdout);
		input = read_input(path);
		run(target, input.data, input.size);
		if (mutate)
			run_mutated(target, input);
		free(input.data);
		count++;
	}
	closedir(dir);
	return count;
}

static void run_built_in(const struct fuzz_target *target)
{
	uint8_t bytes[BUILT_IN_BYTES] = {0};
	run(target, bytes, 0);
	for (int fill = 0; fill < 3; fill++) {
		for (size_t i = 0; i < sizeof(bytes); i++)
			bytes[i] = (uint8_t)(fill == 0 ? 0 : fill == 1 ? 0xff : i);
		for (size_t size = 1; size <= sizeof(bytes); size++)
			run(target, bytes, size);
	}
}

int main(int argc, char **argv)
{
	const struct fuzz_target *target;
	int count = 0;
	if (argc != 4) {
		fprintf(stderr, "usage: %s TARGET REGRESSIONS SEEDS\n", argv[0]);
		return 2;
	}
	target = find_target(argv[1]);
	if (!target) {
		fprintf(stderr, "%s: no target '%s'\n", argv[0], argv[1]);
		return 2;
	}
	run_built_in(target);
	count += run_folder(target, argv[2], 0);
	count += run_folder(target, argv[3], 1);
	printf("%d files\n", count);
	return 0;
}
