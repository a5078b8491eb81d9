/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>

#include "base/array.h"
#include "base/error.h"
#include "base/key_sort.h"
#include "base/protobuf_writer.h"
#include "base/vec.h"
#include "tasks/fleet/destination_forms.h"
#include "tasks/fleet/destination_grpc.h"
#include "view/export/export_formats.h"

/* Field numbers of Pyroscope's push.proto and types.proto, and of Parca's profilestore.proto, which has a separate
 * message for labels, and no ID. */
enum { PUSH_SERIES = 1, WRITE_SERIES = 2, WRITE_IS_NORMALIZED = 3 };
enum { SERIES_LABEL = 1, SERIES_LABEL_SET = 1, SERIES_SAMPLE = 2 };
enum { LABEL_NAME = 1, LABEL_VALUE = 2 };
enum { SERIES_SAMPLE_PROFILE = 1, SERIES_SAMPLE_ID = 2 };

#define SERIES_MAX (1u << 14) /* Maximum number of series of a batch. */

struct destination_series_sample {
	uint32_t label_set;
	struct profile_sample sample;
};

struct destination_series {
	const struct fleet_batch *batch;
	bool is_parca;
	struct export_view view;
	struct text *out;
	VEC(struct profile_sample) samples; /* Samples of the current series. */
	size_t series_count;
};

static uint64_t destination_series_set(const void *item)
{
	return ((const struct destination_series_sample *)item)->label_set;
}

static uint64_t destination_series_event(const void *item)
{
	return ((const struct destination_series_sample *)item)->sample.event;
}

static uint64_t destination_series_chain(const void *item)
{
	const struct profile_sample *sample = &((const struct destination_series_sample *)item)->sample;
	return (uint64_t)sample->stack << 32 | sample->leaf;
}

static void destination_series_put_label(struct text *out, struct tally_str name, struct tally_str value)
{
	if (value.len == 0)
		return;
	size_t begin = protobuf_open(out);
	protobuf_string(out, LABEL_NAME, name);
	protobuf_string(out, LABEL_VALUE, value);
	protobuf_close(out, SERIES_LABEL, begin);
}

/* Emits the type of the values by the name that other profilers use; metric names contain only letters, digits and
 * _. */
static void destination_series_put_name(struct text *out, struct tally_str event)
{
	struct text name = {0};
	struct tally_str type = export_type_name(event, profile_event_is_waiting(event));
	if (str_equal(type, STR("cpu")))
		type = STR("process_cpu");
	text_bytes(&name, type.data, type.len);
	for (size_t i = 0; i < name.len; i++)
		if (!isalnum((unsigned char)name.data[i]))
			name.data[i] = '_';
	destination_series_put_label(out, STR("__name__"), text_view(&name));
	out->failed = out->failed || name.failed;
	text_deinit(&name);
}

static void destination_series_put_list(
	const struct destination_series *w, const struct fleet_labels *labels, const struct fleet_labels *nearer)
{
	static const struct tally_str own[] = {STR("__name__"), STR("tally_event"), STR("service_name")};
	for (size_t i = 0; i < labels->count; i++) {
		const struct fleet_label *label = &labels->items[i];
		bool is_taken = nearer && fleet_labels_find(nearer, label->name);
		for (size_t k = 0; k < ARRAY_LEN(own); k++)
			is_taken = is_taken || str_equal(label->name, own[k]);
		bool is_service = str_equal(label->name, STR("service"));
		if (!is_taken)
			destination_series_put_label(
				w->out, is_service ? STR("service_name") : label->name, label->value);
	}
}

static void destination_series_put_labels(
	const struct destination_series *w, const struct fleet_labels *of_threads, struct tally_str event)
{
	size_t begin = w->is_parca ? protobuf_open(w->out) : 0;
	destination_series_put_name(w->out, event);
	destination_series_put_label(w->out, STR("tally_event"), event);
	destination_series_put_list(w, of_threads, NULL);
	destination_series_put_list(w, &w->batch->labels, of_threads);
	if (w->is_parca)
		protobuf_close(w->out, SERIES_LABEL_SET, begin);
}

/* Emits an ID that is unique for each series of a batch, so that servers can recognise a repeated delivery (RFC 9562,
 * version 8). */
static void destination_series_put_id(const struct destination_series *w, struct text *out)
{
	uint8_t id[FLEET_BATCH_ID_BYTES];
	char room[2 * FLEET_BATCH_ID_BYTES + 5];
	struct text hex = text_over(room, sizeof(room));
	memcpy(id, w->batch->id, sizeof(id));
	id[0] ^= (uint8_t)(w->series_count >> 8);
	id[1] ^= (uint8_t)w->series_count;
	id[6] = (uint8_t)((id[6] & 0x0f) | 0x80);
	id[8] = (uint8_t)((id[8] & 0x3f) | 0x80);
	for (size_t i = 0; i < sizeof(id); i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			text_char(&hex, '-');
		text_hex(&hex, id[i], 2);
	}
	protobuf_string(out, SERIES_SAMPLE_ID, text_view(&hex));
}

