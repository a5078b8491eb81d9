/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "fleet/batch_pack.h"
#include "tasks/fleet/fleet_store.h"
#include "verbs/push/push_recording.h"

#define TRIES	     12 /* Maximum number of attempts while the server requests a later retry. */
#define USUAL_WAIT_S 5
#define WAIT_MAX_S   30
#define BATCH_END    ".batch"
#define PACKED_END   ".batch.zst"

struct push_settings {
	struct fleet_store_options to;
	struct symbol_options symbols;
	struct fleet_label labels[LABELS_MAX];
	size_t label_count;
	bool force, is_quiet;
};

struct push_job {
	const struct cli *cli;
	const struct push_settings *settings;
	struct fleet_store *store;
	uint64_t files, samples, duplicates, failures;
	/* Set if the store is unreachable or denies access, because sending other files would fail as well. */
	bool has_ended;
};

static const char *add_push_label(const struct option_use *use)
{
	struct push_settings *s = use->settings;
	struct tally_str value = str_from(use->value), name;
	if (!strchr(use->value, '=') || !str_next(&value, '=', &name))
		return "expects NAME=VALUE";
	if (!label_name_is_valid(name))
		return "expects a name of letters, digits and underscores that begins with no digit";
	if (!label_value_is_valid(value) || value.len == 0)
		return "expects a value of up to 1,024 bytes of UTF-8 without control characters";
	for (size_t i = 0; i < s->label_count; i++)
		if (str_equal(s->labels[i].name, name))
			return "gives the same name twice";
	if (s->label_count == LABELS_MAX)
		return "is given too often";
	s->labels[s->label_count++] = (struct fleet_label){name, value};
	return NULL;
}

#define ROW(member) .offset = offsetof(struct push_settings, member)

static const struct option push_rows[] = {
	{"to", 0, OPTION_STRING, "url", ROW(to.url),
		.help = "where to send: a server (http://host:7779), a database (sqlite:PATH), a collector of "
			"OpenTelemetry (otlp+http://host:4318), Pyroscope (pyroscope+http://host:4040) or Parca "
			"(parca+http://host:7070) (default: http://127.0.0.1:7779)"},
	{"label", 'l', OPTION_CALL, "name=value", .call = add_push_label,
		.help = "label of all samples of recordings, such as release=1.4; may be given several times"},
	FLEET_STORE_OPTIONS(struct push_settings, to),
	{"force", 'f', OPTION_FLAG, ROW(force), .help = "push also recordings of other users"},
	{"quiet", 'q', OPTION_FLAG, ROW(is_quiet), .help = "do not say what was pushed"},
	SYMBOL_OPTIONS(struct push_settings, symbols),
	LINE_OPTIONS(struct push_settings, symbols),
};
#undef ROW
static const struct option_table push_table = {push_rows, ARRAY_LEN(push_rows), false};

static void fail_file(struct push_job *job, const char *path, const char *sentence)
{
	job->failures++;
	cli_failf(job->cli, "%s: %s", path, sentence);
}

static void tell_result(struct push_job *job, const char *path, const struct batch_receipt *receipt)
{
	if (receipt->outcome == BATCH_STORED && receipt->sentence[0])
		cli_sayf("%s: warning: %s: %s\n", job->cli->program, path, receipt->sentence);
	if (job->settings->is_quiet)
		return;
	if (receipt->outcome == BATCH_DUPLICATE)
		cli_sayf("[ %s push: %s is in %s already ]\n", job->cli->program, path, fleet_store_name(job->store));
	else
		cli_sayf("[ %s push: %" PRIu64 " samples of %s are in %s ]\n", job->cli->program, receipt->samples,
			path, fleet_store_name(job->store));
}

static void take_receipt(struct push_job *job, const char *path, const struct batch_receipt *receipt)
{
	switch (receipt->outcome) {
	case BATCH_STORED:
	case BATCH_DUPLICATE:
		job->files++;
		job->samples += receipt->samples;
		job->duplicates += receipt->outcome == BATCH_DUPLICATE;
		tell_result(job, path, receipt);
		break;
	case BATCH_LACKS_SYMBOLS:
		fail_file(job, path,
			"the batch leaves out symbols that another store had, and this one lacks them: only its agent "
			"can send it with all symbols");
		break;
	case BATCH_REFUSED:
		fail_file(job, path, receipt->sentence);
		break;
	case BATCH_DENIED:
	case BATCH_LATER:
		fail_file(job, path, receipt->sentence);
		job->has_ended = true;
		break;
	}
}

/* Sends a batch. If the server is busy, its response contains the time to retry. */
static void send_bytes(struct push_job *job, const char *path, struct tally_bytes bytes)
{
	struct tally_error err;
	struct batch_receipt receipt;
	for (unsigned try = 1;; try++) {
		if (fleet_store_send(job->store, bytes, &receipt, &err) != TALLY_OK) {
			fail_file(job, path, err.text);
			job->has_ended = err.status == TALLY_IO || err.status == TALLY_UNSUPPORTED;
			return;
		}
		bool is_busy = receipt.retry_after_s > 0 || batch_status_is_busy(receipt.status);
		if (receipt.outcome != BATCH_LATER || !is_busy || try == TRIES)
			break;
		unsigned seconds = receipt.retry_after_s ? receipt.retry_after_s : USUAL_WAIT_S;
		nanosleep(&(struct timespec){MIN(seconds, WAIT_MAX_S), 0}, NULL);
	}
	take_receipt(job, path, &receipt);
}

