/* SPDX-License-Identifier: Apache-2.0 */
/* Runs `script` over a recording. */
#include "verb.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const plain[] = {"script", NULL};
	static const char *const header[] = {"script", "--header", "-I", NULL};
	static const char *const dump[] = {"script", "-D", NULL};
	static const char *const fields[] = {
		"script", "-f", "-F", "comm,tid,pid,time,event,ip,sym,dso,symoff,srcline", NULL};
	static const char *const side_band[] = {"script", "--show-mmap-events", "--show-task-events",
		"--show-switch-events", "--show-namespace-events", "--show-cgroup-events", "--show-lost-events",
		"--show-bpf-events", "--show-text-poke-events", NULL};
	static const char *const json[] = {"script", "--ns", "--show-kernel-path", "--inline", "--reltime", NULL};
	static const char *const *const forms[] = {plain, header, dump, fields, side_band, json, NULL};
	return verb_fuzz(forms, data, size);
}
