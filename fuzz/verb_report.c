/* SPDX-License-Identifier: Apache-2.0 */
/* Runs `report` over a recording in its main forms. */
#include "verb.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const flat[] = {"report", "--stdio", NULL};
	static const char *const callers[] = {"report", "--stdio", "--children", "-g", "caller", NULL};
	static const char *const paths[] = {"report", "--stdio", "--no-children", "-g", "callee", "-n", NULL};
	static const char *const levels[] = {"report", "--stdio", "--hierarchy", "-s", "comm,dso,sym", NULL};
	static const char *const lines_of_code[] = {"report", "--stdio", "-s", "cpu,pid,srcline,sym", NULL};
	static const char *const branches[] = {"report", "--stdio", "-b", "-F", "+period,sample", NULL};
	static const char *const json[] = {"report", "--json", NULL};
	static const char *const html[] = {"report", "--html=/dev/null", NULL};
	static const char *const dump[] = {"report", "-D", NULL};
	static const char *const header[] = {"report", "--header-only", "-I", NULL};
	static const char *const tasks[] = {"report", "--stats", NULL};
	static const char *const mappings[] = {"report", "--mmaps", NULL};
	static const char *const *const forms[] = {
		flat, callers, paths, levels, lines_of_code, branches, json, html, dump, header, tasks, mappings, NULL};
	return verb_fuzz(forms, data, size);
}
