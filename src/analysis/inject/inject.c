/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/inject/inject.h"

#include <stdlib.h>

#include "base/error.h"
#include "perfdata/time_order.h"

struct injecting {
	struct perfdata_reader *reader;
	struct perfdata_rewriter *rewriter;
	const struct inject_options *options;
	bool has_sample;
	size_t timed_done; /* Number of items of options->timed that were written. */
	struct writer scratch; /* The record that replaces another one. */
};

/* The features of a pipe grow while it is read. */
static const struct perfdata_features *features_of(const struct injecting *in)
{
	return in->options->features ? in->options->features : perfdata_reader_features(in->reader);
}

static enum tally_status put_scratch(struct injecting *in, struct tally_error *err)
{
	return in->scratch.failed ? error_nomem(err)
				  : perfdata_rewriter_bytes(in->rewriter, writer_view(&in->scratch), err);
}

static enum tally_status inject_put_sample(struct injecting *in, const struct record *record, struct tally_error *err)
{
	const struct inject_options *options = in->options;
	struct tally_bytes none = {NULL, 0};
	if (!in->has_sample) {
		in->has_sample = true;
		enum tally_status status = perfdata_rewriter_bytes(in->rewriter, options->before_samples, err);
		if (status != TALLY_OK)
			return status;
	}
	writer_clear(&in->scratch);
	switch (options->sched ? inject_sched_sample(options->sched, record, &in->scratch) : INJECT_SCHED_OTHER) {
	case INJECT_SCHED_OTHER:
		return perfdata_rewriter_record(in->rewriter, record, none, err);
	case INJECT_SCHED_MERGED:
		return put_scratch(in, err);
	case INJECT_SCHED_NO_MEMORY:
		return error_nomem(err);
	case INJECT_SCHED_DROPPED:
	default:
		return TALLY_OK;
	}
}

static enum tally_status inject_put_mapping(struct injecting *in, const struct record *record, struct tally_error *err)
{
	writer_clear(&in->scratch);
	switch (inject_mmap(in->options->mmaps, record, &in->scratch)) {
	case INJECT_MMAP_KEPT:
		return perfdata_rewriter_record(in->rewriter, record, (struct tally_bytes){NULL, 0}, err);
	case INJECT_MMAP_CHANGED:
		return put_scratch(in, err);
	case INJECT_MMAP_DROPPED:
	default:
		return TALLY_OK;
	}
}

static enum tally_status put_changed(
	struct injecting *in, const struct record *record, struct tally_bytes payload, struct tally_error *err)
{
	writer_clear(&in->scratch);
	switch (in->options->change(in->options->change_context, record, &in->scratch)) {
	case INJECT_KEPT:
		return perfdata_rewriter_record(in->rewriter, record, payload, err);
	case INJECT_CHANGED:
		return put_scratch(in, err);
	case INJECT_NO_MEMORY:
		return error_nomem(err);
	case INJECT_DROPPED:
	default:
		return TALLY_OK;
	}
}

static enum tally_status inject_put_record(
	struct injecting *in, const struct record *record, struct tally_bytes payload, struct tally_error *err)
{
	if (in->options->change)
		return put_changed(in, record, payload, err);
	if (record->type == RECORD_SAMPLE)
		return inject_put_sample(in, record, err);
	if (in->options->strip && record_is_of_trace(record->type))
		return TALLY_OK;
	if (in->options->mmaps && (record->type == RECORD_MMAP || record->type == RECORD_MMAP2))
		return inject_put_mapping(in, record, err);
	return perfdata_rewriter_record(in->rewriter, record, payload, err);
}

/* Returns TALLY_OK after the last record; end_error describes why the input ended early. */
static enum tally_status copy_as_read(struct injecting *in, struct tally_error *end_error, struct tally_error *err)
{
	for (;;) {
		struct record record;
		enum tally_status status = perfdata_reader_next(in->reader, &record, end_error);
		if (status != TALLY_OK) {
			end_error->status = status == TALLY_END ? TALLY_OK : status;
			return TALLY_OK;
		}
		status = inject_put_record(in, &record, perfdata_reader_payload(in->reader), err);
		if (status != TALLY_OK)
			return status;
	}
}

/* Inserts the additional records whose time is at most until. */
static enum tally_status put_timed(struct injecting *in, uint64_t until, struct tally_error *err)
{
	const struct inject_options *o = in->options;
	enum tally_status status = TALLY_OK;
	for (; status == TALLY_OK && in->timed_done < o->timed_count; in->timed_done++) {
		const struct inject_timed *timed = &o->timed[in->timed_done];
		if (timed->time > until)
			break;
		status = perfdata_rewriter_bytes(
			in->rewriter, (struct tally_bytes){o->timed_bytes.data + timed->offset, timed->len}, err);
	}
	return status;
}

static enum tally_status copy_sorted(struct injecting *in, struct inject_result *result, struct tally_error *err)
{
	struct time_order *order;
	enum tally_status status = time_order_create(in->reader, &order, err);
	if (status != TALLY_OK)
		return status;
	struct time_order_item item;
	for (;;) {
		status = time_order_next(order, &item, &result->end_error);
		if (status != TALLY_OK) {
			result->end_error.status = status == TALLY_END ? TALLY_OK : status;
			status = TALLY_OK;
			break;
		}
		/* Only a record without a time has a payload, and time_order returns it as soon as it was read. */
		struct tally_bytes payload =
			item.has_time ? (struct tally_bytes){NULL, 0} : perfdata_reader_payload(in->reader);
		status = item.has_time ? put_timed(in, item.time_ns, err) : TALLY_OK;
		if (status == TALLY_OK)
			status = inject_put_record(in, &item.record, payload, err);
		if (status != TALLY_OK)
			break;
	}
	if (status == TALLY_OK)
		status = put_timed(in, UINT64_MAX, err);
	result->late = time_order_late(order);
	time_order_destroy(order);
	return status;
}

enum tally_status inject_copy(struct perfdata_reader *reader, struct perfdata_rewriter *rewriter,
	const struct inject_options *options, struct inject_result *result, struct tally_error *err)
{
	struct injecting in = {.reader = reader, .rewriter = rewriter, .options = options};
	*result = (struct inject_result){0};
	perfdata_rewriter_set_attrs(rewriter, options->attrs);
	enum tally_status status = perfdata_rewriter_begin(rewriter, reader, features_of(&in), err);
	if (status == TALLY_OK)
		status = options->sort ? copy_sorted(&in, result, err) : copy_as_read(&in, &result->end_error, err);
	if (status == TALLY_OK)
		status = perfdata_rewriter_finish(rewriter, features_of(&in), err);
	writer_deinit(&in.scratch);
	return status;
}
