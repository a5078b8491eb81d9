/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/test/test_checks.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/file.h"
#include "bpf/bpf_load.h"
#include "code/binaries/kernel_list_cache.h"
#include "kernel/recording/own_code.h"
#include "object/elf/elf_image.h"
#include "verbs/test/test_workloads.h"

#define LANDLOCK_CALLS 2 /* Number of system calls of the workload. */
#define PROBED_CALLS   1000
#define SHARE	       75 /* Percentage of the workload's time that is spent in workload_busier. */
#define TOLERANCE      12

/* Returns the start of the first line that contains the text, or NULL if there is none. */
static const char *test_checks_line(const struct text *out, const char *text)
{
	const char *at = out->len ? memmem(out->data, out->len, text, strlen(text)) : NULL;
	while (at && at > out->data && at[-1] != '\n')
		at--;
	return at;
}

/* Returns the value in the first column of stat's CSV, or a negative number if the event is missing or was not
 * counted. */
static double test_checks_value(struct text *out, const char *event)
{
	const char *line;
	text_char(out, 0);
	line = test_checks_line(out, event);
	return line && isdigit((unsigned char)*line) ? strtod(line, NULL) : -1;
}

/* Skips the check with the last line of the error messages as the reason. The usage help after the messages is
 * ignored. */
static enum test_result test_checks_refused(struct test_run *run, const struct text *out, const char *what)
{
	static const char *const helps[] = {"\nRun '", "\n Usage:"};
	size_t end = out->len, start;
	for (size_t i = 0; i < ARRAY_LEN(helps); i++) {
		const char *at = end ? memmem(out->data, end, helps[i], strlen(helps[i])) : NULL;
		end = at ? (size_t)(at - out->data) : end;
	}
	while (end > 0 && (out->data[end - 1] == '\n' || out->data[end - 1] == 0))
		end--;
	for (start = end; start > 0 && out->data[start - 1] != '\n';)
		start--;
	return test_skip(run, "%s: %.*s", what, (int)MIN(end - start, 300), out->data + start);
}

/* ---- the machine ---- */

static void test_checks_show_file(struct test_run *run, const char *path)
{
	char *text;
	size_t len;
	if (file_read(path, 64u << 10, &text, &len, NULL) != TALLY_OK) {
		text_printf(&run->log, "%s: cannot be read\n", path);
		return;
	}
	const char *end = memchr(text, '\n', len);
	text_printf(&run->log, "%s: %.*s\n", path, (int)(end ? end - text : (ptrdiff_t)len), text);
	free(text);
}

static enum test_result test_checks_settings(struct test_run *run)
{
	static const char *const files[] = {"/proc/sys/kernel/perf_event_paranoid",
		"/proc/sys/kernel/perf_event_mlock_kb", "/proc/sys/kernel/perf_event_max_sample_rate",
		"/proc/sys/kernel/perf_event_max_stack", "/proc/sys/kernel/kptr_restrict",
		"/proc/sys/kernel/unprivileged_bpf_disabled", "/sys/kernel/security/lockdown",
		"/sys/devices/system/cpu/online"};
	struct utsname name;
	if (uname(&name) == 0)
		text_printf(&run->log, "%s %s %s, user %d\n", name.sysname, name.release, name.machine, (int)geteuid());
	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		test_checks_show_file(run, files[i]);
	struct text out = {0};
	int code = test_run_self(run, "version --build-options", &out, NULL);
	text_deinit(&out);
	return code == 0 ? TEST_OK : test_fail(run, "the program does not run itself");
}

static enum test_result test_checks_kernel_symbols(struct test_run *run)
{
	char *text;
	size_t len;
	struct tally_error err;
	if (kernel_list_read("/proc/kallsyms", &text, &len, &err) != TALLY_OK)
		return test_skip(run, "%s", err.text);
	bool is_hidden = kallsyms_is_hidden(text, len);
	text_printf(&run->log, "/proc/kallsyms: %zu bytes\n", len);
	free(text);
	if (is_hidden)
		return test_skip(run, "the kernel hides its addresses (kernel.kptr_restrict, or no CAP_SYSLOG)");
	return TEST_OK;
}

/* Prints the program's own symbols to shown unless it is NULL. Returns whether the workloads have symbols. */
static bool test_checks_own_symbols(struct text *shown)
{
	struct elf_image *image;
	struct elf_symbol_list list = {0};
	bool is_found = false;
	if (elf_image_open("/proc/self/exe", &image, NULL) != TALLY_OK)
		return false;
	if (elf_image_symbols(image, &list, NULL) == TALLY_OK) {
		for (size_t i = 0; i < list.symbols.len; i++) {
			const struct elf_symbol *symbol = &list.symbols.items[i];
			is_found = is_found || strcmp(symbol->name, "noploop") == 0;
			if (shown)
				text_printf(shown, " %llx %s\n", (unsigned long long)symbol->vaddr, symbol->name);
		}
	}
	vec_free(&list.symbols);
	elf_image_close(image);
	return is_found;
}

