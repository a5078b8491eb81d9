/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "verbs/kwork/kwork_text.h"

struct kwork_chain { /* The call chain of a work item that is running. */
	struct text text;
};

struct kwork_timehist {
	struct kwork_job *job;
	struct text *out;
	VEC(struct kwork_chain) chains; /* Indexed by row; the call chain of the event that began the work item. */
	bool has_chains; /* Set if at least one event has a call chain. */
};

static void kwork_timehist_head(struct text *out)
{
	text_printf(out, " %-17s  %-17s  %-6s  %-30s  %-10s  %-10s\n", "Runtime start", "Runtime end", "Cpu",
		"Kwork name", "Runtime", "Delaytime");
	text_printf(
		out, " %-17s  %-17s  %-6s  %-30s  %-10s  %-10s\n", "", "", "", "(TYPE)NAME:NUM", "(msec)", "(msec)");
	text_char(out, ' ');
	static const size_t widths[] = {17, 17, 6, 30, 10, 10};
	for (size_t i = 0; i < ARRAY_LEN(widths); i++) {
		text_str(out, i ? "  " : "");
		text_repeat(out, '-', widths[i]);
	}
	text_char(out, '\n');
}

/* Prints the names of the kernel part of the call chain, innermost first. */
static enum tally_status kwork_timehist_name_chain(
	struct kwork_timehist *t, const struct data_sample *s, struct text *out, struct tally_error *err)
{
	struct data_source *source = &t->job->source;
	struct resolver *resolver = &source->pass.resolver;
	struct resolve_where where = resolver_where(resolver, (int32_t)s->sample.pid, s->clock);
	struct sample_array whole = resolver_sample_chain(resolver, &where, &s->event->layout, &s->sample);
	struct resolved_chain chain = resolver_chain_frames(resolver, &where, &whole);
	for (size_t i = 0; i < chain.count && i < t->job->settings->max_stack; i++) {
		const struct frame_name *name = frame_names_get(&source->names, chain.frames[i], err);
		if (!name)
			return TALLY_NOMEM;
		text_str(out, i ? " <- " : "");
		text_visible(out, str_from(name->symbol ? name->symbol : "[unknown]"));
	}
	t->has_chains |= chain.count > 0;
	return resolver->failed || out->failed ? error_nomem(err) : TALLY_OK;
}

/* Retains the call chain of the event that begins a work item until the item ends. */
static enum tally_status kwork_timehist_keep_chain(
	struct kwork_timehist *t, const struct kwork_event *event, struct tally_error *err)
{
	struct kwork_job *job = t->job;
	if (!job->settings->with_chains || event->work.step != WORK_ENTERS)
		return TALLY_OK;
	const struct work_row *row = kernel_work_row(&job->work, event->work.kind, event->work.id, event->work.cpu);
	if (!row || !vec_reserve(&t->chains, job->work.rows.len))
		return error_nomem(err);
	while (t->chains.len < job->work.rows.len)
		t->chains.items[t->chains.len++] = (struct kwork_chain){0};
	struct text *text = &t->chains.items[row - job->work.rows.items].text;
	text_clear(text);
	return kwork_timehist_name_chain(t, &event->sample, text, err);
}

static enum tally_status kwork_timehist_print(
	struct kwork_timehist *t, const struct work_span *span, struct tally_error *err)
{
	struct text *out = t->out;
	bool is_wanted;
	enum tally_status status = kwork_is_wanted(t->job, span->row, &is_wanted, err);
	if (status != TALLY_OK || !is_wanted)
		return status;
	t->job->shown++;
	text_char(out, ' ');
	kwork_text_seconds(out, span->from_ns, 17);
	text_str(out, "  ");
	kwork_text_seconds(out, span->to_ns, 17);
	text_printf(out, "  [%04" PRIu32 "]  ", span->row->cpu);
	size_t start = out->len;
	status = kwork_name(t->job, span->row, out, err);
	out->len = MIN(out->len, start + KWORK_NAME_BYTES);
	text_align_from(out, start, -KWORK_NAME_WIDTH);
	text_str(out, "  ");
	kwork_text_ms(out, span->to_ns - span->from_ns, 10);
	text_str(out, "  ");
	if (span->delay_ns != UINT64_MAX)
		kwork_text_ms(out, span->delay_ns, 10);
	else
		text_repeat(out, ' ', 10);
	text_char(out, ' ');
	size_t at = (size_t)(span->row - t->job->work.rows.items);
	if (at < t->chains.len && t->chains.items[at].text.len > 0) {
		text_char(out, ' ');
		text_bytes(out, t->chains.items[at].text.data, t->chains.items[at].text.len);
	}
	text_char(out, '\n');
	return status;
}

static enum tally_status kwork_timehist_take(
	struct kwork_timehist *t, const struct kwork_event *event, struct tally_error *err)
{
	struct work_span span;
	if (event->what == KWORK_LOST)
		kernel_work_lost(&t->job->work, event->cpu);
	if (event->what != KWORK_WORK)
		return TALLY_OK;
	enum tally_status status = kwork_timehist_keep_chain(t, event, err);
	if (status != TALLY_OK)
		return status;
	if (!kernel_work_take(&t->job->work, &event->work, &span))
		return error_nomem(err);
	return span.row ? kwork_timehist_print(t, &span, err) : TALLY_OK;
}

enum tally_status kwork_print_timehist(struct kwork_job *job, struct text *out, struct tally_error *err)
{
	struct kwork_timehist t = {.job = job, .out = out};
	struct kwork_event event;
	enum tally_status status;
	kwork_timehist_head(out);
	while ((status = kwork_job_next(job, &event, err)) == TALLY_OK) {
		status = kwork_timehist_take(&t, &event, err);
		if (status != TALLY_OK || !text_line_end(out))
			break;
	}
	if (job->settings->with_chains && !t.has_chains)
		cli_failf(job->cli, "note: the events have no call chains; 'kwork record -g' records them");
	for (size_t i = 0; i < t.chains.len; i++)
		text_deinit(&t.chains.items[i].text);
	vec_free(&t.chains);
	return status == TALLY_END ? TALLY_OK : status;
}
