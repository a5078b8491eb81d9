/* SPDX-License-Identifier: Apache-2.0 */
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "tasks/session/symbol_options.h"
#include "verbs/doctor/doctor_report.h"

#define STATUS_CLOSED 1

struct doctor_settings {
	bool is_json, is_quiet, is_verbose;
	const char *needed; /* The argument of --require. */
	enum doctor_fix fix;
	bool wants_fix;
};

static const char *const fix_names[] = {[DOCTOR_FIX_SYSCTL] = "sysctl",
	[DOCTOR_FIX_SETCAP] = "setcap",
	[DOCTOR_FIX_SYSTEMD] = "systemd",
	[DOCTOR_FIX_DOCKER] = "docker",
	[DOCTOR_FIX_PODMAN] = "podman",
	[DOCTOR_FIX_KUBERNETES] = "kubernetes"};

static const char *set_fix(const struct option_use *use)
{
	struct doctor_settings *s = use->settings;
	s->wants_fix = true;
	for (size_t i = DOCTOR_FIX_SYSCTL; use->value && i < ARRAY_LEN(fix_names); i++)
		if (strcmp(use->value, fix_names[i]) == 0)
			s->fix = (enum doctor_fix)i;
	return !use->value || s->fix != DOCTOR_FIX_NONE ? NULL
							: "takes sysctl, setcap, systemd, docker, podman or kubernetes";
}

#define ROW(member) .offset = offsetof(struct doctor_settings, member)
static const struct option doctor_rows[] = {
	{"json", 0, OPTION_FLAG, ROW(is_json), .help = "JSON (docs/schema/doctor.json)"},
	{"quiet", 'q', OPTION_FLAG, ROW(is_quiet), .help = "print nothing: the exit status is the answer"},
	{"verbose", 'v', OPTION_FLAG, ROW(is_verbose),
		.help = "also show settings that are not in the way, and all files"},
	{"require", 0, OPTION_STRING, "name[,name...]", ROW(needed),
		.help = "exit with 1 unless events of these kinds are allowed: software, hardware, tracepoint, bpf, "
			"... (the names in the table)"},
	{"fix", 0, OPTION_CALL, "kind", .argument_is_optional = true, .call = set_fix,
		.help = "print what opens the closed gates, and change nothing: sysctl, setcap, systemd, docker, "
			"podman or kubernetes (default: by where this runs)"},
};
#undef ROW
static const struct option_table doctor_table = {doctor_rows, ARRAY_LEN(doctor_rows), false};

struct doctor_job {
	const struct cli *cli;
	const struct doctor_settings *settings;
	struct host_info host;
	struct machine_checks checks;
	struct machine_gates gates;
	struct target_checks target;
	bool has_target;
};

static enum tally_status doctor_look_at_target(struct doctor_job *job, char **words, int count, struct tally_error *err)
{
	const struct kernel_seam *kernel = kernel_seam_linux();
	const struct binary_store_options options = symbol_options_of(job->cli, &(struct symbol_options){0}, NULL);
	uint64_t pid;
	if (count == 0)
		return TALLY_OK;
	bool is_process = count == 1 && str_to_u64(str_from(words[0]), 10, &pid) && pid > 0 && pid <= INT32_MAX;
	enum tally_status status = is_process
					   ? target_checks_of_process(kernel, &options, (int32_t)pid, &job->target, err)
					   : target_checks_of_command(kernel, &options, words[0], &job->target, err);
	job->has_target = status == TALLY_OK;
	return status;
}

/* Returns 0, STATUS_CLOSED after a message, or EXIT_USAGE if there is no such kind of event. */
static int doctor_check_needed(const struct doctor_job *job, const struct command *command)
{
	struct tally_str rest = str_from(job->settings->needed), name;
	int code = 0;
	while (str_next_item(&rest, &name)) {
		const struct machine_check *found = NULL;
		for (int id = 0; id < CHECK_COUNT && !found; id++)
			if (str_equal(str_from(job->checks.items[id].name), name))
				found = &job->checks.items[id];
		if (!found)
			return cli_usagef(job->cli, command, "require", "there is no kind of event '%.*s'",
				(int)name.len, name.data);
		if (found->is_allowed)
			continue;
		code = STATUS_CLOSED;
		if (!job->settings->is_quiet)
			cli_sayf("%s: %s is not allowed: %s\n", job->cli->program, found->name, found->reason);
	}
	return code;
}

