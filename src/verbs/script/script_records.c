/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/script/script_records.h"

#include "abi/record_print.h"

bool script_records_init(
	struct script_records *records, uint32_t shown, struct perfdata_reader *reader, struct script_printer *printer)
{
	*records = (struct script_records){.shown = shown, .reader = reader, .printer = printer};
	intern_init(&records->strings);
	uint32_t idle;
	return intern_add(&records->strings, "swapper", strlen("swapper"), &idle) &&
	       map_u64_set(&records->names, 0, idle);
}

void script_records_deinit(struct script_records *records)
{
	map_u64_deinit(&records->names);
	intern_deinit(&records->strings);
}

static uint32_t script_records_class_of(uint32_t type)
{
	switch (type) {
	case RECORD_COMM:
	case RECORD_FORK:
	case RECORD_EXIT:
		return SHOWN_TASK;
	case RECORD_MMAP:
	case RECORD_MMAP2:
		return SHOWN_MMAP;
	case RECORD_SWITCH:
	case RECORD_SWITCH_CPU_WIDE:
		return SHOWN_SWITCH;
	case RECORD_NAMESPACES:
		return SHOWN_NAMESPACE;
	case RECORD_CGROUP:
		return SHOWN_CGROUP;
	case RECORD_LOST:
		return SHOWN_LOST;
	case RECORD_FINISHED_ROUND:
		return SHOWN_ROUND;
	case RECORD_KSYMBOL:
		return SHOWN_BPF | SHOWN_TEXT_POKE;
	case RECORD_BPF_EVENT:
		return SHOWN_BPF;
	case RECORD_TEXT_POKE:
		return SHOWN_TEXT_POKE;
	default:
		return 0;
	}
}

bool script_records_is_shown(const struct script_records *records, uint32_t type)
{
	return (script_records_class_of(type) & records->shown) != 0;
}

static bool script_records_set_name(struct script_records *records, uint32_t tid, struct tally_str name)
{
	uint32_t id;
	struct text visible = {0};
	text_visible(&visible, name);
	bool ok = !visible.failed &&
		  intern_add(&records->strings, visible.data ? visible.data : "", visible.len, &id) &&
		  map_u64_set(&records->names, tid, id);
	text_deinit(&visible);
	return ok;
}

/* A new thread inherits its parent's name. It has no name if the parent is unknown. */
static bool script_records_inherit_name(struct script_records *records, const struct record_task *task)
{
	uint64_t id;
	return !map_u64_find(&records->names, task->ptid, &id) || map_u64_set(&records->names, task->tid, id);
}

/* Sets the pid and tid that the record itself contains; other records have them only in their sample_id trailer. */
static void owner_of(const struct record_fields *fields, struct sample *who)
{
	switch (fields->type) {
	case RECORD_COMM:
		who->pid = fields->comm.pid;
		who->tid = fields->comm.tid;
		return;
	case RECORD_FORK:
	case RECORD_EXIT:
		who->pid = fields->task.pid;
		who->tid = fields->task.tid;
		return;
	case RECORD_MMAP:
	case RECORD_MMAP2:
		who->pid = fields->mmap.pid;
		who->tid = fields->mmap.tid;
		return;
	case RECORD_NAMESPACES:
		who->pid = fields->namespaces.pid;
		who->tid = fields->namespaces.tid;
		return;
	default:
		return;
	}
}

static struct tally_str script_records_name_of(
	const struct script_records *records, uint32_t tid, char *room, size_t room_bytes)
{
	uint64_t id;
	if (map_u64_find(&records->names, tid, &id))
		return intern_get(&records->strings, (uint32_t)id);
	struct text number = text_over(room, room_bytes);
	text_char(&number, ':');
	text_i64(&number, (int32_t)tid);
	return (struct tally_str){room, number.len};
}

static void script_records_print_row(
	struct script_records *records, struct text *t, const struct record *record, const struct record_fields *fields)
{
	size_t count;
	const struct perfdata_event *events = perfdata_reader_events(records->reader, &count);
	const struct perfdata_event *event = perfdata_reader_event_of(records->reader, record);
	if (!event && count == 0)
		return;
	struct record_print_hints hints = {.is_listing = true};
	struct sample sample = {.present = SAMPLE_CPU};
	struct sample owner;
	if (perfdata_reader_sample_id(records->reader, record, &hints.trailer)) {
		sample.pid = hints.trailer.pid;
		sample.tid = hints.trailer.tid;
		sample.cpu = hints.trailer.cpu;
		sample.time = hints.trailer.time;
		owner = sample;
		owner_of(fields, &owner);
	} else {
		sample.pid = sample.tid = UINT32_MAX;
		owner_of(fields, &sample);
		if (record->type == RECORD_FORK || record->type == RECORD_EXIT)
			sample.time = fields->task.time;
		owner = sample;
	}
	char room[16];
	struct script_row row = {
		.event = event ? event : &events[0],
		.record = record,
		.sample = &sample,
		.comm = script_records_name_of(records, owner.tid, room, sizeof(room)),
	};
	script_print_start(records->printer, t, &row);
	record_print(t, record, fields, &hints);
}

bool script_records_print(struct script_records *records, struct text *t, const struct record *record)
{
	struct record_fields fields;
	if (records->shown == 0 || script_records_class_of(record->type) == 0 ||
		record_decode(record, &fields, NULL) != TALLY_OK)
		return true;
	bool ok = true;
	if (record->type == RECORD_COMM)
		ok = script_records_set_name(records, fields.comm.tid, fields.comm.comm);
	else if (record->type == RECORD_FORK)
		ok = script_records_inherit_name(records, &fields.task);
	if (!ok || !t || !script_records_is_shown(records, record->type))
		return ok;
	if (record->type == RECORD_FINISHED_ROUND) {
		struct record_print_hints hints = {0};
		record_print(t, record, &fields, &hints);
	} else {
		script_records_print_row(records, t, record, &fields);
	}
	return !t->failed;
}
