#include "analysis/sample_pass.h"

bool sample_pass_is_sequential(struct perfdata_reader *reader)
{
	size_t count;
	const struct perfdata_event *events = perfdata_reader_events(reader, &count);
	for (size_t i = 0; i < count; i++)
		if (events[i].attr.sample_type & SAMPLE_READ)
			return true;
	return false;
}

bool sample_pass_init(
	struct sample_pass *pass, const struct sample_pass_input *input, size_t first_chunk, size_t chunk_count)
{
	*pass = (struct sample_pass){.input = *input, .first_chunk = first_chunk, .chunk_count = chunk_count};
	pass->threads.words = THREAD_KEY_WORDS;
	pass->keys.words = SAMPLE_KEY_WORDS;
	intern_init(&pass->payloads);
	if (!resolver_init(&pass->resolver, input->sideband->machine, input->run->swap))
		return false;
	pass->resolver.deferred = &input->sideband->deferred;
	pass->resolver.keep_raw = input->options->with_addresses;
	pass->resolver.max_stack = input->options->max_stack;
	if (input->unwind_files) {
		sample_unwinder_init(&pass->unwinder, input->unwind_files, perfdata_reader_features(input->reader),
			input->run->swap);
		pass->resolver.unwinder = &pass->unwinder;
	}
	return true;
}

void sample_pass_deinit(struct sample_pass *pass)
{
	resolver_deinit(&pass->resolver);
	sample_unwinder_deinit(&pass->unwinder);
	id_table_deinit(&pass->threads);
	id_table_deinit(&pass->keys);
	intern_deinit(&pass->payloads);
	vec_free(&pass->sums);
	group_reads_deinit(&pass->reads);
}

static uint64_t pack(uint32_t low, uint32_t high)
{
	return (uint64_t)high << 32 | low;
}

struct sample_key sample_pass_key(const struct sample_pass *pass, uint32_t id)
{
	const uint64_t *words = id_table_key(&pass->keys, id);
	return (struct sample_key){
		.event = (uint32_t)words[0],
		.thread = (uint32_t)(words[0] >> 32),
		.leaf = (uint32_t)words[1],
		.stack = (uint32_t)(words[1] >> 32),
		.cpu = (int32_t)(uint32_t)words[2],
		.payload = (uint32_t)(words[2] >> 32),
	};
}

struct thread_key sample_pass_thread(const struct sample_pass *pass, uint32_t id)
{
	const uint64_t *words = id_table_key(&pass->threads, id);
	return (struct thread_key){
		.pid = (int32_t)(uint32_t)words[0],
		.tid = (int32_t)(words[0] >> 32),
		.comm = (uint32_t)words[1],
		.last_comm = (uint32_t)(words[1] >> 32),
	};
}

static uint32_t thread_id(struct sample_pass *pass, int32_t pid, int32_t tid, uint64_t time_ns)
{
	const struct machine *machine = pass->input.sideband->machine;
	struct thread_key key = {
		.comm = machine_comm_at(machine, tid, time_ns), .last_comm = machine_comm_at(machine, tid, UINT64_MAX)};
	/* A thread without a name is shown by its number, so it stays apart. */
	if (pass->input.options->with_threads || key.comm == INTERN_NONE) {
		key.pid = pid;
		key.tid = tid;
	}
	uint64_t words[THREAD_KEY_WORDS] = {pack((uint32_t)key.pid, (uint32_t)key.tid), pack(key.comm, key.last_comm)};
	/* Most samples are of the thread of the sample before. */
	if (pass->last_thread < pass->threads.len &&
		memcmp(id_table_key(&pass->threads, pass->last_thread), words, sizeof(words)) == 0)
		return pass->last_thread;
	uint32_t id = id_table_add(&pass->threads, words, NULL);
	if (id == ID_TABLE_NONE) {
		pass->failed = true;
		return 0;
	}
	pass->last_thread = id;
	return id;
}

static void add_sample(struct sample_pass *pass, const struct sample_key *key, uint64_t period, uint64_t order)
{
	uint64_t words[SAMPLE_KEY_WORDS] = {
		pack(key->event, key->thread), pack(key->leaf, key->stack), pack((uint32_t)key->cpu, key->payload)};
	uint32_t id = id_table_add(&pass->keys, words, NULL);
	if (id == ID_TABLE_NONE) {
		pass->failed = true;
		return;
	}
	if (id == pass->sums.len) {
		struct sample_sum sum = {.count = 1, .period = period, .first_order = order};
		if (!vec_push(&pass->sums, sum))
			pass->failed = true;
		return;
	}
	struct sample_sum *sum = &pass->sums.items[id];
	sum->count++;
	sum->period += period;
	if (order < sum->first_order)
		sum->first_order = order;
}

