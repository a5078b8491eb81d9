/* SPDX-License-Identifier: Apache-2.0 */
/*
 * array.h - counts the elements of an array, and gives the smaller and the larger of two values.
 *
 * Macros, so that they serve every type: MIN and MAX evaluate the value that they give twice, so arguments must not
 * have side effects.
 */
#ifndef BASE_ARRAY_H
#define BASE_ARRAY_H

/* Of an array, not of a pointer: for a pointer compilers warn (-Wsizeof-pointer-div). */
#define ARRAY_LEN(array) (sizeof(array) / sizeof((array)[0]))

#undef MIN /* some system headers define them, too */
#undef MAX
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

#endif
