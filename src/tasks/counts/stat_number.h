/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat_number.h - prints numbers with decimals for people, with the decimal point of their locale. CSV and JSON use the
 * decimal point of the C locale.
 *
 *	stat_number(&text, style->decimal, 2.5, 2, 17); // "             2,50" for de_DE
 */
#ifndef TASKS_COUNTS_STAT_NUMBER_H
#define TASKS_COUNTS_STAT_NUMBER_H

#include "base/text.h"

/* Appends the number, right-aligned in width bytes. point is the decimal point, or NULL for ".". */
void stat_number(struct text *t, const char *point, double value, unsigned decimals, int width);

#endif
