/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_choice.c - parses arbitrary text as an argument of trace -e for a recording, where only system calls can be
 * selected. An accepted list selects the same calls each time, with "!" in front it selects all others, and the
 * filter for the kernel is within bounds.
 */
#include "verbs/trace/trace_choice.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/commands.h"

#define TEXT_MAX   4096
#define FILTER_MAX 4096 /* The kernel accepts a filter of at most one page. */

static int kept_fd = -1, null_fd = -1;

/* Returns false if the text is refused. The error message is discarded. */
static bool choose(const char *text, struct trace_choice *choice)
{
	struct cli cli = {.program = "tally", .build_id_dir = "/dev/null/none"};
	struct trace_settings settings = {.wants_calls = false};
	struct trace_word word = {TRACE_WORD_CHOICE, text};
	if (!vec_push(&settings.words, word))
		abort();
	dup2(null_fd, STDERR_FILENO);
	int code = trace_choice_make(&cli, command_find("trace"), NULL, &settings, "x86_64", choice);
	dup2(kept_fd, STDERR_FILENO);
	vec_free(&settings.words);
	if (code != 0)
		trace_choice_deinit(choice);
	return code == 0;
}

static bool is_equal(const struct trace_choice *a, const struct trace_choice *b, bool is_negated)
{
	for (uint32_t i = 0; i < SYSCALL_NUMBERS; i++)
		if (syscall_name(a->native, i) &&
			(trace_choice_wants(a, a->native, i) != trace_choice_wants(b, b->native, i)) != is_negated)
			return false;
	return true;
}

static void check_again(const char *text, const struct trace_choice *choice, bool is_negated)
{
	struct trace_choice again;
	if (!choose(text, &again))
		abort();
	if (choice->has_names != again.has_names || (choice->has_names && !is_equal(choice, &again, is_negated)))
		abort();
	trace_choice_deinit(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char text[TEXT_MAX + 2] = "!";
	struct trace_choice choice;
	struct text filter = {0};
	if (size > TEXT_MAX)
		return 0;
	if (null_fd < 0) {
		null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
		kept_fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	}
	memcpy(text + 1, data, size);
	text[size + 1] = '\0';
	if (choose(text, &choice)) { /* After "!", only names of calls are accepted. */
		if (text[1] != '!')
			check_again(text + 1, &choice, true);
		trace_choice_deinit(&choice);
	}
	if (!choose(text + 1, &choice))
		return 0;
	check_again(text + 1, &choice, false);
	trace_choice_print_filter(&choice, &filter);
	if (filter.len > FILTER_MAX)
		abort();
	text_deinit(&filter);
	trace_choice_deinit(&choice);
	return 0;
}
