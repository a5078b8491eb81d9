/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/live/live_records.h"

#include <stdlib.h>

#include "base/error.h"

struct live_records {
	struct perfdata_reader *reader;
	struct sideband *sideband;
	struct resolver *resolver; /* NULL until live_records_tell is called. */
	struct time_order *order;
	VEC(struct time_order_item) batch; /* What time_order_next returned up to a FINISHED_ROUND record. */
	size_t next;
	size_t event_count;
	uint64_t last_ns; /* Time of the newest record that was applied to the machine. */
	enum tally_status end_status; /* TALLY_OK while more records may follow. */
	struct tally_error end_error;
};

void live_records_destroy(struct live_records *live)
{
	if (!live)
		return;
	time_order_destroy(live->order);
	vec_free(&live->batch);
	free(live);
}

void live_records_tell(struct live_records *live, struct resolver *resolver)
{
	live->resolver = resolver;
}

/* Reads up to a FINISHED_ROUND record: until then, the records that time_order_next returns stay valid
 * (time_order.h). */
static enum tally_status read_batch(struct live_records *live, struct tally_error *err)
{
	struct time_order_item item;
	live->batch.len = live->next = 0;
	do {
		enum tally_status status = time_order_next(live->order, &item, &live->end_error);
		if (status != TALLY_OK) {
			live->end_status = status;
			/* sideband->health describes only the beginning of the stream. */
			live->sideband->health.is_unfinished = perfdata_reader_health(live->reader)->is_unfinished;
			return TALLY_OK;
		}
		if (!vec_push(&live->batch, item))
			return error_nomem(err);
	} while (item.has_time || item.record.type != RECORD_FINISHED_ROUND);
	return TALLY_OK;
}

static enum tally_status apply_batch(struct live_records *live, struct tally_error *err)
{
	struct machine *machine = live->sideband->machine;
	bool has_changed = false;
	for (size_t i = 0; i < live->batch.len; i++) {
		const struct time_order_item *item = &live->batch.items[i];
		enum tally_status status = sideband_count(live->sideband, live->reader, &item->record, err);
		struct record_fields fields;
		if (status != TALLY_OK)
			return status;
		if (item->record.type == RECORD_HEADER_BUILD_ID) {
			status = sideband_take_build_id(live->sideband, &item->record, err);
			if (status != TALLY_OK)
				return status;
			has_changed = true;
		}
		if (!sideband_is_history(item->record.type))
			continue;
		if (record_decode(&item->record, &fields, NULL) != TALLY_OK) {
			damaged_records_add(&live->sideband->health.damaged, item->record.offset, item->record.type);
			continue;
		}
		/* A record that has no timestamp or is late takes effect at the time of the newest one. */
		if (item->has_time && item->time_ns > live->last_ns)
			live->last_ns = item->time_ns;
		status = machine_apply(machine, &item->record, &fields, live->last_ns, err);
		if (status != TALLY_OK)
			return status;
		has_changed = true;
	}
	if (!has_changed)
		return TALLY_OK;
	if (live->resolver)
		resolver_forget_epochs(live->resolver);
	return machine_finish(machine, err);
}

static size_t events_of(const struct perfdata_reader *reader)
{
	size_t count;
	(void)perfdata_reader_events(reader, &count);
	return count;
}

static bool can_be_live(const struct perfdata_reader *reader)
{
	size_t count;
	const struct perfdata_event *events = perfdata_reader_events(reader, &count);
	for (size_t i = 0; i < count; i++)
		if (!events[i].layout.sample_id_all || !(events[i].attr.sample_type & SAMPLE_TIME) ||
			ATTR_HAS(&events[i].attr, DEFER_CALLCHAIN) ||
			/* The records that name cgroups follow later in the stream than samples that refer to them. */
			(events[i].attr.sample_type & SAMPLE_CGROUP))
			return false;
	return count > 0;
}

static enum tally_status live_records_read_first(struct live_records *live, struct tally_error *err)
{
	enum tally_status status = read_batch(live, err);
	if (status == TALLY_OK && !can_be_live(live->reader))
		return error_set(err, TALLY_UNSUPPORTED, "the stream must be read to its end first");
	if (status == TALLY_OK)
		status = sideband_create_machine(live->reader, &live->sideband->machine, err);
	if (status == TALLY_OK)
		status = machine_finish(live->sideband->machine, err);
	return status == TALLY_OK ? apply_batch(live, err) : status;
}

enum tally_status live_records_create(
	struct perfdata_reader *reader, struct sideband *sideband, struct live_records **live, struct tally_error *err)
{
	struct live_records *l = calloc(1, sizeof(*l));
	if (!l)
		return error_nomem(err);
	l->reader = reader;
	l->sideband = sideband;
	*sideband = (struct sideband){0};
	enum tally_status status = time_order_create(reader, &l->order, err);
	if (status == TALLY_OK)
		status = live_records_read_first(l, err);
	if (status != TALLY_OK) {
		live_records_destroy(l);
		sideband_deinit(sideband);
		return status;
	}
	perfdata_reader_pass(reader);
	l->event_count = events_of(reader);
	*live = l;
	return TALLY_OK;
}

/* An error is permanent: later calls repeat it, and no record of its batch is returned. */
static enum tally_status end_with(struct live_records *live, enum tally_status status, const struct tally_error *err)
{
	live->batch.len = live->next = 0;
	live->end_status = status;
	if (err)
		live->end_error = *err;
	return err ? status
		   : error_set(
			     &live->end_error, status, "the stream cannot be read any further after an earlier error");
}

enum tally_status live_records_next(struct live_records *live, struct time_order_item *item, struct tally_error *err)
{
	while (live->next >= live->batch.len) {
		if (live->end_status != TALLY_OK) {
			if (live->end_status != TALLY_END && err)
				*err = live->end_error;
			return live->end_status;
		}
		enum tally_status status = read_batch(live, err);
		if (status == TALLY_OK && events_of(live->reader) != live->event_count)
			status = error_set(
				err, TALLY_UNSUPPORTED, "the stream describes an event after its first records");
		if (status == TALLY_OK)
			status = apply_batch(live, err);
		if (status != TALLY_OK)
			return end_with(live, status, err);
	}
	*item = live->batch.items[live->next++];
	return TALLY_OK;
}

bool live_records_is_drained(const struct live_records *live)
{
	return live->next >= live->batch.len;
}

uint64_t live_records_late(const struct live_records *live)
{
	return time_order_late(live->order);
}
