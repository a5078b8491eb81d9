/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/sampling/live_session.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "tasks/recording/record_description.h"
#include "tasks/recording/record_waits.h"

/* Interval for draining rings in milliseconds; a ring that fills faster wakes the thread earlier. */
#define DRAIN_MS 100
/* Size of the inbox in bytes from which records are processed before the next refresh. */
#define INBOX_RELIEF (32u << 20)

struct tid_list {
	pid_t *items;
	size_t len, cap;
};

#define LIVE_SESSION_NS_PER_S UINT64_C(1000000000)

struct live_session_header { /* Start of every record. */
	uint32_t type;
	uint16_t misc, size;
};

struct instant {
	uint64_t ns, own_cpu_ns;
};

struct live_session {
	const struct record_request *request;
	struct record_opening opening;
	struct file_map description;
	struct live_profile *profile;
	struct live_watcher watcher;
	int drain_ms;
	pthread_t drainer;
	bool has_drainer;
	int stop_fd; /* Becomes readable when the drainer thread must end. */
	/* The following members are shared with the drainer thread and protected by lock. */
	pthread_mutex_t lock;
	struct writer inbox;
	uint64_t samples_read;
	uint64_t frequency; /* Frequency that was set after the start, or 0. */
	bool is_over;
	uint64_t over_ns; /* Time of the last check; the time of the end if is_over is set. */
	enum tally_status drained;
	struct tally_error drain_error;
	/* The following members are used by the caller's thread only. */
	struct live_figures figures, adding;
	struct map_u64 tried; /* Threads of the user for which joining has already been attempted. */
	struct instant emptied, refreshed; /* Times at which rings were last drained, and last drained for a refresh. */
};

static struct instant instant_now(void)
{
	return (struct instant){clock_ns(), clock_cpu_ns()};
}

/* ---- Opening ---- */

enum tally_status live_session_open(
	const struct record_request *request, struct live_session **session, struct tally_error *err)
{
	struct live_session *s = calloc(1, sizeof(*s));
	if (!s)
		return error_nomem(err);
	s->request = request;
	s->opening.request = request;
	s->stop_fd = -1;
	pthread_mutex_init(&s->lock, NULL);
	enum tally_status status = record_opening_find(&s->opening, err);
	if (status == TALLY_OK)
		status = record_opening_open(&s->opening, err);
	if (status == TALLY_OK)
		status = record_description_read(&s->opening, &s->description, err);
	if (status != TALLY_OK) {
		live_session_close(s);
		return status;
	}
	*session = s;
	return TALLY_OK;
}

struct tally_bytes live_session_description(const struct live_session *s)
{
	return s->description.bytes;
}

/* ---- Records ---- */

/* Counts the samples. Records are aligned to 8 bytes, so a header never lies in two slices. */
static uint64_t live_session_count_samples(const struct tally_bytes *slices, size_t slice_count)
{
	uint64_t samples = 0;
	size_t at = 0;
	for (size_t i = 0; i < slice_count; i++) {
		while (at + sizeof(struct live_session_header) <= slices[i].len) {
			struct live_session_header header;
			memcpy(&header, slices[i].data + at, sizeof(header));
			samples += header.type == RECORD_SAMPLE;
			if (header.size < sizeof(header))
				return samples;
			at += header.size;
		}
		at = at > slices[i].len ? at - slices[i].len : 0;
	}
	return samples;
}

static enum tally_status to_inbox(
	void *context, const struct tally_bytes *slices, size_t slice_count, struct tally_error *err)
{
	struct live_session *s = context;
	for (size_t i = 0; i < slice_count; i++)
		writer_bytes(&s->inbox, slices[i].data, slices[i].len);
	s->samples_read += live_session_count_samples(slices, slice_count);
	return s->inbox.failed ? error_nomem(err) : TALLY_OK;
}

static enum tally_status to_inbox_and_live(
	void *context, const struct tally_bytes *slices, size_t slice_count, struct tally_error *err)
{
	struct live_session *s = context;
	const struct record_sink sink = {to_inbox, s};
	return s->opening.live ? record_live_pass(s->opening.live, slices, slice_count, &sink, err)
			       : to_inbox(s, slices, slice_count, err);
}

