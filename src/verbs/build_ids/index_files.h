/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index_files.h - implements buildid-cache --index, which creates complete line indexes of program files in advance.
 */
#ifndef VERBS_BUILD_IDS_INDEX_FILES_H
#define VERBS_BUILD_IDS_INDEX_FILES_H

#include "base/bytes.h"
#include "cli/cli.h"

/* Creates the index of one file. Returns false on failure, after reporting the reason. */
bool index_file(const struct cli *cli, struct tally_str path, bool is_verbose);

#endif
