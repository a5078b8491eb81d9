/* SPDX-License-Identifier: Apache-2.0 */
#include "view/timechart/timechart_words.h"

#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "view/page/xml_text.h"

#define TIMECHART_WORDS_NAME_CHARACTERS 64
#define TEXT_CHARACTERS			2000 /* Maximum length of a backtrace. */
/* Errors from here on are not seen by programs, for example ERESTARTSYS, and have no text. */
#define KERNELS_OWN 512

static const char *const words[SPAN_KINDS] = {
	[SPAN_RUNNING] = "running",
	[SPAN_WAITING] = "waiting for a CPU",
	[SPAN_BLOCKED] = "blocked on I/O",
	[SPAN_IDLE] = "idle",
	[SPAN_READ] = "reading",
	[SPAN_WRITE] = "writing",
	[SPAN_RECEIVE] = "receiving",
	[SPAN_SEND] = "sending",
	[SPAN_SYNC] = "syncing",
	[SPAN_POLL] = "polling",
	[SPAN_LOCK] = "waiting for a lock",
	[SPAN_DATA] = "waiting for data",
	[SPAN_SLEEP] = "sleeping",
};

void timechart_add_time(struct text *out, uint64_t ns)
{
	static const struct {
		uint64_t ns;
		const char *unit;
	} units[] = {{1000000000, "s"}, {1000000, "ms"}, {1000, "us"}};
	for (size_t i = 0; i < ARRAY_LEN(units); i++)
		if (ns >= units[i].ns) {
			text_fixed(out, (double)ns / (double)units[i].ns, 1);
			text_printf(out, " %s", units[i].unit);
			return;
		}
	text_printf(out, "%" PRIu64 " ns", ns);
}

void timechart_add_bytes(struct text *out, uint64_t bytes)
{
	static const char *const units[] = {"KB", "MB", "GB", "TB", "PB", "EB"};
	double scaled = (double)bytes / 1024;
	size_t unit = 0;
	if (bytes < 1024) {
		text_printf(out, "%" PRIu64 " bytes", bytes);
		return;
	}
	for (; scaled >= 1024; unit++)
		scaled /= 1024;
	text_fixed(out, scaled, 1);
	text_printf(out, " %s", units[unit]);
}

void timechart_add_track(
	struct text *out, const struct timechart_picture *picture, uint32_t track, size_t max_characters)
{
	if (track >= picture->tracks->tracks.len) {
		text_str(out, "?");
		return;
	}
	const struct track *of = &picture->tracks->tracks.items[track];
	if (of->kind == TRACK_CPU) {
		text_printf(out, "CPU %" PRId32, of->id);
		return;
	}
	struct tally_str name = tracks_last_name(picture->tracks, of);
	xml_text_cut(out, name, max_characters);
	text_printf(out, "%s%" PRId32, name.len ? " " : "", of->id);
}

static void add_backtrace(struct text *out, const struct timechart_picture *picture, const char *head, uint32_t text)
{
	if (text == INTERN_NONE)
		return;
	text_printf(out, "\n%s\n", head);
	xml_text_cut(out, intern_get(&picture->tracks->strings, text), TEXT_CHARACTERS);
}

static void add_io(struct text *out, const struct track_span *span)
{
	if (span->detail != TRACK_MIXED)
		text_printf(out, ", descriptor %" PRIu32, span->detail);
	if (span->bytes) {
		text_str(out, ", ");
		timechart_add_bytes(out, span->bytes);
	}
	char buffer[128];
	if (span->error)
		text_printf(out, ", %s",
			span->error < KERNELS_OWN ? error_describe(span->error, buffer, sizeof(buffer)) : "failed");
}

static void add_running(struct text *out, const struct timechart_picture *picture, const struct track *of,
	const struct track_span *span)
{
	if (span->detail == TRACK_MIXED) {
		text_str(out, of->kind == TRACK_CPU ? " by several tasks" : " on several CPUs");
	} else if (of->kind == TRACK_CPU) {
		text_str(out, " by ");
		timechart_add_track(out, picture, span->detail, TIMECHART_WORDS_NAME_CHARACTERS);
	} else {
		text_printf(out, " on CPU %" PRIu32, span->detail);
	}
}

static void add_details(struct text *out, const struct timechart_picture *picture, const struct track *of,
	const struct track_span *span)
{
	if (span->kind == SPAN_RUNNING) {
		add_running(out, picture, of, span);
	} else if (span->kind == SPAN_IDLE && span->detail != TRACK_MIXED) {
		text_printf(out, " in state %" PRIu32, span->detail);
	} else if (span->kind == SPAN_WAITING && span->detail != TRACK_MIXED) {
		text_str(out, ", woken by ");
		timechart_add_track(out, picture, span->detail, TIMECHART_WORDS_NAME_CHARACTERS);
	} else if (span->kind >= SPAN_IO_FIRST) {
		add_io(out, span);
	}
}

void timechart_add_span(
	struct text *out, const struct timechart_picture *picture, uint32_t track, const struct track_span *span)
{
	const struct track *of = &picture->tracks->tracks.items[track];
	timechart_add_track(out, picture, track, TIMECHART_WORDS_NAME_CHARACTERS);
	text_printf(out, " %s ", words[span->kind]);
	timechart_add_time(out, span->held_ns);
	add_details(out, picture, of, span);
	if (span->count > 1) {
		text_printf(out, " (%" PRIu32 " times in ", span->count);
		timechart_add_time(out, span->end_ns - span->start_ns);
		text_char(out, ')');
	}
	text_str(out, " at ");
	timechart_add_time(out, span->start_ns - picture->tracks->start_ns);
	if (span->is_cut)
		text_str(out, span->end_ns == picture->tracks->end_ns ? ", goes on" : ", began before");
	const char *head = span->kind == SPAN_WAITING	 ? "woken in:"
			   : span->kind >= SPAN_IO_FIRST ? "called in:"
							 : "left the CPU in:";
	add_backtrace(out, picture, head, span->text);
}

void timechart_add_arrow(struct text *out, const struct timechart_picture *picture, const struct track_arrow *arrow)
{
	if (arrow->from == TRACK_NONE)
		text_str(out, "an interrupt");
	else
		timechart_add_track(out, picture, arrow->from, TIMECHART_WORDS_NAME_CHARACTERS);
	text_str(out, " wakes ");
	timechart_add_track(out, picture, arrow->to, TIMECHART_WORDS_NAME_CHARACTERS);
	text_str(out, " at ");
	timechart_add_time(out, arrow->time_ns - picture->tracks->start_ns);
	add_backtrace(out, picture, "in:", arrow->text);
}
