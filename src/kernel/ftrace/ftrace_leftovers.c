/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/ftrace/ftrace_leftovers.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/bytes.h"
#include "kernel/system/kernel_files.h"

#define PREFIX	 "tally-ftrace-"
#define WITH_TOP "-top" /* Marks a session that also changes the top of tracefs. */

/* Values of the files at the top of tracefs while nobody traces. The tracer comes before the filters, which are slow to
 * change while it runs. */
static const struct {
	const char *file, *value;
	bool is_list; /* Whether writing the value empties the list. */
} defaults[] = {
	{"tracing_on", "0", false},
	{"current_tracer", "nop", false},
	{"set_ftrace_pid", "", true},
	{"set_ftrace_filter", "", true},
	{"set_ftrace_notrace", "", true},
	{"set_graph_function", "", true},
	{"set_graph_notrace", "", true},
	{"max_graph_depth", "0", false},
	{"tracing_thresh", "0", false},
	{"options/function-fork", "0", false},
	{"options/func_stack_trace", "0", false},
	{"options/irq-info", "1", false},
	{"options/sleep-time", "1", false},
	{"options/latency-format", "0", false},
	{"options/funcgraph-irqs", "1", false},
	{"options/funcgraph-proc", "0", false},
	{"options/funcgraph-abstime", "0", false},
	{"options/funcgraph-tail", "0", false},
	{"options/funcgraph-args", "0", false},
	{"options/funcgraph-retval", "0", false},
	{"options/funcgraph-retval-hex", "0", false},
	{"options/funcgraph-retaddr", "0", false},
	{"tracing_on", "1", false},
};

bool ftrace_is_list(const char *file)
{
	for (size_t i = 0; i < ARRAY_LEN(defaults); i++)
		if (strcmp(defaults[i].file, file) == 0)
			return defaults[i].is_list;
	return false;
}

void ftrace_instance_name(bool with_top, char name[FTRACE_NAME_MAX])
{
	snprintf(name, FTRACE_NAME_MAX, "%s/%s%d%s", FTRACE_INSTANCES, PREFIX, (int)getpid(), with_top ? WITH_TOP : "");
}

/* The PID in the name of an instance; 0 if the instance is not one of tally. */
static uint64_t ftrace_leftovers_pid(struct tally_str name, bool *with_top)
{
	uint64_t pid;
	if (!str_starts_with(name, STR(PREFIX)))
		return 0;
	name = (struct tally_str){name.data + sizeof(PREFIX) - 1, name.len - (sizeof(PREFIX) - 1)};
	*with_top = str_ends_with(name, STR(WITH_TOP));
	if (*with_top)
		name.len -= sizeof(WITH_TOP) - 1;
	return str_to_u64(name, 10, &pid) && pid <= INT32_MAX ? pid : 0;
}

int ftrace_other_at_top(const struct ftrace_files *files)
{
	struct name_list names = {0};
	int other = 0;
	if (kernel_names(files->kernel, &names, NULL, "%s/%s", files->top, FTRACE_INSTANCES) != TALLY_OK)
		return 0;
	for (size_t i = 0; i < names.len; i++) {
		bool with_top = false;
		uint64_t pid = ftrace_leftovers_pid(str_from(names.items[i]), &with_top);
		if (pid != 0 && with_top && pid != (uint64_t)getpid())
			other = (int)pid;
	}
	name_list_deinit(&names);
	return other;
}

void ftrace_leftovers_remove(const struct ftrace_files *files, struct diag *diag)
{
	struct name_list names = {0};
	if (kernel_names(files->kernel, &names, NULL, "%s/%s", files->top, FTRACE_INSTANCES) != TALLY_OK)
		return;
	for (size_t i = 0; i < names.len; i++) {
		bool with_top = false;
		char path[FTRACE_PATH];
		uint64_t pid = ftrace_leftovers_pid(str_from(names.items[i]), &with_top);
		if (pid == 0 || (kill((pid_t)pid, 0) == 0 || errno != ESRCH))
			continue;
		snprintf(path, sizeof(path), "%s/%.200s", FTRACE_INSTANCES, names.items[i]);
		/* The process may live in another PID namespace; then the removal fails, because the instance is
		 * busy. */
		if (ftrace_folder_remove(files, path) != 0)
			continue;
		if (with_top) {
			for (size_t d = 0; d < ARRAY_LEN(defaults); d++)
				(void)ftrace_file_put(files, defaults[d].file, defaults[d].value, false);
		}
		diag_add(diag, DIAG_NOTE, "removed %s/%s, which a killed ftrace (PID %d) left behind%s", files->top,
			path, (int)pid,
			with_top
				? "; the tracer and the filters at the top of tracefs are reset, too, but not the size "
				  "of its buffers"
				: "");
	}
	name_list_deinit(&names);
}
