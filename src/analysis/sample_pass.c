/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/sample_pass.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/branch_history.h"

bool sample_pass_is_sequential(struct perfdata_reader *reader)
{
	return perfdata_reader_has_samples_with(reader, SAMPLE_READ);
}

struct sample_pass *sample_pass_create(const struct sample_pass_input *input)
{
	struct sample_pass *pass = calloc(1, sizeof(*pass));
	if (!pass)
		return NULL;
	pass->input = *input;
	spool_init(&pass->rows);
	pass->threads.words = THREAD_KEY_WORDS;
	const struct replay_options *o = input->options;
	pass->keys.words = o->with_cpu || o->facets ? SAMPLE_KEY_WORDS : SAMPLE_KEY_WORDS - 1;
	sample_facets_init(&pass->facets, input->options, perfdata_reader_features(input->reader), &pass->resolver);
	if (!resolver_init(&pass->resolver, input->sideband->machine, input->run->swap)) {
		sample_pass_destroy(pass);
		return NULL;
	}
	if (!o->with_addresses && !o->facets && !o->by_branch && o->history == HISTORY_NONE)
		pass->resolver.frames.words = RESOLVED_FRAME_WORDS - 1;
	pass->waits = (struct wait_chains){.index = input->wait_index,
		.reader = input->reader,
		.run = input->run,
		.resolver = &pass->resolver,
		.follows = o->wakers == WAKERS_FOLLOWED};
	pass->facets.parallelism = input->parallelism;
	pass->facets.namespaces = input->namespaces;
	pass->resolver.deferred = &input->sideband->deferred;
	pass->resolver.keep_raw = input->options->with_addresses;
	pass->resolver.max_stack = input->options->max_stack;
	pass->stitcher.register_count = input->options->stitched_registers;
	if (pass->stitcher.register_count)
		pass->resolver.stitcher = &pass->stitcher;
	if (input->unwind_files) {
		sample_unwinder_init(&pass->unwinder, input->unwind_files, perfdata_reader_features(input->reader),
			input->run->swap);
		pass->resolver.unwinder = &pass->unwinder;
	}
	return pass;
}

void sample_pass_destroy(struct sample_pass *pass)
{
	if (!pass)
		return;
	resolver_deinit(&pass->resolver);
	sample_unwinder_deinit(&pass->unwinder);
	lbr_stitcher_deinit(&pass->stitcher);
	id_table_deinit(&pass->threads);
	id_table_deinit(&pass->keys);
	vec_free(&pass->first_keys);
	vec_free(&pass->recorded);
	vec_free(&pass->wait_stacks);
	sample_facets_deinit(&pass->facets);
	wait_chains_deinit(&pass->waits);
	vec_free(&pass->branched);
	vec_free(&pass->sums);
	free(pass->symbols);
	spool_deinit(&pass->rows);
	group_reads_deinit(&pass->reads);
	free(pass);
}

static uint64_t sample_pass_pack(uint32_t low, uint32_t high)
{
	return (uint64_t)high << 32 | low;
}

