/* SPDX-License-Identifier: Apache-2.0 */
#include "bpf/bpf_probe.h"

#include <errno.h>

#include "bpf/bpf_load.h"
#include "tally_config.h"

#if HAVE_BPF
#include "bpf/probe.skel.h"

enum tally_status bpf_probe(const struct kernel_seam *kernel, const char *what, struct tally_error *err)
{
	enum tally_status status = bpf_open(kernel, what, err);
	if (status != TALLY_OK)
		return status;
	struct probe_bpf *skeleton = probe_bpf__open();
	if (!skeleton)
		return bpf_explain(kernel, what, errno, err);
	status = bpf_load(kernel, what, skeleton->skeleton, err);
	probe_bpf__destroy(skeleton);
	return status;
}
#else
enum tally_status bpf_probe(const struct kernel_seam *kernel, const char *what, struct tally_error *err)
{
	return bpf_refusal_expected(kernel, what, err);
}
#endif