static int doctor_answer(const struct doctor_job *job, const struct command *command)
{
	const struct doctor_settings *s = job->settings;
	char number[24];
	struct text out = {0};
	struct passwd *entry = getpwuid(geteuid());
	snprintf(number, sizeof(number), "%u", (unsigned)geteuid());
	struct doctor_report report = {.host = &job->host,
		.user = entry ? entry->pw_name : number,
		.checks = &job->checks,
		.gates = &job->gates,
		.target = job->has_target ? &job->target : NULL};
	report.can_measure = doctor_plan_can_measure(report.checks, report.target);
	doctor_plan_make(report.checks, report.plans);
	if (s->wants_fix)
		doctor_fix(&report, s->fix, &out);
	else if (s->is_json)
		doctor_json(&report, &out);
	else if (!s->is_quiet)
		doctor_text(&report, s->is_verbose, &out);
	int code = cli_finish_text(job->cli, &out);
	if (code == 0 && s->needed)
		code = doctor_check_needed(job, command);
	return code ? code : report.can_measure ? 0 : STATUS_CLOSED;
}

static int cmd_doctor_run(const struct cli *cli, const struct command *command, int argc, char **argv)
{
	struct doctor_settings settings = {0};
	struct doctor_job job = {.cli = cli, .settings = &settings};
	const struct kernel_seam *kernel = kernel_seam_linux();
	struct tally_error err;
	int rest;
	int code = cli_parse_options(cli, command, argc, argv, &settings, &rest);
	if (code != CLI_GO_ON)
		return code;
	if (settings.needed && !*settings.needed)
		return cli_usagef(
			cli, command, "require", "--require takes names of kinds of events, such as software,hardware");
	if (settings.is_json && settings.wants_fix)
		return cli_usagef(cli, command, NULL, "--json and --fix cannot be used together");
	if (host_info_read(kernel, &job.host, &err) != TALLY_OK)
		return cli_fail(cli, &err);
	enum tally_status status = machine_checks_make(kernel, &job.checks, &err);
	if (status == TALLY_OK) {
		status = machine_gates_make(kernel, &job.checks, &job.gates, &err);
		if (status == TALLY_OK) {
			status = doctor_look_at_target(&job, argv + rest, argc - rest, &err);
			code = status == TALLY_OK ? doctor_answer(&job, command) : cli_fail(cli, &err);
			if (job.has_target)
				target_checks_deinit(&job.target);
			machine_gates_deinit(&job.gates);
		}
		machine_checks_deinit(&job.checks);
	}
	host_info_deinit(&job.host);
	return code == CLI_GO_ON ? cli_fail(cli, &err) : code;
}

static const char *const doctor_usages[] = {
	"[<options>]", "[<options>] <pid>", "[<options>] [--] <command> [<options>]", NULL};
static const char *const doctor_examples[] = {"what works on this machine, and what is in the way", "tally doctor",
	"which stacks and names a recording of a process will have", "tally doctor $(pidof redis-server)",
	"fail a CI job early where no hardware events are", "tally doctor -q --require hardware", "the lines for a pod",
	"tally doctor --fix=kubernetes", NULL};

const struct command command_doctor = {
	.name = "doctor",
	.summary = "Say what can be measured here, what is in the way, and what opens it",
	.usages = doctor_usages,
	.options = &doctor_table,
	.description = "Opens an event of each kind and says which are allowed. For each setting that is in the way - "
		       "sysctls, "
		       "capabilities, seccomp filters, namespaces, limits - it prints what it stops, the least that "
		       "opens it, and what "
		       "that exposes. For a process or a program, it says which of its files have names of functions, "
		       "lines, unwind tables "
		       "and frame pointers, and which package has what is missing. Nothing is changed, and the command "
		       "is not run.\n\n"
		       "Exit status: 0 if the target, or a program of this user, can be measured; 1 if not, or if an "
		       "event that --require "
		       "names is not allowed.",
	.examples = doctor_examples,
	.run = cmd_doctor_run,
};