/* Called with the lock held. Waits are drained before the rings, so that the records that remain in the rings are
 * newer, and at the end after them, because no records remain then. */
static enum tally_status live_session_drain(struct live_session *s, bool is_last, struct tally_error *err)
{
	const struct record_sink sink = {to_inbox, s};
	struct record_waits *waits = s->opening.waits;
	uint64_t bytes;
	enum tally_status status = waits && !is_last ? record_waits_drain(waits, &sink, false, err) : TALLY_OK;
	if (status != TALLY_OK)
		return status;
	if (s->request->overwrites)
		return recorder_snapshot(s->opening.recorder, &sink, &bytes, err);
	status = s->opening.live ? record_live_drain(s->opening.live, &sink, is_last, &bytes, err)
				 : recorder_drain(s->opening.recorder, &sink, &bytes, err);
	return status == TALLY_OK && waits && is_last ? record_waits_drain(waits, &sink, true, err) : status;
}

/* With --call-graph dwarf, the unwinder knows only the event IDs of the start, so new processes cannot be added. */
static bool takes_newcomers(const struct live_session *s)
{
	return s->request->target.user && !s->opening.live;
}

static void *empty_rings(void *context)
{
	struct live_session *s = context;
	enum tally_status status = TALLY_OK;
	while (status == TALLY_OK) {
		bool is_stopped = false;
		struct tally_error err = {0};
		int pause = s->opening.waits ? record_waits_pause_ms(s->opening.waits) : -1;
		pause = pause >= 0 && pause < s->drain_ms ? pause : s->drain_ms;
		status = recorder_wait(s->opening.recorder, s->stop_fd, pause, &is_stopped, &err);
		if (is_stopped)
			break;
		pthread_mutex_lock(&s->lock);
		if (status == TALLY_OK)
			status = live_session_drain(s, false, &err);
		s->is_over = !takes_newcomers(s) && recorder_target_is_over(s->opening.recorder);
		s->over_ns = clock_ns();
		if (status != TALLY_OK) {
			s->drained = status;
			s->drain_error = err;
		}
		bool is_over = s->is_over;
		pthread_mutex_unlock(&s->lock);
		if (is_over)
			break;
	}
	return NULL;
}

static enum tally_status live_session_take_priority(const struct live_session *s, struct tally_error *err)
{
	struct sched_param param = {.sched_priority = s->request->realtime_priority};
	if (param.sched_priority == 0 || sched_setscheduler(0, SCHED_FIFO, &param) == 0)
		return TALLY_OK;
	return error_set_errno(err, errno == EPERM ? TALLY_DENIED : TALLY_INVALID, errno,
		"Could not set realtime priority %d", param.sched_priority);
}

static enum tally_status start_drainer(struct live_session *s, struct tally_error *err)
{
	s->stop_fd = eventfd(0, EFD_CLOEXEC);
	if (s->stop_fd < 0)
		return error_set_errno(err, TALLY_IO, errno, "a thread to empty the rings");
	int problem = pthread_create(&s->drainer, NULL, empty_rings, s);
	if (problem)
		return error_set_errno(err, TALLY_IO, problem, "a thread to empty the rings");
	s->has_drainer = true;
	return TALLY_OK;
}

enum tally_status live_session_start(
	struct live_session *s, const struct live_session_config *config, struct tally_error *err)
{
	const struct live_profile_config profile = {.description = s->description.bytes,
		.replay = config->replay,
		.store = config->store,
		.kernel_name = STR("[kernel]"),
		.rounds_kept = config->rounds_kept};
	const struct record_sink sink = {to_inbox_and_live, s};
	s->drain_ms = config->drain_ms ? config->drain_ms : DRAIN_MS;
	s->refreshed = instant_now();
	enum tally_status status = live_profile_create(&profile, &s->profile, err);

