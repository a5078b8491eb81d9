/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inject_build_ids.h - finds the build IDs that `inject` adds to the files of a survey. They come from the user, the
 * recording, or the files themselves, in this order.
 *
 * The lists own their memory; names are borrowed from the survey and the reader. Not thread-safe.
 */
#ifndef VERBS_INJECT_INJECT_BUILD_IDS_H
#define VERBS_INJECT_INJECT_BUILD_IDS_H

#include "analysis/inject/inject.h"
#include "analysis/inject/inject_survey.h"

struct inject_ids_request {
	const char *known; /* "ID PATH[,ID PATH...]" or "file://NAME"; NULL if not given. */
	const char *vmlinux; /* File with the kernel's build ID; NULL if not given. */
	bool kernel_is_foreign; /* Ignores the running kernel, even if its release is the recording's. */
};

struct inject_ids {
	VEC(struct perfdata_build_id) hits; /* Files with samples; the size of an ID is 0 if it is unknown. */
	VEC(struct perfdata_build_id) listed; /* The new build-ID section: IDs of the recording and of hits. */
};

TALLY_MUST_CHECK enum tally_status inject_ids_read(struct perfdata_reader *reader, const struct inject_survey *survey,
	const struct inject_ids_request *request, struct inject_ids *ids, struct tally_error *err);
void inject_ids_deinit(struct inject_ids *ids);

#endif
