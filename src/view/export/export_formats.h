/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export_formats.h - declares the writers of all export formats, each of which is one function that writes a view to a
 * sink. The sink keeps failures (byte_sink_finish returns them); if a writer itself runs out of memory, it sets
 * sink->failed. Formats that need rows require a profile that keeps single samples.
 *
 *	export_speedscope(&sink, &view);
 *	status = byte_sink_finish(&sink, path, err);
 */
#ifndef VIEW_EXPORT_EXPORT_FORMATS_H
#define VIEW_EXPORT_EXPORT_FORMATS_H

#include "view/export/export_view.h"

/* Writes lines "comm;main;work 123", see flame_folded_write. */
void export_folded(struct byte_sink *sink, const struct export_view *view);
/* Writes speedscope.app/file-format-schema.json: a "sampled" profile for each thread and event. Needs rows. */
void export_speedscope(struct byte_sink *sink, const struct export_view *view);
/* Writes github.com/google/pprof/proto/profile.proto. */
void export_pprof(struct byte_sink *sink, const struct export_view *view);
/* Writes OpenTelemetry's ProfilesData, which is also the body of its ExportProfilesServiceRequest. With rows and the
 * time of day, samples have timestamps. */
void export_otlp(struct byte_sink *sink, const struct export_view *view);
/* Writes the same message in OTLP's form of JSON. */
void export_otlp_json(struct byte_sink *sink, const struct export_view *view);
/* Writes a processed profile for profiler.firefox.com, version 48 of its published format. Needs rows. */
void export_firefox(struct byte_sink *sink, const struct export_view *view);
/* Writes Valgrind's callgrind.out, for KCachegrind and callgrind_annotate. */
void export_callgrind(struct byte_sink *sink, const struct export_view *view);
/* Writes the Trace Event Format, in its JSON object form. Needs rows. */
void export_chrome(struct byte_sink *sink, const struct export_view *view);
/* Writes TracePackets of perfetto.dev with PerfSample, interned stacks and ftrace's sched_switch. Needs rows. */
void export_perfetto(struct byte_sink *sink, const struct export_view *view);
/* Writes the format of docs/schema/export.json. Needs rows. */
void export_json(struct byte_sink *sink, const struct export_view *view);
/* Writes a line per sample. Needs rows. */
void export_csv(struct byte_sink *sink, const struct export_view *view);

#endif
