/* SPDX-License-Identifier: Apache-2.0 */
#include "abi/wait_record.h"
#include "base/checked.h"
#include "base/error.h"
#include "fleet/batch_reader.h"

struct batch_read_parts {
	struct fleet_batch batch; /* Arguments of fleet_batch_make. */
	struct fleet_label *labels; /* Has room for all labels of the batch. */
	size_t label_count, label_room; /* Number of labels read so far, and number counted in advance. */
	struct fleet_labels *sets;
	uint32_t *threads; /* Thread of the profile for each thread of the batch. */
	bool *has_chains; /* One per event. */
	bool has_states;
	uint32_t nowhere; /* Frame of samples without a stack; PROFILE_NONE until one is needed. */
	uint64_t samples, values; /* Sums over all samples. */
};

static void batch_read_losses(struct batch_reader *r, struct protobuf_reader losses, struct fleet_losses *to)
{
	struct protobuf_field f;
	uint64_t *const fields[] = {[LOSSES_LOST_SAMPLES] = &to->lost_samples,
		[LOSSES_DROPPED_BATCHES] = &to->dropped_batches,
		[LOSSES_DROPPED_SAMPLES] = &to->dropped_samples,
		[LOSSES_OWN_CPU] = &to->own_cpu_ns,
		[LOSSES_OWN_BYTES] = &to->own_bytes,
		[LOSSES_FREQUENCY] = &to->frequency_hz,
		[LOSSES_WINDOWS] = &to->windows,
		[LOSSES_WAIT_WINDOWS] = &to->wait_windows};
	while (r->status == TALLY_OK && protobuf_next(&losses, &f))
		if (f.number < ARRAY_LEN(fields) && fields[f.number])
			*fields[f.number] = batch_reader_u64(r, &f);
	batch_reader_end(r, &losses);
	for (size_t i = 1; i < ARRAY_LEN(fields); i++)
		if (*fields[i] > INT64_MAX)
			batch_reader_fail(r, TALLY_CORRUPT, losses.base, "a loss of the batch has more than 63 bits");
}

static void batch_read_id(struct batch_reader *r, const struct protobuf_field *f, uint8_t id[FLEET_BATCH_ID_BYTES])
{
	if (f->wire == PROTOBUF_BYTES && f->bytes.len == FLEET_BATCH_ID_BYTES)
		memcpy(id, f->bytes.data, FLEET_BATCH_ID_BYTES);
	else
		batch_reader_fail(
			r, TALLY_CORRUPT, f->offset, "the ID of the batch has not %d bytes", FLEET_BATCH_ID_BYTES);
}

/* Reads the fields outside of tables and counts the entries of the tables. */
static void batch_read_survey(struct batch_reader *r, struct fleet_batch *to)
{
	static const size_t limits[BATCH_FIELDS] = {[BATCH_STRING] = FLEET_ITEMS,
		[BATCH_LABEL] = FLEET_ITEMS,
		[BATCH_LABEL_SET] = FLEET_ITEMS,
		[BATCH_EVENT] = FLEET_EVENTS,
		[BATCH_BINARY] = FLEET_ITEMS,
		[BATCH_LOCATION] = FLEET_ITEMS,
		[BATCH_STACK] = FLEET_ITEMS,
		[BATCH_THREAD] = FLEET_ITEMS,
		[BATCH_SAMPLE] = FLEET_SAMPLES};
	struct protobuf_reader pass = r->message;
	struct protobuf_field f;
	for (size_t begin = 0; r->status == TALLY_OK && protobuf_next(&pass, &f); begin = pass.cursor.pos) {
		if (f.number < BATCH_FIELDS) {
			r->begins[f.number] = r->counts[f.number] ? r->begins[f.number] : begin;
			r->ends[f.number] = pass.cursor.pos;
			r->counts[f.number]++;
		}
		if (f.number == BATCH_ID)
			batch_read_id(r, &f, to->id);
		else if (f.number == BATCH_BEGIN)
			to->begin_ns = batch_reader_u64(r, &f);
		else if (f.number == BATCH_END)
			to->end_ns = batch_reader_u64(r, &f);
		else if (f.number == BATCH_LOSSES)
			batch_read_losses(r, protobuf_nested(&pass, &f), &to->losses);
		else if (f.number < BATCH_FIELDS && r->counts[f.number] > limits[f.number])
			batch_reader_fail(r, TALLY_LIMIT, f.offset,
				"the batch has more than %zu entries of its field %u", limits[f.number], f.number);
	}
	batch_reader_end(r, &pass);
}