static enum test_result test_checks_stripped(struct test_run *run)
{
	return test_skip(run, "the program is stripped: the functions of its workloads have no names");
}

/* Prints one symbol per line, because scripts search the output of "test -vv Symbols" for them. */
static enum test_result test_checks_symbols(struct test_run *run)
{
	return test_checks_own_symbols(&run->log) ? TEST_OK : test_checks_stripped(run);
}

static enum test_result test_checks_bpf(struct test_run *run)
{
	struct tally_error err;
	if (bpf_refusal_expected(kernel_seam_linux(), "this check", &err) != TALLY_OK)
		return test_skip(run, "%s", err.text);
	return TEST_OK;
}

/* ---- counting ---- */

static enum test_result test_checks_software(struct test_run *run)
{
	struct text out = {0};
	uint64_t cpu_ns = 0;
	int code = test_run_self(
		run, "stat -x, -e task-clock:u,task-clock,page-faults -- @ test -w noploop 0.3", &out, &cpu_ns);
	double ms = test_checks_value(&out, "task-clock"), faults = test_checks_value(&out, "page-faults");
	enum test_result result = TEST_OK;
	if (code != 0)
		result = test_checks_refused(run, &out, "software events");
	else if (ms < 0 || faults <= 0)
		result = test_fail(run, "task-clock and page-faults were not counted");
	/* cpu_ns includes the CPU time of stat itself. */
	else if (ms > (double)cpu_ns / 1e6 + 20 || ms < (double)cpu_ns / 1e6 / 3)
		result = test_fail(run, "task-clock says %.0f ms, the scheduler %.0f ms", ms, (double)cpu_ns / 1e6);
	text_deinit(&out);
	return result;
}

static enum test_result test_checks_hardware(struct test_run *run)
{
	struct text out = {0};
	int code = test_run_self(run, "stat -x, -e cycles:u,instructions:u -- @ test -w brstack 100000", &out, NULL);
	double cycles = test_checks_value(&out, "cycles"), instructions = test_checks_value(&out, "instructions");
	enum test_result result = TEST_OK;
	if (code != 0)
		result = test_checks_refused(run, &out, "hardware events");
	else if (cycles < 0 || instructions < 0)
		result = test_skip(run, "this machine counts no cycles and instructions: it has no PMU, or a virtual "
					"machine hides it");
	/* Each of the 100,000 iterations makes at least five calls, and so executes more than eight instructions. */
	else if (instructions < 100000.0 * 8)
		result = test_fail(run, "too few instructions were counted: %.0f", instructions);
	text_deinit(&out);
	return result;
}

static enum test_result test_checks_system_wide(struct test_run *run)
{
	struct text out = {0};
	int code = test_run_self(run, "stat -x, -a -e cpu-clock -- @ test -w noploop 0.1", &out, NULL);
	double ms = test_checks_value(&out, "cpu-clock");
	enum test_result result = TEST_OK;
	if (code != 0)
		result = test_checks_refused(run, &out, "all CPUs");
	else if (ms < 90)
		result = test_fail(run, "all CPUs together counted %.0f ms of 100", ms);
	text_deinit(&out);
	return result;
}

static enum test_result test_checks_exact(
	struct test_run *run, const char *line, const char *event, double expected, const char *what)
{
	struct text out = {0};
	int code = test_run_self(run, line, &out, NULL);
	double count = test_checks_value(&out, event);
	enum test_result result = TEST_OK;
	if (code != 0 || count < 0)
		result = test_checks_refused(run, &out, what);
	else if (count != expected)
		result = test_fail(run, "%s counted %.0f calls of %.0f", what, count, expected);
	text_deinit(&out);
	return result;
}

static enum test_result test_checks_tracepoints(struct test_run *run)
{
	return test_checks_exact(run, "stat -x, -e syscalls:sys_enter_landlock_add_rule -- @ test -w landlock",
		"landlock_add_rule", LANDLOCK_CALLS, "a tracepoint");
}

static enum test_result test_checks_uprobes(struct test_run *run)
{
	char line[4600], self[PATH_MAX];
	uint64_t offset;
	if (!own_code_find((uintptr_t)brstack_bench, self, &offset))
		return test_fail(run, "the program does not find its own file");
	if (strpbrk(self, " ,'"))
		return test_skip(run, "the path of the program has characters that events cannot have");
	snprintf(line, sizeof(line), "stat -x, -a -e uprobe/path='%s',offset=%llu/ -- @ test -w brstack %d", self,
		(unsigned long long)offset, PROBED_CALLS);
	return test_checks_exact(run, line, "uprobe", PROBED_CALLS, "a probe in a program");
}

