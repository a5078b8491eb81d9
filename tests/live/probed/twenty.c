/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of many kinds, for tests of probes (../probe_places.py). */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node {
	int value;
	struct node *next;
	char name[8];
};

static int total;

static inline int square(int x)
{
	return x * x;
}

static inline __attribute__((always_inline)) int cube(int x)
{
	int y = x * x;
	return y * x;
}

__attribute__((noinline)) static int add(int a, int b)
{
	return a + b;
}

__attribute__((noinline)) int sum_squares(int n)
{
	int sum = 0;
	for (int i = 0; i < n; i++)
		sum += square(i);
	return sum;
}

__attribute__((noinline)) int sum_cubes(int n)
{
	int sum = cube(n);
	for (int i = 0; i < n; i++) {
		sum += cube(i);
	}
	return sum;
}

__attribute__((noinline)) long factorial(long n)
{
	if (n <= 1)
		return 1;
	return n * factorial(n - 1);
}

__attribute__((noinline)) struct node *make(int value, struct node *next)
{
	struct node *node = malloc(sizeof(*node));
	if (!node)
		abort();
	node->value = value;
	node->next = next;
	snprintf(node->name, sizeof(node->name), "n%d", value);
	return node;
}

__attribute__((noinline)) int length(const struct node *list)
{
	int count = 0;
	while (list) {
		count++;
		list = list->next;
	}
	return count;
}

__attribute__((noinline)) void release(struct node *list)
{
	while (list) {
		struct node *next = list->next;
		free(list);
		list = next;
	}
}

__attribute__((noinline)) int choose(int kind, int value)
{
	switch (kind) {
	case 0:
		return value;
	case 1:
		return value + 1;
	case 2:
		return value * value;
	case 3:
		return value / 3;
	default:
		return -1;
	}
}

__attribute__((noinline)) double mean(const double *values, int count)
{
	double sum = 0;
	for (int i = 0; i < count; i++)
		sum += values[i];
	return count ? sum / count : 0;
}

__attribute__((noinline, cold)) void complain(const char *what)
{
	fprintf(stderr, "bad %s\n", what);
	total--;
}

__attribute__((noinline)) int check(int value)
{
	if (__builtin_expect(value < 0, 0)) {
		complain("value");
		return 0;
	}
	total += value;
	return 1;
}

__attribute__((noinline)) int many(int a, int b, int c, int d, int e, int f)
{
	char buffer[64];
	memset(buffer, a, sizeof(buffer));
	return buffer[b & 63] + c + d + e + f;
}

__attribute__((noinline)) int sum_all(int count, ...)
{
	va_list list;
	int sum = 0;
	va_start(list, count);
	for (int i = 0; i < count; i++)
		sum += va_arg(list, int);
	va_end(list);
	return sum;
}

__attribute__((noinline)) void nothing(void)
{
}

__attribute__((noinline)) int is_odd(unsigned n);

__attribute__((noinline)) int is_even(unsigned n)
{
	return n == 0 ? 1 : is_odd(n - 1);
}

__attribute__((noinline)) int is_odd(unsigned n)
{
	return n == 0 ? 0 : is_even(n - 1);
}

__attribute__((noinline)) int compare(const void *a, const void *b)
{
	const int *left = a;
	const int *right = b;
	return (*left > *right) - (*left < *right);
}

__attribute__((noinline)) int by_table(int index, int value)
{
	static int (*const table[])(int) = {sum_squares, sum_cubes, check};
	return table[index % 3](value);
}

int main(int argc, char **argv)
{
	int numbers[] = {3, 1, 2};
	double values[] = {1, 2, 3};
	struct node *list = NULL;
	for (int i = 0; i < argc + 2; i++)
		list = make(i, list);
	qsort(numbers, 3, sizeof(*numbers), compare);
	total += add(length(list), (int)strlen(argv[0]));
	total += choose(argc, total) + (int)mean(values, 3);
	total += check(argc) + many(1, 2, 3, 4, 5, argc) + sum_all(3, 1, 2, 3);
	total += (int)factorial(argc + 5) + is_even((unsigned)argc) + by_table(argc, total & 7);
	total += square(argc) + cube(argc);
	nothing();
	release(list);
	printf("%d\n", total);
	return 0;
}
