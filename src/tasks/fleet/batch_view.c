/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/fleet/batch_view.h"

#include "base/array.h"
#include "base/error.h"
#include "tasks/comparing/match_notes.h"
#include "tasks/fleet/fleet_time.h"
#include "view/export/export_formats.h"
#include "view/flame/flame_svg.h"

void batch_view_span(const struct fleet_batch *batch, struct text *out)
{
	fleet_time_print(out, batch->begin_ns);
	text_str(out, " to ");
	fleet_time_print(out, batch->end_ns);
}

void batch_view_quality(const struct fleet_batch *batch, struct text *out)
{
	const struct profile *p = batch->profile;
	const struct fleet_losses *losses = &batch->losses;
	uint64_t samples = 0, named = 0;
	for (size_t i = 0; i < p->sample_count; i++) {
		samples += p->samples[i].count;
		if (p->frames[p->samples[i].leaf].function != PROFILE_NONE)
			named += p->samples[i].count;
	}
	text_u64_grouped(out, samples, ",");
	text_str(out, samples == 1 ? " sample, " : " samples, ");
	if (losses->lost_samples)
		text_u64_grouped(out, losses->lost_samples, ",");
	else
		text_str(out, "none");
	text_str(out, " lost");
	if (samples) {
		text_str(out, ", ");
		text_fixed(out, 100.0 * (double)named / (double)samples, 1);
		text_str(out, "% with symbols");
	}
	if (losses->wait_windows < losses->windows) {
		text_str(out, "; waits were measured in ");
		text_u64_grouped(out, losses->wait_windows, ",");
		text_str(out, " of ");
		text_u64_grouped(out, losses->windows, ",");
		text_str(out, " windows, time on the CPU in all: their sums cannot be compared");
	}
	if (losses->dropped_batches) {
		text_str(out, "; agents dropped ");
		text_u64_grouped(out, losses->dropped_batches, ",");
		text_str(out, " batches with ");
		text_u64_grouped(out, losses->dropped_samples, ",");
		text_str(out, " samples");
	}
}

static uint32_t find_view_event(const struct profile *p, struct tally_str name)
{
	for (uint32_t i = 0; i < p->event_count; i++)
		if (str_equal(profile_string(p, p->events[i].name), name))
			return i;
	return PROFILE_NONE;
}

static unsigned event_rank(struct tally_str name)
{
	if (profile_event_is_time(name) && !profile_event_is_waiting(name))
		return 0;
	return str_starts_with(name, STR("cycles")) || str_starts_with(name, STR("cpu-cycles")) ? 1 : 2;
}

/* Sets *event to the event to show, or to PROFILE_NONE for all if these are only one event of CPU time and events of
 * time off the CPU, which can be added up. */
static enum tally_status choose_event(
	const struct batch_view *view, const struct profile *p, uint32_t *event, struct tally_error *err)
{
	uint32_t first = PROFILE_NONE, sampled = 0, running = 0, waiting = 0;
	for (uint32_t i = 0; i < p->event_count; i++) {
		struct tally_str name = profile_string(p, p->events[i].name);
		if (p->events[i].sample_count == 0)
			continue;
		/* A store sorts events by name, so the first one need not be the most useful: CPU time and cycles are
		 * preferred. */
		if (first == PROFILE_NONE || event_rank(name) < event_rank(profile_string(p, p->events[first].name)))
			first = i;
		sampled++;
		waiting += profile_event_is_waiting(name);
		running += profile_event_is_time(name) && !profile_event_is_waiting(name);
	}
	*event = running == 1 && waiting > 0 && running + waiting == sampled ? PROFILE_NONE : first;
	if (view->event.len > 0)
		*event = find_view_event(p, view->event);
	if (view->event.len > 0 && *event == PROFILE_NONE)
		return error_set(err, TALLY_NOT_FOUND, "no sample of the event '%.*s' matches the query in that time",
			(int)MIN(view->event.len, LABEL_NAME_BYTES), view->event.data);
	if (sampled == 0)
		return error_set(err, TALLY_NOT_FOUND, "no sample matches the query in that time");
	return TALLY_OK;
}

/* Appends the events other than the shown one, like "12 samples of cycles, 3 samples of page-faults". */
static void batch_view_add_others(const struct profile *p, uint32_t event, struct text *out)
{
	const char *before = "";
	for (uint32_t i = 0; i < p->event_count; i++) {
		uint64_t samples = p->events[i].sample_count;
		if (i == event || samples == 0)
			continue;
		text_str(out, before);
		text_u64_grouped(out, samples, ",");
		text_str(out, samples == 1 ? " sample of " : " samples of ");
		text_visible(out, profile_string(p, p->events[i].name));
		before = ", ";
	}
}