/* Emits the collected samples as one series, and clears them; all of them have this label set and event. */
static enum tally_status destination_series_put_series(
	struct destination_series *w, uint32_t label_set, uint32_t event, struct tally_error *err)
{
	struct profile part = *w->batch->profile;
	struct text profile = {0};
	part.samples = w->samples.items;
	part.sample_count = w->samples.len;
	part.row_count = 0;
	w->view.profile = &part;
	enum tally_status status = destination_pack(export_pprof, &w->view, &profile, err);
	size_t series = protobuf_open(w->out);
	destination_series_put_labels(w, &w->batch->sets[label_set], profile_string(&part, part.events[event].name));
	size_t sample = protobuf_open(w->out);
	protobuf_bytes(w->out, SERIES_SAMPLE_PROFILE, profile.data, profile.len);
	if (!w->is_parca)
		destination_series_put_id(w, w->out);
	protobuf_close(w->out, SERIES_SAMPLE, sample);
	protobuf_close(w->out, w->is_parca ? WRITE_SERIES : PUSH_SERIES, series);
	w->samples.len = 0;
	text_deinit(&profile);
	if (status == TALLY_OK && ++w->series_count > SERIES_MAX)
		status = error_set(err, TALLY_LIMIT, "a batch has more than %u series", SERIES_MAX);
	return status;
}

/* The formats have no labels for threads and states, so samples that differ only in these are merged. */
static bool destination_series_add(struct destination_series *w, const struct profile_sample *sample)
{
	struct profile_sample *last = w->samples.len ? &w->samples.items[w->samples.len - 1] : NULL;
	if (!last || last->stack != sample->stack || last->leaf != sample->leaf)
		return vec_push(&w->samples, *sample);
	last->count += sample->count;
	last->period += sample->period;
	return true;
}

static enum tally_status destination_series_put_all(struct destination_series *w,
	const struct destination_series_sample *items, size_t count, struct tally_error *err)
{
	enum tally_status status = TALLY_OK;
	for (size_t i = 0; i < count && status == TALLY_OK; i++) {
		const struct destination_series_sample *item = &items[i], *next = item + 1;
		if (!destination_series_add(w, &item->sample))
			return error_nomem(err);
		if (i + 1 == count || next->label_set != item->label_set || next->sample.event != item->sample.event)
			status = destination_series_put_series(w, item->label_set, item->sample.event, err);
	}
	return status == TALLY_OK && w->out->failed ? error_nomem(err) : status;
}

static enum tally_status destination_series_write(
	const struct fleet_batch *batch, bool is_parca, struct text *out, struct tally_error *err)
{
	static const key_of_item keys[] = {destination_series_set, destination_series_event, destination_series_chain};
	struct text quality = {0};
	struct destination_series w = {
		.batch = batch, .is_parca = is_parca, .view = destination_view(batch, &quality), .out = out};
	const struct profile *p = batch->profile;
	struct destination_series_sample *items = calloc(p->sample_count + 1, sizeof(*items));
	w.view.is_of_series = true;
	size_t count = 0;
	for (size_t i = 0; items && i < p->sample_count; i++)
		if (p->samples[i].count > 0)
			items[count++] = (struct destination_series_sample){
				batch->set_of_thread[p->samples[i].thread], p->samples[i]};
	enum tally_status status = TALLY_OK;
	if (!items || !key_sort_items(items, count, sizeof(*items), keys, ARRAY_LEN(keys)))
		status = error_nomem(err);
	if (status == TALLY_OK)
		status = destination_series_put_all(&w, items, count, err);
	vec_free(&w.samples);
	free(items);
	text_deinit(&quality);
	return status;
}

enum tally_status destination_write_pyroscope(
	const struct fleet_batch *batch, struct text *out, struct tally_error *err)
{
	return destination_series_write(batch, false, out, err);
}

/* Parca calls addresses normalized if they are relative to the binary instead of the process. */
enum tally_status destination_write_parca(const struct fleet_batch *batch, struct text *out, struct tally_error *err)
{
	size_t begin = destination_grpc_open(out);
	enum tally_status status = destination_series_write(batch, true, out, err);
	protobuf_u64(out, WRITE_IS_NORMALIZED, 1);
	destination_grpc_close(out, begin);
	return status;
}
