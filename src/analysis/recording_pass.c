/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/recording_pass.h"

#include "base/error.h"

enum tally_status recording_pass_read(struct recording_pass *pass, struct perfdata_reader *reader,
	const struct recording_pass_input *input, struct tally_error *err)
{
	*pass = (struct recording_pass){.reader = reader};
	struct record_run *run = &pass->run;
	enum tally_status status = record_run_open(reader, run, err);
	if (status != TALLY_OK)
		return status;
	if (input->max_bytes && !run->is_copy && input->max_bytes < run->bytes.len) {
		run->bytes.len = input->max_bytes;
		pass->end_offset = run->offset + input->max_bytes;
	}
	run->progress = input->progress;
	progress_begin(input->progress, "reading what ran", run->bytes.len);
	status = input->store ? sideband_read_code(reader, run, input->store, &pass->sideband, err)
			      : sideband_read(reader, run, &pass->sideband, err);
	run->progress = NULL;
	return status;
}

static enum tally_status recording_pass_open_resolver(struct recording_pass *pass, struct tally_error *err)
{
	if (!resolver_init(&pass->resolver, pass->sideband.machine, perfdata_reader_is_swapped(pass->reader)))
		return error_nomem(err);
	pass->resolver.deferred = &pass->sideband.deferred;
	return TALLY_OK;
}

enum tally_status recording_pass_resolve(
	struct recording_pass *pass, struct binary_store *store, struct tally_error *err)
{
	enum tally_status status = recording_pass_open_resolver(pass, err);
	if (status != TALLY_OK || !store)
		return status;
	unwind_files_init(&pass->unwind_files, pass->sideband.machine, store);
	sample_unwinder_init(&pass->unwinder, &pass->unwind_files, perfdata_reader_features(pass->reader),
		perfdata_reader_is_swapped(pass->reader));
	pass->resolver.unwinder = &pass->unwinder;
	return TALLY_OK;
}

enum tally_status recording_pass_open(struct recording_pass *pass, struct perfdata_reader *reader,
	const struct recording_pass_input *input, struct tally_error *err)
{
	enum tally_status status = recording_pass_read(pass, reader, input, err);
	return status == TALLY_OK ? recording_pass_resolve(pass, input->store, err) : status;
}

enum tally_status recording_pass_forget_frames(struct recording_pass *pass, struct tally_error *err)
{
	struct sample_unwinder *unwinder = pass->resolver.unwinder;
	resolver_deinit(&pass->resolver);
	enum tally_status status = recording_pass_open_resolver(pass, err);
	pass->resolver.unwinder = unwinder;
	return status;
}

void recording_pass_close(struct recording_pass *pass)
{
	resolver_deinit(&pass->resolver);
	sample_unwinder_deinit(&pass->unwinder);
	unwind_files_deinit(&pass->unwind_files);
	sideband_deinit(&pass->sideband);
	record_run_close(&pass->run);
}
