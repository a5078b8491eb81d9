/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/memory/memory_record.h"

#include <string.h>

#include "base/error.h"
#include "cli/commands.h"
#include "kernel/events/memory_events.h"

#define LEAST_LATENCY		30 /* Minimum latency in cycles. Samples of faster loads would outnumber all others. */
#define MEMORY_RECORD_MAX_WORDS 24

struct memory_record_job {
	struct memory_record wanted;
	struct memory_event_request request;
	bool all_kernel, all_user, lists;
	const char *problem; /* NULL if the options are valid. */
};

/* Returns the value of an option that is written as "--name value", "--name=value", "-n value" or "-nvalue", or NULL if
 * the word is another option. */
static const char *memory_record_value_of(char **argv, int argc, int *at, const char *name, char letter)
{
	const char *word = argv[*at];
	size_t len = strlen(name);
	bool is_short = letter && word[0] == '-' && word[1] == letter;
	if (is_short && word[2])
		return word + 2;
	if (!is_short && strncmp(word, "--", 2) != 0)
		return NULL;
	if (!is_short && strncmp(word + 2, name, len) == 0 && word[2 + len] == '=')
		return word + 3 + len;
	if ((is_short || strcmp(word + 2, name) == 0) && *at + 1 < argc)
		return argv[++*at];
	return NULL;
}

static bool is_flag(const char *word, const char *name, char letter)
{
	return (word[0] == '-' && word[1] == letter && !word[2]) ||
	       (!strncmp(word, "--", 2) && !strcmp(word + 2, name));
}

static void set_event(struct memory_record_job *job, const char *event)
{
	if (!strcmp(event, "list"))
		job->lists = true;
	else if (strstr(event, "loads"))
		job->request = (struct memory_event_request){true, false, job->request.least_latency};
	else if (strstr(event, "stores"))
		job->request = (struct memory_event_request){false, true, job->request.least_latency};
	else
		job->problem = "-e takes list, ldlat-loads or ldlat-stores";
}

/* Handles an option of this verb. Returns false if the option belongs to record. */
static bool take_option(struct memory_record_job *job, char **argv, int argc, int *at)
{
	const char *value;
	bool is_c2c = job->wanted.is_c2c;
	if ((value = memory_record_value_of(argv, argc, at, "event", 'e')))
		set_event(job, value);
	else if ((value = memory_record_value_of(argv, argc, at, "ldlat", is_c2c ? 'l' : 0)))
		job->problem = str_to_u64(str_from(value), 10, &job->request.least_latency) ? job->problem
											    : "--ldlat takes a number";
	else if (!is_c2c && (value = memory_record_value_of(argv, argc, at, "type", 't')))
		job->wanted.type = value;
	else if (is_flag(argv[*at], "all-kernel", is_c2c ? 'k' : 'K'))
		job->all_kernel = true;
	else if (is_flag(argv[*at], "all-user", is_c2c ? 'u' : 'U'))
		job->all_user = true;
	else if (is_flag(argv[*at], "phys-data", is_c2c ? 0 : 'p'))
		job->wanted.physical = true;
	else if (is_flag(argv[*at], "data-page-size", 0))
		job->wanted.data_pages = true;
	else
		return false;
	return true;
}

static void memory_record_set_type(struct memory_record_job *job)
{
	const char *type = job->wanted.type;
	if (!type)
		return;
	job->request.loads = strstr(type, "load") != NULL;
	job->request.stores = strstr(type, "store") != NULL;
	if (!job->request.loads && !job->request.stores)
		job->problem = "-t takes load, store or both";
}

static int run_record(
	const struct cli *cli, const struct memory_record_job *job, const char *events, int argc, char **argv)
{
	const char *words[MEMORY_RECORD_MAX_WORDS] = {"record", "-W", "-d", "-e", events};
	int count = 5;
	if (job->wanted.is_c2c || job->wanted.physical)
		words[count++] = "--phys-data";
	if (job->wanted.is_c2c)
		words[count++] = "--sample-cpu";
	if (job->wanted.data_pages)
		words[count++] = "--data-page-size";
	if (job->all_kernel)
		words[count++] = "--all-kernel";
	if (job->all_user)
		words[count++] = "--all-user";
	if (job->wanted.cpus) {
		words[count++] = "-C";
		words[count++] = job->wanted.cpus;
	}
	return cli_run_verb(cli, &command_record, words, argc, argv);
}

int memory_record(const struct cli *cli, const struct memory_record *wanted, int argc, char **argv)
{
	struct memory_record_job job = {.wanted = *wanted, .request = {true, true, LEAST_LATENCY}};
	struct text events = {0};
	struct tally_error err = {0};
	int at = 0;
	memory_record_set_type(&job);
	while (at < argc && !job.problem && take_option(&job, argv, argc, &at))
		at++;
	if (!job.problem && job.wanted.type != wanted->type)
		memory_record_set_type(&job);
	if (job.problem)
		return cli_failf(cli, "%s", job.problem);
	int code;
	if (memory_events_find(kernel_seam_linux(), &job.request, &events, &err) != TALLY_OK) {
		code = cli_fail(cli, &err);
	} else if (job.lists) {
		struct text out = {0};
		text_to_fd(&out, 1);
		text_printf(&out, "%s\n", events.data);
		code = cli_finish_text(cli, &out);
	} else {
		code = run_record(cli, &job, events.data, argc - at, argv + at);
	}
	text_deinit(&events);
	return code;
}
