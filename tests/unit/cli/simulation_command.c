/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/simulation/simulation_command.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit_test.h"

static void expect_refused(const char *command, enum tally_status status, const char *words)
{
	struct tally_error err;
	assert_int_equal(simulation_command_check(command, &err), status);
	assert_non_null(strstr(err.text, command));
	if (!strstr(err.text, words))
		fail_msg("'%s' does not say '%s'", err.text, words);
}

static void commands_that_execvp_would_refuse_have_its_words(void **state)
{
	expect_refused(
		"no-such-command-of-tally", TALLY_NOT_FOUND, "cannot run 'no-such-command-of-tally': No such file");
	expect_refused("/no/such/command", TALLY_NOT_FOUND, "No such file or directory");
	expect_refused("/tmp", TALLY_DENIED, "Permission denied");
}

static void make_program(char *path, const void *data, size_t len, mode_t mode)
{
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, len), (ssize_t)len);
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
}

static void programs_of_other_machines_are_refused(void **state)
{
	char narrow[] = "/tmp/tally-narrow-XXXXXX", other[] = "/tmp/tally-other-XXXXXX";
	Elf64_Ehdr header = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS32, ELFDATA2LSB}, .e_machine = EM_386};
	make_program(narrow, &header, sizeof(header), 0700);
	expect_refused(narrow, TALLY_UNSUPPORTED, "it is a 32-bit program");
	header.e_ident[EI_CLASS] = ELFCLASS64;
	header.e_machine = EM_S390;
	make_program(other, &header, sizeof(header), 0700);
	expect_refused(other, TALLY_UNSUPPORTED, "a program for another machine");
	unlink(narrow);
	unlink(other);
}

static void programs_that_change_privileges_are_refused(void **state)
{
	char path[] = "/tmp/tally-privileged-XXXXXX";
	make_program(path, "#!/bin/sh\n", 10, 04755);
	expect_refused(path, TALLY_UNSUPPORTED, "it is set-user-ID or set-group-ID");
	unlink(path);
}

static void scripts_and_own_programs_run(void **state)
{
	struct tally_error err;
	char script[] = "/tmp/tally-script-XXXXXX";
	make_program(script, "#!/bin/sh\n", 10, 0755);
	assert_int_equal(simulation_command_check(script, &err), TALLY_OK);
	assert_int_equal(simulation_command_check("/proc/self/exe", &err), TALLY_OK);
	assert_int_equal(simulation_command_check("sh", &err), TALLY_OK);
	unlink(script);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commands_that_execvp_would_refuse_have_its_words),
		cmocka_unit_test(programs_of_other_machines_are_refused),
		cmocka_unit_test(programs_that_change_privileges_are_refused),
		cmocka_unit_test(scripts_and_own_programs_run),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
