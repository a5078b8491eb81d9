/* SPDX-License-Identifier: Apache-2.0 */
/* The program of which the recordings in this folder were made: program cpu|deep|threads|fork|write|sleep [TURNS] */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile unsigned long sink;

__attribute__((noinline)) static void leaf_long(unsigned long turns)
{
	for (unsigned long i = 0; i < turns * 3; i++)
		sink += i * i;
}

__attribute__((noinline)) static void leaf_short(unsigned long turns)
{
	for (unsigned long i = 0; i < turns; i++)
		sink += i;
}

__attribute__((noinline)) static void middle(unsigned long turns)
{
	leaf_long(turns);
	leaf_short(turns);
	sink++;
}

__attribute__((noinline)) static void deep(unsigned long turns, unsigned depth)
{
	if (depth)
		deep(turns, depth - 1);
	leaf_short(turns / 8);
	sink++;
}

static void *thread(void *turns)
{
	middle(*(unsigned long *)turns);
	return NULL;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "cpu";
	unsigned long turns = argc > 2 ? strtoul(argv[2], NULL, 0) : 10000000;
	if (!strcmp(what, "cpu"))
		middle(turns);
	if (!strcmp(what, "deep"))
		deep(turns, 8);
	if (!strcmp(what, "threads")) {
		pthread_t threads[3];
		for (int i = 0; i < 3; i++)
			pthread_create(&threads[i], NULL, thread, &turns);
		for (int i = 0; i < 3; i++)
			pthread_join(threads[i], NULL);
	}
	for (int i = 0; i < 3 && !strcmp(what, "fork"); i++)
		if (fork() == 0) {
			middle(turns);
			_exit(0);
		}
	while (wait(NULL) > 0)
		;
	for (int i = 0; i < 20 && !strcmp(what, "write"); i++) {
		char line[16];
		int length = snprintf(line, sizeof(line), "%d\n", i);
		if (write(2, line, (size_t)length) < 0)
			return 1;
	}
	for (int i = 0; i < 5 && !strcmp(what, "sleep"); i++)
		usleep(2000);
	return 0;
}
