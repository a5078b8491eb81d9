/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/standin/thread_status.h"

#include <limits.h>
#include <stdlib.h>

#include "kernel/system/kernel_files.h"

#define SECCOMP_STRICT 1

/* First number of a line's value; 0 if there is none. */
static uint64_t first_number(struct tally_str value, int base)
{
	struct tally_str word;
	uint64_t number = 0;
	value = str_trim(value);
	for (size_t i = 0; i < value.len; i++)
		if (value.data[i] == '\t' || value.data[i] == ' ')
			value.len = i;
	word = value;
	return str_to_u64(word, base, &number) ? number : 0;
}

static uint64_t second_number(struct tally_str value)
{
	value = str_trim(value);
	for (size_t i = 0; i < value.len; i++)
		if (value.data[i] == '\t' || value.data[i] == ' ')
			return first_number((struct tally_str){value.data + i, value.len - i}, 10);
	return 0;
}

static pid_t thread_number(struct tally_str value)
{
	uint64_t number = first_number(value, 10);
	return number <= INT_MAX ? (pid_t)number : 0;
}

static struct tally_str last_word(struct tally_str value)
{
	value = str_trim(value);
	for (size_t i = value.len; i > 0; i--)
		if (value.data[i - 1] == '\t' || value.data[i - 1] == ' ')
			return (struct tally_str){value.data + i, value.len - i};
	return value;
}

static void take_line(struct thread_status *s, struct tally_str key, struct tally_str value)
{
	if (str_equal(key, STR("State")))
		s->state = str_trim(value).len ? str_trim(value).data[0] : '?';
	else if (str_equal(key, STR("Tgid")))
		s->pid = thread_number(value);
	else if (str_equal(key, STR("PPid")))
		s->parent = thread_number(value);
	else if (str_equal(key, STR("TracerPid")))
		s->tracer = thread_number(value);
	else if (str_equal(key, STR("Uid")))
		s->user = (uid_t)first_number(value, 10), s->effective_user = (uid_t)second_number(value);
	else if (str_equal(key, STR("Gid")))
		s->effective_group = (gid_t)second_number(value);
	else if (str_equal(key, STR("CapEff")))
		s->capabilities = first_number(value, 16);
	else if (str_equal(key, STR("NoNewPrivs")))
		s->has_no_new_rights = first_number(value, 10) != 0;
	else if (str_equal(key, STR("NSpid")))
		s->inner_tid = thread_number(last_word(value));
	else if (str_equal(key, STR("SigBlk")))
		s->blocked = first_number(value, 16);
	else if (str_equal(key, STR("SigIgn")))
		s->ignored = first_number(value, 16);
	else if (str_equal(key, STR("SigCgt")))
		s->caught = first_number(value, 16);
	else if (str_equal(key, STR("Seccomp")))
		s->is_strict = first_number(value, 10) == SECCOMP_STRICT;
	else if (str_equal(key, STR("Seccomp_filters")))
		s->filters = first_number(value, 10);
}

bool thread_status_parse(struct tally_str text, struct thread_status *status)
{
	struct thread_status s = {0};
	struct tally_str line, key;
	while (text.len > 0 && str_next(&text, '\n', &line))
		if (str_next(&line, ':', &key))
			take_line(&s, key, line);
	if (s.pid <= 0)
		return false;
	*status = s;
	return true;
}

bool thread_status_read(const struct kernel_seam *kernel, pid_t tid, struct thread_status *status)
{
	char *text = NULL;
	if (kernel_text(kernel, &text, NULL, "/proc/%d/status", (int)tid) != TALLY_OK)
		return false;
	bool is_known = thread_status_parse(str_from(text), status);
	free(text);
	if (is_known && status->inner_tid == 0) /* The kernel has no PID namespaces. */
		status->inner_tid = tid;
	return is_known;
}
