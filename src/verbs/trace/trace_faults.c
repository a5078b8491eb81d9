/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/trace/trace_faults.h"

#include "base/error.h"
#include "verbs/trace/trace_calls.h"
#include "verbs/trace/trace_line.h"

struct trace_faults_place {
	const struct frame_name *name;
	struct resolved_frame frame;
};

static bool trace_faults_find(struct trace_job *job, const struct data_sample *s, unsigned cpumode, uint64_t address,
	struct trace_faults_place *place, struct tally_error *err)
{
	struct data_source *source = &job->source;
	struct resolver *resolver = &source->pass.resolver;
	struct resolve_where where = resolver_where(resolver, (int32_t)s->sample.pid, s->clock);
	uint32_t frame = resolver_frame(resolver, &where, cpumode, address);
	place->name = resolver->failed ? NULL : frame_names_get(&source->names, frame, err);
	if (!place->name)
		return false;
	place->frame = resolved_frame_get(&resolver->frames, frame);
	return true;
}

/* Prints the function of an address, or the address in its file. is_verbose: prints the file first. */
static void print_code(struct trace_job *job, const struct trace_faults_place *place, bool is_verbose)
{
	const struct frame_name *name = place->name;
	struct text *out = &job->out;
	if (is_verbose && place->frame.binary != RESOLVE_NONE) {
		text_visible(out, name->has_short_name ? name->shown : name->path);
		text_char(out, '@');
	}
	if (name->symbol) {
		text_visible(out, str_from(name->symbol));
		text_str(out, "+0x");
		text_hex(out, name->symbol_offset, 0);
	} else {
		text_str(out, "0x");
		text_hex(out, resolved_frame_shown(&place->frame), 0);
	}
}

static void print_data(struct trace_job *job, const struct trace_faults_place *place, bool is_verbose)
{
	const struct frame_name *name = place->name;
	struct text *out = &job->out;
	if (place->frame.binary == RESOLVE_NONE) {
		text_str(out, "0x");
		text_hex(out, place->frame.address, 0);
		return;
	}
	text_visible(out, name->has_short_name ? name->shown : name->path);
	text_char(out, '@');
	if (is_verbose && name->symbol) {
		text_visible(out, str_from(name->symbol));
		text_str(out, "+0x");
		text_hex(out, name->symbol_offset, 0);
		return;
	}
	text_str(out, "0x");
	text_hex(out, resolved_frame_shown(&place->frame), 0);
}

static enum tally_status print_fault(struct trace_job *job, const struct data_sample *s,
	const struct trace_thread *thread, bool is_major, struct tally_error *err)
{
	struct trace_faults_place code, data;
	unsigned cpumode = s->record.misc & MISC_CPUMODE_MASK;
	bool is_verbose = job->settings->record.verbose > 0;
	bool is_kernel_data =
		/* If the kernel accesses a program's memory, the address belongs to the program. */
		s->sample.addr >> 63;
	enum tally_status status = trace_line_settle(job, err);
	if (status != TALLY_OK)
		return status;
	if (!trace_faults_find(job, s, cpumode, s->sample.ip, &code, err) ||
		!trace_faults_find(
			job, s, is_kernel_data ? MISC_CPUMODE_KERNEL : MISC_CPUMODE_USER, s->sample.addr, &data, err))
		return TALLY_NOMEM;
	const struct trace_stamp stamp = {.thread = thread,
		.cpu = s->sample.cpu,
		.has_time = true,
		.time_ns = s->sample.time,
		.has_duration = true,
		.is_call = true};
	struct text *out = &job->out;
	trace_line_begin(job, &stamp);
	text_str(out, is_major ? "majfault [" : "minfault [");
	print_code(job, &code, is_verbose);
	text_str(out, "] => ");
	print_data(job, &data, is_verbose);
	bool is_found = data.frame.binary != RESOLVE_NONE;
	text_printf(out, " (%c%c)\n", is_found ? 'd' : '?',
		(is_found ? is_kernel_data : cpumode == MISC_CPUMODE_KERNEL) ? 'k' : '.');
	job->printed++;
	job->is_over |= job->printed == job->settings->most_events;
	return trace_line_chain(job, s, false, err) ? TALLY_OK : TALLY_NOMEM;
}

enum tally_status trace_faults_take(
	struct trace_job *job, const struct data_sample *s, bool is_major, struct tally_error *err)
{
	struct trace_thread *thread = trace_threads_get(&job->threads, (int32_t)s->sample.tid, (int32_t)s->sample.pid);
	if (!thread)
		return error_nomem(err);
	thread->events++;
	if (is_major)
		thread->major_faults++;
	else
		thread->minor_faults++;
	trace_line_set_base(job, s->sample.time);
	if (job->settings->only_summary || job->is_over)
		return TALLY_OK;
	if (!trace_line_is_deep(job, s, false, err))
		return job->source.pass.resolver.failed ? error_nomem(err) : TALLY_OK;
	trace_calls_interrupt(job);
	return print_fault(job, s, thread, is_major, err);
}
