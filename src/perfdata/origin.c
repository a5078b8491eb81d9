/* SPDX-License-Identifier: Apache-2.0 */
#include "perfdata/origin.h"

#include "base/array.h"
#include "perfdata/feature_read.h"

#define ORIGIN_BYTES_MAX 4096u /* Maximum size of the section. */
/* "tallyorg" as a little-endian machine writes it. */
#define ORIGIN_MAGIC	UINT64_C(0x67726f796c6c6174)
#define ORIGIN_TEXT_MAX 1300u /* Maximum length of each text as it is written. */

static const struct {
	struct tally_str name;
	const char *phrase;
} origin_kinds[] = {
	[ORIGIN_EVENTS] = {{"events", 6}, "from perf events"},
	[ORIGIN_TIMER] = {{"timer", 5}, "from timers of CPU time, not from perf events"},
	[ORIGIN_SIMULATED] = {{"simulated", 9}, "simulated, not measured"},
	[ORIGIN_RUSAGE] = {{"rusage", 6}, "not from perf events"},
	[ORIGIN_UNKNOWN] = {{"unknown", 7}, "not from perf events, but from a source that this version does not know"},
};

void origin_set(struct perfdata_features *features, struct perfdata_origin origin)
{
	features->origin = origin;
	features->present[FEATURE_ORIGIN / 64] |= UINT64_C(1) << FEATURE_ORIGIN % 64;
}

struct perfdata_origin origin_of(const struct perfdata_features *features)
{
	if (!feature_is_present(features, FEATURE_ORIGIN))
		return (struct perfdata_origin){.kind = ORIGIN_EVENTS};
	if (features->origin.kind == ORIGIN_EVENTS) /* The section is damaged. */
		return (struct perfdata_origin){.kind = ORIGIN_UNKNOWN};
	return features->origin;
}

struct tally_str origin_kind_name(enum perfdata_origin_kind kind)
{
	return origin_kinds[kind].name;
}

static void origin_put_source(struct text *out, const struct perfdata_origin *origin)
{
	text_str(out, origin_kinds[origin->kind].phrase);
	if (origin->by.len > 0) {
		text_str(out, " (");
		text_visible(out, origin->by);
		text_char(out, ')');
	}
}

void origin_text(struct text *out, const struct perfdata_origin *origin)
{
	if (origin->kind == ORIGIN_EVENTS)
		return;
	text_str(out, origin->kind == ORIGIN_RUSAGE ? "counts are " : "samples are ");
	origin_put_source(out, origin);
	if (origin->not_seen.len > 0) {
		text_str(out, "; they do not show ");
		text_visible(out, origin->not_seen);
	}
	if (origin->changed.len > 0) {
		text_str(out, "; ");
		text_visible(out, origin->changed);
	}
}

void origin_comment(struct text *out, const struct perfdata_features *features)
{
	const struct perfdata_origin origin = origin_of(features);
	if (origin.kind == ORIGIN_EVENTS)
		return;
	text_str(out, "# ");
	origin_text(out, &origin);
	text_char(out, '\n');
}

void origin_difference(struct text *out, const struct origin_named *a, const struct origin_named *b)
{
	const struct perfdata_origin one = origin_of(a->features), other = origin_of(b->features);
	if (one.kind == other.kind && str_equal(one.by, other.by))
		return;
	text_str(out, "samples of ");
	text_visible(out, a->name);
	text_str(out, " are ");
	origin_put_source(out, &one);
	text_str(out, ", and those of ");
	text_visible(out, b->name);
	text_str(out, " are ");
	origin_put_source(out, &other);
	text_str(out, ": they may differ for that reason alone");
}

void origin_json(struct json *j, const struct perfdata_features *features)
{
	const struct perfdata_origin origin = origin_of(features);
	if (origin.kind == ORIGIN_EVENTS)
		return;
	json_object(j, "origin");
	json_string(j, "kind", origin_kind_name(origin.kind));
	json_string(j, "by", origin.by);
	json_string(j, "not_seen", origin.not_seen);
	if (origin.changed.len > 0)
		json_string(j, "changed", origin.changed);
	json_object_end(j);
}

