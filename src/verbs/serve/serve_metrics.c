/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "verbs/serve/serve_parts.h"

#define SERVE_METRICS_NS_PER_S 1e9
#define STATM_BYTES	       256

enum metric_type { METRIC_COUNTER, METRIC_GAUGE };

/* Prometheus' text format starts each metric family with its help and type. */
static void metric_family(struct text *out, const char *name, enum metric_type type, const char *help)
{
	text_printf(
		out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type == METRIC_COUNTER ? "counter" : "gauge");
}

static void metric_put(struct text *out, const char *name, enum metric_type type, const char *help, uint64_t value)
{
	metric_family(out, name, type, help);
	text_printf(out, "%s %" PRIu64 "\n", name, value);
}

static void metric_put_seconds(struct text *out, const char *name, enum metric_type type, const char *help, uint64_t ns)
{
	metric_family(out, name, type, help);
	text_printf(out, "%s ", name);
	text_fixed(out, (double)ns / SERVE_METRICS_NS_PER_S, 3);
	text_char(out, '\n');
}

static void put_server(const struct serve_api *api, struct text *out)
{
	struct http_server_figures figures = {0};
	if (!api->figures)
		return;
	api->figures(api->figures_context, &figures);
	metric_put(out, "tally_http_requests_total", METRIC_COUNTER, "Requests.", figures.requests);
	metric_put(out, "tally_http_rate_limited_requests_total", METRIC_COUNTER,
		"Requests that were refused because a client, or all together, sent too many.", figures.busy_refusals);
	metric_put(out, "tally_http_slow_connections_total", METRIC_COUNTER,
		"Connections that were ended because they took too long.", figures.slow_connections);
	metric_put(out, "tally_http_connections", METRIC_GAUGE, "Connections now.", figures.connections);
}

static void put_batches(const struct serve_counts *c, struct text *out)
{
	static const char name[] = "tally_batches_total";
	metric_family(out, name, METRIC_COUNTER, "Batches that were received, by what became of them.");
	text_printf(out, "%s{result=\"stored\"} %" PRIu64 "\n", name, c->stored);
	text_printf(out, "%s{result=\"duplicate\"} %" PRIu64 "\n", name, c->duplicates);
	text_printf(out, "%s{result=\"lacks_symbols\"} %" PRIu64 "\n", name, c->lacking);
	text_printf(out, "%s{result=\"refused\"} %" PRIu64 "\n", name, c->refused);
	text_printf(out, "%s{result=\"failed\"} %" PRIu64 "\n", name, c->failed);
	metric_put(out, "tally_samples_total", METRIC_COUNTER, "Samples of stored batches.", c->samples);
	metric_put(out, "tally_received_bytes_total", METRIC_COUNTER, "Bytes of batches as they came.", c->bytes);
	metric_put(out, "tally_denied_requests_total", METRIC_COUNTER, "Requests without a right token.", c->denied);
	metric_put(out, "tally_queries_total", METRIC_COUNTER, "Queries.", c->queries);
	metric_put(out, "tally_failed_queries_total", METRIC_COUNTER, "Queries that were answered by an error.",
		c->failed_queries);
	metric_put_seconds(
		out, "tally_query_seconds_total", METRIC_COUNTER, "Time that queries took in the store.", c->query_ns);
	metric_put(out, "tally_removed_batches_total", METRIC_COUNTER, "Batches that were removed by retention.",
		c->removed);
	metric_put(out, "tally_failed_retentions_total", METRIC_COUNTER, "Times that old batches could not be removed.",
		c->failed_retentions);
}

static void put_store(const struct store_figures *f, struct text *out)
{
	metric_put(out, "tally_store_batches", METRIC_GAUGE, "Batches in the store.", f->batches);
	metric_put(out, "tally_store_samples", METRIC_GAUGE, "Samples in the store.", f->samples);
	metric_put(out, "tally_store_stacks", METRIC_GAUGE, "Different stacks in the store.", f->stacks);
	metric_put(out, "tally_store_locations", METRIC_GAUGE, "Different locations in the store.", f->locations);
	metric_put(out, "tally_store_bytes", METRIC_GAUGE, "Size of the store.", f->bytes);
	metric_put_seconds(out, "tally_store_first_window_timestamp_seconds", METRIC_GAUGE,
		"When the oldest window began, since 1970; 0: there is none.", f->first_ns);
	metric_put_seconds(out, "tally_store_last_window_timestamp_seconds", METRIC_GAUGE,
		"When the newest window began, since 1970; 0: there is none.", f->last_ns);
}

static uint64_t resident_bytes(void)
{
	char *data, *end;
	size_t len;
	if (file_read("/proc/self/statm", STATM_BYTES, &data, &len, NULL) != TALLY_OK)
		return 0;
	strtoull(data, &end, 10);
	uint64_t pages = strtoull(end, NULL, 10);
	free(data);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

void serve_metrics(struct serve_api *api, const struct http_request *request, struct http_response *response)
{
	struct tally_error err;
	struct store_figures figures;
	struct text *out = &response->body;
	if (request->argument_count > 0) {
		http_response_error(response, HTTP_BAD_REQUEST, "metrics take no arguments");
		return;
	}
	if (!serve_store_lock(&api->reader, response))
		return;
	enum tally_status status = store_figures(api->reader.store, &figures, &err);
	pthread_mutex_unlock(&api->reader.lock);
	if (status != TALLY_OK) {
		serve_api_unavailable(api, &err, response);
		return;
	}
	response->status = HTTP_OK;
	response->type = "text/plain; version=0.0.4; charset=utf-8";
	struct serve_counts counts;
	const uint64_t *shared = (const uint64_t *)&api->counts; /* Other threads change each number atomically. */
	for (size_t i = 0; i < sizeof(counts) / sizeof(*shared); i++)
		((uint64_t *)&counts)[i] = __atomic_load_n(&shared[i], __ATOMIC_RELAXED);
	put_server(api, out);
	put_batches(&counts, out);
	put_store(&figures, out);
	metric_put_seconds(
		out, "process_cpu_seconds_total", METRIC_COUNTER, "CPU time of this process.", clock_cpu_ns());
	metric_put(out, "process_resident_memory_bytes", METRIC_GAUGE, "Resident memory of this process.",
		resident_bytes());
	metric_put_seconds(out, "process_start_time_seconds", METRIC_GAUGE, "When this process began, since 1970.",
		api->started_ns);
}
