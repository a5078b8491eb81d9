/* SPDX-License-Identifier: Apache-2.0 */
/*
 * destination_forms.h - encodes batches in the formats of other profile servers. For destinations.c.
 *
 * Results are appended to a text. Losses are described in comments for people, because these formats have no fields for
 * them.
 *
 *	status = destination_write_otlp(batch, &body, err);
 */
#ifndef TASKS_FLEET_DESTINATION_FORMS_H
#define TASKS_FLEET_DESTINATION_FORMS_H

#include "base/byte_sink.h"
#include "fleet/batch.h"
#include "view/export/export_view.h"

/* Writes OpenTelemetry's ExportProfilesServiceRequest, compressed by gzip. Each process of each label set is a
 * resource. */
TALLY_MUST_CHECK enum tally_status destination_write_otlp(
	const struct fleet_batch *batch, struct text *out, struct tally_error *err);
/* Writes Pyroscope's PushRequest: a series for each label set and event, with a pprof profile compressed by gzip. */
TALLY_MUST_CHECK enum tally_status destination_write_pyroscope(
	const struct fleet_batch *batch, struct text *out, struct tally_error *err);
/* Writes Parca's WriteRawRequest in a gRPC-Web frame, with the series of destination_write_pyroscope. */
TALLY_MUST_CHECK enum tally_status destination_write_parca(
	const struct fleet_batch *batch, struct text *out, struct tally_error *err);

/* Returns the properties of a batch that all formats contain. quality receives a text that must live as long as the
 * view. */
struct export_view destination_view(const struct fleet_batch *batch, struct text *quality);
/* Appends the output of a writer for files, compressed by gzip. */
TALLY_MUST_CHECK enum tally_status destination_pack(void (*write)(struct byte_sink *, const struct export_view *),
	const struct export_view *view, struct text *out, struct tally_error *err);

#endif
