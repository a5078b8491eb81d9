/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock_json.h - prints the result of `lock report`, `contention` and `info` as JSON; docs/schema/lock.json describes
 * it.
 *
 *	lock_json(&job, &table, &out);
 */
#ifndef VERBS_LOCK_LOCK_JSON_H
#define VERBS_LOCK_LOCK_JSON_H

#include "verbs/lock/lock_job.h"

/* table is used for report and contention; its selection of columns is ignored. Returns false if out of memory. */
bool lock_json(const struct lock_job *job, const struct lock_table *table, struct text *out);

#endif