	if (status == TALLY_OK && s->opening.waits)
		status = record_waits_start(s->opening.waits, s->opening.recorder, false, err);
	/* Events are enabled before the running processes are read, so that records describe changes in the
	 * meantime. */
	if (status == TALLY_OK)
		status = recorder_enable(s->opening.recorder, err);
	if (status == TALLY_OK && s->opening.waits)
		status = record_waits_begin(s->opening.waits, err);
	if (status == TALLY_OK)
		status = record_opening_describe(&s->opening, &sink, s->request->synth, false, err);
	if (status == TALLY_OK)
		status = live_session_take_priority(s, err);
	return status == TALLY_OK ? start_drainer(s, err) : status;
}

static void stop_drainer(struct live_session *s)
{
	uint64_t one = 1;
	if (!s->has_drainer)
		return;
	(void)!write(s->stop_fd, &one, sizeof(one));
	pthread_join(s->drainer, NULL);
	s->has_drainer = false;
}

void live_session_close(struct live_session *s)
{
	if (!s)
		return;
	stop_drainer(s);
	if (s->stop_fd >= 0)
		close(s->stop_fd);
	live_profile_destroy(s->profile);
	record_opening_close(&s->opening);
	file_map_close(&s->description);
	writer_deinit(&s->inbox);
	map_u64_deinit(&s->tried);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

/* ---- Refreshing ---- */

/* Drains the rings twice: records of the first pass are in order only after the second one. *early is the number of
 * bytes of inbox from the first pass. is_last: no records follow. */
static enum tally_status take_inbox(
	struct live_session *s, bool is_last, struct writer *inbox, size_t *early, struct tally_error *err)
{
	pthread_mutex_lock(&s->lock);
	enum tally_status status = s->drained;
	if (status != TALLY_OK && err)
		*err = s->drain_error;
	if (s->opening.waits)
		record_waits_want_sums(s->opening.waits);
	if (status == TALLY_OK)
		status = live_session_drain(s, is_last, err);
	*early = s->inbox.len;
	s->emptied = instant_now();
	/* With an unwinder, record_live_drain already reads the rings twice. */
	if (status == TALLY_OK && !s->opening.live && !is_last)
		status = live_session_drain(s, false, err);
	*inbox = s->inbox;
	s->inbox = (struct writer){0};
	s->adding.samples_read = s->samples_read;
	pthread_mutex_unlock(&s->lock);
	return status;
}

static void add_figures(struct live_session *s)
{
	struct live_profile_figures more = live_profile_figures(s->profile);
	struct live_profile_figures *sum = &s->adding.records;
	sum->samples += more.samples;
	sum->kernel_samples += more.kernel_samples;
	sum->exact_samples += more.exact_samples;
	sum->lost += more.lost;
	sum->damaged += more.damaged;
	s->adding.lost_in_all += more.lost;
}

static bool live_session_runs(void *context, int32_t tid)
{
	return kill(tid, 0) == 0 || errno != ESRCH;
}

struct live_session_round { /* Options for handling new samples. */
	bool fades, is_last;
	/* Receives the profile of the new samples; NULL if they are added to the earlier ones. */
	struct profile **taken;
};

static enum tally_status take_in(
	struct live_session *s, const struct live_session_round *round, struct tally_error *err)
{
	struct writer inbox = {0};
	size_t early = 0;
	enum tally_status status = take_inbox(s, round->is_last, &inbox, &early, err);
	struct tally_bytes first = {inbox.data, early}, second = {inbox.data + early, inbox.len - early};
	if (status == TALLY_OK && first.len)
		status = live_profile_feed(s->profile, &first, 1, err);
	if (!round->is_last) /* Without a mark, no records are held back for a later refresh. */
		live_profile_mark(s->profile);
	if (status == TALLY_OK && second.len)
		status = live_profile_feed(s->profile, &second, 1, err);
	writer_deinit(&inbox);
	if (status == TALLY_OK)
		status = round->taken ? live_profile_take(s->profile, round->taken, err)
				      : live_profile_refresh(s->profile, round->fades, err);
	if (status == TALLY_OK && s->watcher.take)
		status = s->watcher.take(s->watcher.context, live_profile_recording(s->profile), round->fades, err);
	/* Processes that have ended are removed if records were lost, because these may include the exits. */
	if (status == TALLY_OK && live_profile_figures(s->profile).lost)
		status = live_profile_sweep(s->profile, live_session_runs, NULL, err);
	if (status == TALLY_OK)
		add_figures(s);
#ifdef __GLIBC__
	(void)malloc_trim(0); /* A refresh temporarily needs much memory, which malloc would retain. */
#endif
	return status;
}

bool live_session_is_full(struct live_session *s)
{
	pthread_mutex_lock(&s->lock);
	bool is_full = s->inbox.len >= INBOX_RELIEF;
	pthread_mutex_unlock(&s->lock);
	return is_full;
}

enum tally_status live_session_relieve(struct live_session *s, struct tally_error *err)
{
	return take_in(s, &(struct live_session_round){0}, err);
}

enum tally_status live_session_pause(struct live_session *s, bool is_paused, struct tally_error *err)
{
	pthread_mutex_lock(&s->lock);
	enum tally_status status = recorder_set_running(s->opening.recorder, RECORDER_ALL, !is_paused, err);
	pthread_mutex_unlock(&s->lock);
	return status;
}

/* ---- New processes of a user that are not children of measured ones ---- */

/* Lists threads that were neither reported by records, as children of measured threads are, nor tried before. */
static enum tally_status list_newcomers(
	struct live_session *s, const struct target *now, struct tid_list *list, struct tally_error *err)
{
	struct map_u64 tried = {0};
	bool ok = true;
	for (size_t i = 0; i < now->thread_count && ok; i++) {
		uint64_t tid = (uint64_t)now->threads[i], seen;
		bool was_tried = map_u64_find(&s->tried, tid, &seen);
		if (!was_tried && live_profile_knows(s->profile, now->threads[i]))
			continue;
		ok = (was_tried || vec_push(list, now->threads[i])) && map_u64_set(&tried, tid, 1);
	}
	map_u64_deinit(&s->tried); /* A TID that does not exist now may belong to another thread later. */
	s->tried = tried;
	return ok ? TALLY_OK : error_nomem(err);
}

/* Updates the description of the events, because samples of new threads have IDs that are missing from the initial
 * one. */
static enum tally_status describe_again(struct live_session *s, struct tally_error *err)
{
	struct file_map description = {0};
	enum tally_status status = record_description_read(&s->opening, &description, err);
	if (status == TALLY_OK)
		status = live_profile_redescribe(s->profile, description.bytes, err);
	file_map_close(&description);
	return status;
}

static enum tally_status take_newcomers(struct live_session *s, const struct target *now, struct tally_error *err)
{
	const struct record_sink sink = {to_inbox, s};
	struct tid_list list = {0};
	size_t joined = 0;
	enum tally_status status = list_newcomers(s, now, &list, err);
	pthread_mutex_lock(&s->lock);
	recorder_forget_ended(s->opening.recorder);
	if (status == TALLY_OK && list.len)
		status = recorder_join(s->opening.recorder, list.items, list.len, &joined, err);
	if (status == TALLY_OK && joined && s->frequency) /* New events start with the initial frequency. */
		(void)recorder_set_freq(s->opening.recorder, s->frequency);
	if (status == TALLY_OK && joined)
		status = record_opening_describe_threads(&s->opening, &sink, list.items, list.len, err);
	pthread_mutex_unlock(&s->lock);
	vec_free(&list);
	return status == TALLY_OK && joined ? describe_again(s, err) : status;
}

/* Lists the processes of the user before it reads the records: these then report every child of a measured process in
 * the list, so that only the others are joined as newcomers. */
static enum tally_status take_in_with_newcomers(
	struct live_session *s, const struct live_session_round *round, struct tally_error *err)
{
	struct target now = {0};
	bool has_target =
		takes_newcomers(s) && target_resolve(s->request->kernel, &s->request->target, &now, NULL) == TALLY_OK;
	enum tally_status status = take_in(s, round, err);

	if (status == TALLY_OK && has_target && !round->is_last)
		status = take_newcomers(s, &now, err);
	target_deinit(&now);
	return status;
}

static enum tally_status live_session_renew(
	struct live_session *s, const struct live_session_round *round, struct tally_error *err)
{
	enum tally_status status = take_in_with_newcomers(s, round, err);
	/* The processing time of this refresh is attributed to the next one. */
	struct instant now = s->emptied, before = s->refreshed;
	uint64_t end_ns = live_session_is_over(s) && s->over_ns < now.ns ? s->over_ns : now.ns;
	double ns = (double)(now.ns - before.ns), own_ns = (double)(now.own_cpu_ns - before.own_cpu_ns);
	s->figures = s->adding;
	s->figures.seconds = end_ns > before.ns ? (double)(end_ns - before.ns) / 1e9 : 0;
	s->figures.own_cpu = ns > 0 ? own_ns / ns : 0;
	s->adding = (struct live_figures){.lost_in_all = s->figures.lost_in_all};
	s->refreshed = now;
	return status;
}

enum tally_status live_session_refresh(struct live_session *s, bool fades, struct tally_error *err)
{
	return live_session_renew(s, &(struct live_session_round){.fades = fades}, err);
}

enum tally_status live_session_take(
	struct live_session *s, bool is_last, struct profile **profile, struct tally_error *err)
{
	*profile = NULL;
	if (is_last) {
		stop_drainer(s);
		recorder_disable(s->opening.recorder);
	}
	return live_session_renew(s, &(struct live_session_round){.is_last = is_last, .taken = profile}, err);
}

/* The records in the rings were sampled at the previous frequency, so they are processed first. */
enum tally_status live_session_set_frequency(struct live_session *s, uint64_t frequency, struct tally_error *err)
{
	pthread_mutex_lock(&s->lock);
	enum tally_status status = live_session_drain(s, false, err);
	struct writer before = s->inbox;
	s->inbox = (struct writer){0};
	bool is_set = status == TALLY_OK && recorder_set_freq(s->opening.recorder, frequency);
	if (is_set)
		s->frequency = frequency;
	pthread_mutex_unlock(&s->lock);
	const struct tally_bytes bytes = writer_view(&before);
	if (status == TALLY_OK && bytes.len)
		status = live_profile_feed(s->profile, &bytes, 1, err);
	writer_deinit(&before);
	if (status != TALLY_OK)
		return status;
	if (!is_set)
		return error_set(err, TALLY_UNSUPPORTED, "the kernel does not change the frequency of sampling");
	live_profile_set_clock_period(s->profile, LIVE_SESSION_NS_PER_S / frequency);
	return TALLY_OK;
}

bool live_session_has_waits(const struct live_session *s)
{
	return s->opening.waits != NULL;
}

enum tally_status live_session_run_waits(struct live_session *s, bool is_running, struct tally_error *err)
{
	pthread_mutex_lock(&s->lock);
	enum tally_status status =
		s->opening.waits ? record_waits_set_running(s->opening.waits, is_running, err) : TALLY_OK;
	pthread_mutex_unlock(&s->lock);
	return status;
}

uint64_t live_session_wait_parts(struct live_session *s)
{
	pthread_mutex_lock(&s->lock);
	uint64_t parts = s->opening.waits ? record_waits_parts(s->opening.waits) : 0;
	pthread_mutex_unlock(&s->lock);
	return parts;
}

uint64_t live_session_lost_waits(struct live_session *s)
{
	uint64_t lost = 0;
	pthread_mutex_lock(&s->lock);
	if (s->opening.waits) {
		const struct off_cpu_losses losses = record_waits_losses(s->opening.waits);
		lost = losses.waits + losses.threads + losses.switches;
	}
	pthread_mutex_unlock(&s->lock);
	return lost;
}

enum tally_status live_session_zero(struct live_session *s, struct tally_error *err)
{
	if (s->watcher.zero)
		s->watcher.zero(s->watcher.context);
	return live_profile_zero(s->profile, err);
}

void live_session_watch(struct live_session *s, const struct live_watcher *watcher)
{
	s->watcher = watcher ? *watcher : (struct live_watcher){0};
}

struct live_profile *live_session_profile(struct live_session *s)
{
	return s->profile;
}

struct live_figures live_session_figures(const struct live_session *s)
{
	return s->figures;
}

bool live_session_is_over(struct live_session *s)
{
	pthread_mutex_lock(&s->lock);
	bool is_over = s->is_over;
	pthread_mutex_unlock(&s->lock);
	return is_over;
}

const struct target *live_session_target(const struct live_session *s)
{
	return &s->opening.target;
}
