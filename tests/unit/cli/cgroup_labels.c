/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/fleet/cgroup_labels.h"

#include <stdio.h>

#include "unit_test.h"

#define ID    "3a6b1d0c9e8f7a6b5c4d3e2f1a0b9c8d7e6f5a4b3c2d1e0f9a8b7c6d5e4f3a2b"
#define SHORT "3a6b1d0c9e8f"
#define UID   "8f1c2d3e-4a5b-6c7d-8e9f-0a1b2c3d4e5f"
#define UID_  "8f1c2d3e_4a5b_6c7d_8e9f_0a1b2c3d4e5f"
#define HASH  "0123456789abcdef0123456789abcdef"

static const struct {
	const char *path, *unit, *container, *pod, *service;
} forms[] = {
	{"", "", "", "", ""},
	{"/", "", "", "", ""},
	{"/init.scope", "init.scope", "", "", "init.scope"},
	{"/system.slice/nginx.service", "nginx.service", "", "", "nginx"},
	{"/system.slice/system-getty.slice/getty@tty1.service", "getty@tty1.service", "", "", "getty@tty1"},
	{"/system.slice/system-postgresql.slice/postgresql@15-main.service", "postgresql@15-main.service", "", "",
		"postgresql@15-main"},
	{"/user.slice/user-1000.slice/session-3.scope", "session-3.scope", "", "", "session-3.scope"},
	{"/user.slice/user-1000.slice/user@1000.service/app.slice/pipewire.service", "pipewire.service", "", "",
		"pipewire"},
	{"/user.slice/user-1000.slice/user@1000.service/init.scope", "init.scope", "", "", "init.scope"},
	{"/user.slice", "user.slice", "", "", "user.slice"},
	{"/system.slice/_cpu.service", "cpu.service", "", "", "cpu"},
	{"/system.slice/docker-" ID ".scope", "", ID, "", SHORT},
	{"/docker/" ID, "", ID, "", SHORT},
	{"/docker/" ID "/init.scope", "init.scope", ID, "", "init.scope"},
	{"/../../docker/" ID, "", ID, "", SHORT},
	{"/machine.slice/libpod-" ID ".scope/container", "", ID, "", SHORT},
	{"/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID ".scope", "", ID, "", SHORT},
	{"/libpod_parent/libpod-" ID, "", ID, "", SHORT},
	{"/kubepods/burstable/pod" UID "/" ID, "", ID, UID, SHORT},
	{"/kubepods/pod" UID "/" ID, "", ID, UID, SHORT},
	{"/kubepods/besteffort/pod" HASH "/" ID, "", ID, HASH, SHORT},
	{"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_ ".slice/cri-containerd-" ID ".scope",
		"", ID, UID, SHORT},
	{"/kubepods.slice/kubepods-pod" UID_ ".slice/crio-" ID ".scope", "", ID, UID, SHORT},
	{"/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" UID_ ".slice/docker-" ID ".scope", "", ID,
		UID, SHORT},
	{"/system.slice/containerd.service/kubepods-burstable-pod" UID_ ".slice:cri-containerd:" ID, "", ID, UID,
		SHORT},
	{"/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod" UID_ ".slice/cri-containerd-" ID ".scope", "", ID,
		UID, SHORT},
	{"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_ ".slice", "", "", UID, ""},
	{"/ecs/" HASH "/" ID, "", ID, "", SHORT},
	{"/lxc/web", "", "web", "", "web"},
	{"/lxc.payload/web/system.slice/nginx.service", "nginx.service", "web", "", "nginx"},
	{"/lxc.payload.web", "", "web", "", "web"},
	{"/machine.slice/systemd-nspawn@web.service/payload/system.slice/nginx.service", "nginx.service", "web", "",
		"nginx"},
	{"/machine.slice/machine-web.scope", "", "web", "", "web"},
	/* None of these names is a container ID. */
	{"/docker/" ID "0", "", "", "", ""},
	{"/x/3a6b1d0c9e8f", "", "", "", ""},
	{"/kubepods/pod8f1c2d3e-4a5b-6c7d-8e9f_0a1b2c3d4e5g/x", "", "", "", ""},
	{"/podcast/x", "", "", "", ""},
	{"/.service/.scope", "", "", "", ""},
	{"////", "", "", "", ""},
};

static void expect_text(const char *path, struct tally_str text, const char *wanted)
{
	if (!str_equal(text, str_from(wanted)))
		fail_msg("%s: '%.*s' in the place of '%s'", path, (int)text.len, text.data ? text.data : "", wanted);
}

static void paths_have_labels(void **state)
{
	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		struct cgroup_labels labels;
		cgroup_labels_parse(str_from(forms[i].path), &labels);
		expect_text(forms[i].path, labels.unit, forms[i].unit);
		expect_text(forms[i].path, labels.container, forms[i].container);
		expect_text(forms[i].path, labels.pod, forms[i].pod);
		expect_text(forms[i].path, cgroup_labels_service(&labels), forms[i].service);
	}
}

static void path_that_says_most(void **state)
{
	static const struct {
		const char *text, *path;
	} files[] = {
		{"0::/system.slice/a.service\n", "/system.slice/a.service"},
		{"0::/\n", "/"},
		{"12:memory:/docker/" ID "\n1:name=systemd:/docker/" ID "\n0::/system.slice/containerd.service\n",
			"/docker/" ID},
		{"9:name=systemd:/\n4:memory:/box/1\n2:cpuacct:/\n0::/\n", "/box/1"},
		{"9:name=systemd:/user.slice\n4:memory:/box/1\n0::/\n", "/user.slice"},
		{"0::/a:b\n", "/a:b"},
	};
	struct tally_str path;
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		assert_true(cgroup_path_choose(str_from(files[i].text), &path));
		expect_text(files[i].text, path, files[i].path);
	}
	assert_false(cgroup_path_choose(str_from(""), &path));
	assert_false(cgroup_path_choose(str_from("no lines of this kind\n:\n::\n"), &path));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_have_labels),
		cmocka_unit_test(path_that_says_most),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
