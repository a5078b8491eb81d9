/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unit_program.c - the main function of test programs, which runs the module that the argument names, and lists all
 * modules without an argument. Each module runs in a process of its own, because some change state of the process.
 */
#include "unit_program.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

static struct unit_module *unit_modules;

void unit_program_add(struct unit_module *module)
{
	module->next = unit_modules;
	unit_modules = module;
}

/* The caller may ignore or block signals (nohup, cron, a shell for background jobs), and programs inherit both. Tests
 * of signal handling need the defaults. SIGPIPE stays as it is. */
static void unit_program_reset_signals(void)
{
	static const int signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGCHLD};
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		signal(signals[i], SIG_DFL);
}

/* A module has the name of its file, without ".c". */
static const char *unit_module_name(const struct unit_module *module, int *length)
{
	const char *slash = strrchr(module->source, '/');
	const char *name = slash ? slash + 1 : module->source;
	*length = (int)strcspn(name, ".");
	return name;
}

int main(int argc, char **argv)
{
	int length;
	unit_program_reset_signals();
	for (const struct unit_module *module = unit_modules; module; module = module->next) {
		const char *name = unit_module_name(module, &length);
		if (argc < 2)
			printf("%.*s\n", length, name);
		else if (strlen(argv[1]) == (size_t)length && memcmp(argv[1], name, (size_t)length) == 0)
			return module->main();
	}
	if (argc < 2)
		return 0;
	fprintf(stderr, "%s: no module '%s'; without an argument, it lists its modules\n", argv[0], argv[1]);
	return 2;
}
