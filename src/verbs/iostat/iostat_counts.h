/* SPDX-License-Identifier: Apache-2.0 */
/*
 * iostat_counts.h - formats the events that count the traffic of PCIe root ports, for stat, and parses stat's output.
 * It runs no programs.
 *
 *	iostat_events(&ports, &text);            // "uncore_iio_0/event=0x83,...,name=iio0m0/,..."
 *	iostat_counts_read(csv, &ports, counts); // csv is the output of stat -x, --per-die
 */
#ifndef VERBS_IOSTAT_IOSTAT_COUNTS_H
#define VERBS_IOSTAT_IOSTAT_COUNTS_H

#include "base/text.h"
#include "kernel/system/iio_ports.h"

#define IOSTAT_METRICS 4 /* Inbound reads and writes, outbound reads and writes. */

struct iostat_count {
	double megabytes[IOSTAT_METRICS];
	bool is_counted[IOSTAT_METRICS];
};

/* Appends the argument of -e with the events of all IIO units that have one of the ports. */
void iostat_events(const struct iio_ports *ports, struct text *out);
/* Sets the elements of counts, one for each port, from the output of stat. Returns false if out of memory. */
bool iostat_counts_read(struct tally_str csv, const struct iio_ports *ports, struct iostat_count *counts);
void iostat_print(const struct iio_ports *ports, const struct iostat_count *counts, struct text *out);
/* If counts is NULL, only the ports are listed. */
void iostat_json(const struct iio_ports *ports, const struct iostat_count *counts, struct text *out);

#endif
