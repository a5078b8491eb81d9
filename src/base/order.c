/* SPDX-License-Identifier: Apache-2.0 */
#include "base/order.h"

#include <string.h>

int order_ints(const void *a, const void *b)
{
	const int *left = a, *right = b;
	return COMPARE(*left, *right);
}

int order_doubles(const void *a, const void *b)
{
	const double *left = a, *right = b;
	return COMPARE(*left, *right);
}

int order_strings(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}
