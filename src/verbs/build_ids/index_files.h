/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index_files.h - buildid-cache --index: the whole line index of program files, made before anybody waits for it.
 */
#ifndef VERBS_BUILD_IDS_INDEX_FILES_H
#define VERBS_BUILD_IDS_INDEX_FILES_H

#include "base/bytes.h"
#include "cli/cli.h"

/* Of one file. False: it could not be made, which has been said. */
bool index_file(const struct cli *cli, struct tally_str path, bool is_verbose);

#endif
