/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleet_time.h - parses and prints times and durations of windows, as users and clients of the server write them.
 *
 * A time is "now", a duration before now ("-1h", or "1h" on a command line), "2026-11-28 07:00" or
 * "2026-11-28T07:00:00Z" (UTC), seconds since 1970 with at least 9 digits ("1764313200s") or nanoseconds since 1970. A
 * duration is a number with a unit: "90s", "15m", "1h", "7d", "2w", "1h30m".
 *
 *	if (!fleet_time_parse(STR("-1h"), now_ns, &begin_ns)) ...
 */
#ifndef TASKS_FLEET_FLEET_TIME_H
#define TASKS_FLEET_FLEET_TIME_H

#include "base/text.h"

#define FLEET_TIME_EXPECTED	"expects a time: 'now', '-1h', '2026-11-28T07:00:00Z', or nanoseconds since 1970"
#define FLEET_DURATION_EXPECTED "expects a duration such as '90s', '15m', '1h' or '7d'"

/* Returns the time of CLOCK_REALTIME. */
uint64_t fleet_time_now(void);
/* Returns false and does not change ns if the text is invalid, or if the nanoseconds do not fit into 63 bits. */
bool fleet_time_parse(struct tally_str text, uint64_t now_ns, uint64_t *ns);
bool fleet_duration_parse(struct tally_str text, uint64_t *ns);
/* Prints text such as "2026-11-28 07:00:00 UTC". */
void fleet_time_print(struct text *out, uint64_t ns);
/* Prints text such as "1h30m", with units down to seconds. */
void fleet_duration_print(struct text *out, uint64_t ns);

#endif
