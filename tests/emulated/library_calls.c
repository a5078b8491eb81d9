/* SPDX-License-Identifier: Apache-2.0 */
/* library_calls WHAT N: calls the C library N times for one kind of work, the same in each run, for
 * instruction counts. */
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUFFER_BYTES 65536u

static int order(const void *a, const void *b)
{
	int left = *(const int *)a, right = *(const int *)b;
	return (left > right) - (left < right);
}

static void sort(unsigned n)
{
	int *values = malloc(n * sizeof(*values));
	unsigned seed = 1;
	if (!values)
		exit(1);
	for (unsigned i = 0; i < n; i++)
		values[i] = (int)((seed = seed * 1103515245 + 12345) >> 1);
	qsort(values, n, sizeof(*values), order);
	printf("%d\n", values[n / 2]);
	free(values);
}

static void text(unsigned n)
{
	unsigned long sum = 0;
	char line[200];
	for (unsigned i = 0; i < n; i++) {
		snprintf(line, sizeof(line), "%u %s %.3f", i, "some words", i / 7.0);
		char *copy = strdup(line);
		if (!copy)
			exit(1);
		sum += strlen(copy) + (unsigned long)(strchr(copy, 'w') - copy) + strtoul(copy, NULL, 10);
		free(copy);
	}
	printf("%lu\n", sum);
}

static void floats(unsigned n)
{
	double sum = 0;
	for (unsigned i = 1; i < n; i++)
		sum += sin(i) * sqrt(i) / log(i + 1.0) + pow(i, 0.3);
	printf("%.6f\n", sum);
}

static void atomic(unsigned n)
{
	static atomic_long cell;
	static atomic_int flag;
	for (unsigned i = 0; i < n; i++) {
		int expected = 0;
		atomic_fetch_add(&cell, 3);
		atomic_compare_exchange_strong(&flag, &expected, 1);
		atomic_exchange(&flag, 0);
	}
	printf("%ld\n", atomic_load(&cell));
}

static void memory(unsigned n)
{
	char *from = calloc(1, BUFFER_BYTES), *to = calloc(1, BUFFER_BYTES + 1);
	unsigned sum = 0;
	if (!from || !to)
		exit(1);
	for (unsigned i = 0; i < n; i++) {
		size_t size = i * 7919 % BUFFER_BYTES;
		memset(from, (int)i, size);
		memcpy(to, from, size);
		sum += (unsigned)memcmp(from, to, size) + (unsigned char)to[size / 2];
		memmove(to + 1, to, size / 2);
	}
	printf("%u\n", sum);
	free(from);
	free(to);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*work)(unsigned n);
	} kinds[] = {{"sort", sort}, {"text", text}, {"float", floats}, {"atomic", atomic}, {"memory", memory}};
	for (size_t i = 0; argc == 3 && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(argv[1], kinds[i].name) == 0)
			kinds[i].work((unsigned)strtoul(argv[2], NULL, 10));
	return 0;
}
