/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simulation_tool.h - finds the programs that simulate events: Valgrind's launcher, Valgrind's own files, and tally's
 * Valgrind tool (simulator/).
 *
 * The launcher is in PATH (Debian's package valgrind). The tool is in ../libexec/tally/valgrind relative to the folder
 * of the running program, in the folder that it was configured for, or in the build directory of the program.
 *
 *	struct simulation_tool tool;
 *	if (simulation_tool_find(&tool, err) != TALLY_OK) ...
 */
#ifndef TASKS_SIMULATION_SIMULATION_TOOL_H
#define TASKS_SIMULATION_SIMULATION_TOOL_H

#include <limits.h>
#include <stdbool.h>
#include <tally/status.h>

/* Valgrind's name of this platform; not defined if the tool cannot be built for it. */
#ifdef __x86_64__
#define SIMULATION_PLATFORM "amd64-linux"
#elif defined(__aarch64__)
#define SIMULATION_PLATFORM "arm64-linux"
#endif
#define SIMULATION_TOOL_FILE	"tally-" SIMULATION_PLATFORM
#define SIMULATION_PRELOAD_FILE "vgpreload_core-" SIMULATION_PLATFORM ".so"

struct simulation_tool {
	char launcher[PATH_MAX];
	char folder[PATH_MAX]; /* Folder of tally's tool. */
	/* Folder of Valgrind's own files; "" if the tool's folder contains those that it needs. */
	char valgrind[PATH_MAX];
};

/* Returns NOT_FOUND with advice on what to install. */
TALLY_MUST_CHECK enum tally_status simulation_tool_find(struct simulation_tool *tool, struct tally_error *err);

#endif