static void push_recording(struct push_job *job, const char *path)
{
	const struct push_settings *s = job->settings;
	struct tally_error err;
	struct fleet_batch *batch;
	struct text plain = {0}, packed = {0};
	const struct push_request request = {.path = path,
		.force = s->force,
		.symbols = &s->symbols,
		.labels = s->labels,
		.label_count = s->label_count};
	if (push_recording_batch(job->cli, &request, &batch, &err) != TALLY_OK) {
		fail_file(job, path, err.text);
		return;
	}
	enum tally_status status = fleet_batch_write(batch, NULL, &plain, &err);
	fleet_batch_destroy(batch);
	struct tally_bytes bytes = {(const uint8_t *)plain.data, plain.len};
	if (status == TALLY_OK && plain.len > FLEET_BATCH_BYTES)
		status = error_set(&err, TALLY_LIMIT,
			"its samples take %zu bytes as a batch, and stores take %u: record for a shorter time",
			plain.len, FLEET_BATCH_BYTES);
	if (status == TALLY_OK && fleet_batch_can_compress())
		status = fleet_batch_compress(bytes, &packed, &err);
	if (status == TALLY_OK)
		send_bytes(
			job, path, packed.len ? (struct tally_bytes){(const uint8_t *)packed.data, packed.len} : bytes);
	else
		fail_file(job, path, err.text);
	text_deinit(&plain);
	text_deinit(&packed);
}

static void push_batch(struct push_job *job, const char *path)
{
	struct tally_error err;
	struct file_map map;
	if (job->settings->label_count > 0) {
		fail_file(job, path, "it is a batch, which has its labels: --label is for recordings");
		return;
	}
	if (file_map_open(path, &map, &err) != TALLY_OK) {
		fail_file(job, path, err.text);
		return;
	}
	send_bytes(job, path, map.bytes);
	file_map_close(&map);
}

static bool is_batch_name(const char *name)
{
	return str_ends_with(str_from(name), STR(BATCH_END)) || str_ends_with(str_from(name), STR(PACKED_END));
}

static int is_batch_entry(const struct dirent *entry)
{
	return is_batch_name(entry->d_name);
}

/* Sends the batches that an agent wrote to a folder, the oldest first. */
static void push_folder(struct push_job *job, const char *path)
{
	struct dirent **entries;
	char file[PATH_MAX];
	int count = scandir(path, &entries, is_batch_entry, alphasort);
	if (count <= 0)
		fail_file(job, path,
			"there are no batches in this folder (names that end in " PACKED_END " or " BATCH_END
			"), and it is no recording");
	for (int i = 0; i < count; i++) {
		snprintf(file, sizeof(file), "%s/%s", path, entries[i]->d_name);
		if (!job->has_ended)
			push_batch(job, file);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
}

static void push_path(struct push_job *job, const char *path)
{
	char data[PATH_MAX];
	struct stat file;
	snprintf(data, sizeof(data), "%s/data", path);
	bool is_folder = stat(path, &file) == 0 && S_ISDIR(file.st_mode);
	if (is_folder && !file_exists(data))
		push_folder(job, path);
	else if (!is_folder && is_batch_name(path))
		push_batch(job, path);
	else
		push_recording(job, path);
}

static int cmd_push_run(const struct cli *cli, const struct command *command, int argc, char **argv)
{
	struct push_settings s = {.to.may_write = true};
	struct push_job job = {.cli = cli, .settings = &s};
	struct tally_error err;
	int rest;
	int code = cli_parse_options(cli, command, argc, argv, &s, &rest);
	if (code != CLI_GO_ON)
		return code;
	code = symbol_options_check(cli, &s.symbols);
	if (code != 0)
		return code;
	if (fleet_store_open(&s.to, &job.store, &err) != TALLY_OK)
		return cli_fail(cli, &err);
	fleet_store_warn(cli, job.store);
	if (rest == argc)
		push_path(&job, recording_name(NULL));
	for (int i = rest; i < argc && !job.has_ended; i++)
		push_path(&job, argv[i]);
	if (!s.is_quiet && job.files > 1)
		cli_sayf("[ %s push: %" PRIu64 " batches with %" PRIu64 " samples; %" PRIu64 " were there already ]\n",
			cli->program, job.files, job.samples, job.duplicates);
	fleet_store_close(job.store);
	return job.failures ? EXIT_FAILED : 0;
}

static const char *const push_usages[] = {"[<options>] [<file>|<folder>...]", NULL};
static const char *const push_examples[] = {
	"put a recording of a test run into the store of a server",
	"tally push perf.data --to https://profiles.example.com --label release=1.4",
	"send what an agent wrote into a folder",
	"tally push /var/spool/profiles",
	NULL,
};

const struct command command_push = {
	.name = "push",
	.summary = "Put recordings into a store of profiles",
	.usages = push_usages,
	.options = &push_table,
	.description =
		"Sends recordings to 'tally serve', or writes them into its database: their samples added up, with the "
		"functions, lines and inlined calls that this machine finds, and with labels: host, kernel, arch and "
		"cpu_model from the recording, those of cgroups (record --all-cgroups), and those that you add. A "
		"folder "
		"stands for the batches that an agent wrote into it.\n\nA recording that is pushed again with the same "
		"labels "
		"counts once, except in servers of other kinds. docs/fleet.md describes stores and "
		"labels.",
	.examples = push_examples,
	.run = cmd_push_run,
};
