/* SPDX-License-Identifier: Apache-2.0 */
#include "bpf/bpf_load.h"

#include <stdlib.h>

#include "bpf/bpf_probe.h"
#include "fake_root.h"
#include "kernel/system/kernel_seam.h"
#include "tally_config.h"
#include "unit_test.h"

#define RELEASE	    "/proc/sys/kernel/osrelease: 6.1.0-18-amd64\n"
#define FIRST_USERS "/proc/self/uid_map: 0 0 4294967295\n"
#define BTF	    "/sys/kernel/btf/vmlinux: x\n"
#define LOCKDOWN    "/sys/kernel/security/lockdown: "

static void bpf_load_test_refusal(const char *files, enum tally_status status, const char *text)
{
	char *root = fake_root_make(files);
	struct kernel_seam seam = {.root = root};
	struct tally_error err = {0};
	enum tally_status got = bpf_refusal_expected(&seam, "--off-cpu", &err);
	if (!HAVE_BPF) {
		status = TALLY_UNSUPPORTED;
		text = "--off-cpu needs BPF, which this build of tally lacks";
	}
	assert_int_equal(got, status);
	if (status != TALLY_OK && !strstr(err.text, text))
		fail_msg("'%s' is not in '%s'", text, err.text);
	fake_root_remove(root);
}

static void test_each_lack_has_a_name(void **state)
{
	bpf_load_test_refusal(
		RELEASE FIRST_USERS BTF "/proc/self/status: Name:\tx\\nCapEff:\t000000c000000000\\n\n", TALLY_OK, "");
	bpf_load_test_refusal(
		RELEASE FIRST_USERS BTF "/proc/self/status: Name:\tx\\nCapEff:\t0000000000200000\\n\n", TALLY_OK, "");
	bpf_load_test_refusal(RELEASE FIRST_USERS BTF "/proc/self/status: Name:\tx\\nCapEff:\t0000004000000000\\n\n",
		TALLY_DENIED, "which needs CAP_BPF: run as root");
	bpf_load_test_refusal(RELEASE FIRST_USERS BTF "/proc/self/status: Name:\tx\\nCapEff:\t0000000000000000\\n\n",
		TALLY_DENIED, "which needs CAP_BPF and CAP_PERFMON: run as root");
	bpf_load_test_refusal(RELEASE "/proc/self/uid_map: 0 1000 1\n" BTF
				      "/proc/self/status: Name:\tx\\nCapEff:\t000000ffffffffff\\n\n",
		TALLY_DENIED, "in the first user namespace");
	bpf_load_test_refusal(RELEASE FIRST_USERS "/proc/self/status: Name:\tx\\nCapEff:\t000000ffffffffff\\n\n",
		TALLY_UNSUPPORTED, "there is no /sys/kernel/btf/vmlinux");
	bpf_load_test_refusal("/proc/sys/kernel/osrelease: 5.7.19\n" FIRST_USERS BTF
			      "/proc/self/status: Name:\tx\\nCapEff:\t000000ffffffffff\\n\n",
		TALLY_UNSUPPORTED, "needs BPF of Linux 5.8 or newer, and this kernel is 5.7.19");
	bpf_load_test_refusal(RELEASE FIRST_USERS BTF LOCKDOWN
		"none integrity [confidentiality]\n"
		"/proc/self/status: Name:\tx\\nCapEff:\t000000ffffffffff\\n\n",
		TALLY_DENIED, "kernel lockdown (confidentiality) forbids");
	bpf_load_test_refusal(RELEASE FIRST_USERS BTF LOCKDOWN
		"none [integrity] confidentiality\n"
		"/proc/self/status: Name:\tx\\nCapEff:\t000000ffffffffff\\n\n",
		TALLY_OK, "");
}

static void test_another_pid_namespace(void **state)
{
	struct kernel_seam seam = {.root = fake_root_make("/proc/self/ns/pid: another inode\n")};
	struct tally_error err = {0};
	assert_int_equal(bpf_check_namespace(&seam, "trace", &err), TALLY_UNSUPPORTED);
	assert_non_null(strstr(
		err.text, "trace: BPF programs see threads by their numbers in the machine's first PID namespace"));
	fake_root_remove((char *)seam.root);
	seam.root = "/nonexistent";
	assert_int_equal(bpf_check_namespace(&seam, "trace", &err), TALLY_OK);
}

static void test_a_log_ends_with_the_reason(void **state)
{
	char tail[60];
	bpf_log_tail("0: (b7) r0 = 1\nR1 invalid mem access 'scalar'\n"
		     "processed 2 insns (limit 1000000)\n-- END PROG LOAD LOG --\nlibbpf: failed to load\n",
		tail, sizeof(tail));
	assert_string_equal(tail, "0: (b7) r0 = 1; R1 invalid mem access 'scalar'");
	bpf_log_tail("0: (b7) r0 = 1\nR1 invalid mem access 'scalar'\n", tail, 40);
	assert_string_equal(tail, "R1 invalid mem access 'scalar'");
	bpf_log_tail("", tail, sizeof(tail));
	assert_string_equal(tail, "");
	bpf_log_tail("a line that is longer than what has room", tail, 10);
	assert_string_equal(tail, "");
}

/* On this machine, the programs load, or the error names one of the known reasons. */
static void test_probe(void **state)
{
	struct tally_error err = {0};
	enum tally_status status = bpf_probe(kernel_seam_linux(), "--call-graph bpf", &err);
	if (status == TALLY_OK)
		return;
	bool has_filter = strstr(err.text, "a seccomp filter is in force") != NULL;
	if (bpf_refusal_expected(kernel_seam_linux(), "--call-graph bpf", NULL) == TALLY_OK && !has_filter)
		fail_msg("%s", err.text);
	print_message("%s\n", err.text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_lack_has_a_name),
		cmocka_unit_test(test_another_pid_namespace),
		cmocka_unit_test(test_a_log_ends_with_the_reason),
		cmocka_unit_test(test_probe),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