static void batch_read_strings(struct batch_reader *r)
{
	struct protobuf_reader pass = batch_reader_pass(r, BATCH_STRING);
	struct protobuf_field f;
	struct text text = {0};
	size_t count = MAX(r->counts[BATCH_STRING], 1), i = 0;
	r->texts = batch_reader_array(r, count, sizeof(*r->texts));
	r->strings = batch_reader_array(r, count, sizeof(*r->strings));
	if (r->status == TALLY_OK)
		r->strings[0] = profile_builder_string(r->builder, STR(""));
	for (; batch_reader_next(r, &pass, BATCH_STRING, &f); i++) {
		if (i == 0 && f.bytes.len > 0)
			batch_reader_fail(r, TALLY_CORRUPT, f.offset, "the first string of the batch is not empty");
		text_clear(&text);
		text_visible(&text, protobuf_text(&f));
		if (text.failed)
			batch_reader_nomem(r);
		r->texts[i] = protobuf_text(&f);
		r->strings[i] = profile_builder_string(r->builder, text_view(&text));
	}
	text_deinit(&text);
}

static struct fleet_label batch_read_label(struct batch_reader *r, struct protobuf_reader label)
{
	struct fleet_label to = {STR(""), STR("")};
	struct protobuf_field f;
	while (r->status == TALLY_OK && protobuf_next(&label, &f)) {
		if (f.number == LABEL_NAME)
			to.name = r->texts[batch_reader_string(r, &f)];
		else if (f.number == LABEL_VALUE)
			to.value = r->texts[batch_reader_string(r, &f)];
	}
	batch_reader_end(r, &label);
	return to;
}

/* Reads the labels of the batch, which are fields of the outermost message, or those of one set. */
static struct fleet_labels batch_read_labels(
	struct batch_reader *r, struct batch_read_parts *parts, struct protobuf_reader message, unsigned number)
{
	struct fleet_labels to = {parts->labels + parts->label_count, 0};
	struct protobuf_field f;
	while (r->status == TALLY_OK && protobuf_next(&message, &f)) {
		if (f.number != number)
			continue;
		parts->labels[parts->label_count++] = batch_read_label(r, protobuf_nested(&message, &f));
		to.count++;
	}
	batch_reader_end(r, &message);
	return to;
}

static void batch_read_label_sets(struct batch_reader *r, struct batch_read_parts *parts)
{
	struct protobuf_reader pass = batch_reader_pass(r, BATCH_LABEL_SET);
	struct protobuf_field f;
	size_t total = r->counts[BATCH_LABEL], i = 1;
	while (batch_reader_next(r, &pass, BATCH_LABEL_SET, &f)) {
		struct protobuf_reader set = protobuf_nested(&pass, &f);
		struct protobuf_field of_set;
		while (r->status == TALLY_OK && protobuf_next(&set, &of_set))
			total += of_set.number == LABEL_SET_LABEL;
		batch_reader_end(r, &set);
		if (total > FLEET_ITEMS)
			batch_reader_fail(r, TALLY_LIMIT, f.offset, "the batch has more than %u labels", FLEET_ITEMS);
	}
	if (r->status != TALLY_OK)
		return;
	parts->labels = batch_reader_array(r, total, sizeof(*parts->labels));
	parts->sets = batch_reader_array(r, r->counts[BATCH_LABEL_SET] + 1, sizeof(*parts->sets));
	if (r->status != TALLY_OK)
		return;
	parts->batch.labels = batch_read_labels(r, parts, batch_reader_pass(r, BATCH_LABEL), BATCH_LABEL);
	for (pass = batch_reader_pass(r, BATCH_LABEL_SET); batch_reader_next(r, &pass, BATCH_LABEL_SET, &f); i++)
		parts->sets[i] = batch_read_labels(r, parts, protobuf_nested(&pass, &f), LABEL_SET_LABEL);
	parts->batch.sets = parts->sets;
	parts->batch.set_count = r->counts[BATCH_LABEL_SET] + 1;
}

static void batch_read_events(struct batch_reader *r, struct batch_read_parts *parts)
{
	struct protobuf_reader pass = batch_reader_pass(r, BATCH_EVENT);
	struct protobuf_field f;
	parts->has_chains = batch_reader_array(r, r->counts[BATCH_EVENT], sizeof(*parts->has_chains));
	for (uint32_t i = 0; batch_reader_next(r, &pass, BATCH_EVENT, &f); i++) {
		struct protobuf_reader event = protobuf_nested(&pass, &f);
		struct profile_event to = {.name = r->strings[0], .leader = i, .member_count = 1};
		while (r->status == TALLY_OK && protobuf_next(&event, &f)) {
			if (f.number == EVENT_NAME)
				to.name = r->strings[batch_reader_string(r, &f)];
			else if (f.number == EVENT_HAS_CHAINS)
				to.has_callchain = batch_reader_u64(r, &f) != 0;
		}
		batch_reader_end(r, &event);
		parts->has_chains[i] = to.has_callchain;
		(void)profile_builder_event(r->builder, &to);
	}
}

