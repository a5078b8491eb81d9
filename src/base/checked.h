/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checked.h - performs integer arithmetic that detects overflow. The macros return true if the result is valid.
 */
#ifndef BASE_CHECKED_H
#define BASE_CHECKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define checked_add(a, b, result) (!__builtin_add_overflow((a), (b), (result)))
#define checked_sub(a, b, result) (!__builtin_sub_overflow((a), (b), (result)))
#define checked_mul(a, b, result) (!__builtin_mul_overflow((a), (b), (result)))

#endif
