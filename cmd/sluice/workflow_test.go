package main

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// The commands of the workflow in docs/howto/ci.md run as they stand, in a repository that holds a new pipeline.
func TestWorkflow(t *testing.T) {
	ran := 0
	for _, b := range blocksOf(t, "docs/howto/ci.md") {
		if b.info != "yaml workflow" {
			continue
		}
		var w struct {
			Jobs map[string]struct {
				Steps []struct{ Run string }
			}
		}
		if err := yaml.Unmarshal([]byte(b.text), &w); err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		sluice(t, dir, "", "init", "pipelines/shop").succeeded(t)
		for _, s := range w.Jobs["pipelines"].Steps {
			if s.Run == "" || strings.HasPrefix(s.Run, "go install ") {
				continue
			}
			runScript(t, dir, s.Run).succeeded(t)
			ran++
		}
	}
	if ran != 4 {
		t.Errorf("%d commands were run", ran)
	}
}
