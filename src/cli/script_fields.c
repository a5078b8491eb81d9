#include "cli/script_fields.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static const struct {
	const char *name;
	uint32_t field;
	uint64_t needs; /* SAMPLE_* */
} field_names[] = {
	{"comm", FIELD_COMM, 0},
	{"tid", FIELD_TID, SAMPLE_TID},
	{"pid", FIELD_PID, SAMPLE_TID},
	{"time", FIELD_TIME, SAMPLE_TIME},
	{"cpu", FIELD_CPU, SAMPLE_CPU},
	{"event", FIELD_EVENT, 0},
	{"trace", FIELD_TRACE, 0},
	{"ip", FIELD_IP, SAMPLE_IP},
	{"sym", FIELD_SYM, 0},
	{"dso", FIELD_DSO, 0},
	{"addr", FIELD_ADDR, SAMPLE_ADDR},
	{"symoff", FIELD_SYMOFF, 0},
	{"period", FIELD_PERIOD, 0},
	{"srcline", FIELD_SRCLINE, 0},
};

#define FIELD_NAME_COUNT (sizeof(field_names) / sizeof(field_names[0]))

/* What perf prints when nothing was asked for. */
static uint32_t default_fields(const struct perf_attr *attr)
{
	uint32_t fields = FIELD_COMM | FIELD_TID | FIELD_CPU | FIELD_TIME | FIELD_EVENT;
	if (attr->type == EVENT_TRACEPOINT)
		fields |= FIELD_TRACE;
	else
		fields |= FIELD_PERIOD;
	bool has_ip = attr->type != EVENT_TRACEPOINT || (attr->sample_type & SAMPLE_CALLCHAIN);
	if (has_ip)
		fields |= FIELD_IP | FIELD_SYM | FIELD_DSO | FIELD_SYMOFF;
	if (!(attr->sample_type & SAMPLE_CPU))
		fields &= ~(uint32_t)FIELD_CPU;
	if (!(attr->sample_type & SAMPLE_TIME))
		fields &= ~(uint32_t)FIELD_TIME;
	if (!(attr->sample_type & SAMPLE_TID))
		fields &= ~(uint32_t)FIELD_TID;
	return fields;
}

static enum tally_status missing_attribute(
	const struct perfdata_event *event, const char *name, struct tally_error *err)
{
	char upper[16];
	size_t i = 0;
	for (; name[i] && i + 1 < sizeof(upper); i++)
		upper[i] = (char)(name[i] - ('a' <= name[i] && name[i] <= 'z' ? 32 : 0));
	upper[i] = '\0';
	return error_set(err, TALLY_INVALID,
		"Samples for '%s' event do not have %s attribute set. Cannot print '%s' field.", event->name.data,
		upper, name);
}

/* "trace:" and the like limit a list of fields to one kind of event. */
static bool type_matches(struct tally_str type, const struct perf_attr *attr)
{
	if (str_equal(type, STR("hw")))
		return attr->type == EVENT_HARDWARE || attr->type == EVENT_HW_CACHE;
	if (str_equal(type, STR("sw")))
		return attr->type == EVENT_SOFTWARE;
	if (str_equal(type, STR("trace")))
		return attr->type == EVENT_TRACEPOINT;
	return str_equal(type, STR("raw")) && attr->type == EVENT_RAW;
}

static bool is_type(struct tally_str type)
{
	return str_equal(type, STR("hw")) || str_equal(type, STR("sw")) || str_equal(type, STR("trace")) ||
	       str_equal(type, STR("raw"));
}

static enum tally_status apply_field(
	uint32_t *fields, struct tally_str word, const struct perfdata_event *event, char sign, struct tally_error *err)
{
	for (size_t i = 0; i < FIELD_NAME_COUNT; i++) {
		if (!str_equal(word, str_from(field_names[i].name)))
			continue;
		uint64_t needs = field_names[i].needs;
		if (sign == '-') {
			*fields &= ~field_names[i].field;
			return TALLY_OK;
		}
		if (needs && !(event->attr.sample_type & needs))
			return missing_attribute(event, field_names[i].name, err);
		*fields |= field_names[i].field;
		return TALLY_OK;
	}
	return error_set(err, TALLY_UNSUPPORTED, "field '%.*s' is not supported yet, or no field at all", (int)word.len,
		word.data);
}

static enum tally_status apply_list(
	const char *text, const struct perfdata_event *event, uint32_t *fields, struct tally_error *err)
{
	struct tally_str list = str_from(text);
	struct tally_str type = {NULL, 0};
	const char *colon = memchr(list.data, ':', list.len);
	if (colon && is_type((struct tally_str){list.data, (size_t)(colon - list.data)})) {
		type = (struct tally_str){list.data, (size_t)(colon - list.data)};
		list = (struct tally_str){colon + 1, list.len - type.len - 1};
	}
	if (type.data && !type_matches(type, &event->attr))
		return TALLY_OK;
	if (list.len == 0 || (list.data[0] != '+' && list.data[0] != '-'))
		*fields = 0;
	struct tally_str word;
	while (str_next(&list, ',', &word)) {
		char sign = word.len > 0 && (word.data[0] == '+' || word.data[0] == '-') ? word.data[0] : '+';
		if (word.len > 0 && (word.data[0] == '+' || word.data[0] == '-'))
			word = (struct tally_str){word.data + 1, word.len - 1};
		enum tally_status status = apply_field(fields, word, event, sign, err);
		if (status != TALLY_OK)
			return status;
	}
	return TALLY_OK;
}

enum tally_status script_fields_choose(
	const char *list, const struct perfdata_reader *reader, uint32_t **out, struct tally_error *err)
{
	size_t count;
	const struct perfdata_event *events = perfdata_reader_events(reader, &count);
	uint32_t *fields = calloc(count ? count : 1, sizeof(*fields));
	if (!fields)
		return error_nomem(err);
	enum tally_status status = TALLY_OK;
	for (size_t i = 0; i < count && status == TALLY_OK; i++) {
		fields[i] = default_fields(&events[i].attr);
		if (list)
			status = apply_list(list, &events[i], &fields[i], err);
	}
	if (status != TALLY_OK)
		free(fields);
	else
		*out = fields;
	return status;
}
