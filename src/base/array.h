/* SPDX-License-Identifier: Apache-2.0 */
/*
 * array.h - returns the number of elements of an array, and the smaller or larger of two values.
 *
 * These are macros, so that they work with every type. MIN and MAX evaluate the argument that they return twice, so
 * arguments must not have side effects.
 */
#ifndef BASE_ARRAY_H
#define BASE_ARRAY_H

/* The argument must be an array, not a pointer, for which compilers warn (-Wsizeof-pointer-div). */
#define ARRAY_LEN(array) (sizeof(array) / sizeof((array)[0]))

#undef MIN /* Some system headers define them, too. */
#undef MAX
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

#endif
