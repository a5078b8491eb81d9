/* SPDX-License-Identifier: Apache-2.0 */
/*
 * destination_forms.h - writes batches in the forms that other servers of profiles take. For destinations.c.
 *
 * Results are appended to a text. Losses are told in comments, for people: these forms have no numbers for them.
 *
 *	status = destination_write_otlp(batch, &body, err);
 */
#ifndef TASKS_FLEET_DESTINATION_FORMS_H
#define TASKS_FLEET_DESTINATION_FORMS_H

#include "base/byte_sink.h"
#include "fleet/batch.h"
#include "view/export/export_view.h"

/* OpenTelemetry's ExportProfilesServiceRequest, packed by gzip. Each process of each set of labels is a resource. */
TALLY_MUST_CHECK enum tally_status destination_write_otlp(
	const struct fleet_batch *batch, struct text *out, struct tally_error *err);
/* PushRequest of Pyroscope: a series for each set of labels and event, with a profile of pprof, packed by gzip. */
TALLY_MUST_CHECK enum tally_status destination_write_pyroscope(
	const struct fleet_batch *batch, struct text *out, struct tally_error *err);
/* WriteRawRequest of Parca in a frame of gRPC-Web: the same series. */
TALLY_MUST_CHECK enum tally_status destination_write_parca(
	const struct fleet_batch *batch, struct text *out, struct tally_error *err);

/* What all forms tell of a batch. quality: a text that lives as long as the view. */
struct export_view destination_view(const struct fleet_batch *batch, struct text *quality);
/* What a writer of files writes, packed by gzip. */
TALLY_MUST_CHECK enum tally_status destination_pack(void (*write)(struct byte_sink *, const struct export_view *),
	const struct export_view *view, struct text *out, struct tally_error *err);

#endif
