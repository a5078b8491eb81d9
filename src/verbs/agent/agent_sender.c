/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/agent/agent_sender.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/helper_thread.h"
#include "cli/cli.h"
#include "tasks/fleet/destinations.h"
#include "verbs/agent/agent_symbols.h"

#define PAUSE_LEAST_MS	1000
#define PAUSE_MOST_MS	300000
#define REQUEST_S	60
#define CLOCK_DIFFERS_S 10 /* Smaller clock differences do not matter for windows of several seconds. */
#define ANSWER_BYTES	(64u << 10) /* Maximum size of a response; a receipt has some hundred bytes. */

struct agent_sender {
	struct agent_sender_config config;
	struct destination to;
	char shown[URL_SHOWN_BYTES]; /* The URL as messages show it. */
	struct batch_queue *queue;
	struct http_client *client;
	struct agent_symbols symbols; /* Used only if the server is a tally serve. */
	pthread_t thread;
	atomic_bool is_stopped; /* Setting it also interrupts a request in progress. */
	/* The following members are protected by the lock. */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool has_news, is_closing, is_done;
	struct agent_sender_figures figures;
	/* The following members are used by the thread only. */
	unsigned failures; /* Number of consecutive failures. */
	/* How far this machine's clock was ahead, in seconds, when it was last reported; 0 if it agrees. */
	int64_t ahead_s;
	char told[512]; /* The last warning, which is not repeated. */
	char reason[512]; /* The reason why batches were not sent. */
};

uint64_t agent_sender_pause_ms(unsigned failures, unsigned retry_after_s)
{
	uint64_t pause = PAUSE_LEAST_MS;
	for (unsigned i = 1; i < failures && pause < PAUSE_MOST_MS; i++)
		pause *= 2;
	pause = MIN(pause, PAUSE_MOST_MS);
	return MAX(pause, (uint64_t)retry_after_s * 1000);
}

/* Prints a warning unless it equals the previous one. */
static void agent_sender_tell(struct agent_sender *s, const char *text)
{
	if (strncmp(s->told, text, sizeof(s->told) - 1) == 0)
		return;
	snprintf(s->told, sizeof(s->told), "%s", text);
	cli_sayf("%s: warning: %s\n", s->config.program, text);
}

/* Sends a batch without the symbols that the store is known to have. If the store lacks some of them, sends it again
 * with all symbols. Servers of other kinds always receive all symbols. */
static enum tally_status agent_sender_post(
	struct agent_sender *s, struct tally_bytes bytes, struct batch_receipt *receipt, struct tally_error *err)
{
	struct text shorter = {0};
	if (s->to.kind != DESTINATION_SERVE)
		return destination_post(&s->to, s->client, bytes, receipt, err);
	enum tally_status status = agent_symbols_shorten(&s->symbols, bytes, &shorter, err);
	struct tally_bytes first =
		shorter.len ? (struct tally_bytes){(const uint8_t *)shorter.data, shorter.len} : bytes;
	if (status != TALLY_OK) /* The batch is sent unchanged if it cannot be shortened. */
		first = bytes;
	status = batch_post(s->client, first, receipt, err);
	if (status == TALLY_OK && receipt->outcome == BATCH_LACKS_SYMBOLS && shorter.len) {
		agent_symbols_forget(&s->symbols);
		status = batch_post(s->client, bytes, receipt, err);
	}
	text_deinit(&shorter);
	return status;
}

static void agent_sender_keep(struct agent_sender *s, const struct batch_queue_item *item, const char *why)
{
	char message[URL_SHOWN_BYTES + 512];
	struct batch_queue_figures waiting;
	batch_queue_later(s->queue, item->id);
	waiting = batch_queue_figures(s->queue);
	s->failures++;
	if (s->failures == 1 || strncmp(s->reason, why, sizeof(s->reason) - 1) != 0) {
		snprintf(s->reason, sizeof(s->reason), "%s", why);
		snprintf(message, sizeof(message), "%s; %" PRIu64 " batches wait in the queue", why, waiting.batches);
		agent_sender_tell(s, message);
	}
}

