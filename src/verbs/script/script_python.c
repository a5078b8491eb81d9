/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/script/script_python.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abi/data_src.h"
#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "base/interrupts.h"
#include "base/json.h"
#include "cli/cli.h"
#include "kernel/system/spawn.h"
#include "tasks/session/data_source.h"
#include "tasks/session/recording_input.h"
#include "tasks/session/stack_notes.h"
#include "tasks/session/symbol_notes.h"
#include "verbs/script/script_gen.h"
#include "verbs/script/script_json.h"
#include "verbs/script_driver.h"

#define EVENTS_FD 3 /* The child's file descriptor for the samples. */

struct feed {
	struct data_source *source;
	struct json json;
	struct text out;
	bool *is_described; /* Indexed by event; set once the event's description has been sent. */
	/* Indexed by event; its number in the order in which the child received the descriptions. */
	uint32_t *sent_index;
	uint32_t sent;
};

static void script_python_put_hex(struct json *j, const char *key, struct tally_bytes bytes)
{
	struct text t = {0};
	for (size_t i = 0; i < bytes.len; i++)
		text_hex(&t, bytes.data[i], 2);
	j->out->failed |= t.failed;
	json_string(j, key, (struct tally_str){t.data ? t.data : "", t.len});
	text_deinit(&t);
}

/* Sends the properties of an event once, before its first sample. */
static void describe_event(struct feed *feed, const struct perfdata_event *event)
{
	struct json *j = &feed->json;
	if (feed->is_described[event->index])
		return;
	feed->is_described[event->index] = true;
	feed->sent_index[event->index] = feed->sent++;
	json_object(j, NULL);
	json_string(j, "name", event->name);
	script_python_put_hex(j, "attr", event->stored_attr);
	if (event->attr.type == EVENT_TRACEPOINT) {
		struct text handler = {0};
		script_gen_handler(&handler, event->name);
		j->out->failed |= handler.failed;
		json_string(j, "handler", (struct tally_str){handler.data ? handler.data : "", handler.len});
		text_deinit(&handler);
	}
	json_object_end(j);
}

static void script_python_put_place(struct json *j, const struct frame_name *name)
{
	if (name->symbol) {
		json_object(j, "sym");
		json_u64(j, "start", name->link_address - name->symbol_offset);
		json_u64(j, "end", name->link_address - name->symbol_offset + name->symbol_size);
		json_u64(j, "binding", name->symbol_is_local ? 0 : 1);
		json_string(j, "name", str_from(name->symbol));
		json_object_end(j);
		json_u64(j, "sym_off", name->symbol_offset);
	}
	if (!str_equal(name->path, STR("[unknown]")))
		json_string(j, "dso", name->path);
}

static bool script_python_put_chain(struct feed *feed, const struct data_sample *s)
{
	struct json *j = &feed->json;
	struct resolver *resolver = &feed->source->pass.resolver;
	struct resolve_where where = resolver_where(resolver, (int32_t)s->sample.pid, s->clock);
	json_array(j, "callchain");
	if (s->sample.present & SAMPLE_CALLCHAIN) {
		struct sample_array whole = resolver_sample_chain(resolver, &where, &s->event->layout, &s->sample);
		struct resolved_chain chain = resolver_chain_frames(resolver, &where, &whole);
		for (size_t i = 0; i < chain.count && !resolver->failed; i++) {
			const struct frame_name *name = frame_names_get(&feed->source->names, chain.frames[i], NULL);
			if (!name)
				return false;
			json_object(j, NULL);
			json_u64(j, "ip", chain.ips[i]);
			script_python_put_place(j, name);
			json_object_end(j);
		}
	}
	json_array_end(j);
	return !resolver->failed;
}

