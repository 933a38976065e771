package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// Every pipeline of examples/ has tests, which pass and see every table, view and result of it change.
func TestExamplePipelines(t *testing.T) {
	folders, err := filepath.Glob(filepath.Join(repository(t), "examples", "*", "sluice.yaml"))
	if err != nil || len(folders) < 7 {
		t.Fatalf("%d pipelines: %v", len(folders), err)
	}
	o := sluice(t, repository(t), "", "test", "--coverage", "examples").succeeded(t)
	for _, f := range folders {
		name := filepath.Base(filepath.Dir(f))
		if !strings.Contains(o.stdout, "examples/"+name+"/tests/") || strings.Contains(o.stdout, "never:") {
			t.Errorf("%s: got\n%s", name, o.stdout)
		}
	}
}
