/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quality.h - measures the quality of a profile (lost samples, complete call chains, samples with symbols), and checks
 * it against requirements in text form.
 *
 * The values are computed from a finished replay. Requirements are parsed once and own no memory.
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
	QUALITY_KERNEL_UNSEEN, /* No sample hit the kernel. */
	QUALITY_KERNEL_EXCLUDED, /* All events exclude the kernel. */
	QUALITY_KERNEL_NAMED, /* At least one of its functions has a name. */
	QUALITY_KERNEL_HIDDEN /* None of its functions has a name. */
};

struct quality {
	uint64_t samples, lost; /* lost includes lost records of any kind, because they may have been samples. */
	uint64_t throttled; /* How often the kernel stopped a counter because it interrupted too often. */
	/* Number of call chains, and of those that end in a function in which threads start. */
	uint64_t stacks, complete;
	/* Chains were unwound from stack dumps, so those that are not complete are cut. For recorded chains this is not
	 * known. */
	bool is_unwound;
	uint64_t named; /* Samples with a symbol at their own address. */
	uint64_t kernel_samples, kernel_named;
	enum quality_kernel kernel;
	bool is_cut; /* The recording ends in the middle of a record. */
	bool is_unfinished; /* The recorder did not finish, or files of a directory recording are missing. */
};

/* result->profile must not be NULL. stacks is 0 if call chains were not kept. */
void quality_measure(struct quality *quality, const struct perfdata_reader *reader, const struct replay_result *result);
/* Appends one line without a newline: "1,234 samples, none lost, ...". */
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
	bool is_share; /* The bound is a percentage: of lost and kept samples, of stacks, or of (kernel) samples. */
	double bound;
};

#define REQUIREMENTS_MAX 16 /* More than there are useful combinations. */

struct requirements {
	struct requirement items[REQUIREMENTS_MAX];
	size_t count;
};

/* Parses comma-separated requirements of the form "NAME RELATION NUMBER[%]". Names are samples, lost, throttled,
 * complete, symbols and kernel; relations are < <= > >= =. Values that are shares require the sign '%', so that they
 * are not mistaken for counts. */
TALLY_MUST_CHECK enum tally_status requirements_parse(
	const char *text, struct requirements *requirements, struct tally_error *err);
/* A share of zero items (no call chains, no samples in the kernel) meets no requirement. */
bool requirement_is_met(const struct requirement *requirement, const struct quality *quality);
/* Appends a text such as "lost is 2.3%, not < 1%". */
void requirement_text(struct text *t, const struct requirement *requirement, const struct quality *quality);

#endif