static void script_python_put_build_id(struct feed *feed, uint32_t frame)
{
	uint32_t binary = resolved_frame_get(&feed->source->pass.resolver.frames, frame).binary;
	if (binary == RESOLVE_NONE)
		return;
	const struct machine_binary *from = machine_binary_get(feed->source->pass.sideband.machine, binary);
	if (from->build_id.size)
		script_python_put_hex(
			&feed->json, "dso_bid", (struct tally_bytes){from->build_id.bytes, from->build_id.size});
}

static bool put_leaf(struct feed *feed, const struct data_sample *s)
{
	struct json *j = &feed->json;
	struct resolver *resolver = &feed->source->pass.resolver;
	struct resolve_where where = resolver_where(resolver, (int32_t)s->sample.pid, s->clock);
	uint32_t frame = resolver_frame(resolver, &where, s->record.misc & MISC_CPUMODE_MASK, s->sample.ip);
	const struct frame_name *name = resolver->failed ? NULL : frame_names_get(&feed->source->names, frame, NULL);
	if (!name)
		return false;
	if (!str_equal(name->path, STR("[unknown]")))
		json_string(j, "dso", name->path);
	script_python_put_build_id(feed, frame);
	if (name->symbol) {
		json_string(j, "symbol", str_from(name->symbol));
		json_u64(j, "symoff", name->symbol_offset);
	}
	return true;
}

static void put_fields(struct feed *feed, const struct data_sample *s)
{
	struct json *j = &feed->json;
	if (s->event->attr.type != EVENT_TRACEPOINT || !feed->source->tracepoints)
		return;
	json_object(j, "fields");
	script_json_fields(j, feed->source->tracepoints, s->sample.raw);
	json_object_end(j);
}

static bool script_python_put_sample(struct feed *feed, const struct data_sample *s)
{
	struct json *j = &feed->json;
	const struct sample *sample = &s->sample;
	char room[16];
	struct text words = {0};
	describe_event(feed, s->event);
	json_object(j, NULL);
	json_u64(j, "event", feed->sent_index[s->event->index]);
	json_object(j, "sample");
	json_i64(j, "pid", (int32_t)sample->pid);
	json_i64(j, "tid", (int32_t)sample->tid);
	json_u64(j, "cpu", sample->present & SAMPLE_CPU ? sample->cpu : UINT32_MAX);
	json_u64(j, "ip", sample->ip);
	json_u64(j, "time", sample->time);
	json_u64(j, "period", sample->period);
	json_u64(j, "phys_addr", sample->phys_addr);
	json_u64(j, "addr", sample->addr);
	json_u64(j, "weight", sample->weight);
	json_u64(j, "transaction", sample->transaction);
	data_src_print(&words, sample->data_src);
	json_u64(j, "datasrc", sample->data_src);
	j->out->failed |= words.failed;
	json_string(j, "datasrc_decode", (struct tally_str){words.data ? words.data : "", words.len});
	text_deinit(&words);
	json_u64(j, "cpumode", s->record.misc & MISC_CPUMODE_MASK);
	json_object_end(j);
	json_string(j, "comm", data_source_comm(feed->source, s, room));
	if (sample->raw.len)
		script_python_put_hex(j, "raw", sample->raw);
	put_fields(feed, s);
	bool ok = put_leaf(feed, s) && script_python_put_chain(feed, s);
	json_object_end(j);
	return ok;
}

/* Returns TALLY_END if the script has closed its end of the pipe. */
static enum tally_status script_python_feed_all(struct feed *feed, struct tally_error *err)
{
	struct data_sample sample;
	enum tally_status status;
	while ((status = data_source_next(feed->source, &sample, err)) == TALLY_OK) {
		if (!script_python_put_sample(feed, &sample) || feed->out.failed)
			return feed->out.write_errno == EPIPE ? TALLY_END : error_nomem(err);
		if (!text_line_end(&feed->out))
			return TALLY_END;
	}
	return status;
}