struct sample_key sample_pass_key(const struct sample_pass *pass, uint32_t id)
{
	const uint64_t *words = id_table_key(&pass->keys, id);
	struct sample_key key = {.event = (uint32_t)words[0],
		.thread = (uint32_t)(words[0] >> 32),
		.leaf = (uint32_t)words[1],
		.stack = (uint32_t)(words[1] >> 32),
		.cpu = -1};
	if (pass->keys.words == SAMPLE_KEY_WORDS) {
		key.cpu = (int32_t)(uint32_t)words[2];
		key.facets = (uint32_t)(words[2] >> 32);
	}
	return key;
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

uint32_t sample_pass_add_thread(const struct sample_pass_input *input, const struct sample_thread *thread,
	struct id_table *threads, struct valid_span *span)
{
	const struct machine *machine = input->sideband->machine;
	struct thread_key key = {.comm = machine_comm_during(machine, thread->tid, thread->time_ns, span),
		.last_comm = machine_comm_at(machine, thread->tid, UINT64_MAX)};
	/* A thread without a name is shown by its TID, so such threads are not merged. */
	if (input->options->with_threads || key.comm == INTERN_NONE) {
		/* Old kernels may attribute an idle thread to the process that has just left the CPU. */
		key.pid = thread->tid ? thread->pid : 0;
		key.tid = thread->tid;
	}
	uint64_t words[THREAD_KEY_WORDS] = {
		sample_pass_pack((uint32_t)key.pid, (uint32_t)key.tid), sample_pass_pack(key.comm, key.last_comm)};
	return id_table_add(threads, words, NULL);
}

static uint32_t thread_id(struct sample_pass *pass, int32_t pid, int32_t tid, uint64_t time_ns)
{
	struct pass_thread *recent = &pass->recent_threads[(uint32_t)tid % PASS_THREADS];
	if (recent->tid == tid && recent->pid == pid && recent->span.from_ns <= time_ns && time_ns < recent->span.to_ns)
		return recent->id;
	*recent = (struct pass_thread){.pid = pid, .tid = tid, .span = {0, UINT64_MAX}};
	const struct sample_thread thread = {pid, tid, time_ns};
	recent->id = sample_pass_add_thread(&pass->input, &thread, &pass->threads, &recent->span);
	pass->failed = pass->failed || recent->id == ID_TABLE_NONE;
	return recent->id;
}

void sample_key_pack(const struct sample_key *key, uint64_t words[SAMPLE_KEY_WORDS])
{
	words[0] = sample_pass_pack(key->event, key->thread);
	words[1] = sample_pass_pack(key->leaf, key->stack);
	words[2] = sample_pass_pack((uint32_t)key->cpu, key->facets);
}

/* Returns 0 if the stack has no key yet, otherwise the key's ID + 1. */
static uint32_t first_key_of(const struct sample_pass *pass, const uint64_t words[SAMPLE_KEY_WORDS])
{
	uint32_t stack = (uint32_t)(words[1] >> 32);
	return stack < pass->first_keys.len ? pass->first_keys.items[stack] : 0;
}

static bool set_first_key(struct sample_pass *pass, uint32_t stack, uint32_t id)
{
	while (pass->first_keys.len <= stack)
		if (!vec_push(&pass->first_keys, 0))
			return false;
	pass->first_keys.items[stack] = id + 1;
	return true;
}

/* Returns the ID of a sample's key, which is added if it is new. Most stacks have a single key, which is found by its
 * stack; only further keys are found by their hash. */
static uint32_t key_id(struct sample_pass *pass, const uint64_t words[SAMPLE_KEY_WORDS], uint32_t hash)
{
	uint32_t stack = (uint32_t)(words[1] >> 32), first = first_key_of(pass, words);
	if (stack == RESOLVE_NONE)
		return id_table_add_hashed(&pass->keys, words, hash, NULL);
	if (first && !memcmp(id_table_key(&pass->keys, first - 1), words, pass->keys.words * sizeof(*words)))
		return first - 1;
	if (first)
		return id_table_add_hashed(&pass->keys, words, hash, NULL);
	uint32_t id = id_table_append(&pass->keys, words);
	return id != ID_TABLE_NONE && set_first_key(pass, stack, id) ? id : ID_TABLE_NONE;
}

static void sample_pass_add_sample(struct sample_pass *pass, const uint64_t words[SAMPLE_KEY_WORDS], uint32_t hash,
	uint64_t period, const struct batch_sample *b)
{
	uint64_t order = b->order;
	uint32_t id = key_id(pass, words, hash);
	if (id == ID_TABLE_NONE) {
		pass->failed = true;
		return;
	}
	if (pass->input.options->with_rows) {
		const struct pass_row row = {order, period, id};
		if (!spool_append(&pass->rows, &row, sizeof(row)))
			pass->failed = true;
	}
	if (id == pass->sums.len) {
		struct sample_sum sum = {
			.count = 1, .period = period, .first_order = order, .first_tid = (int32_t)b->sample.tid};
		if (!vec_push(&pass->sums, sum))
			pass->failed = true;
		return;
	}
	struct sample_sum *sum = &pass->sums.items[id];
	sum->count++;
	sum->period += period;
	if (order < sum->first_order) {
		sum->first_order = order;
		sum->first_tid = (int32_t)b->sample.tid;
	}
}

static bool sample_pass_is_wanted(const struct sample_pass_input *input, const struct batch_sample *b)
{
	if (input->options->spans && !time_spans_have(input->options->spans, b->sample.time))
		return false;
	return !input->switches || sample_switches_want(input->switches, b->order, b->position);
}

static void add_read_values(struct sample_pass *pass, struct sample_key key, const struct batch_sample *b)
{
	uint64_t position = 0;
	struct group_read read;
	enum tally_status status;
	while ((status = group_reads_next(&pass->reads, pass->input.reader, &b->sample, &position, &read)) ==
		TALLY_OK) {
		if (!sample_pass_is_wanted(&pass->input, b))
			continue;
		key.event = read.event->index;
		uint64_t words[SAMPLE_KEY_WORDS];
		sample_key_pack(&key, words);
		sample_pass_add_sample(pass, words, id_table_hash(&pass->keys, words), read.grown, b);
	}
	pass->failed = pass->failed || status == TALLY_NOMEM;
}

static uint64_t sample_pass_weight_of(
	const struct sample_pass *pass, const struct perfdata_event *event, const struct sample *sample)
{
	if (pass->input.options->weight_is_period) {
		bool is_struct = (event->attr.sample_type & SAMPLE_WEIGHT_STRUCT) != 0;
		uint64_t weight = is_struct ? (uint32_t)sample->weight : sample->weight;
		return weight ? weight : 1;
	}
	if (event->attr.sample_type & SAMPLE_PERIOD)
		return sample->period;
	return event->attr.sample_period_or_freq;
}

static struct facet_input facet_input(
	const struct sample_pass *pass, const struct sample_key *key, const struct batch_sample *b)
{
	return (struct facet_input){.sample = &b->sample,
		.event = b->event,
		.where = b->where,
		.cpumode = b->cpumode,
		.leaf = key->leaf,
		.has_thread = b->where.pid >= 0,
		.comm = sample_pass_thread(pass, key->thread).comm};
}

static void keep_facets(struct sample_pass *pass, struct sample_key *key, const struct facet_input *input)
{
	key->facets = sample_facets_add(&pass->facets, input);
	pass->failed = pass->failed || key->facets == ID_TABLE_NONE;
}

static void count_branched(struct sample_pass *pass, uint32_t event)
{
	while (pass->branched.len <= event && !pass->failed) {
		if (!vec_push(&pass->branched, 0))
			pass->failed = true;
	}
	if (!pass->failed)
		pass->branched.items[event]++;
}

/* Counts each branch of a sample once, at its target. */
static void sample_pass_add_branches(struct sample_pass *pass, struct sample_key key, const struct batch_sample *b)
{
	uint32_t level = resolved_frame_get(&pass->resolver.frames, key.leaf).level;
	uint32_t count = sample_branch_count(&b->sample);
	struct facet_input input = facet_input(pass, &key, b);
	input.is_branch = true;
	if (count > 0)
		count_branched(pass, key.event);
	for (uint32_t i = 0; i < count && !pass->failed; i++) {
		uint64_t words[SAMPLE_KEY_WORDS];
		input.branch = sample_branch_at(&b->sample, i);
		key.leaf = resolver_raw_frame(&pass->resolver, &b->where, RESOLVE_ANY_MODE, level, input.branch.to);
		input.leaf = key.leaf;
		if (pass->facets.kept)
			keep_facets(pass, &key, &input);
		sample_key_pack(&key, words);
		sample_pass_add_sample(pass, words, id_table_hash(&pass->keys, words), 1, b);
	}
}

/* Returns whether the branches of a sample become part of its stack (options->history). LBR call stacks do not, because
 * they are call chains, not branches that were taken. */
static bool has_history(const struct sample_pass *pass, const struct batch_sample *b)
{
	return pass->input.options->history != HISTORY_NONE && sample_branch_count(&b->sample) > 0 &&
	       !(b->event->layout.branch_sample_type & BRANCH_CALL_STACK);
}

static bool has_recorded_frame(const struct sample_pass *pass, const struct sample_array *chain)
{
	for (uint32_t i = 0; i < chain->count; i++)
		if (sample_u64_at(chain->data, i, pass->resolver.swap) < CONTEXT_MAX)
			return true;
	return false;
}

/* Returns false if out of memory. */
static bool note_recorded(struct sample_pass *pass, uint32_t stack)
{
	while (pass->recorded.len <= stack)
		if (!vec_push(&pass->recorded, false))
			return false;
	pass->recorded.items[stack] = true;
	return true;
}

/* Adds the sample's own address and its chain, which mostly begins with the same address; this is looked up once. */
static void add_addresses(struct sample_pass *pass, struct batch_sample *b)
{
	uint64_t type = b->sample.present;
	b->chain_count = 0;
	b->is_recorded = false;
	b->leaf = b->chain = pass->resolver.addresses.len;
	b->has_history = has_history(pass, b);
	bool has_chain =
		(b->has_history || pass->input.options->with_stacks) && (type & (SAMPLE_CALLCHAIN | SAMPLE_STACK_USER));
	if (has_chain) {
		struct sample_array chain =
			resolver_sample_chain(&pass->resolver, &b->where, &b->event->layout, &b->sample);
		b->chain_count = resolver_chain_add(&pass->resolver, &b->where, &chain);
	}
	if (resolver_address_put(&pass->resolver, b->leaf, &b->where, b->cpumode, b->sample.ip))
		b->chain++;
	if (!has_chain)
		return;
	/* If nothing of a stack dump could be unwound, the stack is the sample's own address alone. A sample in the
	 * kernel has no stack then, because its address is not of the dumped user stack. */
	bool is_copied = (type & SAMPLE_STACK_USER) && b->cpumode == MISC_CPUMODE_USER;
	if (b->chain_count == 0 && is_copied && !b->has_history) {
		b->chain = b->leaf;
		b->chain_count = 1;
	}
	b->is_recorded = b->chain_count == 1 && is_copied && has_recorded_frame(pass, &b->sample.callchain);
}

/* Adds the record to the batch, unless it is filtered out. */
static void begin_sample(struct sample_pass *pass, const struct record *record, size_t position)
{
	struct batch_sample *b = &pass->batch[pass->batch_len];
	b->event = perfdata_reader_event_of(pass->input.reader, record);
	if (!b->event) {
		pass->unattributed++;
		return;
	}
	if (pass->input.wait_index && b->event->index != pass->input.waits.wait)
		return;
	if (sample_decode(&b->event->layout, record, &b->sample, NULL) != TALLY_OK) {
		damaged_records_add(&pass->damaged, record->offset, record->type);
		return;
	}
	uint64_t type = b->event->attr.sample_type;
	b->sample.time = wait_sample_time(b->event, &b->sample);
	/* Group reads are running totals: those before the requested span are needed for later differences. */
	b->position = position;
	b->order = sample_clock_at(&pass->input.sideband->clock, b->event, position, b->sample.time);
	if (!(type & SAMPLE_READ) && !sample_pass_is_wanted(&pass->input, b))
		return;
	b->where = resolver_where(&pass->resolver, type & SAMPLE_TID ? (int32_t)b->sample.pid : -1, b->order);
	b->cpumode = record->misc & MISC_CPUMODE_MASK;
	add_addresses(pass, b);
	pass->batch_len++;
}

/* Returns the frames of the sample's chain, innermost first. */
static const uint32_t *chain_frames(const struct sample_pass *pass, const struct batch_sample *b)
{
	return pass->resolver.found.items + b->chain;
}

static uint32_t history_stack(struct sample_pass *pass, const struct batch_sample *b)
{
	const struct replay_options *options = pass->input.options;
	struct branch_history history = {.where = b->where,
		.sample = &b->sample,
		.chain = {chain_frames(pass, b), (uint32_t)b->chain_count},
		.addresses = pass->resolver.addresses.items + b->chain,
		.max_branches = options->max_history,
		.is_oldest_first = options->history == HISTORY_OLDEST_FIRST};
	return branch_history_stack(&pass->resolver, &history);
}

struct sample_pass_waiting {
	struct sample_pass *pass;
	const struct batch_sample *sample;
	struct sample_key key;
};

static void sample_pass_take_wait(void *data, const uint32_t *frames, size_t count, uint64_t weight_ns)
{
	struct sample_pass_waiting *waiting = data;
	struct sample_pass *pass = waiting->pass;
	uint64_t words[SAMPLE_KEY_WORDS];
	waiting->key.stack = resolver_stack(&pass->resolver, frames, count, list_table_hash(frames, count));
	if (pass->resolver.failed)
		return;
	sample_key_pack(&waiting->key, words);
	sample_pass_add_sample(pass, words, id_table_hash(&pass->keys, words), weight_ns, waiting->sample);
}

/* Counts the recorded stack of a waiting thread, without the frames of wakers that are appended to it: the completeness
 * of stacks is measured on recorded ones. Returns false if out of memory. */
static bool sample_pass_count_wait_stack(struct sample_pass *pass, const struct wait_chain_source *source)
{
	uint32_t stack = resolver_stack(
		&pass->resolver, source->frames, source->count, list_table_hash(source->frames, source->count));
	while (!pass->resolver.failed && pass->wait_stacks.len <= stack)
		if (!vec_push(&pass->wait_stacks, (uint64_t)0))
			return false;
	if (!pass->resolver.failed)
		pass->wait_stacks.items[stack]++;
	return !pass->resolver.failed;
}

/* Adds a wait with the stack of the waiting thread and those of its wakers; without the latter if no waker is known.
 * Ignores samples of the time from a wake-up until the thread ran. */
static void sample_pass_add_wait(struct sample_pass *pass, const struct sample_key *key, const struct batch_sample *b)
{
	struct sample_pass_waiting waiting = {pass, b, *key};
	struct wait_record wait = {.state = WAIT_OTHER};
	if (wait_sample_decode(b->event, &b->sample, &wait) && wait_state_is_ready(wait.state))
		return;
	struct wait_chain_source source = {&b->sample, &wait, b->where, chain_frames(pass, b), b->chain_count};
	if (b->chain_count == 0) {
		source.frames = &key->leaf;
		source.count = 1;
	} else if (!sample_pass_count_wait_stack(pass, &source)) {
		pass->failed = true;
		return;
	}
	if (!wait_chains_add(&pass->waits, &source, sample_pass_take_wait, &waiting))
		pass->failed = true;
}

static uint32_t sample_pass_event(const struct sample_pass *pass, const struct perfdata_event *event)
{
	const struct wait_events *waits = &pass->input.waits;
	return waits->are_joined && event->index == waits->wait ? waits->clock : event->index;
}

static void key_sample(struct sample_pass *pass, struct batch_sample *b)
{
	uint64_t type = b->event->attr.sample_type;
	int32_t tid = type & SAMPLE_TID ? (int32_t)b->sample.tid : -1;
	struct sample_key key = {.event = sample_pass_event(pass, b->event), .stack = RESOLVE_NONE, .cpu = -1};
	key.thread = thread_id(pass, b->where.pid, tid, b->order);
	if (pass->failed)
		return;
	key.leaf = pass->resolver.found.items[b->leaf];
	if (b->has_history)
		key.stack = history_stack(pass, b);
	else if (b->chain_count)
		key.stack = resolver_stack(&pass->resolver, chain_frames(pass, b), b->chain_count, b->hash);
	if (b->is_recorded && key.stack != RESOLVE_NONE && !note_recorded(pass, key.stack))
		pass->failed = true;
	if (pass->input.options->with_cpu && (type & SAMPLE_CPU))
		key.cpu = (int32_t)b->sample.cpu;
	if (pass->facets.kept && !pass->input.options->by_branch) {
		struct facet_input input = facet_input(pass, &key, b);
		keep_facets(pass, &key, &input);
	}
	b->is_keyed = !(type & SAMPLE_READ) && !pass->input.options->by_branch && !pass->input.wait_index;
	if (pass->input.wait_index) {
		sample_pass_add_wait(pass, &key, b);
		return;
	}
	if (pass->input.options->by_branch) {
		sample_pass_add_branches(pass, key, b);
		return;
	}
	if (!b->is_keyed) {
		add_read_values(pass, key, b);
		return;
	}
	sample_key_pack(&key, b->words);
	b->hash = id_table_hash(&pass->keys, b->words);
	uint32_t first = first_key_of(pass, b->words);
	if (first)
		__builtin_prefetch(id_table_key(&pass->keys, first - 1));
	if (first || key.stack == RESOLVE_NONE)
		id_table_expect(&pass->keys, b->hash);
}

static void count_batch(struct sample_pass *pass)
{
	for (size_t i = 0; i < pass->batch_len; i++) {
		struct batch_sample *b = &pass->batch[i];
		b->hash = list_table_hash(chain_frames(pass, b), b->chain_count);
		list_table_expect(&pass->resolver.stacks, b->hash);
	}
	for (size_t i = 0; i < pass->batch_len; i++)
		list_table_guess(&pass->resolver.stacks, pass->batch[i].hash);
	for (size_t i = 0; i < pass->batch_len; i++)
		key_sample(pass, &pass->batch[i]);
	if (pass->failed)
		return; /* Some samples have no key. */
	for (size_t i = 0; i < pass->batch_len; i++) {
		const struct batch_sample *b = &pass->batch[i];
		uint32_t first = b->is_keyed ? first_key_of(pass, b->words) : 0;
		if (first)
			__builtin_prefetch(&pass->sums.items[first - 1]);
		uint32_t id = b->is_keyed ? id_table_guess(&pass->keys, b->hash) : ID_TABLE_NONE;
		if (id != ID_TABLE_NONE)
			__builtin_prefetch(&pass->sums.items[id]);
	}
	for (size_t i = 0; i < pass->batch_len; i++) {
		const struct batch_sample *b = &pass->batch[i];
		if (b->is_keyed)
			sample_pass_add_sample(
				pass, b->words, b->hash, sample_pass_weight_of(pass, b->event, &b->sample), b);
	}
}

static void finish_batch(struct sample_pass *pass)
{
	if (resolver_addresses_find(&pass->resolver))
		count_batch(pass);
	pass->batch_len = 0;
	resolver_addresses_clear(&pass->resolver);
}

struct chunk_walk {
	size_t counted; /* Position up to which progress was reported. */
	size_t left; /* Position up to which the memory pages of the records were released. */
};

/* Handles the samples that begin in a chunk of the records. Returns false if a record is damaged or memory runs out. */
static bool run_chunk(struct sample_pass *pass, size_t chunk, struct chunk_walk *walk)
{
	const struct sideband *sideband = pass->input.sideband;
	const struct record_run *run = pass->input.run;
	size_t position = sideband->chunks.items[chunk];
	size_t end = chunk + 1 < sideband->chunks.len ? sideband->chunks.items[chunk + 1] : sideband->end;
	while (position < end && !pass->failed && !pass->resolver.failed) {
		struct record record;
		size_t start = position;
		if (record_run_next(run, &position, &record, NULL) != TALLY_OK)
			return false;
		if (record.type == RECORD_SAMPLE)
			begin_sample(pass, &record, start);
		if (pass->batch_len < SAMPLE_BATCH)
			continue;
		finish_batch(pass);
		progress_add(run->progress, position - walk->counted);
		walk->counted = position;
		record_run_pass(run, &walk->left, position);
	}
	return !pass->failed && !pass->resolver.failed;
}

void sample_pass_run(struct sample_pass *pass, struct range_share *chunks, size_t range)
{
	size_t chunk;
	if (!range_share_next(chunks, range, &chunk))
		return;
	size_t position = pass->input.sideband->chunks.items[chunk];
	struct chunk_walk walk = {position, position};
	record_run_move(pass->input.run, &walk.left, position);
	while (run_chunk(pass, chunk, &walk) && range_share_next(chunks, range, &chunk))
		;
	finish_batch(pass);
	pass->failed = pass->failed || pass->resolver.failed;
	resolver_end_lookups(&pass->resolver);
	id_table_end_lookups(&pass->keys);
	vec_free(&pass->first_keys);
}
