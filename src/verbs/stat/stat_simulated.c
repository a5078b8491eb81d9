/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/stat/stat_simulated.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "tasks/simulation/simulation_model.h"
#include "tasks/simulation/simulation_run.h"

#define ELAPSED " seconds of simulation (not the time that the command takes)"

/* option is NULL if its allocation failed. */
static bool stat_simulated_add_option(struct stat_simulated *sim, const char *option)
{
	return option && vec_push(&sim->options, option);
}

/* Adds only those parts of the model that the events need, because each part slows the simulation down. */
static bool stat_simulated_add_model(
	struct stat_simulated *sim, const struct simulation_model *model, const char *kinds)
{
	bool is_made = true;
	for (unsigned part = 0; is_made && part < SIMULATION_PARTS; part++) {
		char option[SIMULATION_OPTION_BYTES];
		bool is_tlb = part == SIMULATION_ITLB || part == SIMULATION_DTLB;
		if (strstr(kinds, is_tlb ? "tlb" : "caches") && simulation_model_option(model, part, option))
			is_made = stat_simulated_add_option(sim, arena_printf(&sim->arena, "%s", option));
	}
	return is_made;
}

static enum tally_status stat_simulated_make_options(
	struct stat_simulated *sim, const struct simulation_model *model, struct tally_error *err)
{
	const struct stat_settings *s = sim->settings;
	struct text kinds = {0};
	stat_simulated_events_kinds(&sim->events, &kinds);
	text_char(&kinds, '\0');
	bool is_made = !kinds.failed &&
		       stat_simulated_add_option(sim, arena_printf(&sim->arena, "--events=%s", kinds.data)) &&
		       stat_simulated_add_model(sim, model, kinds.data);
	for (size_t i = 0; is_made && i < s->simulation.toggles.len; i++)
		is_made = stat_simulated_add_option(
			sim, arena_printf(&sim->arena, "--toggle=%s", s->simulation.toggles.items[i]));
	if (is_made && s->counting.delay_ms < 0)
		is_made = stat_simulated_add_option(sim, "--collect-at-start=no");
	text_deinit(&kinds);
	return is_made ? TALLY_OK : error_nomem(err);
}

enum tally_status stat_simulated_open(struct stat_simulated *sim, const struct kernel_seam *kernel,
	const struct stat_settings *settings, struct tally_error *err)
{
	struct simulation_model model;
	struct simulation_caches caches;
	*sim = (struct stat_simulated){.settings = settings};
	sim->origin = (struct stat_origin){
		.kind = "simulated", .by = sim->by, .not_seen = SIMULATION_NOT_SEEN, .elapsed = ELAPSED};
	sim->rung.origin = &sim->origin;
	arena_init(&sim->arena);
	diag_init(&sim->notes);
	diag_init(&sim->model_notes);
	stat_environment_read(kernel, &sim->environment);
	enum tally_status status = TALLY_OK;
	for (size_t i = 0; status == TALLY_OK && i < settings->events.words.len; i++)
		status = stat_simulated_events_add(&sim->events, settings->events.words.items[i].text, err);
	if (status == TALLY_OK && settings->events.words.len == 0)
		status = stat_simulated_events_add_default(&sim->events, settings->events.detail, err);
	if (status == TALLY_OK && sim->events.list.len == 0)
		status = error_set(err, TALLY_INVALID, "-e names no event to simulate");
	if (status == TALLY_OK)
		simulation_caches_read(&caches);
	if (status == TALLY_OK)
		status = simulation_model_make(
			kernel, &caches, settings->simulation.cache_model, &model, &sim->model_notes, err);
	if (status == TALLY_OK)
		status = stat_simulated_make_options(sim, &model, err);
	return status;
}

void stat_simulated_close(struct stat_simulated *sim)
{
	stat_simulated_events_deinit(&sim->events);
	stat_rung_deinit(&sim->rung);
	arena_deinit(&sim->arena);
	vec_free(&sim->options);
	diag_deinit(&sim->notes);
	diag_deinit(&sim->model_notes);
}

/* Sets the label after the first run, because its output contains the names of the simulator and the model. */
static enum tally_status stat_simulated_name_model(
	struct stat_simulated *sim, const struct simulation_counts *counts, struct tally_error *err)
{
	if (sim->by[0])
		return TALLY_OK;
	memcpy(sim->by, counts->model, sizeof(sim->by));
	struct tally_str rest = str_from(sim->by), version;
	if (str_next(&rest, ' ', &version))
		stat_environment_set(&sim->environment, STR("simulator"), version);
	if (strstr(sim->by, " ll=")) /* Notes about changed cache parameters matter only if caches were simulated. */
		diag_add_all(&sim->notes, &sim->model_notes);
	text_printf(&sim->rung.label, "simulated, not measured (%s); the counts do not show %s", sim->by,
		SIMULATION_NOT_SEEN);
	return sim->rung.label.failed ? error_nomem(err) : TALLY_OK;
}

