/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/wait_chains.h"

#include "base/array.h"
#include "profile/profile.h"

struct wait_walk { /* State while the chains of one wait are built. */
	struct wait_chains *chains;
	wait_chain_taker take;
	void *data;
	int32_t tids[WAIT_CHAIN_DEPTH]; /* Threads that wait for one another: none is followed twice. */
	unsigned depth;
	unsigned parts; /* Number of chains so far. */
	unsigned looks; /* Number of waits that were inspected. */
};

/* Appends a chain without its context markers; only the kernel's part unless user_too is set. */
static bool wait_chains_add_ips(
	struct wait_chains *c, const struct resolve_where *where, const struct sample_array *ips, bool user_too)
{
	struct chain_modes modes = {.names_calls = false};
	chain_modes_begin(&modes, MISC_CPUMODE_USER);
	if (!vec_reserve(&c->frames, c->frames.len + ips->count))
		return false;
	for (uint32_t i = 0; i < ips->count; i++) {
		uint64_t ip = sample_u64_at(ips->data, i, c->resolver->swap);
		if (ip >= CONTEXT_MAX) {
			if (!chain_modes_mark(&modes, ip))
				break;
			continue;
		}
		bool is_user = modes.cpumode == MISC_CPUMODE_USER;
		unsigned mode = chain_modes_next(&modes);
		if (!is_user || user_too)
			c->frames.items[c->frames.len++] = resolver_frame(c->resolver, where, mode, ip);
	}
	return !c->resolver->failed;
}

/* Appends the frame that names the waker. */
static bool wait_chains_add_waker(struct wait_chains *c, const struct wait_record *wait)
{
	uint32_t name = wait_index_waker(c->index, wait);
	if (name == INTERN_NONE)
		return true;
	uint32_t frame = resolver_named_frame(c->resolver, name, BRANCH_END_WAKER);
	return !c->resolver->failed && vec_push(&c->frames, frame);
}

/* Appends the call chain of the waker when it ended the wait; for an interrupt, only the kernel's part. */
static bool wait_chains_add_doing(struct wait_chains *c, const struct wait_record *wait, uint64_t time_ns)
{
	const struct resolve_where where = resolver_where(c->resolver, (int32_t)wait->waker_pid, time_ns);
	return wait_chains_add_ips(c, &where, &wait->waker_ips, !(wait->flags & WAIT_FLAG_INTERRUPT));
}

static bool wait_walk_end(struct wait_walk *w, const struct wait_record *wait, uint64_t time_ns, uint64_t weight_ns)
{
	struct wait_chains *c = w->chains;
	size_t before = c->frames.len;
	if (weight_ns == 0)
		return true;
	if (!wait_chains_add_waker(c, wait) || !wait_chains_add_doing(c, wait, time_ns))
		return false;
	w->take(w->data, c->frames.items, c->frames.len, weight_ns);
	w->parts++;
	c->frames.len = before;
	return true;
}

static bool wait_walk_may_follow(const struct wait_walk *w, const struct wait_record *wait)
{
	if (!w->chains->follows || !(wait->flags & WAIT_FLAG_WAKER) || (wait->flags & WAIT_FLAG_INTERRUPT) ||
		w->depth == WAIT_CHAIN_DEPTH)
		return false;
	for (unsigned i = 0; i < w->depth; i++)
		if (w->tids[i] == (int32_t)wait->waker_tid)
			return false;
	return true;
}

struct wait_span { /* A period that is attributed to the thread that ended a wait. */
	const struct wait_record *wait;
	uint64_t start_ns, end_ns;
};

static bool wait_walk_span(struct wait_walk *w, const struct wait_span *span);

/* Follows a wait of the waker within a part of the span. */
static bool wait_walk_inner(struct wait_walk *w, const struct wait_record *waker, const struct wait_interval *at,
	const struct wait_span *part)
{
	struct wait_chains *c = w->chains;
	size_t position = at->position, before = c->frames.len;
	struct record record;
	struct sample sample;
	struct wait_record wait;
	if (record_run_next(c->run, &position, &record, NULL) != TALLY_OK)
		return true;
	const struct perfdata_event *event = perfdata_reader_event_of(c->reader, &record);
	if (!event || sample_decode(&event->layout, &record, &sample, NULL) != TALLY_OK ||
		!wait_sample_decode(event, &sample, &wait))
		return true;
	const struct resolve_where where =
		resolver_where(c->resolver, (int32_t)sample.pid, wait_sample_time(event, &sample));
	bool is_done = wait_chains_add_waker(c, waker) && wait_chains_add_ips(c, &where, &sample.callchain, true) &&
		       wait_walk_span(w, &(struct wait_span){&wait, part->start_ns, part->end_ns});
	c->frames.len = before;
	return is_done;
}

/* Emits the chains of a span: those of the waker's own waits in it, and one for the remaining time. */
static bool wait_walk_span(struct wait_walk *w, const struct wait_span *span)
{
	const struct wait_index *index = w->chains->index;
	uint64_t left = span->end_ns - span->start_ns, end = span->end_ns;
	if (wait_walk_may_follow(w, span->wait)) {
		int32_t tid = (int32_t)span->wait->waker_tid;
		w->tids[w->depth++] = tid;
		for (const struct wait_interval *at = wait_index_last(index, tid, end);
			at && at->end_ns > span->start_ns && w->parts < WAIT_CHAIN_PARTS &&
			w->looks++ < WAIT_CHAIN_LOOKS;
			at = wait_index_before(index, at)) {
			uint64_t from = MAX(at->start_ns, span->start_ns), to = MIN(at->end_ns, end);
			if (from >= to) /* Waits of one thread overlap only in damaged recordings. */
				continue;
			unsigned parts = w->parts;
			if (!wait_walk_inner(w, span->wait, at, &(struct wait_span){NULL, from, to}))
				return false;
			left -= w->parts > parts ? to - from : 0;
			end = from;
		}
		w->depth--;
	}
	return wait_walk_end(w, span->wait, span->end_ns, left);
}

bool wait_chains_add(
	struct wait_chains *chains, const struct wait_chain_source *source, wait_chain_taker take, void *data)
{
	const struct sample *sample = source->sample;
	struct wait_walk walk = {
		.chains = chains, .take = take, .data = data, .tids = {(int32_t)sample->tid}, .depth = 1};
	bool is_single = !(source->wait->flags & WAIT_FLAG_SUM) && sample->period <= sample->time;
	chains->frames.len = 0;
	if (!vec_reserve(&chains->frames, source->count))
		return false;
	for (size_t i = 0; i < source->count; i++)
		chains->frames.items[chains->frames.len++] = source->frames[i];
	if (!is_single)
		return wait_walk_end(&walk, source->wait, sample->time, sample->period);
	return wait_walk_span(&walk, &(struct wait_span){source->wait, sample->time - sample->period, sample->time});
}

void wait_chains_deinit(struct wait_chains *chains)
{
	vec_free(&chains->frames);
}
