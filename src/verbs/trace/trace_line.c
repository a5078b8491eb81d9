/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/trace/trace_line.h"

#include <inttypes.h>

#include "base/error.h"
#include "base/text_cells.h"

#define CHAIN_INDENT 39
#define NAME_MOST    14 /* Maximum width of a thread's name, in cells, as in perf. */
#define SLOW_NS	     1000000 /* Longer calls are printed in red. */
#define NOTABLE_NS   10000 /* Longer calls are printed in yellow. */

void trace_line_set_base(struct trace_job *job, uint64_t time_ns)
{
	if (job->has_base)
		return;
	job->has_base = true;
	job->base_ns = job->settings->full_time ? 0 : time_ns;
}

void trace_line_colour(struct trace_job *job, const char *code, const char *text)
{
	if (job->has_colours)
		text_printf(&job->out, "\033[%sm", code);
	text_str(&job->out, text);
	text_colour(&job->out, job->has_colours ? "\033[m" : "");
}

static void print_duration(struct trace_job *job, const struct trace_stamp *stamp)
{
	struct text *out = &job->out;
	bool is_coloured = job->has_colours && stamp->has_duration && stamp->duration_ns >= NOTABLE_NS;
	text_char(out, '(');
	if (is_coloured)
		text_colour(out, stamp->duration_ns >= SLOW_NS ? "\033[31m" : "\033[33m");
	if (stamp->has_duration) {
		text_fixed_right(out, (double)stamp->duration_ns / 1e6, 3, 6);
		text_str(out, " ms");
	} else {
		text_str(out, "         ");
	}
	text_colour(out, is_coloured ? "\033[m" : "");
	text_str(out, "): ");
}

static void print_time(struct trace_job *job, const struct trace_stamp *stamp)
{
	struct text *out = &job->out;
	if (!stamp->has_time) {
		text_str(out, "         ? ");
		return;
	}
	uint64_t ns = stamp->time_ns >= job->base_ns ? stamp->time_ns - job->base_ns : 0;
	text_fixed_right(out, (double)ns / 1e6, 3, 10);
	text_char(out, ' ');
}

void trace_line_begin(struct trace_job *job, const struct trace_stamp *stamp)
{
	const struct trace_settings *s = job->settings;
	struct text *out = &job->out;
	char room[TRACE_COMM_BYTES];
	if (job->only_tid == 0)
		job->only_tid = stamp->thread->tid;
	job->shows_threads |= stamp->thread->tid != job->only_tid;
	if (!s->form.no_timestamps)
		print_time(job, stamp);
	if (s->shows_cpu)
		text_printf(out, "[%03" PRIu32 "] ", stamp->cpu);
	if (!s->form.no_durations && (stamp->is_call || job->choice->traces_calls))
		print_duration(job, stamp);
	if (!job->shows_threads)
		return;
	if (!s->no_comm) {
		struct tally_str name = trace_thread_name(stamp->thread, room);
		text_visible(out, text_cells_cut(name, NAME_MOST));
		text_char(out, '/');
	}
	text_i64(out, stamp->thread->tid);
	text_char(out, ' ');
}

/* ---- call chains ---- */

enum tally_status trace_line_settle(struct trace_job *job, struct tally_error *err)
{
	struct recording_pass *pass = &job->source.pass;
	if (!job->has_new_maps)
		return TALLY_OK;
	job->has_new_maps = false;
	enum tally_status status = machine_finish(pass->sideband.machine, err);
	resolver_forget_epochs(&pass->resolver);
	return status;
}

bool trace_line_frames(struct trace_job *job, const struct data_sample *s, bool is_call, struct resolved_chain *chain,
	size_t *shown, struct tally_error *err)
{
	struct data_source *source = &job->source;
	struct resolver *resolver = &source->pass.resolver;
	*chain = (struct resolved_chain){0};
	*shown = 0;
	if (!perfdata_event_has(s->event, SAMPLE_CALLCHAIN | SAMPLE_STACK_USER))
		return true;
	if (trace_line_settle(job, err) != TALLY_OK)
		return false;
	struct resolve_where where = resolver_where(resolver, (int32_t)s->sample.pid, s->clock);
	struct sample_array whole = resolver_sample_chain(resolver, &where, &s->event->layout, &s->sample);
	*chain = resolver_chain_frames(resolver, &where, &whole);
	for (size_t i = 0; i < chain->count; i++) {
		const struct frame_name *name = frame_names_get(&source->names, chain->frames[i], err);
		if (!name)
			return false;
		*shown += !is_call || job->settings->kernel_chains || !name->is_kernel;
	}
	if (resolver->failed)
		(void)error_nomem(err);
	return !resolver->failed;
}

/* Prints a frame. Each call that was inlined at its address has a line of its own. */
static bool trace_line_print_frame(struct trace_job *job, uint32_t frame, size_t *left, struct tally_error *err)
{
	struct data_source *source = &job->source;
	struct frame_name *name = frame_names_get(&source->names, frame, err);
	if (!name)
		return false;
	if (!frame_names_places(&source->names, frame, name)) {
		(void)error_nomem(err);
		return false;
	}
	struct text *out = &job->out;
	for (size_t i = 0; i + 1 < name->place_count && *left > 0; i++, (*left)--) {
		text_repeat(out, ' ', CHAIN_INDENT);
		text_visible(out, str_from(name->places[i].function ? name->places[i].function : "[unknown]"));
		text_str(out, " (inlined)\n");
	}
	if (*left == 0)
		return true;
	(*left)--;
	text_repeat(out, ' ', CHAIN_INDENT);
	if (name->symbol) {
		text_visible(out, str_from(name->symbol));
	} else {
		struct resolved_frame resolved = resolved_frame_get(&source->pass.resolver.frames, frame);
		text_str(out, "[0x");
		text_hex(out, resolved_frame_shown(&resolved), 0);
		text_char(out, ']');
	}
	text_str(out, " (");
	text_visible(out, name->has_short_name ? name->shown : name->path);
	text_str(out, ")\n");
	return true;
}

bool trace_line_chain(struct trace_job *job, const struct data_sample *s, bool is_call, struct tally_error *err)
{
	struct resolved_chain chain;
	size_t shown, left = (size_t)(MIN(job->settings->most_stack, SIZE_MAX));
	if (!trace_line_frames(job, s, is_call, &chain, &shown, err))
		return false;
	for (size_t i = 0; i < chain.count && left > 0; i++) {
		const struct frame_name *name = frame_names_get(&job->source.names, chain.frames[i], err);
		if (!name)
			return false;
		bool is_shown = !is_call || job->settings->kernel_chains || !name->is_kernel;
		if (is_shown && !trace_line_print_frame(job, chain.frames[i], &left, err))
			return false;
	}
	return true;
}

bool trace_line_is_deep(struct trace_job *job, const struct data_sample *s, bool is_call, struct tally_error *err)
{
	struct resolved_chain chain;
	size_t shown;
	if (job->settings->least_stack == 0)
		return true;
	return trace_line_frames(job, s, is_call, &chain, &shown, err) && shown >= job->settings->least_stack;
}