static void agent_sender_acknowledge(struct agent_sender *s, const struct batch_queue_item *item,
	struct tally_bytes bytes, const struct batch_receipt *receipt)
{
	batch_queue_sent(s->queue, item->id);
	pthread_mutex_lock(&s->lock);
	s->figures.batches++;
	s->figures.samples += item->samples;
	pthread_mutex_unlock(&s->lock);
	if (s->failures > 0)
		cli_sayf("%s: batches are being sent again\n", s->config.program);
	s->failures = 0;
	if (receipt->outcome == BATCH_STORED && receipt->sentence[0])
		agent_sender_tell(s, receipt->sentence);
	else
		s->told[0] = '\0';
	if (s->to.kind == DESTINATION_SERVE &&
		agent_symbols_acknowledge(&s->symbols, receipt->store, bytes, NULL) != TALLY_OK)
		agent_symbols_forget(&s->symbols);
}

static void agent_sender_refuse(
	struct agent_sender *s, const struct batch_queue_item *item, const struct batch_receipt *receipt)
{
	char message[URL_SHOWN_BYTES + 512];
	batch_queue_refused(s->queue, item->id);
	snprintf(message, sizeof(message), "%s refuses batches, which are dropped: %s", s->shown, receipt->sentence);
	agent_sender_tell(s, message);
}

/* Windows have timestamps of this machine, so a wrong clock misplaces them among those of other machines. Warns when
 * the difference appears and when it changes. */
static void agent_sender_compare_clocks(struct agent_sender *s, int64_t ahead_s)
{
	int64_t change = ahead_s - s->ahead_s;
	if (llabs(ahead_s) < CLOCK_DIFFERS_S ? !s->ahead_s : llabs(change) < CLOCK_DIFFERS_S)
		return;
	s->ahead_s = llabs(ahead_s) < CLOCK_DIFFERS_S ? 0 : ahead_s;
	if (s->ahead_s == 0)
		cli_sayf("%s: the clock of this machine agrees with that of %s again\n", s->config.program, s->shown);
	else
		cli_sayf("%s: warning: the clock of this machine is %" PRId64
			 " s %s that of %s: its profiles appear at a wrong time\n",
			s->config.program, ahead_s < 0 ? -ahead_s : ahead_s, ahead_s < 0 ? "behind" : "ahead of",
			s->shown);
}

/* Returns the pause in milliseconds before the next batch, or 0 if it can be sent at once. */
static uint64_t agent_sender_send(struct agent_sender *s, const struct batch_queue_item *item, struct tally_bytes bytes)
{
	struct batch_receipt receipt = {0};
	struct tally_error err = {0};
	char why[URL_SHOWN_BYTES + 512];
	if (agent_sender_post(s, bytes, &receipt, &err) != TALLY_OK) {
		agent_sender_keep(s, item, err.text);
		return agent_sender_pause_ms(s->failures, 0);
	}
	agent_sender_compare_clocks(s, receipt.ahead_s);
	switch (receipt.outcome) {
	case BATCH_STORED:
	case BATCH_DUPLICATE:
		agent_sender_acknowledge(s, item, bytes, &receipt);
		return 0;
	case BATCH_REFUSED:
		agent_sender_refuse(s, item, &receipt);
		return 0;
	case BATCH_LACKS_SYMBOLS:
	case BATCH_DENIED:
	case BATCH_LATER:
		break;
	}
	snprintf(why, sizeof(why), "%s does not take batches now: %s", s->shown,
		receipt.outcome == BATCH_LACKS_SYMBOLS ? "it lacks symbols that were sent" : receipt.sentence);
	agent_sender_keep(s, item, why);
	return agent_sender_pause_ms(s->failures, receipt.retry_after_s);
}

