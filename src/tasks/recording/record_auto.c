/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/recording/record_auto.h"

#include "bpf/bpf_probe.h"
#include "kernel/recording/record_attrs.h"
#include "tasks/recording/record_config.h"

const char *record_auto_obstacle(const struct record_settings *s, enum record_callgraph mode)
{
	return s->output.threads != THREADS_NONE	       ? "--threads"
	       : s->overwrites				       ? "--overwrite"
	       : s->affinity != AFFINITY_NONE		       ? "--affinity"
	       : mode == CALLGRAPH_BPF && s->target.per_thread ? "--per-thread"
							       : NULL;
}

static enum record_callgraph record_auto_choose(
	const struct kernel_seam *kernel, const struct record_settings *s, struct text *sentence)
{
	const struct arch *arch = record_host_arch();
	struct tally_error err = {0};
	const char *obstacle = record_auto_obstacle(s, CALLGRAPH_BPF);
	/* The kernel attaches one BPF program to an event: a sample filter leaves no room for an unwinder. */
	if (!obstacle && record_settings_have(s, RECORD_WORD_FILTER))
		obstacle = "--filter";
	if (!obstacle && arch && bpf_probe(kernel, "unwinding in the kernel", &err) == TALLY_OK) {
		text_str(sentence, "call graphs are unwound in the kernel (--call-graph bpf)");
		return CALLGRAPH_BPF;
	}
	if (!record_auto_obstacle(s, CALLGRAPH_DWARF) && arch && arch->dwarf_count > 0) {
		text_printf(sentence, "call graphs are unwound from stack dumps (--call-graph dwarf): %s%s",
			obstacle ? obstacle : err.text, obstacle ? " leaves no way to do it in the kernel" : "");
		return CALLGRAPH_DWARF;
	}
	text_printf(sentence, "call graphs are by frame pointer (--call-graph fp): %s leaves no way to unwind stacks",
		obstacle ? obstacle : "this architecture");
	return CALLGRAPH_FP;
}

void record_auto_settle(const struct kernel_seam *kernel, struct record_settings *s, struct text *sentence)
{
	enum record_callgraph mode = record_config_chains(s).mode;
	if (mode == CALLGRAPH_AUTO || (s->wall && mode == CALLGRAPH_NONE))
		s->chains.mode = record_auto_choose(kernel, s, sentence);
}
