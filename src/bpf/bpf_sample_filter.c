/* SPDX-License-Identifier: Apache-2.0 */
#include "bpf/bpf_sample_filter.h"

#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "bpf/bpf_load.h"
#include "bpf/bpf_pinned_filter.h"
#include "tally_config.h"

#if HAVE_BPF
#include <bpf/libbpf.h>

#include "bpf/sample_filter.skel.h"

#define BPF_SAMPLE_FILTER_WHAT "--filter"

struct bpf_sample_filter {
	const struct kernel_seam *kernel;
	/* Filter that root has pinned for unprivileged users; NULL if this process loaded its own program. */
	struct bpf_pinned_filter *pinned;
	struct sample_filter_bpf *skeleton;
	int program_fd;
};

/* Fields that filter_plain can read: the helpers and the context of older kernels offer no others. */
static bool bpf_sample_filter_is_plain(unsigned int term)
{
	switch (term) {
	case FILTER_IP:
	case FILTER_TID:
	case FILTER_PID:
	case FILTER_CPU:
	case FILTER_PERIOD:
	case FILTER_UID:
	case FILTER_GID:
	case FILTER_CGROUP:
		return true;
	default:
		return false;
	}
}

static enum tally_status bpf_sample_filter_load(struct bpf_sample_filter *program,
	const struct sample_filter_list *filter, bool is_prepared, struct tally_error *err)
{
	struct sample_filter_bpf *skeleton = sample_filter_bpf__open();
	if (!skeleton)
		return bpf_explain(program->kernel, BPF_SAMPLE_FILTER_WHAT, errno, err);
	memcpy(skeleton->rodata->items, filter->items, filter->count * sizeof(*filter->items));
	skeleton->rodata->item_count = (unsigned int)filter->count;
	struct bpf_program *used = is_prepared ? skeleton->progs.filter_prepared : skeleton->progs.filter_plain;
	struct bpf_program *other = is_prepared ? skeleton->progs.filter_plain : skeleton->progs.filter_prepared;
	bpf_program__set_autoload(other, false);
	enum tally_status status = bpf_load(program->kernel, BPF_SAMPLE_FILTER_WHAT, skeleton->skeleton, err);
	if (status != TALLY_OK) {
		sample_filter_bpf__destroy(skeleton);
		return status;
	}
	program->skeleton = skeleton;
	program->program_fd = bpf_program__fd(used);
	return TALLY_OK;
}

static enum tally_status bpf_sample_filter_load_either(
	struct bpf_sample_filter *program, const struct sample_filter_list *filter, struct tally_error *err)
{
	struct tally_error of_prepared = {0};
	enum tally_status status = bpf_sample_filter_load(program, filter, true, &of_prepared);
	if (status == TALLY_OK)
		return status;
	for (size_t i = 0; i < filter->count; i++)
		if (!bpf_sample_filter_is_plain(filter->items[i].term)) {
			if (err)
				*err = of_prepared;
			return error_prefix(err, "--filter: '%s' is known to BPF programs from Linux 6.3 on",
				sample_filter_term_name(filter->items[i].term));
		}
	for (size_t i = 0; i < filter->count; i++)
		if ((filter->items[i].term == FILTER_PID || filter->items[i].term == FILTER_TID) &&
			(status = bpf_check_namespace(program->kernel, "--filter with pid or tid", err)) != TALLY_OK)
			return status;
	return bpf_sample_filter_load(program, filter, false, err);
}

/* Fallback for users who may not load BPF programs. */
static enum tally_status bpf_sample_filter_use_pinned(
	struct bpf_sample_filter *program, const struct sample_filter_list *filter, struct tally_error *err)
{
	struct tally_error refusal = *err;
	enum tally_status status = bpf_pinned_filter_create(filter, &program->pinned, err);
	if (status != TALLY_NOT_FOUND)
		return status;
	return error_set(
		err, TALLY_DENIED, "%s; root can let all users filter ('record --setup-filter pin')", refusal.text);
}

enum tally_status bpf_sample_filter_create(const struct kernel_seam *kernel, const struct sample_filter_list *filter,
	struct bpf_sample_filter **program, struct tally_error *err)
{
	struct tally_error refusal = {0};
	struct bpf_sample_filter *made = calloc(1, sizeof(*made));
	if (!made)
		return error_nomem(err);
	made->kernel = kernel;
	enum tally_status status = bpf_open(kernel, BPF_SAMPLE_FILTER_WHAT, &refusal);
	if (status == TALLY_OK)
		status = bpf_sample_filter_load_either(made, filter, &refusal);
	else if (status == TALLY_DENIED)
		status = bpf_sample_filter_use_pinned(made, filter, &refusal);
	if (status != TALLY_OK && err)
		*err = refusal;
	if (status == TALLY_OK)
		*program = made;
	else
		free(made);
	return status;
}

enum tally_status bpf_sample_filter_attach(struct bpf_sample_filter *program, int fd, struct tally_error *err)
{
	if (program->pinned)
		return bpf_pinned_filter_attach(program->pinned, fd, err);
	return bpf_attach_event(program->kernel, BPF_SAMPLE_FILTER_WHAT, program->program_fd, fd, "", err);
}

uint64_t bpf_sample_filter_dropped(const struct bpf_sample_filter *program)
{
	if (program->pinned)
		return bpf_pinned_filter_dropped(program->pinned);
	return __atomic_load_n(&program->skeleton->bss->dropped, __ATOMIC_RELAXED);
}

void bpf_sample_filter_destroy(struct bpf_sample_filter *program)
{
	if (!program)
		return;
	bpf_pinned_filter_destroy(program->pinned);
	sample_filter_bpf__destroy(program->skeleton);
	free(program);
}
#else
/* In a build without BPF, bpf_open always fails, so the functions below never receive a program. */
enum tally_status bpf_sample_filter_create(const struct kernel_seam *kernel, const struct sample_filter_list *filter,
	struct bpf_sample_filter **program, struct tally_error *err)
{
	return bpf_open(kernel, "--filter", err);
}

enum tally_status bpf_sample_filter_attach(struct bpf_sample_filter *program, int fd, struct tally_error *err)
{
	return error_set(err, TALLY_UNSUPPORTED, "this build has no BPF programs");
}

uint64_t bpf_sample_filter_dropped(const struct bpf_sample_filter *program)
{
	return 0;
}

void bpf_sample_filter_destroy(struct bpf_sample_filter *program)
{
}
#endif