static void batch_view_add_left_out(
	const struct batch_view *view, const struct profile *p, const char *whose, struct text *out)
{
	uint32_t event;
	struct text names = {0};
	if (view->event.len > 0 || choose_event(view, p, &event, NULL) != TALLY_OK || event == PROFILE_NONE)
		return;
	batch_view_add_others(p, event, &names);
	if (names.len > 0) {
		text_str(out, out->len ? "; " : "");
		text_printf(out, "%sonly the event ", whose);
		text_visible(out, profile_string(p, p->events[event].name));
		text_str(out, " is shown; left out: ");
		text_bytes(out, names.data, names.len);
	}
	text_deinit(&names);
}

void batch_view_left_out(const struct batch_view *view, struct text *out)
{
	batch_view_add_left_out(view, view->batch->profile, "", out);
	if (view->base)
		batch_view_add_left_out(view, view->base->profile, "of the baseline, ", out);
}

static void write_flame(const struct batch_view *view, const struct flame_tree *tree,
	const struct flame_options *options, enum batch_flame_form form, struct text *out)
{
	struct text quality = {0}, span = {0};
	const struct profile *p = view->batch->profile;
	batch_view_left_out(view, &quality);
	text_str(&quality, quality.len ? "; " : "");
	batch_view_quality(view->batch, &quality);
	batch_view_span(view->batch, &span);
	const struct flame_page page = {.title = view->title.len ? view->title : STR("all samples"),
		.event = options->event == PROFILE_NONE ? STR("time, on the CPU and off it")
							: profile_string(p, p->events[options->event].name),
		.span = text_view(&span),
		.group = view->group.len ? view->group : STR("thread"),
		.quality = text_view(&quality),
		.program = str_from(view->program),
		.base = view->base_title,
		.counts_samples = view->counts_samples};
	if (form == BATCH_FLAME_FOLDED)
		flame_folded_write(out, tree, view->base != NULL);
	else if (form == BATCH_FLAME_SVG)
		flame_svg_write(out, tree, &page);
	else
		flame_page_write(out, tree, &page);
	text_deinit(&quality);
	text_deinit(&span);
}

enum tally_status batch_view_flame(
	const struct batch_view *view, enum batch_flame_form form, struct text *out, struct tally_error *err)
{
	struct flame_tree tree;
	struct name_match match = {0};
	struct flame_options options = {
		.group = FLAME_BY_COMM, .counts_samples = view->counts_samples, .by_state = !view->base};
	enum tally_status status = choose_event(view, view->batch->profile, &options.event, err);
	if (status == TALLY_OK && view->base) {
		options.base = view->base->profile;
		status = choose_event(view, options.base, &options.base_event, err);
		if (status == TALLY_OK && options.event == PROFILE_NONE)
			options.base_event = PROFILE_NONE;
		if (status != TALLY_OK)
			return error_prefix(err, "the baseline");
	}
	if (status == TALLY_OK && view->base) {
		const struct profile *const profiles[] = {options.base, view->batch->profile};
		status = name_match_init(&match, profiles, ARRAY_LEN(profiles), err);
		options.match = &match;
	}
	if (status == TALLY_OK)
		status = flame_tree_init(&tree, view->batch->profile, &options, err);
	if (status == TALLY_OK) {
		write_flame(view, &tree, &options, form, out);
		match_notes_add(view->notes, &match);
		if (view->base && !tree.has_matched)
			match_notes_add_none(view->notes, "the baseline", "the query", NULL);
		flame_tree_deinit(&tree);
	}
	name_match_deinit(&match);
	if (status != TALLY_OK)
		return status;
	return out->failed ? error_nomem(err) : TALLY_OK;
}

enum tally_status batch_view_pprof(const struct batch_view *view, int fd, const char *name, struct tally_error *err)
{
	struct byte_sink sink;
	struct text quality = {0};
	const struct fleet_batch *batch = view->batch;
	const struct fleet_label *host = fleet_labels_find(&batch->labels, STR("host"));
	const struct fleet_label *cpu = fleet_labels_find(&batch->labels, STR("cpu_model"));
	const struct fleet_label *kernel = fleet_labels_find(&batch->labels, STR("kernel"));
	batch_view_quality(batch, &quality);
	struct export_view wanted = {.profile = batch->profile,
		.event = view->event.len ? find_view_event(batch->profile, view->event) : PROFILE_NONE,
		.about = {.program = str_from(view->program),
			.version = str_from(TALLY_VERSION),
			.title = view->title,
			.hostname = host ? host->value : STR(""),
			.os = kernel ? kernel->value : STR(""),
			.cpu = cpu ? cpu->value : STR(""),
			.quality = text_view(&quality),
			.has_wall_clock = true},
		.has_times = true,
		.first_time = batch->begin_ns,
		.last_time = batch->end_ns};
	struct profile_filter all = {.profile = batch->profile};
	wanted.filter = &all;
	if (view->event.len && wanted.event == PROFILE_NONE) {
		text_deinit(&quality);
		return error_set(err, TALLY_NOT_FOUND, "no sample of that event matches the query in that time");
	}
	byte_sink_init(&sink, fd, true);
	export_pprof(&sink, &wanted);
	enum tally_status status = byte_sink_finish(&sink, name, err);
	text_deinit(&quality);
	return status;
}
