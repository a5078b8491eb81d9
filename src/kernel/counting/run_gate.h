/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_gate.h - decides whether repeated measurements exceed a limit: yes, no, or that their spread leaves it open.
 *
 * The limit is A's amount raised by a part or by a difference, or a fixed number. B exceeds it if a one-sided test
 * rejects that B is at the limit, and does not exceed it if the opposite test rejects that; otherwise the answer is
 * open. So with a level of 0.01, at most one of 100 comparisons of equal programs finds that B exceeds A, whatever the
 * spread is.
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

#define RUN_GATE_LEVEL 0.01 /* the default level */
#define RUN_GATE_POWER 0.9 /* the probability with which a change of run_gate_result.found is found */

struct tally_error;

struct run_gate_side {
	uint64_t len; /* of runs; 0: nothing was measured */
	double mean, deviation; /* of the runs; deviation 0: they agree, or there is one */
	const double *sorted; /* all of them; NULL: only the two figures are known */
};

struct run_gate_limit {
	bool is_fixed; /* the limit is difference itself, whatever A is */
	double part; /* of A that is added to it: 0.02 is 2 % */
	double difference; /* that is added to A */
};

enum run_verdict { RUN_DOES_NOT_EXCEED, RUN_EXCEEDS, RUN_OPEN };

struct run_gate_result {
	enum run_verdict verdict;
	double p_exceeds; /* that B would be so high by chance if it were at the limit */
	double p_below; /* that B would be so low */
	bool has_spread; /* false: the values were compared as they are */
	bool by_ranks;
	double found; /* what B has to exceed the limit by to be found RUN_GATE_POWER of the time; 0 without spread */
	uint64_t
		needed; /* runs of each side with which "B is as A" would be decided as often; 0: not known, or enough */
};

/* The mean and the deviation of values, which the side borrows. */
struct run_gate_side run_gate_side_of(const double *sorted, size_t len);
/* Both sides have a value, or B alone if the limit is fixed (INVALID otherwise). */
TALLY_MUST_CHECK enum tally_status run_gate_decide(const struct run_gate_side *a, const struct run_gate_side *b,
	const struct run_gate_limit *limit, double level, struct run_gate_result *result, struct tally_error *err);

#endif
