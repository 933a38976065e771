package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
)

// machine says where figures come from.
type machine struct {
	cpu    string
	cores  int
	memory int64 // bytes; 0 when unknown
	commit string
}

func (m machine) String() string {
	memory := ""
	if m.memory > 0 {
		memory = fmt.Sprintf(", %d GiB", (m.memory+1<<29)>>30)
	}
	return fmt.Sprintf("Measured on %d cores (%s)%s, %s/%s, the broker (%s) on the same cores; %s, commit %s.",
		m.cores, m.cpu, memory, runtime.GOOS, runtime.GOARCH, kafkaVersion, runtime.Version(), m.commit)
}

// thisMachine describes the machine as far as it can be known.
func thisMachine(ctx context.Context, root string) machine {
	m := machine{cpu: "unknown processor", cores: runtime.NumCPU(), commit: "unknown"}
	if v, ok := procField("/proc/cpuinfo", "model name"); ok {
		m.cpu = v
	}
	if v, ok := procField("/proc/meminfo", "MemTotal"); ok {
		kb, err := strconv.ParseInt(strings.TrimSuffix(v, " kB"), 10, 64)
		if err == nil {
			m.memory = kb * 1024
		}
	}
	cmd := exec.CommandContext(ctx, "git", "describe", "--always", "--dirty", "--exclude=*")
	cmd.Dir = root
	if out, err := cmd.Output(); err == nil {
		m.commit = strings.TrimSpace(string(out))
	}
	return m
}

// procField is the value of the first line "name: value" of a file, on Linux.
func procField(file, name string) (string, bool) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", false
	}
	for line := range strings.Lines(string(text)) {
		key, value, ok := strings.Cut(line, ":")
		if ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value), true
		}
	}
	return "", false
}