static bool is_in_spans(const struct replay_options *options, uint64_t time_ns)
{
	return !options->spans || time_spans_have(options->spans, time_ns);
}

static void add_read_values(
	struct sample_pass *pass, struct sample_key key, const struct sample *sample, uint64_t order)
{
	uint64_t position = 0;
	struct group_read read;
	enum tally_status status;
	while ((status = group_reads_next(&pass->reads, pass->input.reader, sample, &position, &read)) == TALLY_OK) {
		if (!is_in_spans(pass->input.options, sample->time))
			continue;
		key.event = read.event->index;
		add_sample(pass, &key, read.grown, order);
	}
	pass->failed = pass->failed || status == TALLY_NOMEM;
}

static uint64_t weight_of(const struct perfdata_event *event, const struct sample *sample)
{
	if (event->attr.sample_type & SAMPLE_PERIOD)
		return sample->period;
	return event->attr.sample_period_or_freq;
}

static void visit_sample(struct sample_pass *pass, const struct record *record, size_t position)
{
	const struct perfdata_event *event = perfdata_reader_event_of(pass->input.reader, record);
	if (!event) {
		pass->unattributed++;
		return;
	}
	struct sample sample;
	if (sample_decode(&event->layout, record, &sample, NULL) != TALLY_OK) {
		pass->damaged++;
		return;
	}
	/* Group reads are running totals: those before the span count for what follows. */
	if (!(event->attr.sample_type & SAMPLE_READ) && !is_in_spans(pass->input.options, sample.time))
		return;
	uint64_t order = pass->input.sideband->clock_is_position ? position : sample.time;
	int32_t pid = event->attr.sample_type & SAMPLE_TID ? (int32_t)sample.pid : -1;
	int32_t tid = event->attr.sample_type & SAMPLE_TID ? (int32_t)sample.tid : -1;
	struct resolve_where where = resolver_where(&pass->resolver, pid, order);
	struct sample_key key = {.event = event->index};
	key.thread = thread_id(pass, pid, tid, order);
	key.leaf = resolver_frame(&pass->resolver, &where, record->misc & MISC_CPUMODE_MASK, sample.ip);
	key.stack = RESOLVE_NONE;
	if (pass->input.options->with_stacks && (event->attr.sample_type & (SAMPLE_CALLCHAIN | SAMPLE_STACK_USER))) {
		struct sample_array chain = resolver_sample_chain(&pass->resolver, &where, &event->layout, &sample);
		key.stack = resolver_chain(&pass->resolver, &where, &chain);
	}
	/* A copy of the stack that tells nothing: the chain is the frame that is known. */
	if (pass->input.options->with_stacks && key.stack == RESOLVE_NONE &&
		(event->attr.sample_type & SAMPLE_STACK_USER))
		key.stack = resolver_stack(&pass->resolver, RESOLVE_NONE, key.leaf);
	key.cpu = -1;
	if (pass->input.options->with_cpu && (event->attr.sample_type & SAMPLE_CPU))
		key.cpu = (int32_t)sample.cpu;
	key.payload = RESOLVE_NONE;
	if (pass->input.options->with_labels && event->attr.type == EVENT_TRACEPOINT &&
		!intern_add(&pass->payloads, sample.raw.data, sample.raw.len, &key.payload))
		pass->failed = true;
	if (event->attr.sample_type & SAMPLE_READ)
		add_read_values(pass, key, &sample, order);
	else
		add_sample(pass, &key, weight_of(event, &sample), order);
}

void sample_pass_run(struct sample_pass *pass)
{
	const struct sideband *sideband = pass->input.sideband;
	if (pass->chunk_count == 0)
		return;
	size_t last = pass->first_chunk + pass->chunk_count;
	size_t position = sideband->chunks.items[pass->first_chunk];
	size_t end = last < sideband->chunks.len ? sideband->chunks.items[last] : sideband->end;
	while (position < end && !pass->failed && !pass->resolver.failed) {
		struct record record;
		size_t start = position;
		if (record_run_next(pass->input.run, &position, &record, NULL) != TALLY_OK)
			break;
		if (record.type == RECORD_SAMPLE)
			visit_sample(pass, &record, start);
	}
	pass->failed = pass->failed || pass->resolver.failed;
}
