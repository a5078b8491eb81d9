/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/plain/plain_passes.h"

#include "analysis/plain/plain_fold.h"
#include "analysis/plain/plain_gather.h"
#include "analysis/plain/plain_sum.h"
#include "base/error.h"
#include "base/thread_pool.h"

struct folding {
	const struct plain_job *job;
	struct plain_fold *folds; /* The samples summed by address, one item per part of the recording. */
	size_t count;
};

/* Notes where the first damaged record is, after which nothing is read, unless run->end_error describes it better. */
static void note_cut(struct input_health *health, const struct plain_gather *gather, const struct record_run *run)
{
	for (size_t i = 0; i < gather->part_count; i++) {
		if (!gather->parts[i].range.is_cut || run->end_error.status != TALLY_OK)
			continue;
		health->is_cut = true;
		health->cut_offset = run->offset + gather->parts[i].range.end;
		return;
	}
}

static void add_health(struct sideband *sideband, const struct plain_gather *gather, const struct record_run *run)
{
	for (size_t i = 0; i < gather->part_count; i++) {
		const struct plain_gather_part *part = &gather->parts[i];
		sideband->health.records += part->samples;
		sideband->health.samples += part->samples;
		sideband->health.bytes += part->sample_bytes;
	}
	note_cut(&sideband->health, gather, run);
}

static void place_part(void *context, size_t index, unsigned worker)
{
	const struct folding *folding = context;
	plain_fold_place(&folding->folds[index]);
}

static bool has_failed(const struct folding *folding)
{
	for (size_t i = 0; i < folding->count; i++)
		if (folding->folds[i].failed)
			return true;
	return false;
}

/* Lists the binaries that any part hit, in order of first use. */
static bool plain_passes_list_hit(const struct folding *folding, size_t binary_count, struct binary_list *binaries)
{
	uint8_t *seen = calloc(binary_count + 1, 1);
	bool is_done = seen != NULL;
	for (size_t i = 0; i < folding->count && is_done; i++) {
		const struct binary_list *hit = &folding->folds[i].binaries;
		for (size_t k = 0; k < hit->len && is_done; k++) {
			if (!seen[hit->items[k]])
				is_done = vec_push(binaries, hit->items[k]);
			seen[hit->items[k]] = 1;
		}
	}
	free(seen);
	return is_done;
}

static enum tally_status plain_passes_fold(struct folding *folding, struct sample_pass *pass, struct tally_error *err)
{
	const struct plain_job *job = folding->job;
	const struct machine *machine = pass->input.sideband->machine;
	size_t binary_count = machine_binary_count(machine);
	thread_pool_for(folding->count, job->options->threads, place_part, folding);
	uint32_t *store_ids = calloc(binary_count + 1, sizeof(*store_ids));
	struct binary_list binaries = {0};
	enum tally_status status = TALLY_OK;
	if (!store_ids || has_failed(folding) || !plain_passes_list_hit(folding, binary_count, &binaries))
		status = error_nomem(err);
	if (status == TALLY_OK)
		status = symbolise_load(machine, job->store, &binaries, store_ids, err);
	if (status == TALLY_OK) {
		const struct plain_placed placed = {
			folding->folds, folding->count, job->store, store_ids, job->options->threads};
		status = plain_sum(&placed, pass) ? TALLY_OK : error_nomem(err);
	}
	vec_free(&binaries);
	free(store_ids);
	return status;
}

static enum tally_status fold_parts(const struct plain_job *job, struct plain_gather *gather,
	const struct sideband *sideband, struct sample_pass **pass, struct tally_error *err)
{
	struct folding folding = {.job = job, .folds = calloc(gather->part_count, sizeof(struct plain_fold))};
	const struct sample_pass_input input = {
		.reader = job->reader, .run = job->run, .sideband = sideband, .options = job->options};
	*pass = sample_pass_create(&input);
	bool is_ready = folding.folds && *pass;
	for (size_t i = 0; i < gather->part_count && is_ready; i++) {
		is_ready = plain_fold_init(&folding.folds[i], &gather->parts[i], &input);
		folding.count = i + 1;
	}
	enum tally_status status = is_ready ? plain_passes_fold(&folding, *pass, err) : error_nomem(err);
	for (size_t i = 0; i < folding.count; i++)
		plain_fold_deinit(&folding.folds[i]);
	free(folding.folds);
	return status;
}

/* Offsets of damaged records refer to copies of the records. Finds the first of them in the recording. */
static void find_damaged(const struct record_run *run, struct damaged_records *damaged)
{
	struct record record;
	struct record_fields fields;
	size_t position = 0;
	if (damaged->count == 0)
		return;
	damaged->offset = 0;
	while (damaged->offset == 0 && record_run_next(run, &position, &record, NULL) == TALLY_OK)
		if (record.type == damaged->type && record_decode(&record, &fields, NULL) != TALLY_OK)
			damaged->offset = record.offset;
}

enum tally_status plain_passes_read(
	const struct plain_job *job, struct sideband *sideband, struct sample_pass **pass, struct tally_error *err)
{
	struct plain_gather gather;
	*pass = NULL;
	enum tally_status status = plain_gather(job->reader, job->run, job->options->kept_samples, &gather, err);
	if (status != TALLY_OK)
		return status;
	status = sideband_read_loading(job->reader, &gather.others, job->store, sideband, err);
	if (status == TALLY_OK) {
		/* It points into copies that are freed next, and only call chains need it. */
		deferred_chains_deinit(&sideband->deferred);
		plain_gather_free_others(&gather);
		find_damaged(job->run, &sideband->health.damaged);
		add_health(sideband, &gather, job->run);
		status = fold_parts(job, &gather, sideband, pass, err);
	}
	plain_gather_deinit(&gather);
	return status;
}
