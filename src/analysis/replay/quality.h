/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quality.h - measures the quality of a profile (lost samples, complete call chains, samples with symbols), and checks it
 * against requirements that are given as text.
 *
 * Values, read from a finished replay. Requirements are parsed once and hold no memory.
 *
 *	quality_measure(&quality, reader, &result);
 *	requirements_parse("lost<1%,symbols>90%", &list, err);
 *	for (size_t i = 0; i < list.count; i++) if (!requirement_is_met(&list.items[i], &quality)) ...
 */
#ifndef ANALYSIS_REPLAY_QUALITY_H
#define ANALYSIS_REPLAY_QUALITY_H

#include "analysis/replay/replay.h"
#include "base/text.h"

enum quality_kernel {
	QUALITY_KERNEL_UNSEEN, /* no sample hit the kernel */
	QUALITY_KERNEL_EXCLUDED, /* no event counts there */
	QUALITY_KERNEL_NAMED, /* at least in part */
	QUALITY_KERNEL_HIDDEN /* none of its functions has a name */
};

struct quality {
	uint64_t samples, lost; /* lost: samples, and records that may have been some */
	uint64_t throttled; /* how often the kernel stopped a counter for interrupting too much */
	uint64_t stacks, complete; /* call chains; those that end in a function that threads start in */
	bool is_unwound; /* of stack dumps: all other stacks are incomplete. For recorded chains this is not known */
	uint64_t named; /* samples whose own address has a symbol */
	uint64_t kernel_samples, kernel_named;
	enum quality_kernel kernel;
	bool is_cut; /* the recording ends in the middle of a record */
	bool is_unfinished; /* its recorder did not finish, or files of it are missing */
};

/* result.profile is not NULL. Stacks are 0 where call chains were not kept. */
void quality_measure(struct quality *quality, const struct perfdata_reader *reader, const struct replay_result *result);
/* One line without its end: "1,234 samples, none lost, ...". */
void quality_text(struct text *t, const struct quality *quality);

enum quality_value {
	QUALITY_SAMPLES,
	QUALITY_LOST,
	QUALITY_THROTTLED,
	QUALITY_COMPLETE,
	QUALITY_SYMBOLS,
	QUALITY_KERNEL,
	QUALITY_VALUES
};
enum quality_relation { QUALITY_LESS, QUALITY_AT_MOST, QUALITY_MORE, QUALITY_AT_LEAST, QUALITY_EQUAL };

struct requirement {
	enum quality_value value;
	enum quality_relation relation;
	bool is_share; /* the bound is in percent: of lost and kept samples, of stacks, of (kernel) samples */
	double bound;
};

#define REQUIREMENTS_MAX 16 /* more than there are useful kinds of bounds */

struct requirements {
	struct requirement items[REQUIREMENTS_MAX];
	size_t count;
};

/* "NAME RELATION NUMBER[%]", comma-separated; names: samples, lost, throttled, complete, symbols, kernel; relations: <
 * <= > >= =. Values that are shares require the sign '%', so that they are not mistaken for counts. */
TALLY_MUST_CHECK enum tally_status requirements_parse(
	const char *text, struct requirements *requirements, struct tally_error *err);
/* A share of zero items (no call chains, no samples in the kernel) meets no requirement. */
bool requirement_is_met(const struct requirement *requirement, const struct quality *quality);
/* "lost is 2.3%, not < 1%". */
void requirement_text(struct text *t, const struct requirement *requirement, const struct quality *quality);

#endif
