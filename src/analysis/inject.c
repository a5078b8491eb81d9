#include "analysis/inject.h"

#include <stdlib.h>

#include "perfdata/time_order.h"

struct injecting {
	struct perfdata_reader *reader;
	struct perfdata_rewriter *rewriter;
	const struct inject_options *options;
};

static enum tally_status put_record(struct injecting *in, const struct record *record, struct tally_error *err)
{
	return perfdata_rewriter_record(in->rewriter, record, perfdata_reader_payload(in->reader), err);
}

/* TALLY_OK behind the last record; what ended the input early is said in end_error. */
static enum tally_status copy_as_read(struct injecting *in, struct tally_error *end_error, struct tally_error *err)
{
	for (;;) {
		struct record record;
		enum tally_status status = perfdata_reader_next(in->reader, &record, end_error);
		if (status != TALLY_OK) {
			end_error->status = status == TALLY_END ? TALLY_OK : status;
			return TALLY_OK;
		}
		status = put_record(in, &record, err);
		if (status != TALLY_OK)
			return status;
	}
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
		/* Only a record without a time has a payload, and it comes out as soon as it was read. */
		status = item.has_time ? perfdata_rewriter_record(
						 in->rewriter, &item.record, (struct tally_bytes){NULL, 0}, err)
				       : put_record(in, &item.record, err);
		if (status != TALLY_OK)
			break;
	}
	result->late = time_order_late(order);
	time_order_destroy(order);
	return status;
}

/* To the end and back: what a pipe says of itself is known then. */
static void read_descriptions(struct perfdata_reader *reader)
{
	struct record record;
	while (perfdata_reader_next(reader, &record, NULL) == TALLY_OK)
		;
	perfdata_reader_rewind(reader);
}

enum tally_status inject_copy(struct perfdata_reader *reader, struct perfdata_rewriter *rewriter,
	const struct inject_options *options, struct inject_result *result, struct tally_error *err)
{
	struct injecting in = {reader, rewriter, options};
	*result = (struct inject_result){0};
	if (perfdata_reader_is_pipe(reader) && !options->to_pipe)
		read_descriptions(reader);
	enum tally_status status = perfdata_rewriter_begin(rewriter, reader, perfdata_reader_features(reader), err);
	if (status == TALLY_OK)
		status = options->sort ? copy_sorted(&in, result, err) : copy_as_read(&in, &result->end_error, err);
	if (status == TALLY_OK)
		status = perfdata_rewriter_finish(rewriter, perfdata_reader_features(reader), err);
	return status;
}
