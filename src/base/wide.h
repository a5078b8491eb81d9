/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wide.h - names the compiler's 128-bit integer, for products of two 64-bit numbers.
 */
#ifndef BASE_WIDE_H
#define BASE_WIDE_H

__extension__ typedef unsigned __int128 wide_u128;

#endif
