/* SPDX-License-Identifier: Apache-2.0 */
/* sdt.c - has statically defined probes, with notes written as by <sys/sdt.h>, so that no package is needed.
 * sdt TURNS [THREADS]: the main thread and THREADS others each call turn() TURNS times, which has the probes app:turn
 * (the turn, a pointer, a variable on the stack), app:guarded (with a semaphore, so only while it is traced; the turn
 * times three, the constant 17, the counter) and, at two places, app:twice. Prints how often app:guarded ran, which is
 * 0 unless its semaphore was raised. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define NOTE(provider, name, semaphore, operands, ...)                                                             \
	__asm__ volatile("990: nop\n"                                                                              \
			 ".pushsection .note.stapsdt,\"?\",\"note\"\n"                                             \
			 ".balign 4\n.4byte 992f-991f, 994f-993f, 3\n"                                             \
			 "991: .asciz \"stapsdt\"\n992: .balign 4\n"                                               \
			 "993: .8byte 990b\n.8byte _.stapsdt.base\n.8byte " semaphore "\n"                         \
			 ".asciz \"" provider "\"\n.asciz \"" name "\"\n.asciz \"" operands "\"\n994: .balign 4\n" \
			 ".popsection\n"                                                                           \
			 ".ifndef _.stapsdt.base\n"                                                                \
			 ".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n"                   \
			 ".weak _.stapsdt.base\n.hidden _.stapsdt.base\n_.stapsdt.base: .space 1\n"                \
			 ".size _.stapsdt.base,1\n.popsection\n.endif\n"                                           \
			 :                                                                                         \
			 : __VA_ARGS__)

enum { THREADS_MAX = 64 };

__attribute__((section(".probes"), used)) unsigned short app_guarded_semaphore;
long counter;
static int turns;

__attribute__((noinline)) static int turn(int number, const char *name)
{
	volatile int local = number * 2;
	NOTE("app", "turn", "0", "-4@%0 8@%1 -4@%2", "r"(number), "r"(name), "m"(local));
	if (__atomic_load_n(&app_guarded_semaphore, __ATOMIC_RELAXED)) {
		NOTE("app", "guarded", "app_guarded_semaphore", "-4@%0 -4@%1 8@%2", "r"(number * 3), "i"(17),
			"m"(counter));
		__atomic_add_fetch(&counter, 1, __ATOMIC_RELAXED);
	}
	if (number % 2)
		NOTE("app", "twice", "0", "-4@%0", "r"(number));
	else
		NOTE("app", "twice", "0", "", "r"(number));
	return local;
}

static void *work(void *unused)
{
	for (int i = 0; i < turns; i++)
		turn(i, "name of it");
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t others[THREADS_MAX];
	turns = argc > 1 ? atoi(argv[1]) : 1;
	int threads = argc > 2 ? atoi(argv[2]) : 0;
	for (int i = 0; i < threads && i < THREADS_MAX; i++)
		if (pthread_create(&others[i], NULL, work, NULL) != 0)
			return 1;
	work(NULL);
	for (int i = 0; i < threads && i < THREADS_MAX; i++)
		pthread_join(others[i], NULL);
	printf("%ld\n", counter);
	return 0;
}