/* ---- recording ---- */

/* Returns false after storing a result in *result. */
static bool test_checks_record(struct test_run *run, const char *line, enum test_result *result)
{
	struct text out = {0};
	int code = test_run_self(run, line, &out, NULL);
	*result = TEST_OK;
	if (code != 0)
		*result = test_checks_refused(run, &out, "recording");
	text_deinit(&out);
	return code == 0;
}

static enum test_result test_checks_samples(struct test_run *run)
{
	enum test_result result;
	struct text out = {0};
	if (!test_checks_record(run, "record -q -e cpu-clock:u -F 1000 -o x.data -- @ test -w shares 1", &result))
		return result;
	int code = test_run_self(run, "report -i x.data --stdio -s sym --percent-limit 1 -q", &out, NULL);
	const char *busier = test_checks_line(&out, "workload_busier");
	double percent = busier ? strtod(busier, NULL) : -1;
	text_deinit(&out);
	if (code == 0 && percent < 0 && !test_checks_own_symbols(NULL))
		return test_checks_stripped(run);
	if (code != 0 || percent < SHARE - TOLERANCE || percent > SHARE + TOLERANCE)
		return test_fail(run, "%d %% of the program's time are in workload_busier, the report says %.1f %%",
			SHARE, percent);
	code = test_run_self(run, "health x.data", &out, NULL);
	text_deinit(&out);
	return code <= 1 ? TEST_OK : test_fail(run, "the recording is not complete");
}

/* Checks that some sample has the callers leaf, parent and leafloop, innermost first. */
static enum test_result test_checks_chain(struct test_run *run, const char *mode)
{
	static const char *const names[] = {"leaf", "parent", "leafloop"};
	char line[200];
	enum test_result result;
	struct text out = {0};
	snprintf(line, sizeof(line),
		"record -q -e cpu-clock:u -F 500 --call-graph %s -o x.data -- @ test -w leafloop 0.4", mode);
	if (!test_checks_record(run, line, &result))
		return result;
	int code = test_run_self(run, "script -i x.data -F ip,sym", &out, NULL);
	text_char(&out, 0);
	size_t found = 0;
	for (char *at = out.data, *row; code == 0 && found < ARRAY_LEN(names) && (row = strsep(&at, "\n"));) {
		const char *blank = strrchr(row, ' ');
		if (blank && strcmp(blank + 1, names[found]) == 0)
			found++;
		else
			found = blank && strcmp(blank + 1, names[0]) == 0;
	}
	text_deinit(&out);
	if (found == ARRAY_LEN(names))
		return TEST_OK;
	if (!test_checks_own_symbols(NULL))
		return test_checks_stripped(run);
	return test_fail(run, "no sample has the callers leaf, parent, leafloop");
}

static enum test_result test_checks_chain_fp(struct test_run *run)
{
	return test_checks_chain(run, "fp");
}

static enum test_result test_checks_chain_dwarf(struct test_run *run)
{
	return test_checks_chain(run, "dwarf");
}

static enum test_result test_checks_chain_bpf(struct test_run *run)
{
	return test_checks_bpf(run) == TEST_OK ? test_checks_chain(run, "bpf") : TEST_SKIP;
}

static enum test_result test_checks_waits(struct test_run *run)
{
	enum test_result result;
	struct text out = {0};
	if (!test_checks_record(run, "record -q --wall -o x.data -- sleep 0.3", &result))
		return result;
	int code = test_run_self(run, "report -i x.data --stdio -q -s state", &out, NULL);
	const char *sleeping = test_checks_line(&out, "sleep");
	double percent = sleeping ? strtod(sleeping, NULL) : -1;
	text_deinit(&out);
	if (code != 0 || percent < 50)
		return test_fail(
			run, "a program that sleeps spent %.1f %% of its time asleep, the report says", percent);
	return TEST_OK;
}

static const struct test_check checks[] = {
	{"Settings of the kernel and the build", test_checks_settings},
	{"Symbols", test_checks_symbols},
	{"Symbols of the kernel", test_checks_kernel_symbols},
	{"Software events count", test_checks_software},
	{"Hardware events count", test_checks_hardware},
	{"All CPUs can be counted", test_checks_system_wide},
	{"A tracepoint counts system calls exactly", test_checks_tracepoints},
	{"A probe counts calls of a function exactly", test_checks_uprobes},
	{"BPF programs are allowed", test_checks_bpf},
	{"Samples show where a program spends its time", test_checks_samples},
	{"Call graph by frame pointers", test_checks_chain_fp},
	{"Call graph by DWARF", test_checks_chain_dwarf},
	{"Call graph by BPF", test_checks_chain_bpf},
	{"Waits show that a program sleeps", test_checks_waits},
};

const struct test_check *test_checks_all(size_t *count)
{
	*count = ARRAY_LEN(checks);
	return checks;
}
