/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/trace/trace_live.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