/* Waits for the pause, or if pause_ms is 0, until another batch is added. Closing the sender ends the wait. */
static void agent_sender_pause(struct agent_sender *s, uint64_t pause_ms)
{
	uint32_t noise = 0;
	struct timespec until;
	(void)!getrandom(&noise, sizeof(noise), GRND_NONBLOCK);
	/* Random jitter of up to half of the pause prevents agents from retrying in step. */
	pause_ms += pause_ms / 2 * (noise % 1024) / 1024;
	clock_gettime(CLOCK_MONOTONIC, &until);
	uint64_t ns = (uint64_t)until.tv_nsec + pause_ms % 1000 * 1000000;
	until.tv_sec += (time_t)(pause_ms / 1000 + ns / 1000000000);
	until.tv_nsec = (long)(ns % 1000000000);
	pthread_mutex_lock(&s->lock);
	while (!s->is_closing && !(pause_ms == 0 && s->has_news))
		if ((pause_ms ? pthread_cond_timedwait(&s->changed, &s->lock, &until)
			      : pthread_cond_wait(&s->changed, &s->lock)) != 0)
			break;
	s->has_news = false;
	pthread_mutex_unlock(&s->lock);
}

static void *agent_sender_main(void *context)
{
	struct agent_sender *s = context;
	struct text bytes = {0};
	bool was_closing = false;
	while (!was_closing && !atomic_load(&s->is_stopped)) {
		struct batch_queue_item item;
		struct tally_error err = {0};
		pthread_mutex_lock(&s->lock);
		was_closing = s->is_closing; /* No batches are added once the sender is closing. */
		pthread_mutex_unlock(&s->lock);
		enum tally_status status = batch_queue_oldest(s->queue, &item, &bytes, &err);
		uint64_t pause_ms = 0;
		if (status == TALLY_OK)
			pause_ms = agent_sender_send(
				s, &item, (struct tally_bytes){(const uint8_t *)bytes.data, bytes.len});
		else if (status != TALLY_END)
			agent_sender_tell(s, err.text);
		if (status == TALLY_OK && pause_ms == 0)
			was_closing = false;
		else if (!was_closing)
			agent_sender_pause(s, pause_ms);
	}
	text_deinit(&bytes);
	pthread_mutex_lock(&s->lock);
	s->is_done = true;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

static void agent_sender_free(struct agent_sender *s)
{
	http_client_destroy(s->client);
	agent_symbols_deinit(&s->symbols);
	pthread_mutex_destroy(&s->lock);
	pthread_cond_destroy(&s->changed);
	free(s);
}

enum tally_status agent_sender_create(const struct agent_sender_config *config, struct batch_queue *queue,
	struct agent_sender **out, struct tally_error *err)
{
	pthread_condattr_t monotonic;
	struct agent_sender *s = calloc(1, sizeof(*s));
	if (!s)
		return error_nomem(err);
	s->config = *config;
	s->queue = queue;
	(void)url_shown(config->url, s->shown);
	agent_symbols_init(&s->symbols);
	pthread_mutex_init(&s->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&s->changed, &monotonic);
	pthread_condattr_destroy(&monotonic);
	bool is_url = destination_find(config->url, &s->to);
	const struct http_client_options http = {.url = s->to.url,
		.token = config->token,
		.ca_file = config->ca_file,
		.answer_bytes = ANSWER_BYTES,
		.timeout_s = REQUEST_S,
		.stop = &s->is_stopped};
	enum tally_status status = is_url ? http_client_create(&http, &s->client, err)
					  : error_set(err, TALLY_INVALID, "'%s' is no URL of a server", s->shown);
	if (status == TALLY_OK && !helper_thread_create(&s->thread, agent_sender_main, s))
		status = error_set(err, TALLY_IO, "cannot start a thread to send batches");
	if (status != TALLY_OK) {
		agent_sender_free(s);
		return status;
	}
	*out = s;
	return TALLY_OK;
}

void agent_sender_wake(struct agent_sender *s)
{
	pthread_mutex_lock(&s->lock);
	s->has_news = true;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
}

void agent_sender_destroy(struct agent_sender *s, int patience_ms, struct agent_sender_figures *figures)
{
	struct timespec until;
	*figures = (struct agent_sender_figures){0};
	if (!s)
		return;
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += patience_ms / 1000 + 1;
	pthread_mutex_lock(&s->lock);
	s->is_closing = true;
	pthread_cond_broadcast(&s->changed);
	while (!s->is_done)
		if (pthread_cond_timedwait(&s->changed, &s->lock, &until) != 0)
			break;
	pthread_mutex_unlock(&s->lock);
	atomic_store(&s->is_stopped, true);
	pthread_join(s->thread, NULL);
	*figures = s->figures;
	agent_sender_free(s);
}
