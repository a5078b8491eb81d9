/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/facet_values.h"

#include <ctype.h>
#include <inttypes.h>

#include "abi/data_src.h"
#include "abi/transaction.h"
#include "analysis/wait_events.h"

static uint32_t facet_values_add_text(struct facet_values *v)
{
	text_visible_from(&v->text, 0);
	return profile_builder_string(v->builder, (struct tally_str){v->text.data ? v->text.data : "", v->text.len});
}

typedef void (*word_printer)(struct text *t, uint64_t word);

static void facet_values_set_text(struct facet_values *v, struct profile_value *value, word_printer print)
{
	text_clear(&v->text);
	print(&v->text, value->number);
	value->text = facet_values_add_text(v);
}

static void set_cgroup(struct facet_values *v, struct profile_value *value)
{
	struct tally_str path = STR("N/A");
	if (value->number && !cgroup_names_find(v->cgroups, value->number, &path))
		path = STR("unknown");
	value->text = profile_builder_string(v->builder, path);
}

/* Replaces numbers in thread names by <N>, so that threads whose names differ only in numbers merge. ":<N>" stands for
 * a thread without a name, ":-<N>" for a sample without a thread. */
static void set_comm_nodigit(struct facet_values *v, struct profile_value *value)
{
	struct tally_str comm;
	if (value->number == FACET_NOBODY)
		comm = STR(":-1");
	else if (value->number == INTERN_NONE)
		comm = STR(":1");
	else
		comm = machine_string(v->machine, (uint32_t)value->number);
	text_clear(&v->text);
	for (size_t i = 0; i < comm.len; i++) {
		if (!isdigit((unsigned char)comm.data[i]))
			text_char(&v->text, comm.data[i]);
		else if (i == 0 || !isdigit((unsigned char)comm.data[i - 1]))
			text_str(&v->text, "<N>");
	}
	value->number = 0;
	value->text = facet_values_add_text(v);
}

static void set_frame(const struct facet_values *v, struct profile_value *value, const uint32_t *frames)
{
	uint32_t frame = frames[value->number];
	value->number = v->first_ips[frame];
	value->frame = v->profile_frames[frame];
}

/* Files sort after memory that does not belong to a file. */
static void facet_values_set_memory(const struct facet_values *v, struct profile_value *value, const uint32_t *frames)
{
	uint32_t memory = (uint32_t)(value->number >> 32), file = memory & ~FACET_MEMORY_FILE;
	value->frame = v->profile_frames[frames[(uint32_t)value->number]];
	value->number = memory & FACET_MEMORY_FILE ? UINT64_C(1) << 32 | machine_file_rank(v->machine, file) : memory;
}

/* Returns the address that is shown if the frame has no symbol: at run time for the target of a branch, otherwise in
 * the binary. */
static uint64_t place_number(const struct facet_values *v, uint32_t frame)
{
	return v->options->by_branch ? v->first_ips[frame] : resolved_frame_get(v->frames, frame).address;
}

/* Prints device and inode, as in "3/0xeffffffb". */
static void set_namespace(struct facet_values *v, struct profile_value *value)
{
	struct thread_namespace space = thread_namespaces_get(v->namespaces, (uint32_t)value->number);
	text_clear(&v->text);
	text_printf(&v->text, "%" PRIu64 "/0x%" PRIx64, space.dev, space.inode);
	value->text = facet_values_add_text(v);
}

static void facet_values_set_type(
	struct facet_values *v, enum profile_facet facet, struct profile_value *value, uint32_t frame)
{
	const struct frame_types types = {v->machine, v->store};
	struct resolved_frame resolved = resolved_frame_get(v->frames, frame);
	struct data_access access;
	if (frame_types_find(&types, &resolved, &access, NULL) != TALLY_OK)
		v->out_of_memory = true;
	text_clear(&v->text);
	if (facet == FACET_TYPE)
		text_str(&v->text, frame_type_name(&access));
	else
		frame_type_offset_text(&access, &v->text);
	value->text = facet_values_add_text(v);
	value->number = access.kind == DATA_ACCESS_TYPED ? access.offset : 0;
}

static void finish_value(
	struct facet_values *v, enum profile_facet facet, struct profile_value *value, const uint32_t *frames)
{
	switch ((int)facet) {
	case FACET_TRANSACTION:
		facet_values_set_text(v, value, transaction_print);
		break;
	case FACET_CGROUP:
		set_cgroup(v, value);
		break;
	case FACET_NAMESPACE:
		set_namespace(v, value);
		break;
	case FACET_COMM_NODIGIT:
		set_comm_nodigit(v, value);
		break;
	case FACET_PLACE:
		value->frame = v->profile_frames[frames[value->number]];
		value->number = place_number(v, frames[value->number]);
		break;
	case FACET_TYPE:
	case FACET_TYPE_OFFSET:
		facet_values_set_type(v, facet, value, frames[value->number]);
		break;
	case FACET_BRANCH_FROM:
	case FACET_BRANCH_TO:
	case FACET_DATA:
	case FACET_CODE:
		set_frame(v, value, frames);
		break;
	case FACET_DATA_MEMORY:
		facet_values_set_memory(v, value, frames);
		break;
	case FACET_MEM_LEVEL:
		facet_values_set_text(v, value, data_src_level);
		break;
	case FACET_MEM_TLB:
		facet_values_set_text(v, value, data_src_tlb);
		break;
	case FACET_MEM_LOCK:
		facet_values_set_text(v, value, data_src_locked);
		break;
	case FACET_MEM_SNOOP:
		facet_values_set_text(v, value, data_src_snoop);
		break;
	case FACET_MEM_BLOCK:
		facet_values_set_text(v, value, data_src_blocked);
		break;
	case FACET_STATE:
		value->text = profile_builder_string(v->builder, wait_sample_state_name((unsigned)value->number));
		break;
	default:
		break;
	}
}

