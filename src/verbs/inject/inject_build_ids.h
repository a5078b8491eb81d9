/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inject_build_ids.h - finds the build IDs that `inject` adds to the files of a survey: from the user, from the
 * recording, and from the files themselves, in this order.
 *
 * The list owns its memory; names and features borrow from the survey and the reader. One thread.
 */
#ifndef VERBS_INJECT_INJECT_BUILD_IDS_H
#define VERBS_INJECT_INJECT_BUILD_IDS_H

#include "analysis/inject/inject.h"
#include "analysis/inject/inject_survey.h"

struct inject_ids_request {
	const char *known; /* "ID PATH[,ID PATH...]" or "file://NAME"; NULL: none */
	const char *vmlinux; /* whose build id the kernel's is; NULL: not given */
	bool kernel_is_foreign; /* the running kernel is not asked, even if the recording is of its release */
};

struct inject_ids {
	VEC(struct perfdata_build_id) hits; /* of files that were hit; size 0: unknown */
	VEC(struct perfdata_build_id) listed; /* the section as it is to be: the recording's and those of hits */
};

TALLY_MUST_CHECK enum tally_status inject_ids_read(struct perfdata_reader *reader, const struct inject_survey *survey,
	const struct inject_ids_request *request, struct inject_ids *ids, struct tally_error *err);
void inject_ids_deinit(struct inject_ids *ids);

#endif
