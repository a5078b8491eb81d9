/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/recording/target_options.h"

#include "base/array.h"

#define ROW(member) .offset = offsetof(struct target_request, member)

static const struct option target_rows[] = {
	{"all-cpus", 'a', OPTION_FLAG, ROW(system_wide), .help = "measure all CPUs, whatever runs on them"},
	{"cpu", 'C', OPTION_STRING, "cpu", ROW(cpus), .help = "measure these CPUs only (0-3,8)"},
	{"pid", 'p', OPTION_STRING, "pid", ROW(pids), .help = "measure these running processes (1234,5678)"},
	{"tid", 't', OPTION_STRING, "tid", ROW(tids), .help = "measure these running threads (1234,5678)"},
};
#undef ROW
const struct option_table target_option_table = {target_rows, ARRAY_LEN(target_rows), false};