enum tally_status stat_simulated_count(struct stat_simulated *sim, char *const *command,
	struct stat_simulated_result *result, struct diag *warnings, struct tally_error *err)
{
	const struct simulation_request request = {
		.command = command, .options = sim->options.items, .option_count = sim->options.len};
	struct simulation_run run;
	struct simulation_counts counts = {0};
	enum tally_status status = simulation_start(&request, &run, err);
	if (status != TALLY_OK)
		return status;
	status = simulation_wait(&run, err);
	if (status == TALLY_OK)
		status = simulation_counts_read(
			run.folder, sim->settings->counting.no_inherit ? run.pid : 0, &counts, err);
	simulation_end(&run, &sim->notes);
	*result = (struct stat_simulated_result){
		.counts = counts, .status = run.status, .signal = run.signal, .elapsed_ns = run.end_ns - run.start_ns};
	if (status != TALLY_OK)
		return status;
	simulation_counts_note(&result->counts, warnings);
	simulation_counts_note_nothing(&result->counts, sim->settings->simulation.toggles.items,
		sim->settings->simulation.toggles.len, sim->settings->counting.delay_ms < 0, warnings);
	return stat_simulated_name_model(sim, &result->counts, err);
}

/* Initializes what stat_run sets up for measured counts. */
static enum tally_status stat_simulated_begin(
	struct stat_simulated *sim, struct stat_session *session, struct tally_error *err)
{
	size_t len = sim->events.list.len;
	if (session->has_places)
		return TALLY_OK;
	session->events = &sim->events.list;
	session->aggregation = (struct aggregation){.mode = AGGREGATE_ALL, .len = 1};
	session->cells = calloc(len, sizeof(*session->cells));
	session->supported = calloc(len, sizeof(*session->supported));
	session->reasons = calloc(len, sizeof(*session->reasons));
	session->has_places = true;
	session->environment = &sim->environment;
	session->benchmark = sim->settings->simulation.name;
	return session->cells && session->supported && session->reasons ? TALLY_OK : error_nomem(err);
}

static enum tally_status stat_simulated_add(struct stat_simulated *sim, struct stat_session *session,
	const struct stat_simulated_result *result, struct tally_error *err)
{
	double elapsed = (double)result->elapsed_ns;
	for (size_t i = 0; i < sim->events.list.len; i++) {
		struct stat_cell *cell = &session->cells[i];
		uint64_t value;
		bool is_counted = stat_simulated_value(&sim->events, i, &result->counts, &value);
		session->supported[i] = is_counted || !result->counts.is_counted[SIM_INSTRUCTIONS];
		if (session->supported[i] && !is_counted && !session->reasons[i])
			session->reasons[i] = strdup("the simulation ended before it counted anything");
		if (session->supported[i] && !is_counted)
			continue;
		if (!session->supported[i] && !session->reasons[i])
			session->reasons[i] = strdup("the model has no L2 cache: --cache-model l2=1M,16,64 adds one");
		if (!session->supported[i] && !session->reasons[i])
			return error_nomem(err);
		running_mean_add(&cell->value, (double)value);
		running_mean_add(&cell->running_ns, elapsed);
		running_mean_add(&cell->enabled_ns, elapsed);
		cell->cpu_count = 1;
	}
	if (session->run_len == session->run_cap &&
		!vec_grow(&session->run_ns, &session->run_cap, sizeof(*session->run_ns), session->run_len + 1))
		return error_nomem(err);
	session->run_ns[session->run_len++] = elapsed;
	running_mean_add(&session->wall_ns, elapsed);
	return TALLY_OK;
}

enum tally_status stat_simulated_run(
	struct stat_simulated *sim, struct stat_session *session, struct stat_job *job, struct tally_error *err)
{
	struct stat_simulated_result result = {0};
	enum tally_status status = stat_simulated_begin(sim, session, err);
	if (status == TALLY_OK)
		status = stat_simulated_count(sim, job->command, &result, &session->warnings, err);
	if (status != TALLY_OK)
		return status;
	job->rung = &sim->rung;
	session->signal = result.signal;
	session->command_status = result.status;
	session->has_command_status = true;
	if (result.signal == 0)
		stat_failures_add(&session->failures, result.status);
	return stat_simulated_add(sim, session, &result, err);
}
