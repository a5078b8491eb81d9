/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_gate.h - decides whether repeated measurements exceed a limit, do not exceed it, or vary too much to decide.
 *
 * The limit is A's mean raised by a fraction or by a difference, or a fixed number. B exceeds it if a one-sided test
 * rejects that B is at the limit, and does not exceed it if the opposite test rejects that; otherwise the answer is
 * open (RUN_OPEN). So with a level of 0.01, at most one of 100 comparisons of equal programs finds that B exceeds A,
 * whatever the spread is.
 *
 * The test is the Mann-Whitney test, without assumptions on how values are distributed, if both sides have enough
 * values for its smallest p to be below the level. With fewer, or if only the means and deviations are known, it is
 * Welch's t test, which assumes normal distributions. Values without any spread are compared as they are. Pure.
 *
 *	const struct run_gate_side a = run_gate_side_of(sorted_a, a_len), b = ...;
 *	run_gate_decide(&a, &b, &(struct run_gate_limit){.part = 0.02}, 0.01, &result, err);
 *	if (result.verdict == RUN_EXCEEDS) ...
 */
#ifndef KERNEL_COUNTING_RUN_GATE_H
#define KERNEL_COUNTING_RUN_GATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tally/status.h>

#define RUN_GATE_LEVEL 0.01 /* Default significance level. */
#define RUN_GATE_POWER 0.9 /* Probability with which a change of run_gate_result.found is detected. */

struct tally_error;

struct run_gate_side {
	uint64_t len; /* Number of runs; 0 if nothing was measured. */
	/* Mean and standard deviation of the runs; deviation is 0 for equal values or a single run. */
	double mean, deviation;
	const double *sorted; /* Values of all runs; NULL if only mean and deviation are known. */
};

struct run_gate_limit {
	bool is_fixed; /* The limit is difference itself, independent of A. */
	double part; /* Fraction of A that is added to A; 0.02 is 2 %. */
	double difference; /* Amount that is added to A. */
};

enum run_verdict { RUN_DOES_NOT_EXCEED, RUN_EXCEEDS, RUN_OPEN };

struct run_gate_result {
	enum run_verdict verdict;
	double p_exceeds; /* p value: probability of measuring at least as high a B if B is exactly at the limit. */
	double p_below; /* p value: probability of measuring at least as low a B if B is exactly at the limit. */
	bool has_spread; /* False if the values of each side are equal, so that only the means were compared. */
	bool by_ranks; /* The Mann-Whitney test was used. */
	/* Excess of B over the limit that these numbers of runs detect with probability RUN_GATE_POWER; 0 without
	 * spread. */
	double found;
	/* With RUN_OPEN: number of runs per side after which a B that is equal to A (for a fixed limit: that has the
	 * mean measured here) is found not to exceed the limit, with probability RUN_GATE_POWER; 0 if there are enough
	 * runs already or the number is unknown. */
	uint64_t needed;
};

/* Computes mean and deviation of the values, which are sorted in ascending order and which the side borrows. */
struct run_gate_side run_gate_side_of(const double *sorted, size_t len);
/* Returns TALLY_INVALID if B is empty, or if A is empty and the limit is not fixed. */
TALLY_MUST_CHECK enum tally_status run_gate_decide(const struct run_gate_side *a, const struct run_gate_side *b,
	const struct run_gate_limit *limit, double level, struct run_gate_result *result, struct tally_error *err);

#endif
