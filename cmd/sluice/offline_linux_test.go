package main

import (
	"context"
	"os/exec"
	"strings"
	"testing"
)

// With the binary alone, in an empty folder, without a network, home or environment, a newcomer gets a pipeline, its
// passing test and the rows of its join.
func TestOffline(t *testing.T) {
	// A network namespace of one's own has the loopback alone, and that is down at first.
	alone := []string{"unshare", "--map-root-user", "--net", "sh", "-e", "-c", `ip link set lo up; exec env -i "$@"`, "sh"}
	if out, err := exec.Command(alone[0], append(alone[1:], "true")...).CombinedOutput(); err != nil {
		t.Skipf("no network namespace can be made (util-linux's unshare, iproute2's ip, and the right to): %v: %s", err, out)
	}
	dir := t.TempDir()
	run := func(args ...string) string {
		ctx, cancel := context.WithTimeout(t.Context(), runTimeout)
		defer cancel()
		cmd := exec.CommandContext(ctx, alone[0], append(append(alone[1:], binary), args...)...)
		cmd.Dir = dir
		return runToEnd(ctx, t, cmd).succeeded(t).stdout
	}
	run("init", "demo")
	if out := run("test", "--format", "tap", "demo"); out != "TAP version 14\n1..1\nok 1 - demo/tests/join\n" {
		t.Errorf("the test prints\n%s", out)
	}
	out := run("run", "demo")
	for _, row := range []string{"+I[1, Egor, Myasnik, Approval]", "+I[1, Egor, Myasnik, Rejection]", "+I[1, Egor, Myasnik, Stoppage]", "+I[3, Mitya, Volk, Cancellation]"} {
		if strings.Count(out, row+"\n") != 1 {
			t.Errorf("%s is not once in\n%s", row, out)
		}
	}
}
