/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/simulation/simulation_messages.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit_test.h"

static void expect_note(const char *messages, const char *note)
{
	struct diag notes;
	diag_init(&notes);
	simulation_messages_note(&notes, "17", str_from(messages));
	if (note) {
		assert_int_equal(notes.len, 1);
		assert_string_equal(notes.entries[0].text, note);
	} else {
		assert_int_equal(notes.len, 0);
	}
	diag_deinit(&notes);
}

static void an_unknown_instruction_is_told_with_its_bytes(void **state)
{
	expect_note("vex amd64->IR: unhandled instruction bytes: 0x62 0xF1\n"
		    "vex amd64->IR:   REX=0\n"
		    "==17== valgrind: Unrecognised instruction at address 0x109129.\n"
		    "==17==    at 0x109129: main (in /tmp/x)\n",
		"process 17 executed an instruction that Valgrind does not know, and got SIGILL: 0x62 0xF1; a newer "
		"Valgrind may know it, or build the program for an older CPU (-march=x86-64-v3)");
}

static void the_end_by_a_signal_is_no_message(void **state)
{
	expect_note("==17== \n==17== Process terminating with default action of signal 11 (SIGSEGV)\n"
		    "==17==  Access not within mapped region at address 0x0\n",
		NULL);
	expect_note("", NULL);
	expect_note("\n\n==17==\n==17== \n", NULL);
}

static void other_messages_have_their_first_line(void **state)
{
	expect_note("==17== Warning: noted but unhandled ioctl 0x1\n==17== more\n",
		"Valgrind says of process 17: Warning: noted but unhandled ioctl 0x1");
	expect_note("a\033[2Jb", "Valgrind says of process 17: a\\x1b[2Jb");
}

static void a_command_that_did_not_begin_is_an_error(void **state)
{
	char folder[64];
	struct tally_error err;
	char path[128];
	snprintf(folder, sizeof(folder), "/tmp/tally-messages-%d", (int)getpid());
	assert_int_equal(mkdir(folder, 0700), 0);
	assert_int_equal(simulation_messages_check_start(folder, 17, "prog", &err), TALLY_UNSUPPORTED);
	assert_string_equal(err.text, "cannot simulate 'prog': Valgrind did not begin to run it");
	snprintf(path, sizeof(path), "%s/" SIMULATION_MESSAGES_PREFIX "17", folder);
	FILE *file = fopen(path, "w");
	fputs("==17== out of luck\n", file);
	fclose(file);
	assert_int_equal(simulation_messages_check_start(folder, 17, "prog", &err), TALLY_UNSUPPORTED);
	assert_string_equal(err.text, "cannot simulate 'prog': Valgrind did not begin to run it: out of luck");
	struct diag notes;
	diag_init(&notes);
	simulation_messages_add(folder, &notes);
	assert_int_equal(notes.len, 1);
	diag_deinit(&notes);
	unlink(path);
	snprintf(path, sizeof(path), "%s/17.0", folder);
	fclose(fopen(path, "w"));
	assert_int_equal(simulation_messages_check_start(folder, 17, "prog", &err), TALLY_OK);
	unlink(path);
	rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_unknown_instruction_is_told_with_its_bytes),
		cmocka_unit_test(the_end_by_a_signal_is_no_message),
		cmocka_unit_test(other_messages_have_their_first_line),
		cmocka_unit_test(a_command_that_did_not_begin_is_an_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
