/* SPDX-License-Identifier: Apache-2.0 */
/*
 * iostat_counts.h - writes the events that count the traffic of root ports, for stat, and reads stat's counts of them.
 * Pure: it runs nothing.
 *
 *	iostat_events(&ports, &text);                      // "uncore_iio_0/event=0x83,...,name=iio0m0/,..."
 *	iostat_counts_read(csv, &ports, counts, &missing); // of stat -x, --per-die
 */
#ifndef VERBS_IOSTAT_IOSTAT_COUNTS_H
#define VERBS_IOSTAT_IOSTAT_COUNTS_H

#include "base/text.h"
#include "kernel/system/iio_ports.h"

#define IOSTAT_METRICS 4 /* inbound reads and writes, outbound reads and writes */

struct iostat_count {
	double megabytes[IOSTAT_METRICS];
	bool is_counted[IOSTAT_METRICS];
};

/* The -e of all units that have one of the ports. */
void iostat_events(const struct iio_ports *ports, struct text *out);
/* counts: one of each port. False: out of memory. */
bool iostat_counts_read(struct tally_str csv, const struct iio_ports *ports, struct iostat_count *counts);
/* perf's table. */
void iostat_print(const struct iio_ports *ports, const struct iostat_count *counts, struct text *out);
/* counts NULL: the ports alone. */
void iostat_json(const struct iio_ports *ports, const struct iostat_count *counts, struct text *out);

#endif