static void exec_python(int events, const char *script, char *const *arguments)
{
	size_t count = 0;
	while (arguments[count])
		count++;
	char **argv = calloc(count + 5, sizeof(*argv));
	if (!argv || (events != EVENTS_FD && dup2(events, EVENTS_FD) < 0) || fcntl(EVENTS_FD, F_SETFD, 0) < 0)
		_exit(127);
	char number[4];
	snprintf(number, sizeof(number), "%d", EVENTS_FD);
	setenv("TALLY_SCRIPT_FD", number, 1);
	size_t n = 0;
	argv[n++] = "python3";
	argv[n++] = "-c";
	argv[n++] = (char *)(uintptr_t)script_driver;
	argv[n++] = (char *)(uintptr_t)script;
	memcpy(argv + n, arguments, count * sizeof(*argv));
	execvp(argv[0], argv);
	cli_sayf("python3: %s: 'script -s' runs scripts with it\n", strerror(errno));
	_exit(127);
}

static int script_python_run_child(const struct cli *cli, struct feed *feed, const char *script, char *const *arguments)
{
	int ends[2];
	struct tally_error err;
	if (pipe2(ends, O_CLOEXEC) != 0)
		return cli_failf(cli, "pipe: %s", strerror(errno));
	fflush(NULL);
	pid_t pid = fork();
	if (pid == 0)
		exec_python(ends[0], script, arguments);
	close(ends[0]);
	if (pid < 0) {
		close(ends[1]);
		return cli_failf(cli, "fork: %s", strerror(errno));
	}
	void (*old)(int) = signal(SIGPIPE, SIG_IGN); /* The script may exit before all samples have been sent. */
	text_to_fd(&feed->out, ends[1]);
	enum tally_status status = script_python_feed_all(feed, &err);
	(void)text_flush(&feed->out);
	close(ends[1]);
	signal(SIGPIPE, old);
	int child;
	if (wait_for_process(pid, &child, 0) < 0)
		return cli_failf(cli, "cannot wait for the script: %s", strerror(errno));
	int code = spawn_exit_code(child);
	if (status != TALLY_OK && status != TALLY_END && code == 0)
		code = cli_fail(cli, &err);
	return code;
}

int script_python_run(const struct cli *cli, const struct script_settings *settings, char *const *arguments)
{
	const char *script = settings->script;
	struct data_source source;
	struct tally_error err;
	const char *colon = strchr(script, ':');
	if (colon) {
		struct tally_str language = {script, (size_t)(colon - script)};
		if (!script_gen_is_python(language))
			return cli_failf(cli, "%.*s: only Python scripts are run", (int)language.len, language.data);
		script = colon + 1;
	} else if (str_ends_with(str_from(script), STR(".pl"))) {
		return cli_failf(cli, "%s: only Python scripts are run", script);
	}
	if (access(script, R_OK) != 0)
		return cli_failf(cli, "%s: %s", script, strerror(errno));
	const struct data_input input = {.file = settings->input,
		.traces = settings->traces,
		.samples = settings->filter.samples,
		.symbols = settings->symbols};
	if (data_source_open(cli, &input, &source, &err) != TALLY_OK)
		return cli_fail(cli, &err);
	size_t count;
	(void)perfdata_reader_events(source.reader, &count);
	struct feed feed = {.source = &source,
		.is_described = calloc(count + 1, sizeof(bool)),
		.sent_index = calloc(count + 1, sizeof(uint32_t))};
	feed.json = (struct json){.out = &feed.out, .is_compact = true};
	int code = feed.is_described && feed.sent_index ? script_python_run_child(cli, &feed, script, arguments)
							: cli_failf(cli, "out of memory");
	cli_print_health(cli, &source.pass.sideband.health);
	stack_notes_print(cli, &source.pass.unwinder.ends);
	symbol_notes_print(cli, source.store, &source.names, settings->verbose > 0);
	text_deinit(&feed.out);
	free(feed.is_described);
	free(feed.sent_index);
	data_source_close(&source);
	return code;
}