static void batch_read_thread(struct batch_reader *r, struct protobuf_reader thread, uint32_t *to)
{
	struct profile_thread read = {.comm = r->strings[0], .process_comm = r->strings[0]};
	struct protobuf_field f;
	while (r->status == TALLY_OK && protobuf_next(&thread, &f)) {
		if (f.number == THREAD_PID)
			read.pid = (int32_t)batch_reader_u64(r, &f);
		else if (f.number == THREAD_TID)
			read.tid = (int32_t)batch_reader_u64(r, &f);
		else if (f.number == THREAD_COMM)
			read.comm = r->strings[batch_reader_string(r, &f)];
		else if (f.number == THREAD_PROCESS_COMM)
			read.process_comm = r->strings[batch_reader_string(r, &f)];
		else if (f.number == THREAD_LABEL_SET)
			read.label_set = batch_reader_reference(r, &f, r->counts[BATCH_LABEL_SET], "label set");
	}
	batch_reader_end(r, &thread);
	read.last_comm = read.comm;
	*to = profile_builder_thread(r->builder, &read);
}

static void batch_read_threads(struct batch_reader *r, struct batch_read_parts *parts)
{
	struct protobuf_reader pass = batch_reader_pass(r, BATCH_THREAD);
	struct protobuf_field f;
	parts->threads = batch_reader_array(r, r->counts[BATCH_THREAD], sizeof(*parts->threads));
	for (size_t i = 0; batch_reader_next(r, &pass, BATCH_THREAD, &f); i++)
		batch_read_thread(r, protobuf_nested(&pass, &f), &parts->threads[i]);
}

struct batch_read_sample {
	uint32_t event, thread, stack, state;
	uint64_t count, value;
};

static struct batch_read_sample batch_read_sample(struct batch_reader *r, struct protobuf_reader sample)
{
	struct batch_read_sample to = {0};
	struct protobuf_field f;
	while (r->status == TALLY_OK && protobuf_next(&sample, &f)) {
		if (f.number == SAMPLE_EVENT)
			to.event = batch_reader_index(r, &f, r->counts[BATCH_EVENT], "event");
		else if (f.number == SAMPLE_THREAD)
			to.thread = batch_reader_index(r, &f, r->counts[BATCH_THREAD], "thread");
		else if (f.number == SAMPLE_STACK)
			to.stack = batch_reader_reference(r, &f, r->counts[BATCH_STACK], "stack");
		else if (f.number == SAMPLE_STATE)
			to.state = batch_reader_u32(r, &f);
		else if (f.number == SAMPLE_COUNT)
			to.count = batch_reader_u64(r, &f);
		else if (f.number == SAMPLE_VALUE)
			to.value = batch_reader_u64(r, &f);
	}
	if (to.state > PROFILE_STATES) /* A later version may have more states. */
		to.state = PROFILE_STATE_NOT_TOLD + 1;
	batch_reader_end(r, &sample);
	return to;
}

/* An omitted index is 0, and that requires an entry, too. */
static void batch_read_check_sample(
	struct batch_reader *r, struct batch_read_parts *parts, const struct batch_read_sample *s, uint64_t offset)
{
	if (r->counts[BATCH_EVENT] == 0 || r->counts[BATCH_THREAD] == 0)
		batch_reader_fail(r, TALLY_CORRUPT, offset, "the batch has samples, and no event or no thread");
	if (!checked_add(parts->samples, s->count, &parts->samples) ||
		!checked_add(parts->values, s->value, &parts->values) || parts->samples > INT64_MAX ||
		parts->values > INT64_MAX)
		batch_reader_fail(r, TALLY_CORRUPT, offset, "the samples of the batch add up to more than 63 bits");
}

static uint32_t batch_read_state(struct batch_reader *r, const struct batch_read_parts *parts, uint32_t state)
{
	struct tally_str name = STR("not known");
	if (!parts->has_states)
		return 0;
	if (state > 0)
		name = wait_state_name((enum wait_state)(state - 1));
	return profile_builder_facets(
		r->builder, &(struct profile_value){.number = state > 0 ? state - 1 : PROFILE_STATES,
				    .text = profile_builder_string(r->builder, name),
				    .frame = PROFILE_NONE});
}

static uint32_t batch_read_nowhere(struct batch_reader *r, struct batch_read_parts *parts)
{
	if (parts->nowhere == PROFILE_NONE)
		parts->nowhere =
			profile_builder_frame(r->builder, &(struct profile_frame){.function = PROFILE_NONE,
								  .binary = PROFILE_NONE,
								  .own_line = {r->strings[0], r->strings[0]},
								  .innermost_line = {r->strings[0], r->strings[0]}});
	return parts->nowhere;
}