/* The section of a later version is copied unless its bytes were removed (pack --scrub). */
void origin_encode(struct writer *w, const struct perfdata_features *features)
{
	const struct tally_bytes *raw = &features->raw[FEATURE_ORIGIN];
	bool is_known = features->origin.kind != ORIGIN_EVENTS && features->origin.kind != ORIGIN_UNKNOWN;
	if (!is_known && (raw->len > 0 || !feature_is_present(features, FEATURE_ORIGIN))) {
		writer_bytes(w, raw->data, raw->len);
		return;
	}
	const struct perfdata_origin none = {.kind = ORIGIN_UNKNOWN};
	const struct perfdata_origin *origin = is_known ? &features->origin : &none;
	const struct tally_str lines[] = {
		origin_kind_name(origin->kind), origin->by, origin->not_seen, origin->changed};
	size_t count = origin->changed.len > 0 ? ARRAY_LEN(lines) : ARRAY_LEN(lines) - 1;
	for (size_t i = 0; i < count; i++) {
		if (i > 0)
			writer_u8(w, '\n');
		/* Each text becomes a single line. */
		for (size_t at = 0; at < lines[i].len && at < ORIGIN_TEXT_MAX; at++)
			writer_u8(w,
				lines[i].data[at] == '\n' || lines[i].data[at] == 0 ? ' ' : (uint8_t)lines[i].data[at]);
	}
	writer_u8(w, 0);
}

void origin_put_record(struct writer *w, struct tally_bytes section)
{
	size_t len = MIN(section.len, (size_t)ORIGIN_BYTES_MAX);
	size_t bytes = RECORD_HEADER_BYTES + sizeof(uint64_t) + (len + 7) / 8 * 8;
	size_t padding = bytes % 16 == 0 ? sizeof(uint64_t) : 0;
	writer_u32(w, RECORD_FINISHED_ROUND);
	writer_u16(w, 0);
	writer_u16(w, (uint16_t)(bytes + padding));
	writer_u64(w, ORIGIN_MAGIC);
	writer_bytes(w, section.data, len);
	writer_zeros(w, bytes + padding - RECORD_HEADER_BYTES - sizeof(uint64_t) - len);
}

bool origin_record_section(const struct record *record, struct tally_bytes *section)
{
	if (record->type != RECORD_FINISHED_ROUND || record->bytes.len <= RECORD_HEADER_BYTES)
		return false;
	struct cursor c = cursor_make(record->bytes, record->swap);
	cursor_skip(&c, RECORD_HEADER_BYTES);
	if (cursor_u64(&c) != ORIGIN_MAGIC)
		return false;
	*section = cursor_bytes(&c, cursor_left(&c));
	return true;
}

static struct tally_str origin_take_line(struct tally_str *rest)
{
	const char *end = rest->len > 0 ? memchr(rest->data, '\n', rest->len) : NULL;
	struct tally_str line = {rest->data, end ? (size_t)(end - rest->data) : rest->len};
	size_t taken = end ? line.len + 1 : line.len;
	*rest = (struct tally_str){rest->data + taken, rest->len - taken};
	return line;
}

/* Later versions may name other kinds and have more lines. */
enum feature_result feature_read_origin(struct cursor *c, const struct feature_input *in)
{
	size_t size = cursor_left(c);
	struct tally_str rest = cursor_text(c, size);
	if (rest.len == size || size > ORIGIN_BYTES_MAX) /* The text is not terminated, or the section is too long. */
		return FEATURE_DAMAGED;
	struct tally_str name = origin_take_line(&rest);
	if (name.len == 0)
		return FEATURE_DAMAGED;
	struct perfdata_origin origin = {.kind = ORIGIN_UNKNOWN};
	for (int kind = ORIGIN_TIMER; kind < ORIGIN_UNKNOWN; kind++)
		if (str_equal(name, origin_kind_name((enum perfdata_origin_kind)kind)))
			origin.kind = (enum perfdata_origin_kind)kind;
	origin.by = origin_take_line(&rest);
	origin.not_seen = origin_take_line(&rest);
	origin.changed = origin_take_line(&rest);
	in->features->origin = origin;
	return FEATURE_GOOD;
}
