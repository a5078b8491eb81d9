/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/simulation/simulation_tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "kernel/system/program_path.h"
#include "tally_config.h"

#ifdef SIMULATION_PLATFORM

#define LAUNCHER	  "valgrind"
#define LAUNCHER_PROGRAM  ".bin" /* The program that Debian's script "valgrind" starts with a changed environment. */
#define INSTALLED_FOLDER  "../libexec/tally/valgrind" /* Relative to the folder of this program. */
#define BUILD_FOLDER	  "../../simulator" /* Relative to the folder of a program that lies in its build directory. */
#define VALGRIND_LIB_NAME "VALGRIND_LIB"

static bool simulation_tool_has(const char *folder, const char *name)
{
	char path[PATH_MAX];
	int len = snprintf(path, sizeof(path), "%s/%s", folder, name);
	return len > 0 && (size_t)len < sizeof(path) && access(path, R_OK) == 0;
}

/* Stores the absolute path of the folder if it contains the file. */
static bool simulation_tool_take(const char *folder, const char *name, char found[PATH_MAX])
{
	return simulation_tool_has(folder, name) && realpath(folder, found) != NULL;
}

/* Returns the folder of a program's file, after following links. */
static bool simulation_tool_folder_of(const char *program, char folder[PATH_MAX])
{
	if (!realpath(program, folder))
		return false;
	char *slash = strrchr(folder, '/');
	if (slash)
		*slash = '\0';
	return slash != NULL;
}

static bool simulation_tool_take_beside(const char *here, const char *way, const char *name, char found[PATH_MAX])
{
	char folder[PATH_MAX];
	int len = snprintf(folder, sizeof(folder), "%s/%s", here, way);
	return len > 0 && (size_t)len < sizeof(folder) && simulation_tool_take(folder, name, found);
}

static enum tally_status simulation_tool_find_ours(char found[PATH_MAX], struct tally_error *err)
{
	char here[PATH_MAX];
	if (simulation_tool_folder_of("/proc/self/exe", here) &&
		(simulation_tool_take_beside(here, INSTALLED_FOLDER, SIMULATION_TOOL_FILE, found) ||
			simulation_tool_take_beside(here, BUILD_FOLDER, SIMULATION_TOOL_FILE, found)))
		return TALLY_OK;
	if (simulation_tool_take(TALLY_SIMULATOR_FOLDER, SIMULATION_TOOL_FILE, found))
		return TALLY_OK;
	return error_set(err, TALLY_NOT_FOUND,
		"cannot simulate: this installation of tally has no '" SIMULATION_TOOL_FILE
		"' in " TALLY_SIMULATOR_FOLDER
		"; build tally with Debian's package 'valgrind' installed (its headers and libraries)");
}

/* Finds Valgrind's own files: in the folder that the user has set, relative to the launcher, or in the usual
 * folders. */
static enum tally_status simulation_tool_find_valgrind(
	const char *launcher, char found[PATH_MAX], struct tally_error *err)
{
	static const char *const ways[] = {"../libexec/valgrind", "../lib/valgrind", "../lib64/valgrind"};
	static const char *const usual[] = {"/usr/libexec/valgrind", "/usr/lib/valgrind", "/usr/lib64/valgrind",
		"/usr/local/libexec/valgrind", "/usr/local/lib/valgrind"};
	char here[PATH_MAX];
	const char *chosen = getenv(VALGRIND_LIB_NAME);
	if (chosen && simulation_tool_take(chosen, SIMULATION_PRELOAD_FILE, found))
		return TALLY_OK;
	bool has_folder = simulation_tool_folder_of(launcher, here);
	for (size_t i = 0; has_folder && i < ARRAY_LEN(ways); i++)
		if (simulation_tool_take_beside(here, ways[i], SIMULATION_PRELOAD_FILE, found))
			return TALLY_OK;
	for (size_t i = 0; i < ARRAY_LEN(usual); i++)
		if (simulation_tool_take(usual[i], SIMULATION_PRELOAD_FILE, found))
			return TALLY_OK;
	return error_set(err, TALLY_NOT_FOUND,
		"cannot simulate: '" SIMULATION_PRELOAD_FILE
		"', which belongs to '%s', is not in its usual folders; set " VALGRIND_LIB_NAME
		" to the folder that has it",
		launcher);
}

enum tally_status simulation_tool_find(struct simulation_tool *tool, struct tally_error *err)
{
	struct simulation_tool found = {0};
	if (!program_path_find(LAUNCHER, found.launcher))
		return error_set(err, TALLY_NOT_FOUND,
			"cannot simulate: there is no program '" LAUNCHER
			"' in PATH; install it (Debian: apt install valgrind)");
	enum tally_status status = simulation_tool_find_ours(found.folder, err);
	if (status == TALLY_OK && !simulation_tool_has(found.folder, SIMULATION_PRELOAD_FILE))
		status = simulation_tool_find_valgrind(found.launcher, found.valgrind, err);
	if (status != TALLY_OK)
		return status;
	/* Debian's script adds a folder to LD_LIBRARY_PATH, in which the command's loader would then search,
	 * executing additional instructions. */
	char program[PATH_MAX];
	int len = snprintf(program, sizeof(program), "%s" LAUNCHER_PROGRAM, found.launcher);
	if (len > 0 && len < PATH_MAX && access(program, X_OK) == 0)
		memcpy(found.launcher, program, sizeof(program));
	*tool = found;
	return TALLY_OK;
}

#else

enum tally_status simulation_tool_find(struct simulation_tool *tool, struct tally_error *err)
{
	(void)tool;
	return error_set(
		err, TALLY_UNSUPPORTED, "cannot simulate: tally's simulator runs on x86-64 and 64-bit ARM only");
}

#endif