/* Sets the text to the waker's name, by which rows are ordered. The number keeps only whether the sample is the sum of
 * several waits. */
static void facet_values_set_waker(
	struct facet_values *v, const struct sample_facets *facets, struct profile_value *value)
{
	struct tally_str name = intern_get(&facets->wakers, (uint32_t)value->number);
	text_clear(&v->text);
	text_bytes(&v->text, name.data, name.len);
	value->number >>= 32;
	value->text = facet_values_add_text(v);
}

static bool facet_values_find_field(const struct facet_values *v, struct tally_bytes raw, struct tally_str name,
	enum tracepoint_part *part, unsigned *index)
{
	for (*part = TRACEPOINT_COMMON; *part <= TRACEPOINT_OWN; ++*part)
		if (tracepoint_find(v->tracepoints, raw, *part, name, index))
			return true;
	return false;
}

/* Returns whether the field is shown for the event that wrote the payload (field->events). */
static bool is_kept(const struct facet_values *v, const struct replay_field *field, struct tally_bytes raw)
{
	uint64_t id;
	if (!tracepoint_payload_id(v->tracepoints, raw, &id))
		return false;
	for (size_t i = 0; i < v->event_count && i < 64; i++)
		if (field->events >> i & 1 && v->events[i].attr.config == id)
			return true;
	return false;
}

/* Returns a number that orders fields as perf does, which compares their bytes as they are stored; 0 for texts. */
static uint64_t stored_order(const struct tracepoint_value *value, bool is_big_endian)
{
	unsigned bytes = value->field.bytes;
	if (value->field.form == TRACEPOINT_TEXT || bytes == 0)
		return 0;
	return is_big_endian ? value->numbers[0] : __builtin_bswap64(value->numbers[0]) >> (64 - 8 * bytes);
}

static void set_field(
	struct facet_values *v, struct tally_bytes raw, const struct replay_field *field, struct profile_value *to)
{
	struct tracepoint_value value;
	enum tracepoint_part part;
	unsigned index;
	if (!v->tracepoints || !is_kept(v, field, raw) ||
		!facet_values_find_field(v, raw, field->name, &part, &index) ||
		!tracepoint_value_at(v->tracepoints, raw, part, index, &value))
		return;
	to->number = stored_order(&value, v->is_big_endian);
	text_clear(&v->text);
	if (v->options->with_raw_traces)
		text_bytes(&v->text, value.text.data, value.text.len);
	else
		(void)tracepoint_field_print(v->tracepoints, raw, part, index, &v->text);
	to->text = facet_values_add_text(v);
}

/* payload is RESOLVE_NONE if the sample is not of a tracepoint. */
static void set_trace(struct facet_values *v, uint32_t payload, struct tally_bytes raw, struct profile_value *to)
{
	text_clear(&v->text);
	if (payload == RESOLVE_NONE) {
		if (v->options->tells_no_trace) {
			text_str(&v->text, "N/A");
			to->text = facet_values_add_text(v);
		}
		return;
	}
	if (v->tracepoints && v->options->with_raw_traces)
		(void)tracepoint_print_raw(v->tracepoints, raw, &v->text);
	else if (v->tracepoints)
		(void)tracepoint_print(v->tracepoints, raw, &v->text);
	to->text = facet_values_add_text(v);
}

static struct profile_value no_value(void)
{
	return (struct profile_value){.text = PROFILE_NONE, .frame = PROFILE_NONE};
}

/* Values are in the order of the bits in facets->kept (enum profile_facet): the trace comes first, tracepoint fields
 * come last. */
static uint32_t facet_values_add_row(
	struct facet_values *v, const struct sample_facets *facets, const uint32_t *frames, size_t row)
{
	const uint64_t *words = id_table_key(&facets->rows, (uint32_t)row);
	uint32_t payload = facets->has_payload ? (uint32_t)words[facets->number_count] : RESOLVE_NONE;
	struct tally_str stored = payload == RESOLVE_NONE ? STR("") : intern_get(&facets->payloads, payload);
	struct tally_bytes raw = {(const uint8_t *)stored.data, stored.len};
	struct profile_value values[PROFILE_MAX_FACETS];
	unsigned count = 0;
	if (facets->kept & UINT64_C(1) << FACET_TRACE) {
		values[count] = no_value();
		set_trace(v, payload, raw, &values[count]);
		count++;
	}
	for (unsigned i = 0; i < facets->number_count; i++, count++) {
		values[count] = no_value();
		values[count].number = words[i];
		if (facets->numbers[i] == FACET_WAKER)
			facet_values_set_waker(v, facets, &values[count]);
		else
			finish_value(v, (enum profile_facet)facets->numbers[i], &values[count], frames);
	}
	for (size_t i = 0; i < v->options->field_count; i++, count++) {
		values[count] = no_value();
		if (payload != RESOLVE_NONE)
			set_field(v, raw, &v->options->fields[i], &values[count]);
	}
	return profile_builder_facets(v->builder, values);
}

void facet_values_add(
	struct facet_values *v, const struct sample_facets *facets, const uint32_t *frames, uint32_t *rows)
{
	for (size_t i = 0; i < facets->rows.len; i++)
		rows[i] = facet_values_add_row(v, facets, frames, i);
}