static void batch_read_add_sample(
	struct batch_reader *r, struct batch_read_parts *parts, const struct batch_read_sample *s, uint64_t order)
{
	struct profile_sample to = {.event = s->event,
		.thread = parts->threads[s->thread],
		.stack = PROFILE_NONE,
		.cpu = -1,
		.facets = batch_read_state(r, parts, s->state),
		.count = s->count,
		.period = s->value,
		.first_order = order};
	if (s->stack == 0)
		to.leaf = batch_read_nowhere(r, parts);
	else
		to.leaf = r->leaves[s->stack - 1];
	if (s->stack > 0 && (parts->has_chains[s->event] || r->has_callers[s->stack - 1]))
		to.stack = r->stacks[s->stack - 1];
	(void)profile_builder_sample(r->builder, &to);
}

static void batch_read_samples(struct batch_reader *r, struct batch_read_parts *parts)
{
	struct protobuf_reader pass = batch_reader_pass(r, BATCH_SAMPLE);
	struct protobuf_field f;
	while (batch_reader_next(r, &pass, BATCH_SAMPLE, &f)) {
		struct batch_read_sample sample = batch_read_sample(r, protobuf_nested(&pass, &f));
		batch_read_check_sample(r, parts, &sample, f.offset);
		parts->has_states = parts->has_states || sample.state > 0;
	}
	profile_builder_keep_facets(r->builder, parts->has_states ? UINT64_C(1) << FACET_STATE : 0);
	pass = batch_reader_pass(r, BATCH_SAMPLE);
	for (uint64_t order = 0; batch_reader_next(r, &pass, BATCH_SAMPLE, &f); order++) {
		struct batch_read_sample sample = batch_read_sample(r, protobuf_nested(&pass, &f));
		if (r->status == TALLY_OK)
			batch_read_add_sample(r, parts, &sample, order);
	}
}

static enum tally_status batch_read_finish(
	struct batch_reader *r, struct batch_read_parts *parts, struct fleet_batch **batch)
{
	struct profile *p;
	struct profile_builder *builder = r->builder;
	if (r->status != TALLY_OK)
		return r->status;
	r->builder = NULL;
	enum tally_status status = profile_builder_finish(builder, &p, r->err);
	if (status != TALLY_OK)
		return status;
	uint32_t *sets = batch_reader_array(r, p->thread_count, sizeof(*sets));
	bool *left_out = r->left_out.len ? batch_reader_array(r, p->frame_count, sizeof(*left_out)) : NULL;
	for (size_t i = 0; r->status == TALLY_OK && i < p->thread_count; i++)
		sets[i] = p->threads[i].label_set;
	for (size_t i = 0; r->status == TALLY_OK && i < r->left_out.len; i++)
		left_out[r->left_out.items[i]] = true;
	parts->batch.set_of_thread = sets;
	parts->batch.symbols_left_out = left_out;
	status = r->status;
	if (status == TALLY_OK)
		status = fleet_batch_make(&parts->batch, p, batch, r->err);
	if (status != TALLY_OK)
		profile_destroy(p);
	if (status == TALLY_INVALID && r->err)
		r->err->status = TALLY_CORRUPT;
	return status == TALLY_INVALID ? TALLY_CORRUPT : status;
}

enum tally_status fleet_batch_read(struct tally_bytes bytes, struct fleet_batch **batch, struct tally_error *err)
{
	void (*const tables[])(struct batch_reader *) = {
		batch_read_strings, batch_read_binaries, batch_read_locations, batch_read_stacks};
	void (*const more[])(struct batch_reader *, struct batch_read_parts *) = {
		batch_read_label_sets, batch_read_events, batch_read_threads, batch_read_samples};
	struct batch_reader r = {.message = protobuf_reader_make(bytes), .bytes = bytes.len, .err = err};
	struct batch_read_parts parts = {.nowhere = PROFILE_NONE};
	if (bytes.len > FLEET_BATCH_BYTES)
		return error_set(
			err, TALLY_LIMIT, "the batch has %zu bytes, and the limit is %u", bytes.len, FLEET_BATCH_BYTES);
	r.builder = profile_builder_create();
	if (!r.builder)
		return error_nomem(err);
	arena_init(&r.arena);
	batch_read_survey(&r, &parts.batch);
	for (size_t i = 0; r.status == TALLY_OK && i < ARRAY_LEN(tables); i++)
		tables[i](&r);
	for (size_t i = 0; r.status == TALLY_OK && i < ARRAY_LEN(more); i++)
		more[i](&r, &parts);
	enum tally_status status = batch_read_finish(&r, &parts, batch);
	profile_builder_destroy(r.builder);
	arena_deinit(&r.arena);
	vec_free(&r.frames);
	vec_free(&r.left_out);
	return status;
}
