/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wide.h - names the compiler's integer of 128 bits, for products of two numbers of 64 bits.
 */
#ifndef BASE_WIDE_H
#define BASE_WIDE_H

__extension__ typedef unsigned __int128 wide_u128;

#endif
